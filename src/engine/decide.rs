//! Which transition a root wants next. The order is total: answers, questions that went away and those
//! that nobody answered in time, reclaims, verdicts and failed rounds (innermost first), failures, opening
//! rounds, roll-up, reminders; within one class by priority, age, id.

use std::cmp::Reverse;

use super::answers;
use super::decision::{Decision, Transition};
use super::duties;
use super::failures;
use super::review_gated;
use super::waiting;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::Millis;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;

/// What comes next for the tree of `root`.
pub fn decide(snapshot: &Snapshot, root: Ix, now: Millis, defaults: &Bounds) -> Decision {
    if let Some(transition) = next_transition(snapshot, root, now, defaults) {
        return Decision::Act(transition);
    }
    if is_final(snapshot, root) {
        let id = snapshot.graph().id(root);
        return if !snapshot.root_finished(id) && is_driven(snapshot, root) {
            Decision::Act(Transition::Finish { root: id.clone() })
        } else {
            Decision::Done
        };
    }
    waiting::who_moves(snapshot, root, now, defaults)
}

/// The transition that the tree of a root wants while it is not final.
pub(super) fn next_transition(
    snapshot: &Snapshot,
    root: Ix,
    now: Millis,
    defaults: &Bounds,
) -> Option<Transition> {
    answered(snapshot, root)
        .or_else(|| duties::moot(snapshot, root))
        .or_else(|| duties::timed_out(snapshot, root, now))
        .or_else(|| lapsed(snapshot, root, now))
        .or_else(|| judged(snapshot, root))
        .or_else(|| failures::uncovered(snapshot, root, defaults))
        .or_else(|| first(snapshot, List::Opening, root, |ix| review_gated::opening(snapshot, ix)))
        .or_else(|| first(snapshot, List::RollUp, root, |ix| Some(roll_up(snapshot, ix))))
        .or_else(|| duties::reminder(snapshot, root, now))
}

/// Whether a tree has something that ticks drive: a scope, or a container.
fn is_driven(snapshot: &Snapshot, root: Ix) -> bool {
    let graph = snapshot.graph();
    let container = |ix: Ix| graph.issue(ix).tags.container();
    container(root)
        || snapshot.listed(List::ToFinish, Some(root)).any()
        || graph.subtree(root).into_iter().any(container)
}

/// Whether everything in the tree of a root is settled.
pub fn is_final(snapshot: &Snapshot, root: Ix) -> bool {
    !snapshot.listed(List::Unsettled, Some(root)).any()
}

/// The transition that the first issue on a list wants.
fn first(
    snapshot: &Snapshot,
    list: List,
    root: Ix,
    want: impl Fn(Ix) -> Option<Transition>,
) -> Option<Transition> {
    snapshot.listed(list, Some(root)).first(|ix| want(ix).is_some()).and_then(want)
}

/// A human has answered, and no tick has used the answer. Below something that has ended an answer waits:
/// a closed root spawns nothing more, and the answer stands should the root come back.
fn answered(snapshot: &Snapshot, root: Ix) -> Option<Transition> {
    let transition = |ix: Ix| snapshot.ask(snapshot.graph().id(ix)).and_then(answers::transition);
    first(snapshot, List::Answered, root, transition)
}

/// A lease ran out: the step is lost, and the issue is anybody's again.
fn lapsed(snapshot: &Snapshot, root: Ix, now: Millis) -> Option<Transition> {
    let ix = snapshot.listed(List::Held, Some(root)).due_by(now).first(|_| true)?;
    Some(Transition::Reclaim { issue: snapshot.graph().id(ix).clone() })
}

/// Scopes whose round was judged or failed. Only the innermost compete: an inner scope runs to its
/// bound before an outer one looks at what became of it.
fn judged(snapshot: &Snapshot, root: Ix) -> Option<Transition> {
    let graph = snapshot.graph();
    let want = |ix: Ix| {
        snapshot.scope(graph.id(ix)).and_then(|scope| review_gated::verdict_or_failure(snapshot, scope))
    };
    let judged = snapshot.listed(List::Judged, Some(root)).first(|ix| want(ix).is_some());
    let failed = failures::scopes_of_failures(snapshot, root).into_iter().filter(|&ix| want(ix).is_some());
    let innermost_first = |&ix: &Ix| (Reverse(graph.depth(ix)), graph.issue(ix).rank());
    judged.into_iter().chain(failed).min_by(|a, b| innermost_first(a).cmp(&innermost_first(b))).and_then(want)
}

/// A container in which everything is resolved.
fn roll_up(snapshot: &Snapshot, ix: Ix) -> Transition {
    Transition::RollUp { issue: snapshot.graph().id(ix).clone() }
}
