//! The dependencies of new lines: which become parents and edges, and which annotations.
//!
//! In every entry, `issue_id` depends on `depends_on_id`. That holds for each type alike, as real
//! exports show: for `parent-child` (and `parent_child`) the target is the parent; for `blocks` the
//! target is the blocker, and it was closed first where both are closed; `blocked-by` is the same
//! statement from the other side (*this* is blocked by the target), not the reverse edge. For
//! `supersedes` exports disagree on who takes whose place, so it orders nothing here. Every type but
//! these is an annotation `dependency:<type>`.
//!
//! An entry that cannot be kept as it was meant becomes an annotation of one of these kinds, and is
//! reported: `dangling_dependency` (no such issue), `foreign_dependency` (about another issue than
//! its line's), `further_parent`, `duplicate_dependency`, `ancestor_dependency` (an edge between a
//! node and itself or its own ancestor), `cyclic_dependency`, and, where the target is in the store
//! and may not change by import, `refused_parent` and `round_dependency`.

use std::collections::HashSet;

use super::circles::{self, Blocks};
use super::known::{self, Link};
use super::line::{BeadsDependency, BeadsIssue};
use crate::model::graph::{EdgeKind, Graph, Ix};
use crate::model::issue::{Issue, Outcome};
use crate::model::snapshot::Snapshot;

/// What becomes of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The issue's parent.
    Parent,
    /// An edge from this blocker.
    Edge(Ix),
    /// An annotation, for want of an order in it.
    Remark,
    /// An annotation of this kind, because it cannot be what it was meant to be.
    Kept(&'static str),
}

/// The links of all new lines.
#[derive(Debug)]
pub struct Links {
    /// The stored graph with the new issues, their parents and all edges that were tried.
    pub graph: Graph,
    /// The index of the first new issue; the others follow in file order.
    pub first: Ix,
    /// The fate of every entry of every new line.
    pub fates: Vec<Vec<Fate>>,
}

impl Links {
    /// Finds the links of new lines, given the issues they become, in the same order.
    pub fn of(snapshot: &Snapshot, lines: &[&BeadsIssue], issues: &[Issue]) -> Self {
        let mut graph = snapshot.graph().draft();
        let first = graph.len();
        for issue in issues {
            graph.insert(issue.clone());
        }
        let mut links = Links { graph, first, fates: Vec::new() };
        links.choose_parents(snapshot, lines);
        links.break_parent_circles(lines);
        links.choose_edges(snapshot, lines);
        links.break_waiting_circles();
        links
    }

    /// The parent of the n-th new issue.
    pub fn parent(&self, n: usize) -> Option<Ix> {
        self.graph.parent(self.first + n)
    }

    /// The parent of the n-th new issue, where that is new, too.
    fn new_parent(&self, n: usize) -> Option<usize> {
        self.parent(n).and_then(|parent| parent.checked_sub(self.first))
    }

    fn target(&self, dependency: &BeadsDependency) -> Option<Ix> {
        dependency.depends_on_id.parse().ok().and_then(|id| self.graph.ix(&id))
    }

    fn choose_parents(&mut self, snapshot: &Snapshot, lines: &[&BeadsIssue]) {
        for (n, line) in lines.iter().enumerate() {
            let child = self.first + n;
            let mut parent: Option<Ix> = None;
            let mut fates = Vec::with_capacity(line.dependencies.len());
            for entry in &line.dependencies {
                let fate = match (known::link(&entry.kind), self.target(entry)) {
                    _ if entry.issue_id != line.id.as_str() => Fate::Kept("foreign_dependency"),
                    (_, None) => Fate::Kept("dangling_dependency"),
                    (Link::Remark | Link::Unknown, _) => Fate::Remark,
                    (Link::Blocker, Some(target)) => Fate::Edge(target),
                    (Link::Parent, Some(target)) if target == child => Fate::Kept("ancestor_dependency"),
                    (Link::Parent, target) if target == parent => Fate::Kept("duplicate_dependency"),
                    (Link::Parent, _) if parent.is_some() => Fate::Kept("further_parent"),
                    (Link::Parent, Some(target)) if self.closed_to(snapshot, target, child) => {
                        Fate::Kept("refused_parent")
                    }
                    (Link::Parent, target) => {
                        parent = target;
                        Fate::Parent
                    }
                };
                fates.push(fate);
            }
            self.fates.push(fates);
            self.graph.set_parent(child, parent);
        }
    }

