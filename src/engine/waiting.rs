//! When no transition is left: who must move, on what.

use std::collections::{BTreeSet, VecDeque};

use super::decide::next_transition;
use super::decision::{Actor, Decision, Transition, Waiting};
use super::review_gated;
use crate::model::act::claim::Role;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Millis, Outcome};
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;
use crate::model::waits::{Event, Waits};

/// How many nodes that wait for other trees are asked for what.
const LOOKED_AT: usize = 100;

/// Who must move for the tree of `root`: workers first, since they need nobody; then what is stuck, since
/// nobody else will say so; then humans, first of all whoever resumes a paused root; then whoever must move
/// in the trees that this one waits for.
pub fn who_moves(snapshot: &Snapshot, root: Ix, now: Millis, defaults: &Bounds) -> Decision {
    let found = here(snapshot, root).or_else(|| elsewhere(snapshot, root, now, defaults));
    found.unwrap_or_else(|| {
        Decision::Stuck(match circle(snapshot, root) {
            Some((scope, why)) => format!("{scope}: {why}"),
            None => "nothing here can move, and nobody is asked".to_owned(),
        })
    })
}

/// The same as far as the tree itself says.
fn here(snapshot: &Snapshot, root: Ix) -> Option<Decision> {
    if let Some(waiting) = worker(snapshot, root) {
        return Some(Decision::Wait(waiting));
    }
    if let Some((scope, why)) = contradictions(snapshot, root).into_iter().next() {
        return Some(Decision::Stuck(format!("{scope}: {why}")));
    }
    let waiting = paused(snapshot, root, Some(root))
        .or_else(|| human(snapshot, root))
        .or_else(|| paused(snapshot, root, None));
    waiting.map(Decision::Wait)
}

/// What is stuck in the tree of a root: scopes whose records contradict the graph, and nodes that wait
/// for each other in a circle. The second takes a walk over all that is not resolved, so a tick makes it
/// only where nobody else can move: no change closes a circle.
pub fn stuck(snapshot: &Snapshot, root: Ix) -> Vec<(IssueId, String)> {
    let mut found = contradictions(snapshot, root);
    found.extend(circle(snapshot, root));
    found
}

/// The scopes whose records contradict the graph.
fn contradictions(snapshot: &Snapshot, root: Ix) -> Vec<(IssueId, String)> {
    let scopes = snapshot.listed(List::OpenScope, Some(root)).all();
    scopes.into_iter().filter_map(|ix| contradiction_at(snapshot, ix)).collect()
}

/// What contradicts the records of a scope whose rounds go on.
pub fn contradiction_at(snapshot: &Snapshot, ix: Ix) -> Option<(IssueId, String)> {
    let scope = snapshot.scope(snapshot.graph().id(ix))?;
    let goes_on = scope.end.is_none() && review_gated::live(snapshot, ix);
    let why = review_gated::contradiction(snapshot, scope).filter(|_| goes_on)?;
    Some((scope.id.clone(), why))
}

/// A circle of waiting, which only a damaged store can hold.
fn circle(snapshot: &Snapshot, root: Ix) -> Option<(IssueId, String)> {
    let unsettled = snapshot.listed(List::Unsettled, Some(root)).all().into_iter();
    let cycle = Waits::of(snapshot.graph()).cycle_from(unsettled.map(Event::Resolves))?;
    let about = cycle.0.first().map(|step| step.issue.clone())?;
    Some((about, format!("a circle of waiting: {cycle}")))
}

