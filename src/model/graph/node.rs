//! One node, and the lists of its neighbours, each of which may not be known yet.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::Ix;
use crate::model::issue::Issue;
use crate::model::source::Derived;
use crate::model::standing::Standing;

/// What a graph holds of an issue.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub issue: Issue,
    pub parent: Option<Ix>,
    pub standing: Standing,
    /// What the store keeps of it, where it came from one.
    pub stored: Option<Derived>,
    pub children: Neighbours,
    pub blockers: Neighbours,
    pub blocks: Neighbours,
    pub superseded_by: Neighbours,
    pub supersedes: Neighbours,
}

impl Held {
    /// A node all of whose neighbours are known: it has none.
    pub fn new(issue: Issue) -> Self {
        Held {
            issue,
            parent: None,
            standing: Standing::default(),
            stored: None,
            children: Neighbours::none(),
            blockers: Neighbours::none(),
            blocks: Neighbours::none(),
            superseded_by: Neighbours::none(),
            supersedes: Neighbours::none(),
        }
    }

    /// A node whose neighbours are to be asked for.
    pub fn loaded(issue: Issue, parent: Option<Ix>, derived: Derived) -> Self {
        Held {
            issue,
            parent,
            standing: derived.standing,
            stored: Some(derived),
            children: Neighbours::default(),
            blockers: Neighbours::default(),
            blocks: Neighbours::default(),
            superseded_by: Neighbours::default(),
            supersedes: Neighbours::default(),
        }
    }
}

/// Neighbours of one kind. What was added or taken out before they were asked for is kept until then.
#[derive(Debug, Clone, Default)]
pub(super) struct Neighbours {
    known: OnceCell<Vec<Ix>>,
    added: Vec<Ix>,
    removed: HashSet<Ix>,
}

impl Neighbours {
    fn none() -> Self {
        Neighbours { known: OnceCell::from(Vec::new()), ..Neighbours::default() }
    }

    /// All of them; `load` gives those of the store.
    pub fn all(&self, load: impl FnOnce() -> Vec<Ix>) -> &[Ix] {
        self.known.get_or_init(|| {
            let mut all = load();
            all.retain(|ix| !self.removed.contains(ix) && !self.added.contains(ix));
            all.extend_from_slice(&self.added);
            all
        })
    }

    /// Whether one is there, where that can be said without asking the store.
    pub fn has(&self, ix: Ix) -> Option<bool> {
        if let Some(known) = self.known.get() {
            return Some(known.contains(&ix));
        }
        (self.added.contains(&ix)).then_some(true).or_else(|| self.removed.contains(&ix).then_some(false))
    }

    pub fn add(&mut self, ix: Ix) {
        match self.known.get_mut() {
            Some(known) => known.push(ix),
            None => self.added.push(ix),
        }
    }

    pub fn remove(&mut self, ix: Ix) {
        match self.known.get_mut() {
            Some(known) => known.retain(|&x| x != ix),
            None => {
                self.added.retain(|&x| x != ix);
                self.removed.insert(ix);
            }
        }
    }
}

/// An issue and its neighbours, to be compared with another graph's.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The issue itself.
    pub issue: Issue,
    /// Its parent.
    pub parent: Option<Ix>,
    /// Its children, in the order they came.
    pub children: Vec<Ix>,
    /// What blocks it.
    pub blockers: Vec<Ix>,
    /// What it blocks.
    pub blocks: Vec<Ix>,
    /// What took its place.
    pub superseded_by: Vec<Ix>,
    /// What it took the place of.
    pub supersedes: Vec<Ix>,
}
