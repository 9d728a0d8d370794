//! What the store already knows of a line. The store is always right: a line can be new, say nothing
//! new, or be stale, and never changes what is there.

use std::collections::HashMap;

use super::known::{self, Link};
use super::line::BeadsIssue;
use super::map::{Import, field_annotations};
use super::report::Report;
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::IssueId;
use crate::model::issue::{Issue, State};
use crate::model::record::Annotation;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{IMPORT_OPEN_BELOW_CLOSED, Tags};

/// The annotation that keeps who made a parent or an edge, and when. Every other annotation with an
/// entry's text stands in for the entry; this one only stands beside it.
pub const DETAIL: &str = "field:dependencies";

/// How a line stands to the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A live line under a free id.
    New,
    /// A tombstone under a free id.
    NewTombstone,
    /// The store says the same.
    Unchanged,
    /// The store says something else: in these respects.
    Stale(Vec<&'static str>),
    /// The line is live and the store has the id as a tombstone.
    ReservedId,
}

/// A store, to be asked about lines.
#[derive(Debug)]
pub struct Known<'s> {
    snapshot: &'s Snapshot,
    annotations: HashMap<&'s IssueId, Vec<&'s Annotation>>,
}

impl<'s> Known<'s> {
    /// What a store knows.
    pub fn of(snapshot: &'s Snapshot) -> Self {
        let mut annotations: HashMap<&IssueId, Vec<&Annotation>> = HashMap::new();
        for annotation in snapshot.annotations() {
            annotations.entry(&annotation.issue).or_default().push(annotation);
        }
        Known { snapshot, annotations }
    }

    /// How a line stands to the store.
    pub fn standing(&self, line: &BeadsIssue, import: &Import<'_>) -> Standing {
        let stored = self.snapshot.graph().ix(&line.id);
        match (stored, self.snapshot.taken(&line.id), line.tombstone()) {
            (Some(_), _, true) => Standing::Stale(vec!["deleted"]),
            (Some(ix), _, false) => {
                let differences = self.differences(ix, line, import);
                if differences.is_empty() { Standing::Unchanged } else { Standing::Stale(differences) }
            }
            (None, true, true) => Standing::Unchanged,
            (None, true, false) => Standing::ReservedId,
            (None, false, true) => Standing::NewTombstone,
            (None, false, false) => Standing::New,
        }
    }

    fn differences(&self, ix: Ix, line: &BeadsIssue, import: &Import<'_>) -> Vec<&'static str> {
        let stored = self.snapshot.graph().issue(ix);
        // What is odd about a line that is not imported is of no interest.
        let wanted = import.issue(line, &mut Report::default());
        let respects = [
            ("title", stored.title != wanted.title),
            ("body", stored.body != wanted.body),
            ("priority", stored.priority != wanted.priority),
            ("tags", own_tags(&stored.tags) != own_tags(&wanted.tags)),
            ("status", !same_state(stored, &wanted, line)),
            ("dependencies", !self.has_dependencies(ix, line)),
            ("fields", !self.has_fields(line)),
        ];
        respects.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }

    fn of_issue(&self, id: &IssueId) -> &[&'s Annotation] {
        self.annotations.get(id).map_or(&[], Vec::as_slice)
    }

    fn has_fields(&self, line: &BeadsIssue) -> bool {
        let wanted = field_annotations(line, &mut Report::default());
        wanted.iter().all(|annotation| self.of_issue(&line.id).contains(&annotation))
    }

    fn has_dependencies(&self, ix: Ix, line: &BeadsIssue) -> bool {
        let graph = self.snapshot.graph();
        line.dependencies.iter().all(|entry| {
            let target = entry.depends_on_id.parse().ok().and_then(|id| graph.ix(&id));
            let linked = entry.issue_id == line.id.as_str()
                && target.is_some_and(|target| match known::link(&entry.kind) {
                    Link::Parent => graph.parent(ix) == Some(target),
                    Link::Blocker => graph.has_edge(target, EdgeKind::Blocks, ix),
                    Link::Remark | Link::Unknown => false,
                });
            let kept = |a: &&Annotation| a.kind != DETAIL && a.text == entry.json;
            linked || self.of_issue(&line.id).iter().any(kept)
        })
    }
}

/// The tags, without what an import says about an issue's place.
fn own_tags(tags: &Tags) -> Vec<&str> {
    tags.iter().map(|tag| tag.as_str()).filter(|tag| *tag != IMPORT_OPEN_BELOW_CLOSED).collect()
}

/// Leases come and go; who holds the issue counts only where the line names a holder.
fn same_state(stored: &Issue, wanted: &Issue, line: &BeadsIssue) -> bool {
    match (&stored.state, &wanted.state) {
        (State::InProgress { claim: stored }, State::InProgress { claim: wanted }) => {
            line.assignee.is_empty() || stored.actor == wanted.actor
        }
        (stored, wanted) => stored == wanted,
    }
}
