//! Section 3 of the protocol, written once: `resolved`, `let go`, `blocked`, `finished`, `final`.
//! Everything that asks "may this go on?" asks here.
//!
//! `resolved` and `let go` define each other, so they are computed together as the least fixpoint:
//! nothing counts as resolved unless something that really ended makes it so.

use super::graph::{Graph, Ix};
use super::issue::Outcome;
use super::tag::IMPORT_OPEN_BELOW_CLOSED;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Flags {
    resolved: bool,
    let_go: bool,
    blocked: bool,
    finished: bool,
}

/// What holds of every node of one graph. Valid until that graph changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relation {
    flags: Vec<Flags>,
}

impl Relation {
    /// Computes the relation of a graph, in time linear in its nodes and edges.
    pub fn of(graph: &Graph) -> Self {
        let mut relation = Relation { flags: vec![Flags::default(); graph.len()] };
        relation.settle(graph);
        relation.descend(graph);
        relation
    }

    /// n is closed and its own outcome settles it, or n or an ancestor has been let go.
    pub fn resolved(&self, ix: Ix) -> bool {
        self.flags[ix].resolved
    }

    /// n or an ancestor is closed and was skipped, or what supersedes it is resolved.
    pub fn let_go(&self, ix: Ix) -> bool {
        self.flags[ix].let_go
    }

    /// Something unresolved blocks n or an ancestor of n.
    pub fn blocked(&self, ix: Ix) -> bool {
        self.flags[ix].blocked
    }

    /// An ancestor is closed with anything but `expanded`, or let go: nothing starts below it.
    pub fn finished(&self, ix: Ix) -> bool {
        self.flags[ix].finished
    }

    /// What unresolved issues block n or an ancestor of n: (blocker, blocked).
    pub fn open_blockers<'g>(&'g self, graph: &'g Graph, ix: Ix) -> impl Iterator<Item = (Ix, Ix)> + use<'g> {
        graph.self_and_ancestors(ix).flat_map(move |at| {
            graph.node(at).blockers.iter().filter(|&&b| !self.resolved(b)).map(move |&b| (b, at))
        })
    }

    /// Everything at or below the root is closed, the root is resolved, and so is every node below
    /// that is not under one that was let go.
    pub fn is_final(&self, graph: &Graph, root: Ix) -> bool {
        graph.subtree(root).into_iter().all(|ix| graph.issue(ix).state.closed() && self.resolved(ix))
    }

    /// The least fixpoint of `resolved` and `let go`.
    fn settle(&mut self, graph: &Graph) {
        let mut waiting = vec![0_usize; graph.len()];
        let mut resolved: Vec<Ix> = Vec::new();
        let mut gone: Vec<Ix> = Vec::new();
        for ix in graph.indices() {
            match graph.issue(ix).state.outcome() {
                Some(Outcome::Success) => resolved.push(ix),
                Some(Outcome::Skipped) => gone.push(ix),
                Some(Outcome::Expanded) => waiting[ix] = graph.node(ix).children.len(),
                _ => {}
            }
        }
        loop {
            if let Some(ix) = gone.pop() {
                if !std::mem::replace(&mut self.flags[ix].let_go, true) {
                    gone.extend_from_slice(&graph.node(ix).children);
                    resolved.push(ix);
                }
            } else if let Some(ix) = resolved.pop() {
                if !std::mem::replace(&mut self.flags[ix].resolved, true) {
                    self.spread(graph, ix, &mut waiting, &mut resolved, &mut gone);
                }
            } else {
                return;
            }
        }
    }

    /// What follows from n having been resolved.
    fn spread(
        &self,
        graph: &Graph,
        ix: Ix,
        waiting: &mut [usize],
        resolved: &mut Vec<Ix>,
        gone: &mut Vec<Ix>,
    ) {
        let node = graph.node(ix);
        gone.extend(node.supersedes.iter().filter(|&&old| graph.issue(old).state.closed()));
        if let Some(parent) = node.parent
            && graph.issue(parent).state.outcome() == Some(Outcome::Expanded)
        {
            waiting[parent] -= 1;
            if waiting[parent] == 0 {
                resolved.push(parent);
            }
        }
    }

    /// `blocked` and `finished` come down from the parents.
    fn descend(&mut self, graph: &Graph) {
        let tops = graph.indices().filter(|&ix| graph.node(ix).parent.is_none());
        let mut next: Vec<Ix> = tops.collect();
        while let Some(ix) = next.pop() {
            let node = graph.node(ix);
            let above = node.parent.map(|p| (self.flags[p], graph.issue(p)));
            let inherited = above.is_some_and(|(flags, _)| flags.blocked);
            let below_end = above.is_some_and(|(flags, parent)| {
                let ended = parent.state.outcome().is_some_and(|o| o != Outcome::Expanded);
                ended || flags.finished
            });
            let below_gone = above.is_some_and(|(flags, _)| flags.let_go);
            self.flags[ix].blocked = inherited || node.blockers.iter().any(|&b| !self.flags[b].resolved);
            let workable = node.issue.tags.has(IMPORT_OPEN_BELOW_CLOSED);
            self.flags[ix].finished = below_gone || (below_end && !workable);
            next.extend_from_slice(&node.children);
        }
    }
}
