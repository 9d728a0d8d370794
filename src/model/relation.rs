//! Section 3's one relation, written once: `resolved`, `let go`, `blocked`, `finished`, `final`.
//! Everything that asks "may this go on?" asks here.
//!
//! `resolved` and `let go` are kept with every node ([`super::standing`]); the rest comes down from the
//! ancestors and is looked up on the way.

use super::above::Above;
use super::graph::{Graph, Ix};
use super::issue::Pause;

/// What holds of the nodes of a graph.
#[derive(Debug, Clone, Copy)]
pub struct Relation<'g> {
    graph: &'g Graph,
}

impl<'g> Relation<'g> {
    /// The relation of a graph.
    pub fn of(graph: &'g Graph) -> Self {
        Relation { graph }
    }

    /// n is closed and its own outcome settles it, or n or an ancestor has been let go.
    pub fn resolved(&self, ix: Ix) -> bool {
        self.graph.standing(ix).resolved
    }

    /// n or an ancestor is closed and was skipped, or what supersedes it is resolved.
    pub fn let_go(&self, ix: Ix) -> bool {
        self.graph.standing(ix).let_go
    }

    /// Something unresolved blocks n or an ancestor of n.
    pub fn blocked(&self, ix: Ix) -> bool {
        self.graph.self_and_ancestors(ix).any(|at| self.graph.standing(at).open_blockers > 0)
    }

    /// n or an ancestor of n is paused: nothing starts there, and what runs may finish.
    pub fn paused(&self, ix: Ix) -> bool {
        self.pauses(ix).next().is_some()
    }

    /// The paused issues at or above n, nearest first.
    pub fn pauses(&self, ix: Ix) -> impl Iterator<Item = (Ix, &'g Pause)> + use<'g> {
        let graph = self.graph;
        graph.self_and_ancestors(ix).filter_map(move |at| Some((at, graph.issue(at).pause.as_ref()?)))
    }

    /// An ancestor is closed with anything but `expanded`, or let go: nothing starts below it. Work that
    /// was imported open below something closed goes on, and so does what is below that.
    pub fn finished(&self, ix: Ix) -> bool {
        Above::of(self.graph, ix).finished
    }

    /// What unresolved issues block n or an ancestor of n: (blocker, blocked).
    pub fn open_blockers(&self, ix: Ix) -> impl Iterator<Item = (Ix, Ix)> + use<'g> {
        let graph = self.graph;
        graph.self_and_ancestors(ix).flat_map(move |at| own_open_blockers(graph, at).map(move |b| (b, at)))
    }

    /// What unresolved issues block n itself.
    pub fn own_open_blockers(&self, ix: Ix) -> impl Iterator<Item = Ix> + use<'g> {
        own_open_blockers(self.graph, ix)
    }

    /// The children of n that are not resolved.
    pub fn unresolved_children(&self, ix: Ix) -> impl Iterator<Item = Ix> + use<'g> {
        let graph = self.graph;
        let some = graph.standing(ix).unresolved_children > 0;
        let children: &[Ix] = if some { graph.children(ix) } else { &[] };
        children.iter().copied().filter(move |&child| !graph.standing(child).resolved)
    }

    /// Everything at or below the root is closed, the root is resolved, and so is every node below
    /// that is not under one that was let go.
    pub fn is_final(&self, root: Ix) -> bool {
        let settled = |ix: Ix| self.graph.issue(ix).state.closed() && self.resolved(ix);
        settled(root) && self.graph.subtree(root).into_iter().all(settled)
    }
}

/// The list is only asked for where there is something in it.
fn own_open_blockers(graph: &Graph, ix: Ix) -> impl Iterator<Item = Ix> + use<'_> {
    let some = graph.standing(ix).open_blockers > 0;
    let blockers: &[Ix] = if some { graph.blockers(ix) } else { &[] };
    blockers.iter().copied().filter(|&blocker| !graph.standing(blocker).resolved)
}
