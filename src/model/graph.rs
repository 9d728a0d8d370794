//! The issues and the edges between them. Nothing is ever taken out, so a node's index stays valid.
//! Knows no rule: what may go on is asked of [`super::relation::Relation`].

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::id::IssueId;
use super::issue::{Issue, WordError};

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
            _ => Err(WordError { word: word.to_owned(), allowed: "blocks, supersedes" }),
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

/// An issue and its neighbours.
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

/// All nodes, found by id or index.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    index: HashMap<IssueId, Ix>,
}

impl Graph {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The index of an id.
    pub fn ix(&self, id: &IssueId) -> Option<Ix> {
        self.index.get(id).copied()
    }

    /// The node at an index of this graph.
    pub fn node(&self, ix: Ix) -> &Node {
        &self.nodes[ix]
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

    /// Every index, in order of arrival.
    pub fn indices(&self) -> std::ops::Range<Ix> {
        0..self.nodes.len()
    }

    /// Every issue, in order of arrival.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.nodes.iter().map(|n| &n.issue)
    }

    /// The proper ancestors of a node, nearest first.
    pub fn ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        std::iter::successors(self.nodes[ix].parent, |&up| self.nodes[up].parent)
    }

    /// A node and its ancestors, nearest first.
    pub fn self_and_ancestors(&self, ix: Ix) -> impl Iterator<Item = Ix> + '_ {
        std::iter::once(ix).chain(self.ancestors(ix))
    }

    /// The topmost ancestor of a node.
    pub fn root(&self, ix: Ix) -> Ix {
        self.ancestors(ix).last().unwrap_or(ix)
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
            found.extend_from_slice(&self.nodes[found[next]].children);
            next += 1;
        }
        found
    }

    /// Every edge, in an order that depends on the graph alone.
    pub fn edges(&self) -> Vec<Edge> {
        let mut edges: Vec<Edge> = self
            .nodes
            .iter()
            .flat_map(|node| {
                let edge = |kind: EdgeKind| {
                    move |&to: &Ix| Edge { from: node.issue.id.clone(), kind, to: self.id(to).clone() }
                };
                let blocks = node.blocks.iter().map(edge(EdgeKind::Blocks));
                blocks.chain(node.supersedes.iter().map(edge(EdgeKind::Supersedes)))
            })
            .collect();
        edges.sort();
        edges
    }

    /// Whether an edge is there.
    pub fn has_edge(&self, from: Ix, kind: EdgeKind, to: Ix) -> bool {
        match kind {
            EdgeKind::Blocks => self.nodes[from].blocks.contains(&to),
            EdgeKind::Supersedes => self.nodes[from].supersedes.contains(&to),
        }
    }

    /// Adds an issue without neighbours. The id must be new.
    pub fn insert(&mut self, issue: Issue) -> Ix {
        let ix = self.nodes.len();
        let previous = self.index.insert(issue.id.clone(), ix);
        debug_assert!(previous.is_none(), "an id is never given twice");
        self.nodes.push(Node {
            issue,
            parent: None,
            children: Vec::new(),
            blockers: Vec::new(),
            blocks: Vec::new(),
            superseded_by: Vec::new(),
            supersedes: Vec::new(),
        });
        ix
    }

    /// The issue at an index, to be changed.
    pub fn issue_mut(&mut self, ix: Ix) -> &mut Issue {
        &mut self.nodes[ix].issue
    }

    /// Gives a node a parent, or none.
    pub fn set_parent(&mut self, child: Ix, parent: Option<Ix>) {
        if let Some(old) = self.nodes[child].parent {
            self.nodes[old].children.retain(|&c| c != child);
        }
        self.nodes[child].parent = parent;
        if let Some(new) = parent {
            self.nodes[new].children.push(child);
        }
    }

    /// Adds an edge that is not there yet.
    pub fn add_edge(&mut self, from: Ix, kind: EdgeKind, to: Ix) {
        match kind {
            EdgeKind::Blocks => {
                self.nodes[from].blocks.push(to);
                self.nodes[to].blockers.push(from);
            }
            EdgeKind::Supersedes => {
                self.nodes[from].supersedes.push(to);
                self.nodes[to].superseded_by.push(from);
            }
        }
    }

    /// Takes an edge out.
    pub fn remove_edge(&mut self, from: Ix, kind: EdgeKind, to: Ix) {
        match kind {
            EdgeKind::Blocks => {
                self.nodes[from].blocks.retain(|&x| x != to);
                self.nodes[to].blockers.retain(|&x| x != from);
            }
            EdgeKind::Supersedes => {
                self.nodes[from].supersedes.retain(|&x| x != to);
                self.nodes[to].superseded_by.retain(|&x| x != from);
            }
        }
    }
}
