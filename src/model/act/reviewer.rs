//! Who may judge an attempt: nobody who had a hand in it (section 4), unless the scope allows it.

use crate::model::id::{Actor, IssueId};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// Refuses a reviewer who worked at or below the attempt.
pub(super) fn may_judge(snapshot: &Snapshot, id: &IssueId, actor: &Actor) -> Result<(), Refusal> {
    let Some(round) = snapshot.review_round(id) else { return Ok(()) };
    let allowed = snapshot.scope(&round.scope).is_some_and(|scope| scope.bounds.allow_self_review);
    if !allowed && worked_at_or_below(snapshot, &round.attempt, actor) {
        return Err(Refusal::SelfReview {
            actor: actor.clone(),
            attempt: round.attempt.clone(),
            review: round.review.clone(),
        });
    }
    Ok(())
}

/// Whether an actor ever held or closed anything at or below an attempt.
pub fn worked_at_or_below(snapshot: &Snapshot, attempt: &IssueId, actor: &Actor) -> bool {
    let graph = snapshot.graph();
    let below = graph.ix(attempt).map(|ix| graph.subtree(ix)).unwrap_or_default();
    below.into_iter().any(|ix| graph.issue(ix).hands.contains(actor))
}
