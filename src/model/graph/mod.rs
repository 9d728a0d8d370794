//! The issues and the edges between them. Nothing is ever taken out, so a node's index stays valid.
//! What may go on is asked of [`super::relation::Relation`].
//!
//! A graph is *whole*, or it has a source and loads what it is asked for: a node with all its ancestors,
//! a list of neighbours. Either way every node has its standing, kept up to date here.

mod change;
mod load;
mod node;
mod settle;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use elsa::FrozenVec;
use serde::{Deserialize, Serialize};

use super::id::IssueId;
use super::issue::{Issue, WordError};
use super::quote::beginning;
use super::source::{Derived, Source};
use super::standing::Standing;
use node::Held;

pub use node::Node;

/// The index of a node in its graph.
pub type Ix = usize;

/// What an edge means. Parents are a field of the child, not an edge of this kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// The first must be resolved before the second may start.
    Blocks,
    /// The first takes the place of the second.
    Supersedes,
}

impl EdgeKind {
    /// The edge's word.
    pub fn as_str(self) -> &'static str {
        match self {
            EdgeKind::Blocks => "blocks",
            EdgeKind::Supersedes => "supersedes",
        }
    }
}

impl FromStr for EdgeKind {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        match word {
            "blocks" => Ok(EdgeKind::Blocks),
            "supersedes" => Ok(EdgeKind::Supersedes),
            _ => Err(WordError { word: beginning(word), allowed: "blocks, supersedes" }),
        }
    }
}

/// `from` blocks or supersedes `to`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// The blocker, or the successor.
    pub from: IssueId,
    /// What the edge means.
    pub kind: EdgeKind,
    /// The blocked, or the superseded.
    pub to: IssueId,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.from, self.kind.as_str(), self.to)
    }
}

/// All nodes, found by id or index.
#[derive(Clone, Default)]
pub struct Graph {
    nodes: FrozenVec<Box<Held>>,
    index: RefCell<HashMap<IssueId, Option<Ix>>>,
    source: Option<Rc<dyn Source>>,
    /// Whether a store has to be told what becomes of derived values.
    tracked: bool,
    /// Nodes whose derived values may differ from those of the store.
    touched: RefCell<BTreeSet<Ix>>,
    /// Nodes below which that may be so for everything that is not closed.
    stirred: RefCell<Vec<Ix>>,
    /// Nodes that were resolved before a change and are not any more.
    lost: Vec<Ix>,
    /// Nodes that came to be resolved or let go, or ceased to be.
    shifted: BTreeSet<Ix>,
    /// Whether standings are left to [`Graph::settle_all`].
    deferred: bool,
}

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.whole("a count of all issues");
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The issue at an index of this graph.
    pub fn issue(&self, ix: Ix) -> &Issue {
        &self.nodes[ix].issue
    }

    /// The id at an index of this graph.
    pub fn id(&self, ix: Ix) -> &IssueId {
        &self.nodes[ix].issue.id
    }

    /// The issue with this id.
    pub fn get(&self, id: &IssueId) -> Option<&Issue> {
        self.ix(id).map(|ix| self.issue(ix))
    }

    /// What follows for a node from its fields and its neighbours.
    pub fn standing(&self, ix: Ix) -> &Standing {
        &self.nodes[ix].standing
    }

    /// What a store keeps beside an issue, as it was when the issue was loaded.
    pub fn stored(&self, ix: Ix) -> Option<&Derived> {
        self.nodes[ix].stored.as_ref()
    }

    /// The parent of a node.
    pub fn parent(&self, ix: Ix) -> Option<Ix> {
        self.nodes[ix].parent
    }

    /// An issue and all its neighbours, to be compared.
    pub fn node(&self, ix: Ix) -> Node {
        Node {
            issue: self.issue(ix).clone(),
            parent: self.parent(ix),
            children: self.children(ix).to_vec(),
            blockers: self.blockers(ix).to_vec(),
            blocks: self.blocks(ix).to_vec(),
            superseded_by: self.superseded_by(ix).to_vec(),
            supersedes: self.supersedes(ix).to_vec(),
        }
    }

    /// Every index of a whole graph, in order of arrival.
    pub fn indices(&self) -> std::ops::Range<Ix> {
        self.whole("a walk over all issues");
        0..self.nodes.len()
    }

    /// Every issue of a whole graph, in order of arrival.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.indices().map(|ix| self.issue(ix))
    }

    /// The proper ancestors of a node, nearest first.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        std::iter::successors(self.parent(ix), |&up| self.parent(up))
    }

    /// A node and its ancestors, nearest first.
    pub fn self_and_ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        std::iter::once(ix).chain(self.ancestors(ix))
    }

    /// The topmost ancestor of a node.
    pub fn root(&self, ix: Ix) -> Ix {
        self.ancestors(ix).last().unwrap_or(ix)
    }

    /// How many ancestors a node has.
    pub fn depth(&self, ix: Ix) -> u32 {
        self.ancestors(ix).fold(0, |depth, _| depth + 1)
    }

    /// Whether `upper` is `ix` or one of its ancestors.
    pub fn at_or_below(&self, ix: Ix, upper: Ix) -> bool {
        self.self_and_ancestors(ix).any(|up| up == upper)
    }

    /// A node and everything below it, parents before children.
    pub fn subtree(&self, ix: Ix) -> Vec<Ix> {
        let mut found = vec![ix];
        let mut next = 0;
        while next < found.len() {
            found.extend_from_slice(self.children(found[next]));
            next += 1;
        }
        found
    }

    /// Every edge of a whole graph, in an order that depends on the graph alone.
    pub fn edges(&self) -> Vec<Edge> {
        let from = |ix: Ix, kind: EdgeKind, to: &[Ix]| -> Vec<Edge> {
            let edge = |&to: &Ix| Edge { from: self.id(ix).clone(), kind, to: self.id(to).clone() };
            to.iter().map(edge).collect()
        };
        let mut edges: Vec<Edge> = self
            .indices()
            .flat_map(|ix| {
                let mut edges = from(ix, EdgeKind::Blocks, self.blocks(ix));
                edges.extend(from(ix, EdgeKind::Supersedes, self.supersedes(ix)));
                edges
            })
            .collect();
        edges.sort();
        edges
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.nodes.iter()).finish()
    }
}
