//! Keeps `resolved` and `let go` right when something changes, in proportion to what that changes.
//!
//! Both are a least fixpoint. What a change may have taken the ground from is first taken back, with
//! everything that rested on it; then whatever still has a ground is found again, and whatever has one
//! now. So nothing stays resolved because of itself.

use std::collections::BTreeSet;

use super::{Graph, Ix};
use crate::model::issue::Outcome;

impl Graph {
    /// Settles the nodes whose own ground changed. Those that may have lost theirs are `lowered`.
    pub(super) fn settle(&mut self, changed: &[Ix], lowered: &[Ix]) {
        if self.deferred {
            return;
        }
        let taken_back = self.take_back(lowered);
        let mut open: Vec<Ix> = taken_back.iter().chain(changed).copied().collect();
        while let Some(ix) = open.pop() {
            let before = *self.standing(ix);
            if !before.let_go && self.has_been_let_go(ix) {
                self.held(ix).standing.let_go = true;
                self.shifted.insert(ix);
                self.touch(ix);
                self.stir(ix);
                open.extend_from_slice(self.children(ix));
            }
            if !before.resolved && self.is_settled(ix) {
                self.set_resolved(ix, true);
                open.extend(self.parent(ix));
                open.extend_from_slice(self.supersedes(ix));
            }
        }
        let lost = taken_back.into_iter().filter(|&ix| !self.standing(ix).resolved);
        let lost: Vec<Ix> = lost.collect();
        self.lost.extend(lost);
    }

    /// Takes back what may not hold any more, and what rests on it. Gives the nodes it was taken from.
    fn take_back(&mut self, lowered: &[Ix]) -> Vec<Ix> {
        let mut taken = Vec::new();
        let mut open = lowered.to_vec();
        while let Some(ix) = open.pop() {
            let before = *self.standing(ix);
            if !before.resolved && !before.let_go {
                continue;
            }
            taken.push(ix);
            if before.let_go {
                self.held(ix).standing.let_go = false;
                self.shifted.insert(ix);
                self.touch(ix);
                self.stir(ix);
                let gone = self.children(ix).iter().copied().filter(|&child| self.standing(child).let_go);
                open.extend(gone);
            }
            if before.resolved {
                self.set_resolved(ix, false);
                let parent = self.parent(ix).filter(|&up| self.standing(up).resolved);
                open.extend(parent);
                let replaced = self.supersedes(ix).iter().copied();
                open.extend(replaced.filter(|&old| self.standing(old).let_go));
            }
        }
        taken
    }

    fn has_been_let_go(&self, ix: Ix) -> bool {
        if self.parent(ix).is_some_and(|up| self.standing(up).let_go) {
            return true;
        }
        match self.issue(ix).state.outcome() {
            None => false,
            Some(Outcome::Skipped) => true,
            Some(_) => self.superseded_by(ix).iter().any(|&new| self.standing(new).resolved),
        }
    }

    fn is_settled(&self, ix: Ix) -> bool {
        let standing = self.standing(ix);
        standing.let_go
            || match self.issue(ix).state.outcome() {
                Some(Outcome::Success) => true,
                Some(Outcome::Expanded) => standing.children > 0 && standing.unresolved_children == 0,
                _ => false,
            }
    }

    fn set_resolved(&mut self, ix: Ix, resolved: bool) {
        self.held(ix).standing.resolved = resolved;
        self.shifted.insert(ix);
        self.touch(ix);
        if let Some(parent) = self.parent(ix) {
            let open = &mut self.held(parent).standing.unresolved_children;
            *open = if resolved { open.saturating_sub(1) } else { *open + 1 };
            self.touch(parent);
        }
        for blocked in self.blocks(ix).to_vec() {
            self.count_blocker(blocked, !resolved);
        }
    }

    /// One unresolved blocker more or less. Whether that sets free or holds back what lies below is
    /// seen when somebody asks.
    pub(super) fn count_blocker(&mut self, blocked: Ix, more: bool) {
        let count = &mut self.held(blocked).standing.open_blockers;
        let before = *count;
        *count = if more { before + 1 } else { before.saturating_sub(1) };
        let crossed = (before == 0) != (*count == 0);
        self.touch(blocked);
        if crossed {
            self.stir(blocked);
        }
    }

