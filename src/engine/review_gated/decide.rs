//! Which transition a scope wants (S3, transition table).

use super::{contradiction, live};
use crate::engine::decision::{Cause, Transition};
use crate::engine::progress;
use crate::model::graph::{EdgeKind, Ix};
use crate::model::record::{Opinion, Round, RoundEnd, Scope};
use crate::model::signature::signature;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_ATTEMPT, FLOW_REVIEW, Kind};
use crate::model::waits::{Event, Waits};

/// Rows 3 to 5 of the table for an opened scope: its last round was judged, or its attempt failed.
pub fn verdict_or_failure(snapshot: &Snapshot, scope: &Scope) -> Option<Transition> {
    let ix = snapshot.graph().ix(&scope.id)?;
    let still = scope.end.is_some() || !live(snapshot, ix) || snapshot.relation().paused(ix);
    if still || contradiction(snapshot, scope).is_some() {
        return None;
    }
    let round = snapshot.last_round(&scope.id).filter(|round| round.end.is_none())?;
    let attempt = snapshot.graph().ix(&round.attempt)?;
    let resolved = snapshot.relation().resolved(attempt);
    match round.verdict.as_ref().map(|verdict| verdict.opinion) {
        Some(Opinion::Pass) if resolved => {
            Some(Transition::AcceptRound { scope: scope.id.clone(), round: round.number })
        }
        Some(Opinion::NeedsWork) if resolved => Some(failed(snapshot, scope, round, Cause::Verdict)),
        None if progress::failed_for_good(snapshot, attempt) => {
            Some(failed(snapshot, scope, round, Cause::AttemptFailed))
        }
        _ => None,
    }
}

/// A failed round is followed by another, up to the bound, and by a human after that.
fn failed(snapshot: &Snapshot, scope: &Scope, round: &Round, cause: Cause) -> Transition {
    let no_progress = no_progress(snapshot, scope, round, &cause);
    if no_progress || round.number >= scope.bounds.max_rounds {
        let no_progress = no_progress && round.number < scope.bounds.max_rounds;
        Transition::Escalate { scope: scope.id.clone(), round: round.number, cause, no_progress }
    } else {
        Transition::NextRound { scope: scope.id.clone(), failed: round.number, cause }
    }
}

/// Whether the last rounds, this one among them, all failed in the same way (S0, `no_progress`).
fn no_progress(snapshot: &Snapshot, scope: &Scope, round: &Round, cause: &Cause) -> bool {
    let wanted = scope.bounds.no_progress as usize;
    let now = signature(&super::notes_of(snapshot, round, cause));
    if wanted == 0 || now.is_none() {
        return false;
    }
    let before = snapshot.rounds(&scope.id).filter(|earlier| earlier.number < round.number);
    let ends: Vec<&Option<RoundEnd>> = before.map(|earlier| &earlier.end).collect();
    let same = |end: &&&Option<RoundEnd>| matches!(end, Some(RoundEnd::Failed { signature, .. }) if *signature == now);
    ends.iter().rev().take_while(same).count() + 1 >= wanted
}

/// Row 0: a scope that is not blocked and has no round yet gets its first, or the pair made by hand.
pub fn opening(snapshot: &Snapshot, scope: Ix) -> Option<Transition> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let issue = graph.issue(scope);
    let wants = issue.tags.review_gated()
        && issue.state.status() == "open"
        && snapshot.scope(&issue.id).is_none()
        && !relation.blocked(scope)
        && !relation.paused(scope)
        && live(snapshot, scope);
    if !wants {
        return None;
    }
    let scope_id = issue.id.clone();
    Some(match pair(snapshot, scope) {
        Some((attempt, review)) => Transition::AdoptRound {
            scope: scope_id,
            attempt: graph.id(attempt).clone(),
            review: graph.id(review).clone(),
        },
        None => Transition::OpenRound { scope: scope_id },
    })
}

/// A pair in exactly the shape of round 1, made by hand: one attempt, one open review, one edge.
fn pair(snapshot: &Snapshot, scope: Ix) -> Option<(Ix, Ix)> {
    let graph = snapshot.graph();
    let tagged = |tag: &str| -> Vec<Ix> {
        let children = graph.children(scope).iter();
        children.copied().filter(|&child| graph.issue(child).tags.has(tag)).collect()
    };
    let (attempts, reviews) = (tagged(FLOW_ATTEMPT), tagged(FLOW_REVIEW));
    let (&[attempt], &[review]) = (attempts.as_slice(), reviews.as_slice()) else { return None };
    let (work, judge) = (graph.issue(attempt), graph.issue(review));
    let right = matches!(work.tags.kind(), Some(Kind::Spawn | Kind::Fork))
        && work.tags.executable()
        && judge.tags.kind() == Some(Kind::Fork)
        && judge.tags.has("ctx:inherit")
        && judge.tags.executable()
        && !judge.tags.review_gated()
        && judge.state.status() == "open"
        && graph.has_edge(attempt, EdgeKind::Blocks, review)
        && graph.children(review).is_empty()
        && graph.superseded_by(attempt).is_empty()
        && graph.superseded_by(review).is_empty()
        && !others_wait_for(snapshot, scope, attempt, review);
    right.then_some((attempt, review))
}

/// Whether other work of the scope waits for the review, which is to wait for that work.
fn others_wait_for(snapshot: &Snapshot, scope: Ix, attempt: Ix, review: Ix) -> bool {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let waits = Waits::of(graph);
    let others = graph.children(scope).iter().copied();
    let mut open = others.filter(|&child| child != attempt && child != review && !relation.resolved(child));
    open.any(|child| waits.reaches(Event::Resolves(child), Event::Starts(review)))
}
