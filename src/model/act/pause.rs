//! `pause` and `resume`: nothing new starts at or below an issue, and what runs may finish (section 4).

use super::find;
use crate::model::change::Field;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Millis, Pause, check_text};
use crate::model::primitive::Primitive;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// Pauses an issue; an empty list when it is paused already: the first pause stands, with its reason.
///
/// # Errors
/// When there is no reason, when the issue is a question, or when nothing is left to pause.
pub fn pause(snapshot: &Snapshot, id: &IssueId, pause: Pause) -> Result<Vec<Primitive>, Refusal> {
    let (ix, relation) = (find(snapshot, id)?, snapshot.relation());
    let issue = snapshot.graph().issue(ix);
    check_text("reason", &pause.reason)?;
    if pause.reason.trim().is_empty() {
        return Err(Refusal::PauseNeedsReason(id.clone()));
    }
    let refused = |found: &'static str| Err(Refusal::NothingToPause { id: id.clone(), found });
    if issue.tags.ask() {
        return refused("a question, which waits for a human anyway");
    }
    if relation.resolved(ix) && issue.state.closed() {
        return refused("settled");
    }
    if relation.finished(ix) {
        return refused("below something that has ended");
    }
    if issue.pause.is_some() {
        return Ok(Vec::new());
    }
    Ok(vec![Primitive::Edit { id: id.clone(), fields: vec![Field::Pause(Some(pause))] }])
}

/// Takes the pause of an issue away; an empty list when it has none. A pause above it stays. The time of
/// the asks below it stood still.
///
/// # Errors
/// When there is no such issue.
pub fn resume(snapshot: &Snapshot, id: &IssueId, now: Millis) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let Some(pause) = &snapshot.graph().issue(ix).pause else { return Ok(Vec::new()) };
    let mut primitives = vec![Primitive::Edit { id: id.clone(), fields: vec![Field::Pause(None)] }];
    let asks = snapshot.listed(List::Asking, Some(ix)).all().into_iter();
    primitives.extend(asks.filter_map(|ask| postponed(snapshot, ask, id, pause, now)));
    Ok(primitives)
}

/// An ask, later by the time for which this pause alone held it: what others hold on is theirs to add.
fn postponed(snapshot: &Snapshot, ask: Ix, of: &IssueId, pause: &Pause, now: Millis) -> Option<Primitive> {
    let graph = snapshot.graph();
    let record = snapshot.ask(graph.id(ask)).filter(|record| record.answer.is_none())?;
    let duty = record.duty.as_ref()?;
    let others = snapshot.relation().pauses(ask).filter(|(at, _)| graph.id(*at) != of);
    let until = others.map(|(_, other)| other.at).min().unwrap_or(now).min(now);
    let from = pause.at.max(graph.issue(ask).created_at);
    let later = duty.later(from, until);
    (later != *duty).then(|| Primitive::SetDuty { id: record.id.clone(), duty: Some(Box::new(later)) })
}