    pub(super) fn touch(&self, ix: Ix) {
        if self.tracked {
            self.touched.borrow_mut().insert(ix);
        }
    }

    /// Says that what is not settled below a node may be on other lists than before.
    pub(super) fn stir(&self, ix: Ix) {
        if self.tracked && self.standing(ix).children > 0 {
            self.stirred.borrow_mut().push(ix);
        }
    }

    /// A node that moved takes all below it to another root, and what that blocks may be blocked from
    /// another tree.
    pub(super) fn touch_moved(&self, ix: Ix) {
        if !self.tracked {
            return;
        }
        for below in self.subtree(ix) {
            self.touch(below);
            self.blocks(below).iter().for_each(|&blocked| self.touch(blocked));
        }
    }

    /// Says that a record beside this issue changed.
    pub fn touch_id(&self, id: &super::IssueId) {
        if let Some(ix) = self.ix(id) {
            self.touch(ix);
        }
    }

    /// Says that whatever is not settled at or below this issue may be on other lists than before.
    pub fn touch_unsettled(&self, id: &super::IssueId) {
        let top = self.ix(id).filter(|_| self.tracked);
        let mut next: Vec<Ix> = top.into_iter().collect();
        while let Some(ix) = next.pop() {
            self.touch(ix);
            if self.standing(ix).children == 0 {
                continue;
            }
            let unsettled = |&child: &Ix| {
                let standing = self.standing(child);
                !self.issue(child).state.closed() || !standing.resolved || standing.open_children > 0
            };
            next.extend(self.children(ix).iter().copied().filter(unsettled));
        }
    }

    /// Every node whose derived values may differ from those of the store.
    pub fn touched(&self) -> BTreeSet<Ix> {
        self.touch_stirred();
        self.touched.borrow().clone()
    }

    /// Those of them that lie at or below one; everything there, where no store is to be told.
    pub fn touched_below(&self, top: Ix) -> Vec<Ix> {
        if !self.tracked {
            return self.subtree(top);
        }
        let mut touched: Vec<Ix> = self.touched().into_iter().collect();
        touched.retain(|&ix| self.at_or_below(ix, top));
        touched
    }

    /// Whether the derived values of a node may differ from those of the store.
    pub fn is_touched(&self, ix: Ix) -> bool {
        self.touch_stirred();
        self.touched.borrow().contains(&ix)
    }

    /// Walks down from the stirred nodes to what is not settled below them.
    fn touch_stirred(&self) {
        let mut next = self.stirred.take();
        let mut seen = BTreeSet::new();
        while let Some(ix) = next.pop() {
            if !seen.insert(ix) {
                continue;
            }
            for &child in self.children(ix) {
                let standing = self.standing(child);
                // An expanded scope is closed, and goes on as long as it is not resolved.
                let unsettled = !self.issue(child).state.closed() || !standing.resolved;
                if unsettled {
                    self.touch(child);
                }
                if standing.children > 0 && (unsettled || standing.open_children > 0) {
                    next.push(child);
                }
            }
        }
    }

    /// The nodes that were resolved and are not any more, since this was last asked.
    pub fn take_lost(&mut self) -> Vec<Ix> {
        std::mem::take(&mut self.lost)
    }

    /// The nodes that came to be resolved or let go, or ceased to be, since this was last asked.
    pub fn take_shifted(&mut self) -> BTreeSet<Ix> {
        std::mem::take(&mut self.shifted)
    }

    /// Leaves standings as they are until [`Graph::settle_all`]: for whoever puts a whole graph together.
    pub fn defer(&mut self) {
        self.deferred = true;
    }

    /// Sets every standing to what it is computed to be from nothing.
    pub fn settle_all(&mut self) {
        self.deferred = false;
        let found = crate::model::standing::all(self);
        for (ix, standing) in found.into_iter().enumerate() {
            self.held(ix).standing = standing;
        }
    }
}
