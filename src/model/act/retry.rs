//! `retry`: a successor takes the place of work that failed.

use super::close::skip_below;
use super::find;
use crate::model::gate;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Issue, Millis};
use crate::model::primitive::Primitive;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// A successor of a failed issue, as an actor may ask for it.
///
/// # Errors
/// When the issue did not fail, is superseded already, or its round takes care of it.
pub fn retry(
    snapshot: &Snapshot,
    id: &IssueId,
    successor: &IssueId,
    notes: Option<String>,
    now: Millis,
) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let graph = snapshot.graph();
    let issue = graph.issue(ix);
    if !issue.state.outcome().is_some_and(|outcome| outcome.unsuccessful()) {
        let found = issue.state.outcome().map_or(issue.state.status(), |outcome| outcome.as_str());
        return Err(Refusal::NothingToRetry { id: id.clone(), found: found.to_owned() });
    }
    gate::not_in_a_round(snapshot, id, "life cycle")?;
    for up in graph.self_and_ancestors(ix) {
        if let Some(&by) = graph.superseded_by(up).first() {
            return Err(Refusal::Superseded { id: graph.id(up).clone(), by: graph.id(by).clone() });
        }
    }
    // What is open below would stay open for ever: nothing starts below what has ended.
    let below = skip_below(snapshot, ix, &format!("{id} failed and is tried again"));
    if let Some(parent) = graph.parent(ix) {
        let mut primitives = gate::adopt(snapshot, parent, successor)?;
        // The edge to a review needs the successor to be there first.
        let (edges, mut before): (Vec<_>, Vec<_>) =
            primitives.drain(..).partition(|p| matches!(p, Primitive::Serial { .. }));
        before.extend(succession(snapshot, ix, successor, notes, now));
        before.extend(edges);
        before.extend(below);
        return Ok(before);
    }
    Ok(succession(snapshot, ix, successor, notes, now).into_iter().chain(below).collect())
}

/// The successor itself: the same task with what went wrong added to its notes, beside the failed one.
pub fn succession(
    snapshot: &Snapshot,
    failed: Ix,
    successor: &IssueId,
    notes: Option<String>,
    now: Millis,
) -> Vec<Primitive> {
    let graph = snapshot.graph();
    let old = graph.issue(failed);
    let mut work = old.work.clone();
    work.notes.extend(old.state.reason().filter(|reason| !reason.is_empty()).map(str::to_owned));
    work.notes.extend(notes.filter(|note| !note.is_empty()));
    let issue = Issue {
        body: old.body.clone(),
        priority: old.priority,
        policy: old.policy.clone(),
        pause: old.pause.clone(),
        work,
        ..Issue::new(successor.clone(), old.title.clone(), old.tags.clone(), now)
    };
    let parent = graph.parent(failed).map(|p| graph.id(p).clone());
    vec![
        Primitive::Create { issue: Box::new(issue), parent },
        Primitive::Supersede { new: successor.clone(), old: old.id.clone() },
    ]
}
