//! How a graph changes. Each change leaves every standing right.

use super::node::Held;
use super::{EdgeKind, Graph, Ix};
use crate::model::issue::Issue;
use crate::model::source::Derived;

impl Graph {
    /// Adds an issue without neighbours. The id must be new.
    pub fn insert(&mut self, issue: Issue) -> Ix {
        let ix = self.nodes.len();
        let previous = self.index.borrow_mut().insert(issue.id.clone(), Some(ix));
        debug_assert!(previous.flatten().is_none(), "an id is never given twice");
        self.nodes.push(Box::new(Held::new(issue)));
        self.touch(ix);
        self.settle(&[ix], &[]);
        ix
    }

    /// Changes the issue at an index.
    pub fn edit<T>(&mut self, ix: Ix, edit: impl FnOnce(&mut Issue) -> T) -> T {
        let before = self.issue(ix).state.outcome();
        let was_closed = self.issue(ix).state.closed();
        let done = edit(&mut self.nodes.as_mut()[ix].issue);
        self.touch(ix);
        let (outcome, closed) = (self.issue(ix).state.outcome(), self.issue(ix).state.closed());
        if closed != was_closed
            && let Some(parent) = self.parent(ix)
        {
            let open = &mut self.held(parent).standing.open_children;
            *open = if closed { open.saturating_sub(1) } else { *open + 1 };
            self.touch(parent);
        }
        if outcome != before {
            self.stir(ix);
            let lowered: &[Ix] = if before.is_some() { &[ix] } else { &[] };
            self.settle(&[ix], lowered);
        }
        done
    }

    /// Gives a node a parent, or none.
    pub fn set_parent(&mut self, child: Ix, parent: Option<Ix>) {
        let old = self.parent(child);
        let (open, resolved) = (!self.issue(child).state.closed(), self.standing(child).resolved);
        if let Some(old) = old {
            self.held(old).children.remove(child);
            self.count_child(old, false, open, resolved);
        }
        self.held(child).parent = parent;
        if let Some(new) = parent {
            self.held(new).children.add(child);
            self.count_child(new, true, open, resolved);
        }
        self.touch_moved(child);
        let seeds: Vec<Ix> = [Some(child), old, parent].into_iter().flatten().collect();
        let emptied = old.filter(|&old| self.standing(old).children == 0);
        let lowered: Vec<Ix> = [old.and(Some(child)), emptied, parent].into_iter().flatten().collect();
        self.settle(&seeds, &lowered);
    }

    fn count_child(&mut self, parent: Ix, more: bool, open: bool, resolved: bool) {
        let standing = &mut self.held(parent).standing;
        let count = |n: &mut u32, by: bool| {
            let by = u32::from(by);
            *n = if more { *n + by } else { n.saturating_sub(by) };
        };
        count(&mut standing.children, true);
        count(&mut standing.open_children, open);
        count(&mut standing.unresolved_children, !resolved);
        self.touch(parent);
    }

    /// Adds an edge that is not there yet.
    pub fn add_edge(&mut self, from: Ix, kind: EdgeKind, to: Ix) {
        match kind {
            EdgeKind::Blocks => {
                self.held(from).blocks.add(to);
                self.held(to).blockers.add(from);
                if !self.standing(from).resolved {
                    self.count_blocker(to, true);
                }
            }
            EdgeKind::Supersedes => {
                self.held(from).supersedes.add(to);
                self.held(to).superseded_by.add(from);
                self.touch(to);
                self.settle(&[to], &[]);
            }
        }
    }

    /// Takes an edge out.
    pub fn remove_edge(&mut self, from: Ix, kind: EdgeKind, to: Ix) {
        match kind {
            EdgeKind::Blocks => {
                self.held(from).blocks.remove(to);
                self.held(to).blockers.remove(from);
                if !self.standing(from).resolved {
                    self.count_blocker(to, false);
                }
            }
            EdgeKind::Supersedes => {
                self.held(from).supersedes.remove(to);
                self.held(to).superseded_by.remove(from);
                self.touch(to);
                self.settle(&[to], &[to]);
            }
        }
    }

    /// A copy to try things on: no store is told of it, and it may have circles of parents.
    pub fn draft(&self) -> Graph {
        Graph { tracked: false, ..self.clone() }
    }

    /// From here on the graph knows what a store has to be told; `stored` is what the store keeps of
    /// each node now, by index.
    pub fn track(&mut self, stored: Vec<Derived>) {
        for (ix, derived) in stored.into_iter().enumerate() {
            self.held(ix).stored = Some(derived);
        }
        self.tracked = true;
        self.touched.borrow_mut().clear();
        self.shifted.clear();
        self.stirred.borrow_mut().clear();
    }

    pub(super) fn held(&mut self, ix: Ix) -> &mut Held {
        &mut self.nodes.as_mut()[ix]
    }
}
