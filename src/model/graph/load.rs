//! Neighbours and nodes, from memory or from the source.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::node::{Held, Neighbours};
use super::{Edge, EdgeKind, Graph, Ix};
use crate::model::id::IssueId;
use crate::model::source::{Derived, End, Source, Stored};

impl Graph {
    /// An empty graph that loads from a source what it is asked for.
    pub fn from_source(source: Rc<dyn Source>) -> Graph {
        Graph { source: Some(source), tracked: true, ..Graph::default() }
    }

    /// The source, where the graph is not whole.
    pub fn source(&self) -> Option<&dyn Source> {
        self.source.as_deref()
    }

    /// Only a whole graph can be walked from end to end.
    pub(super) fn whole(&self, what: &str) {
        if let Some(source) = &self.source {
            source.wants_whole(what);
        }
    }

    /// The index of an id.
    pub fn ix(&self, id: &IssueId) -> Option<Ix> {
        if let Some(&known) = self.index.borrow().get(id) {
            return known;
        }
        let found = self.source.as_ref().and_then(|source| source.issue(id));
        match found {
            Some(stored) => Some(self.load(stored)),
            None => {
                if self.source.is_some() {
                    self.index.borrow_mut().insert(id.clone(), None);
                }
                None
            }
        }
    }

    /// Takes a node of the source in, and its ancestors before it.
    pub fn load(&self, stored: Stored) -> Ix {
        let mut waiting = vec![stored];
        loop {
            let Some(lowest) = waiting.last() else { return 0 };
            let above = match &lowest.parent {
                Some(parent) => self.above(parent, lowest.derived.depth),
                None => Above::None,
            };
            let parent = match above {
                Above::Load(next) => {
                    waiting.push(*next);
                    continue;
                }
                Above::Known(ix) => Some(ix),
                Above::None => None,
            };
            let Some(stored) = waiting.pop() else { return 0 };
            let ix = self.take_in(stored.issue, parent, stored.derived);
            if waiting.is_empty() {
                return ix;
            }
        }
    }

    /// Takes many nodes in, and their ancestors: one question for each level, not for each node.
    pub fn load_all(&self, ids: &[IssueId]) {
        let Some(source) = &self.source else { return };
        let mut asked: HashSet<IssueId> = HashSet::new();
        let mut unknown = |id: &IssueId| !self.index.borrow().contains_key(id) && asked.insert(id.clone());
        let mut wanted: Vec<IssueId> = ids.iter().filter(|id| unknown(id)).cloned().collect();
        let mut found: Vec<Stored> = Vec::new();
        while !wanted.is_empty() {
            let level = source.issues(&wanted);
            let above = level.iter().filter_map(|stored| stored.parent.as_ref());
            wanted = above.filter(|id| unknown(id)).cloned().collect();
            found.extend(level);
        }
        found.sort_by_key(|stored| stored.derived.depth);
        found.into_iter().for_each(|stored| {
            self.load(stored);
        });
    }

    /// The parent of a node that lies so deep. Depths must go down by one with every step up, so that
    /// even in a damaged store the walk ends.
    fn above(&self, parent: &IssueId, depth: u32) -> Above {
        if let Some(&Some(ix)) = self.index.borrow().get(parent) {
            return Above::Known(ix);
        }
        let Some(source) = &self.source else { return Above::None };
        match source.issue(parent) {
            Some(stored) if stored.derived.depth + 1 == depth => Above::Load(Box::new(stored)),
            Some(_) => {
                source.damaged(&format!("{parent} is not one level above its child"));
                Above::None
            }
            None => {
                source.damaged(&format!("{parent} is named as a parent, and there is no such issue"));
                Above::None
            }
        }
    }

    fn take_in(&self, issue: crate::model::issue::Issue, parent: Option<Ix>, derived: Derived) -> Ix {
        if let Some(&Some(ix)) = self.index.borrow().get(&issue.id) {
            return ix;
        }
        let ix = self.nodes.len();
        self.index.borrow_mut().insert(issue.id.clone(), Some(ix));
        self.nodes.push(Box::new(Held::loaded(issue, parent, derived)));
        ix
    }

