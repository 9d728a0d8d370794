//! What a snapshot knows of heartbeats and cron entries. Each is kept with the issue it was made for, and
//! ticks the root of the tree that this issue lies in by now.

use super::Snapshot;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::record::{Heartbeat, HeartbeatId};

impl Snapshot {
    /// Every heartbeat and cron entry of a whole snapshot, by issue and id.
    pub fn heartbeats(&self) -> impl Iterator<Item = &Heartbeat> {
        self.heartbeats.all(&self.graph).flatten()
    }

    /// One of them.
    pub fn heartbeat(&self, id: &HeartbeatId) -> Option<&Heartbeat> {
        let issue = self.heartbeat_at.get(id, &self.graph, |source| source.heartbeat_at(id))?;
        self.heartbeats_at(issue).iter().find(|heartbeat| heartbeat.id == *id)
    }

    /// Those that were made for an issue, by id.
    pub fn heartbeats_at(&self, issue: &IssueId) -> &[Heartbeat] {
        let found =
            self.heartbeats.get(issue, &self.graph, |s| Some(s.heartbeats(issue)).filter(|h| !h.is_empty()));
        found.map_or(&[], Vec::as_slice)
    }

    /// Those that tick a root, by id.
    pub fn heartbeats_of(&self, root: &IssueId) -> Vec<&Heartbeat> {
        let top = self.graph.ix(root).filter(|&ix| self.graph.root(ix) == ix);
        top.map_or_else(Vec::new, |top| self.heartbeats_on(List::Clocked, Some(top)))
    }

    /// Those that are enabled, by id.
    pub fn beating(&self) -> Vec<&Heartbeat> {
        let mut found = self.heartbeats_on(List::Beating, None);
        found.retain(|heartbeat| heartbeat.enabled());
        found
    }

    /// All of them, or those of a root, found by a list and not by reading everything.
    pub fn heartbeats_on(&self, list: List, root: Option<Ix>) -> Vec<&Heartbeat> {
        let issues = self.listed(list, root).all().into_iter();
        let mut found: Vec<&Heartbeat> =
            issues.flat_map(|ix| self.heartbeats_at(self.graph.id(ix))).collect();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        found
    }

    pub(super) fn set_heartbeat(&mut self, heartbeat: &Heartbeat) {
        self.remove_heartbeat(&heartbeat.id);
        let mut here = self.heartbeats_at(&heartbeat.root).to_vec();
        here.push(heartbeat.clone());
        here.sort_by(|a, b| a.id.cmp(&b.id));
        self.heartbeats.put(&heartbeat.root, here);
        self.heartbeat_at.put(&heartbeat.id, heartbeat.root.clone());
        self.graph.touch_id(&heartbeat.root);
    }

    pub(super) fn remove_heartbeat(&mut self, id: &HeartbeatId) {
        let Some(root) = self.heartbeat(id).map(|heartbeat| heartbeat.root.clone()) else { return };
        let mut here = self.heartbeats_at(&root).to_vec();
        here.retain(|heartbeat| heartbeat.id != *id);
        self.heartbeats.put(&root, here);
        self.graph.touch_id(&root);
    }
}