fn worker(snapshot: &Snapshot, root: Ix) -> Option<Waiting> {
    let relation = snapshot.relation();
    let held = snapshot.listed(List::Held, Some(root)).first(|ix| !relation.let_go(ix));
    let ready = snapshot.listed(List::Ready, Some(root)).first(|_| true);
    let graph = snapshot.graph();
    let moving = held.into_iter().chain(ready);
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

/// Nothing starts below this one, or the first in the tree that is paused, until somebody resumes it.
fn paused(snapshot: &Snapshot, root: Ix, only: Option<Ix>) -> Option<Waiting> {
    let wanted = |ix: Ix| only.is_none_or(|only| only == ix);
    let ix = snapshot.listed(List::Paused, Some(root)).first(wanted)?;
    let issue = snapshot.graph().issue(ix);
    let pause = issue.pause.as_ref()?;
    let what = format!("somebody to resume {}, which {} paused: {}", issue.id, pause.by, pause.reason);
    Some(Waiting { actor: Actor::Human, issue: issue.id.clone(), what })
}

fn human(snapshot: &Snapshot, root: Ix) -> Option<Waiting> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let wait =
        |ix: Ix, what: String| Some(Waiting { actor: Actor::Human, issue: graph.id(ix).clone(), what });
    let first = |list: List| snapshot.listed(list, Some(root)).first(|_| true);
    let answerable = |ix: Ix| !relation.let_go(ix) && !relation.finished(ix);
    if let Some(ask) = snapshot.listed(List::Asking, Some(root)).first(answerable) {
        return wait(ask, format!("a human to answer {}", graph.id(ask)));
    }
    let top = graph.issue(root);
    if !top.state.closed() && top.tags.container() && graph.standing(root).children == 0 {
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
    if let Some(ix) = first(List::ByHand) {
        return wait(ix, format!("a human to close {}, which no worker executes", graph.id(ix)));
    }
    first(List::Stranded).and_then(|ix| {
        let skipped = |&up: &Ix| graph.issue(up).state.outcome() == Some(Outcome::Skipped);
        let what = match graph.ancestors(ix).find(skipped) {
            Some(up) => format!(
                "a human to skip {} once more with --cascade, since {} is open below it",
                graph.id(up),
                graph.id(ix)
            ),
            None => format!("a human to skip {}, which is open below something that has ended", graph.id(ix)),
        };
        wait(ix, what)
    })
}

/// Work here waits for work in other trees: who must move there. A tick or a worker anywhere comes before a
/// human, and a human before what is stuck. Each tree is looked at once, also where they wait for each other.
fn elsewhere(snapshot: &Snapshot, root: Ix, now: Millis, defaults: &Bounds) -> Option<Decision> {
    let graph = snapshot.graph();
    let mut seen = BTreeSet::from([root]);
    let mut awaited = VecDeque::from(abroad(snapshot, root));
    let (mut human, mut stuck) = (None, None);
    while let Some(blocker) = awaited.pop_front() {
        let there = graph.root(blocker);
        if !seen.insert(there) {
            continue;
        }
        let place = format!("{} in another tree, {}", graph.id(blocker), graph.id(there));
        // A reminder moves nobody but the one who is asked.
        let next = next_transition(snapshot, there, now, defaults);
        if let Some(transition) = next.filter(|next| !matches!(next, Transition::Remind { .. })) {
            let what = format!("{place}, which moves on with the next tick ({})", transition.kind());
            let issue = graph.id(blocker).clone();
            return Some(Decision::Wait(Waiting { actor: Actor::Worker, issue, what }));
        }
        match here(snapshot, there) {
            Some(Decision::Wait(waiting)) => {
                let what = format!("{place}, which waits for {}", waiting.what);
                let moved = Decision::Wait(Waiting { what, ..waiting.clone() });
                if waiting.actor != Actor::Human {
                    return Some(moved);
                }
                human.get_or_insert(moved);
            }
            Some(Decision::Stuck(why)) => {
                stuck.get_or_insert(Decision::Stuck(format!("{place}, which is stuck: {why}")));
            }
            _ => awaited.extend(abroad(snapshot, there)),
        }
    }
    human.or(stuck)
}

/// What the tree of a root waits for in other trees, the most urgent first; of many that wait, only the
/// first are looked at.
fn abroad(snapshot: &Snapshot, root: Ix) -> Vec<Ix> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let waiting = snapshot.listed(List::Abroad, Some(root)).up_to(LOOKED_AT).into_iter();
    let blockers = waiting.flat_map(|ix| relation.own_open_blockers(ix).collect::<Vec<_>>());
    let mut found: Vec<Ix> = blockers.filter(|&blocker| graph.root(blocker) != root).collect();
    found.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
    found.dedup();
    found
}
