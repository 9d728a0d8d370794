//! What follows for a node from its own fields and its nearest neighbours, kept beside it so that
//! nobody has to walk a whole graph to know it (section 3; section 10, "cost follows the frontier").
//!
//! [`super::graph`] keeps it up to date with every change; [`all`] computes it from nothing, and the two
//! must agree.

use super::graph::{Graph, Ix};
use super::issue::Outcome;

/// What is known of one node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Standing {
    /// It ended and its outcome settles it, or it or an ancestor was let go.
    pub resolved: bool,
    /// It or an ancestor was closed and then skipped or replaced.
    pub let_go: bool,
    /// How many children it has.
    pub children: u32,
    /// How many of them are not closed.
    pub open_children: u32,
    /// How many of them are not resolved.
    pub unresolved_children: u32,
    /// How many unresolved issues block it itself.
    pub open_blockers: u32,
}

/// The standing of every node, from nothing, in time linear in nodes and edges.
///
/// `resolved` and `let go` define each other, so they are the least fixpoint: nothing counts as
/// resolved unless something that really ended makes it so.
pub fn all(graph: &Graph) -> Vec<Standing> {
    let mut found = Fixpoint { graph, of: vec![Standing::default(); graph.len()] };
    found.count_children();
    found.settle();
    found.count_blockers();
    found.of
}

struct Fixpoint<'g> {
    graph: &'g Graph,
    of: Vec<Standing>,
}

impl Fixpoint<'_> {
    fn count_children(&mut self) {
        for ix in self.graph.indices() {
            if let Some(parent) = self.graph.parent(ix) {
                let parent = &mut self.of[parent];
                parent.children += 1;
                parent.unresolved_children += 1;
                parent.open_children += u32::from(!self.graph.issue(ix).state.closed());
            }
        }
    }

    fn settle(&mut self) {
        let mut resolved: Vec<Ix> = Vec::new();
        let mut gone: Vec<Ix> = Vec::new();
        for ix in self.graph.indices() {
            match self.graph.issue(ix).state.outcome() {
                Some(Outcome::Success) => resolved.push(ix),
                Some(Outcome::Skipped) => gone.push(ix),
                _ => {}
            }
        }
        loop {
            if let Some(ix) = gone.pop() {
                if !std::mem::replace(&mut self.of[ix].let_go, true) {
                    gone.extend_from_slice(self.graph.children(ix));
                    resolved.push(ix);
                }
            } else if let Some(ix) = resolved.pop() {
                if !std::mem::replace(&mut self.of[ix].resolved, true) {
                    self.spread(ix, &mut resolved, &mut gone);
                }
            } else {
                return;
            }
        }
    }

    /// What follows from n having been resolved.
    fn spread(&mut self, ix: Ix, resolved: &mut Vec<Ix>, gone: &mut Vec<Ix>) {
        let graph = self.graph;
        gone.extend(graph.supersedes(ix).iter().filter(|&&old| graph.issue(old).state.closed()));
        if let Some(parent) = graph.parent(ix) {
            self.of[parent].unresolved_children -= 1;
            let expanded = graph.issue(parent).state.outcome() == Some(Outcome::Expanded);
            if expanded && self.of[parent].unresolved_children == 0 {
                resolved.push(parent);
            }
        }
    }

    fn count_blockers(&mut self) {
        for ix in self.graph.indices() {
            let open = self.graph.blockers(ix).iter().filter(|&&blocker| !self.of[blocker].resolved);
            self.of[ix].open_blockers = u32::try_from(open.count()).unwrap_or(u32::MAX);
        }
    }
}
