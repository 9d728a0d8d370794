//! `pause` and `resume`: nothing new starts at or below an issue, and what runs may finish (section 4).

use super::find;
use crate::model::change::Field;
use crate::model::id::IssueId;
use crate::model::issue::{Pause, check_text};
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

/// Takes the pause of an issue away; an empty list when it has none. A pause above it stays.
///
/// # Errors
/// When there is no such issue.
pub fn resume(snapshot: &Snapshot, id: &IssueId) -> Result<Vec<Primitive>, Refusal> {
    let issue = snapshot.graph().issue(find(snapshot, id)?);
    let resumed =
        issue.pause.as_ref().map(|_| Primitive::Edit { id: id.clone(), fields: vec![Field::Pause(None)] });
    Ok(resumed.into_iter().collect())
}
