//! When no transition is left: who must move, on what.

use super::decision::{Actor, Decision, Waiting};
use super::review_gated;
use crate::model::act::claim::Role;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Outcome, State};
use crate::model::readiness;
use crate::model::snapshot::Snapshot;
use crate::model::waits::Waits;

/// Who must move for the tree at or below `root`: workers first, since they need nobody; then what is
/// stuck, since nobody else will say so; then humans.
pub fn who_moves(snapshot: &Snapshot, root: Ix, below: &[Ix]) -> Decision {
    let by_hand = || human(snapshot, root, below).or_else(|| elsewhere(snapshot, below));
    if let Some(waiting) = worker(snapshot, below) {
        return Decision::Wait(waiting);
    }
    if let Some((scope, why)) = stuck(snapshot, root).into_iter().next() {
        return Decision::Stuck(format!("{scope}: {why}"));
    }
    by_hand().map_or_else(
        || Decision::Stuck("nothing here can move, and nobody is asked".to_owned()),
        Decision::Wait,
    )
}

/// What is stuck at or below a root: scopes whose records contradict the graph, and nodes that wait
/// for each other in a circle.
pub fn stuck(snapshot: &Snapshot, root: Ix) -> Vec<(IssueId, String)> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let below = graph.subtree(root);
    let contradictions = below.iter().filter_map(|&ix| {
        let scope = snapshot.scope(graph.id(ix))?;
        let goes_on = scope.end.is_none() && review_gated::live(snapshot, ix);
        let why = review_gated::contradiction(snapshot, scope).filter(|_| goes_on)?;
        Some((scope.id.clone(), why))
    });
    let mut found: Vec<(IssueId, String)> = contradictions.collect();
    let open = below.iter().filter(|&&ix| !relation.resolved(ix));
    let events = open.map(|&ix| crate::model::waits::Event::Resolves(ix));
    if let Some(cycle) = Waits::of(graph).cycle_from(events) {
        let about = cycle.0.first().map(|step| step.issue.clone());
        found.extend(about.map(|id| (id, format!("a circle of waiting: {cycle}"))));
    }
    found
}

fn worker(snapshot: &Snapshot, below: &[Ix]) -> Option<Waiting> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let moving = below.iter().copied().filter(|&ix| match graph.issue(ix).state {
        State::InProgress { .. } => !relation.let_go(ix),
        State::Open => readiness::ready(snapshot, ix),
        State::Closed { .. } => false,
    });
    let ix = moving.min_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()))?;
    Some(for_worker(snapshot, ix))
}

fn for_worker(snapshot: &Snapshot, ix: Ix) -> Waiting {
    let issue = snapshot.graph().issue(ix);
    let (actor, work) = match Role::of(snapshot, ix) {
        Some(Role::Review) => (Actor::Reviewer, "a reviewer"),
        _ => (Actor::Worker, "a worker"),
    };
    let what = match issue.state.claim() {
        Some(claim) => format!("{} to finish {}", claim.actor, issue.id),
        None => format!("{work} to take {}", issue.id),
    };
    Waiting { actor, issue: issue.id.clone(), what }
}

fn human(snapshot: &Snapshot, root: Ix, below: &[Ix]) -> Option<Waiting> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let wait =
        |ix: Ix, what: String| Some(Waiting { actor: Actor::Human, issue: graph.id(ix).clone(), what });
    let open = |ix: &Ix| !graph.issue(*ix).state.closed();
    let alive = |ix: &Ix| open(ix) && !relation.let_go(*ix);
    let first = |found: &mut dyn Iterator<Item = Ix>| {
        found.min_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()))
    };
    let answerable = |ix: &Ix| alive(ix) && graph.issue(*ix).tags.ask() && !relation.finished(*ix);
    if let Some(ask) = first(&mut below.iter().copied().filter(answerable)) {
        return wait(ask, format!("a human to answer {}", graph.id(ask)));
    }
    let top = graph.issue(root);
    if open(&root) && top.tags.container() && graph.children(root).is_empty() {
        return wait(root, format!("work: there is no work yet below {}", top.id));
    }
    if top.state.outcome().is_some_and(Outcome::unsuccessful) && !relation.resolved(root) {
        return match graph.superseded_by(root).first() {
            Some(&successor) => {
                wait(successor, format!("{}, which took the place of {}", graph.id(successor), top.id))
            }
            None => wait(root, format!("a human to reopen or retry {}", top.id)),
        };
    }
    let mut by_hand = below.iter().copied().filter(|&ix| {
        let leaf = graph.children(ix).iter().all(|&child| relation.resolved(child));
        let plain = !graph.issue(ix).tags.executable();
        alive(&ix) && leaf && plain && !relation.blocked(ix) && !relation.finished(ix)
    });
    if let Some(ix) = first(&mut by_hand) {
        return wait(ix, format!("a human to close {}, which no worker executes", graph.id(ix)));
    }
    let ended = below.iter().copied().filter(|&ix| open(&ix) && relation.finished(ix));
    first(&mut ended.into_iter()).and_then(|ix| {
        wait(ix, format!("a human to close {}, which is open below something that has ended", graph.id(ix)))
    })
}

/// Work here waits for work in another tree.
fn elsewhere(snapshot: &Snapshot, below: &[Ix]) -> Option<Waiting> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let here = below.first().map(|&ix| graph.root(ix));
    let open = below.iter().filter(|&&ix| !graph.issue(ix).state.closed());
    let blockers = open.flat_map(|&ix| relation.open_blockers(ix).map(|(blocker, _)| blocker));
    let outside = blockers.filter(|&blocker| Some(graph.root(blocker)) != here);
    let ix = outside.min_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()))?;
    let issue = graph.issue(ix);
    let actor = if issue.tags.executable() { Actor::Worker } else { Actor::Human };
    let root = graph.id(graph.root(ix));
    Some(Waiting { actor, issue: issue.id.clone(), what: format!("{} in another tree, {root}", issue.id) })
}