    /// The children of a node, in the order they came.
    pub fn children(&self, ix: Ix) -> &[Ix] {
        self.nodes[ix].children.all(|| {
            // The list is only asked for where there is something in it.
            let some = self.stored(ix).is_some_and(|stored| stored.standing.children > 0);
            let stored = self.source.as_ref().filter(|_| some).map(|source| source.children(self.id(ix)));
            stored.unwrap_or_default().into_iter().map(|stored| self.load(stored)).collect()
        })
    }

    /// What blocks a node.
    pub fn blockers(&self, ix: Ix) -> &[Ix] {
        self.ends(ix, EdgeKind::Blocks, End::To)
    }

    /// What a node blocks.
    pub fn blocks(&self, ix: Ix) -> &[Ix] {
        self.ends(ix, EdgeKind::Blocks, End::From)
    }

    /// What took a node's place.
    pub fn superseded_by(&self, ix: Ix) -> &[Ix] {
        self.ends(ix, EdgeKind::Supersedes, End::To)
    }

    /// What a node took the place of.
    pub fn supersedes(&self, ix: Ix) -> &[Ix] {
        self.ends(ix, EdgeKind::Supersedes, End::From)
    }

    /// Finds out what many nodes block, supersede and are superseded by: a few questions, not some for
    /// each node.
    pub fn relate(&self, nodes: &[Ix]) {
        let Some(source) = &self.source else { return };
        let kinds = [
            (EdgeKind::Blocks, End::From),
            (EdgeKind::Supersedes, End::From),
            (EdgeKind::Supersedes, End::To),
        ];
        let ids: Vec<IssueId> = nodes.iter().map(|&ix| self.id(ix).clone()).collect();
        let found = kinds.map(|(kind, end)| (kind, end, source.neighbours_of_each(&ids, kind, end)));
        let others = found.iter().flat_map(|(.., pairs)| pairs.iter().map(|(_, other)| other.clone()));
        self.load_all(&others.collect::<Vec<_>>());
        for (kind, end, pairs) in found {
            let mut of: HashMap<IssueId, Vec<Ix>> = HashMap::new();
            for (id, other) in pairs {
                of.entry(id).or_default().extend(self.ix(&other));
            }
            for &ix in nodes {
                self.neighbours(ix, kind, end).all(|| of.remove(self.id(ix)).unwrap_or_default());
            }
        }
    }

    fn neighbours(&self, ix: Ix, kind: EdgeKind, end: End) -> &Neighbours {
        let node = &self.nodes[ix];
        match (kind, end) {
            (EdgeKind::Blocks, End::From) => &node.blocks,
            (EdgeKind::Blocks, End::To) => &node.blockers,
            (EdgeKind::Supersedes, End::From) => &node.supersedes,
            (EdgeKind::Supersedes, End::To) => &node.superseded_by,
        }
    }

    fn ends(&self, ix: Ix, kind: EdgeKind, end: End) -> &[Ix] {
        self.neighbours(ix, kind, end).all(|| {
            let Some(source) = &self.source else { return Vec::new() };
            let ids = source.neighbours(self.id(ix), kind, end);
            ids.iter().filter_map(|id| self.ix(id)).collect()
        })
    }

    /// Whether an edge is there.
    pub fn has_edge(&self, from: Ix, kind: EdgeKind, to: Ix) -> bool {
        let (out, into) = match kind {
            EdgeKind::Blocks => (&self.nodes[from].blocks, &self.nodes[to].blockers),
            EdgeKind::Supersedes => (&self.nodes[from].supersedes, &self.nodes[to].superseded_by),
        };
        out.has(to).or_else(|| into.has(from)).unwrap_or_else(|| {
            let edge = Edge { from: self.id(from).clone(), kind, to: self.id(to).clone() };
            self.source.as_ref().is_some_and(|source| source.has_edge(&edge))
        })
    }

    /// The issues whose id starts with a text, in the order of their ids, and no more than so many.
    pub fn starting_with(&self, prefix: &str, limit: usize) -> Vec<IssueId> {
        let known = self.index.borrow();
        let here = known.iter().filter(|(id, ix)| ix.is_some() && id.as_str().starts_with(prefix));
        let mut found: Vec<IssueId> = here.map(|(id, _)| id.clone()).collect();
        drop(known);
        if let Some(source) = &self.source {
            found.extend(source.starting_with(prefix, limit));
        }
        found.sort();
        found.dedup();
        found.truncate(limit);
        found
    }
}

enum Above {
    None,
    Known(Ix),
    Load(Box<Stored>),
}
