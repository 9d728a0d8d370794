//! Heartbeats and cron entries: made, changed, enabled, disabled, taken away. Whether a rhythm makes sense
//! is asked of the schedule before.

use crate::model::frontier::List;
use crate::model::id::Actor;
use crate::model::issue::{Millis, check_text, check_title};
use crate::model::primitive::Primitive;
use crate::model::record::{Halt, Halted, Heartbeat, HeartbeatId, HeartbeatKind, Rhythm};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// A new one.
///
/// # Errors
/// When the root is not there or final, or has a heartbeat already.
pub fn create(snapshot: &Snapshot, heartbeat: Heartbeat) -> Result<Vec<Primitive>, Refusal> {
    sound(&heartbeat)?;
    root_goes_on(snapshot, &heartbeat)?;
    let of_root = snapshot.heartbeats_of(&heartbeat.root);
    let other = of_root.iter().find(|other| other.kind == HeartbeatKind::Heartbeat);
    if let Some(other) = other.filter(|_| heartbeat.kind == HeartbeatKind::Heartbeat) {
        return Err(Refusal::HasHeartbeat { root: heartbeat.root, heartbeat: other.id.clone() });
    }
    Ok(vec![set(heartbeat)])
}

/// One with other values. Another rhythm begins anew.
///
/// # Errors
/// When a text is not acceptable.
pub fn update(before: &Heartbeat, mut after: Heartbeat, now: Millis) -> Result<Vec<Primitive>, Refusal> {
    sound(&after)?;
    if after.rhythm != before.rhythm {
        after.anchor = now;
        after.last_run = None;
        // What was over may be due again; what somebody disabled stays so.
        if after.halted.as_ref().is_some_and(|halted| halted.why == Halt::Spent) {
            after.halted = None;
        }
    }
    Ok(vec![set(after)])
}

/// Lets it beat, from now on; an empty list when it does.
///
/// # Errors
/// When its root is final, or it was due once and that is over.
pub fn enable(snapshot: &Snapshot, heartbeat: &Heartbeat, now: Millis) -> Result<Vec<Primitive>, Refusal> {
    if heartbeat.enabled() {
        return Ok(Vec::new());
    }
    root_goes_on(snapshot, heartbeat)?;
    if matches!(heartbeat.rhythm, Rhythm::At { at } if at <= now) {
        return Err(Refusal::MomentOver(heartbeat.id.clone()));
    }
    let mut after = heartbeat.clone();
    after.start(now);
    Ok(vec![set(after)])
}

/// Keeps it from beating until somebody enables it; an empty list when somebody has.
///
/// # Errors
/// When the note is not acceptable.
pub fn disable(
    heartbeat: &Heartbeat,
    by: &Actor,
    now: Millis,
    note: &str,
) -> Result<Vec<Primitive>, Refusal> {
    check_text("note", note)?;
    if heartbeat.halted.as_ref().is_some_and(|halted| halted.why == Halt::ByHand) {
        return Ok(Vec::new());
    }
    let halted = Halted { why: Halt::ByHand, by: by.clone(), at: now, note: note.to_owned() };
    Ok(vec![set(Heartbeat { halted: Some(halted), ..heartbeat.clone() })])
}

/// Takes it away. Its history stays in the events.
pub fn remove(id: &HeartbeatId) -> Vec<Primitive> {
    vec![Primitive::RemoveHeartbeat { id: id.clone() }]
}

fn set(heartbeat: Heartbeat) -> Primitive {
    Primitive::SetHeartbeat { heartbeat: Box::new(heartbeat) }
}

fn sound(heartbeat: &Heartbeat) -> Result<(), Refusal> {
    check_title(&heartbeat.title)?;
    check_text("reason", &heartbeat.reason)?;
    Ok(())
}

fn root_goes_on(snapshot: &Snapshot, heartbeat: &Heartbeat) -> Result<(), Refusal> {
    let ix = super::find(snapshot, &heartbeat.root)?;
    let graph = snapshot.graph();
    let root = graph.root(ix);
    if !snapshot.listed(List::Unsettled, Some(root)).any() {
        return Err(Refusal::RootIsFinal(graph.id(root).clone()));
    }
    Ok(())
}
