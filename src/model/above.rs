//! What holds of a node because of what lies above it. It follows from what holds of the parent, so of many
//! nodes it is found out from the top down, each once, however deep they lie.

use std::collections::HashMap;

use super::graph::{Graph, Ix};
use super::issue::Outcome;
use super::tag::IMPORT_OPEN_BELOW_CLOSED;

/// What comes down to a node from its ancestors, with what it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Above {
    /// The topmost ancestor.
    pub root: Ix,
    /// How many ancestors there are.
    pub depth: u32,
    /// The node or an ancestor is paused.
    pub paused: bool,
    /// Something unresolved blocks the node or an ancestor.
    pub blocked: bool,
    /// An ancestor is closed with anything but `expanded`, or let go: nothing starts below it. Work that was
    /// imported open below something closed goes on, and so does what is below that.
    pub finished: bool,
    /// The node or an ancestor was let go.
    pub let_go: bool,
    /// The node or an ancestor was imported open below something closed.
    pub imported: bool,
}

impl Above {
    /// Of one node.
    pub fn of(graph: &Graph, ix: Ix) -> Above {
        let chain: Vec<Ix> = graph.ancestors(ix).collect();
        let top_down = chain.into_iter().rev();
        let parent = top_down.fold(None, |parent, at| Some((at, Above::next(graph, parent, at))));
        Above::next(graph, parent, ix)
    }

    /// Nothing starts here any more.
    pub fn ended(&self) -> bool {
        self.let_go || self.finished
    }

    /// Of a node whose parent is known.
    fn next(graph: &Graph, parent: Option<(Ix, Above)>, ix: Ix) -> Above {
        let issue = graph.issue(ix);
        let (paused, imported) = (issue.pause.is_some(), issue.tags.has(IMPORT_OPEN_BELOW_CLOSED));
        let standing = graph.standing(ix);
        let (blocked, let_go) = (standing.open_blockers > 0, standing.let_go);
        let Some((parent, above)) = parent else {
            return Above { root: ix, depth: 0, paused, blocked, finished: false, let_go, imported };
        };
        let ended = graph.issue(parent).state.outcome().is_some_and(|outcome| outcome != Outcome::Expanded);
        Above {
            root: above.root,
            depth: above.depth + 1,
            paused: paused || above.paused,
            blocked: blocked || above.blocked,
            finished: graph.standing(parent).let_go || (!imported && (ended || above.finished)),
            let_go,
            imported: imported || above.imported,
        }
    }
}

/// The same of many nodes.
#[derive(Debug)]
pub struct Aboves<'g> {
    graph: &'g Graph,
    known: HashMap<Ix, Above>,
}

impl<'g> Aboves<'g> {
    /// Of nodes of this graph.
    pub fn of(graph: &'g Graph) -> Self {
        Aboves { graph, known: HashMap::new() }
    }

    /// What comes down to a node.
    pub fn at(&mut self, ix: Ix) -> Above {
        let (mut parent, mut unknown) = (None, Vec::new());
        for up in self.graph.ancestors(ix) {
            parent = self.known.get(&up).map(|above| (up, *above));
            if parent.is_some() {
                break;
            }
            unknown.push(up);
        }
        for up in unknown.into_iter().rev() {
            let above = Above::next(self.graph, parent, up);
            self.known.insert(up, above);
            parent = Some((up, above));
        }
        Above::next(self.graph, parent, ix)
    }
}
