//! How a tree stands in numbers, closed issues and all: counted where the issues are, not read one by one.

use super::Snapshot;
use crate::model::graph::Ix;
use crate::model::issue::State;

/// How many issues of a tree are what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Open.
    pub open: usize,
    /// In progress.
    pub in_progress: usize,
    /// Closed.
    pub closed: usize,
    /// Resolved: what was let go counts.
    pub resolved: usize,
}

impl Tally {
    /// How many issues there are.
    pub fn all(&self) -> usize {
        self.open + self.in_progress + self.closed
    }

    /// Whether everything is closed and resolved: section 3's `final`, where it is the tally of a root.
    pub fn settled(&self) -> bool {
        self.closed == self.all() && self.resolved == self.all()
    }
}

impl Snapshot {
    /// The tally of a node and everything below it. To be asked before anything is folded.
    pub fn tally(&self, top: Ix) -> Tally {
        if let Some(source) = self.graph.source() {
            return source.tally(self.graph.id(top));
        }
        let mut tally = Tally::default();
        for ix in self.graph.subtree(top) {
            *match self.graph.issue(ix).state {
                State::Open => &mut tally.open,
                State::InProgress { .. } => &mut tally.in_progress,
                State::Closed { .. } => &mut tally.closed,
            } += 1;
            tally.resolved += usize::from(self.graph.standing(ix).resolved);
        }
        tally
    }

    /// What has a policy's tag at or below a node, opened or not: what lies higher first, then in the total
    /// order. To be asked before anything is folded.
    pub fn gated_in(&self, top: Ix) -> Vec<Ix> {
        let graph = &self.graph;
        let mut found = match graph.source() {
            Some(source) => {
                let ids = source.gated_in(graph.id(top));
                self.gather(&ids);
                ids.iter().filter_map(|id| graph.ix(id)).collect()
            }
            None => graph.subtree(top),
        };
        found.retain(|&ix| graph.issue(ix).tags.review_gated());
        found.sort_by_cached_key(|&ix| {
            let (priority, created_at, id) = graph.issue(ix).rank();
            (graph.depth(ix), priority, created_at, id.clone())
        });
        found
    }
}
