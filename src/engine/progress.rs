//! Can a piece of work still come to a good end, or has it failed for good?

use std::collections::HashMap;

use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::{Outcome, State};
use crate::model::snapshot::Snapshot;

/// Whether something at or below `top` failed, and nothing there can move any more (section 4, the
/// failed-round rule).
pub fn failed_for_good(snapshot: &Snapshot, top: Ix) -> bool {
    !failures(snapshot, top).is_empty() && !Hope::new(snapshot, top).anything_moves()
}

/// Whether that hangs on what becomes of other trees.
pub fn looks_abroad(snapshot: &Snapshot, top: Ix) -> bool {
    let mut hope = Hope::new(snapshot, top);
    !failures(snapshot, top).is_empty() && {
        hope.anything_moves();
        hope.abroad
    }
}

/// The unresolved failures at or below `top`, topmost first.
pub fn failures(snapshot: &Snapshot, top: Ix) -> Vec<Ix> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    // Mostly there are none; then nobody has to walk down to know it.
    if !snapshot.listed(List::Failed, Some(top)).any() {
        return Vec::new();
    }
    let mut below = graph.subtree(top);
    below.retain(|&ix| {
        !relation.resolved(ix) && graph.issue(ix).state.outcome().is_some_and(Outcome::unsuccessful)
    });
    below
}

/// What could become resolved if everybody did their best, with the failures inside `top` taken as
/// they are. Failures elsewhere are somebody else's to mend, so they do not end hope here.
struct Hope<'s> {
    snapshot: &'s Snapshot,
    top: Ix,
    resolves: HashMap<Ix, bool>,
    /// Whether a node of another tree was looked at.
    abroad: bool,
}

impl<'s> Hope<'s> {
    fn new(snapshot: &'s Snapshot, top: Ix) -> Self {
        Hope { snapshot, top, resolves: HashMap::new(), abroad: false }
    }

    fn anything_moves(&mut self) -> bool {
        let graph = self.snapshot.graph();
        graph.subtree(self.top).into_iter().any(|ix| match graph.issue(ix).state {
            State::InProgress { .. } => true,
            State::Open => self.may_resolve(ix),
            State::Closed { .. } => false,
        })
    }

    /// Whether a node can still become resolved.
    fn may_resolve(&mut self, ix: Ix) -> bool {
        if let Some(&known) = self.resolves.get(&ix) {
            return known;
        }
        // On a circle of waiting, which only a damaged store can hold, nothing resolves.
        self.resolves.insert(ix, false);
        let answer = self.compute(ix);
        self.resolves.insert(ix, answer);
        answer
    }

    fn compute(&mut self, ix: Ix) -> bool {
        let (graph, relation) = (self.snapshot.graph(), self.snapshot.relation());
        self.abroad |= graph.root(ix) != graph.root(self.top);
        if relation.resolved(ix) {
            return true;
        }
        let replaced: Vec<Ix> =
            graph.self_and_ancestors(ix).flat_map(|up| graph.superseded_by(up).to_vec()).collect();
        if replaced.into_iter().any(|successor| self.may_resolve(successor)) {
            return true;
        }
        match graph.issue(ix).state {
            State::Closed { outcome, .. } if outcome.unsuccessful() => !graph.at_or_below(ix, self.top),
            State::Closed { .. } => self.children_may(ix),
            State::InProgress { .. } => true,
            State::Open if relation.finished(ix) => false,
            // A human may answer whatever else is going on.
            State::Open if graph.issue(ix).tags.ask() => true,
            State::Open => self.may_start(ix) && self.children_may(ix),
        }
    }

    fn children_may(&mut self, ix: Ix) -> bool {
        self.snapshot.graph().children(ix).to_vec().into_iter().all(|child| self.may_resolve(child))
    }

    fn may_start(&mut self, ix: Ix) -> bool {
        let graph = self.snapshot.graph();
        let blockers: Vec<Ix> =
            graph.self_and_ancestors(ix).flat_map(|at| graph.blockers(at).to_vec()).collect();
        blockers.into_iter().all(|blocker| self.may_resolve(blocker))
    }
}
