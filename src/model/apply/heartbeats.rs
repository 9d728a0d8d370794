//! The facts about heartbeats: one set or removed, and those that follow from the end of a root and from
//! its coming back.

use super::{ApplyError, Author};
use crate::model::change::Change;
use crate::model::id::IssueId;
use crate::model::record::{Halt, Halted, Heartbeat, HeartbeatId};
use crate::model::snapshot::Snapshot;

/// A heartbeat as it is from now on; no fact when it was so before.
pub(super) fn set(snapshot: &Snapshot, heartbeat: &Heartbeat) -> Vec<Change> {
    let before = snapshot.heartbeat(&heartbeat.id);
    if before == Some(heartbeat) {
        return Vec::new();
    }
    let before = before.cloned().map(Box::new);
    vec![Change::HeartbeatSet { before, after: Box::new(heartbeat.clone()) }]
}

/// A heartbeat less.
pub(super) fn remove(snapshot: &Snapshot, id: &HeartbeatId) -> Result<Vec<Change>, ApplyError> {
    let heartbeat = snapshot.heartbeat(id).ok_or_else(|| ApplyError::NoHeartbeat(id.clone()))?;
    Ok(vec![Change::HeartbeatRemoved { heartbeat: Box::new(heartbeat.clone()) }])
}

/// A root that ends stops what ticks it; one that comes back starts again what its end had stopped, and
/// nothing that somebody had disabled.
pub(super) fn follow_root(
    snapshot: &Snapshot,
    root: &IssueId,
    finished: bool,
    author: &Author,
) -> Vec<Change> {
    let graph = snapshot.graph();
    let followers = match graph.ix(root).is_some_and(|ix| graph.parent(ix).is_none()) {
        true => snapshot.heartbeats_of(root),
        // By now it lies below another.
        false => snapshot.heartbeats_at(root).iter().collect(),
    };
    let followed = followers.into_iter().filter_map(|heartbeat| {
        let mut after = heartbeat.clone();
        match (finished, heartbeat.halted.as_ref().map(|halted| halted.why)) {
            (true, None) => {
                after.halted = Some(Halted {
                    why: Halt::Final,
                    by: author.actor.clone(),
                    at: author.at,
                    note: String::new(),
                });
            }
            (false, Some(Halt::Final)) => after.start(author.at),
            _ => return None,
        }
        Some(after)
    });
    followed.flat_map(|after| set(snapshot, &after)).collect()
}