    /// Whether a stored issue may not get this child: a question, a review, what a verdict was given
    /// on, what was let go, or what is resolved as expanded and would be open again.
    fn closed_to(&self, snapshot: &Snapshot, parent: Ix, child: Ix) -> bool {
        if parent >= self.first {
            return false;
        }
        let graph = snapshot.graph();
        let judged = |ix: Ix| snapshot.attempt_round(graph.id(ix)).is_some_and(|round| round.decided());
        let relation = snapshot.relation();
        let expanded = graph.issue(parent).state.outcome() == Some(Outcome::Expanded);
        let reopened = expanded && relation.resolved(parent) && !self.graph.issue(child).state.closed();
        graph.issue(parent).tags.ask()
            || snapshot.review_round(graph.id(parent)).is_some()
            || graph.self_and_ancestors(parent).any(judged)
            || relation.let_go(parent)
            || reopened
    }

    /// Of every circle of parents, the issue that comes last in the file loses its own.
    fn break_parent_circles(&mut self, lines: &[&BeadsIssue]) {
        let mut walked_in: Vec<Option<usize>> = vec![None; lines.len()];
        for start in 0..lines.len() {
            let mut at = Some(start);
            while let Some(n) = at.filter(|&n| walked_in[n].is_none()) {
                walked_in[n] = Some(start);
                at = self.new_parent(n);
            }
            if let Some(n) = at.filter(|&n| walked_in[n] == Some(start)) {
                self.break_parent_circle(n);
            }
        }
    }

    fn break_parent_circle(&mut self, at: usize) {
        let up = |n: &usize| self.new_parent(*n);
        let others = std::iter::successors(up(&at), up).take_while(|&n| n != at);
        let last = others.max().map_or(at, |other| other.max(at));
        self.graph.set_parent(self.first + last, None);
        for fate in self.fates[last].iter_mut().filter(|fate| **fate == Fate::Parent) {
            *fate = Fate::Kept("cyclic_dependency");
        }
    }

    fn choose_edges(&mut self, snapshot: &Snapshot, lines: &[&BeadsIssue]) {
        let mut seen: HashSet<Blocks> = HashSet::new();
        for n in 0..lines.len() {
            let blocked = self.first + n;
            for fate in &mut self.fates[n] {
                let Fate::Edge(blocker) = *fate else { continue };
                let graph = &self.graph;
                let in_round = blocker < self.first && snapshot.round_of(graph.id(blocker)).is_some();
                if graph.at_or_below(blocker, blocked) || graph.at_or_below(blocked, blocker) {
                    *fate = Fate::Kept("ancestor_dependency");
                } else if in_round {
                    *fate = Fate::Kept("round_dependency");
                } else if !seen.insert((blocker, blocked)) {
                    *fate = Fate::Kept("duplicate_dependency");
                } else {
                    self.graph.add_edge(blocker, EdgeKind::Blocks, blocked);
                }
            }
        }
    }

    fn break_waiting_circles(&mut self) {
        let first = self.first;
        let tried = |(n, fates): (usize, &Vec<Fate>)| -> Vec<Blocks> {
            let blockers = fates.iter().filter_map(|fate| match fate {
                Fate::Edge(blocker) => Some((*blocker, first + n)),
                _ => None,
            });
            blockers.collect()
        };
        let tried: Vec<Blocks> = self.fates.iter().enumerate().flat_map(tried).collect();
        let cut = circles::closing(&self.graph, &tried);
        for (n, fates) in self.fates.iter_mut().enumerate() {
            for fate in fates {
                match *fate {
                    Fate::Edge(blocker) if cut.contains(&(blocker, first + n)) => {
                        *fate = Fate::Kept("cyclic_dependency");
                    }
                    _ => {}
                }
            }
        }
    }
}
