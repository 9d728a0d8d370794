//! What a snapshot knows of heartbeats and cron entries.

use super::Snapshot;
use crate::model::id::IssueId;
use crate::model::record::{Heartbeat, HeartbeatId};

impl Snapshot {
    /// Every heartbeat and cron entry, by id.
    pub fn heartbeats(&self) -> impl Iterator<Item = &Heartbeat> {
        self.heartbeats.values()
    }

    /// One of them.
    pub fn heartbeat(&self, id: &HeartbeatId) -> Option<&Heartbeat> {
        self.heartbeats.get(id)
    }

    /// Those that tick a root: theirs is the tree that their issue lies in by now.
    pub fn heartbeats_of(&self, root: &IssueId) -> impl Iterator<Item = &Heartbeat> {
        let top = self.graph.ix(root);
        let ticks = move |heartbeat: &&Heartbeat| {
            let ix = self.graph.ix(&heartbeat.root);
            top.is_some() && ix.map(|ix| self.graph.root(ix)) == top
        };
        self.heartbeats.values().filter(ticks)
    }
}
