//! What actors may do, one file per act: the checks of section 3's life cycle and sections 4 to 6,
//! and the primitives that carry the act out. Pure: the same snapshot gives the same answer.

pub mod answer;
pub mod assign;
pub mod claim;
pub mod close;
pub mod create;
pub mod edges;
pub mod heartbeat;
pub mod notice;
pub mod open;
pub mod packet;
pub mod pause;
pub mod retry;
mod reviewer;
pub mod update;
pub mod verdict;

use super::graph::Ix;
use super::id::IssueId;
use super::refusal::Refusal;
use super::snapshot::Snapshot;

/// The index of an issue that must be there.
///
/// # Errors
/// [`Refusal::NoIssue`].
pub fn find(snapshot: &Snapshot, id: &IssueId) -> Result<Ix, Refusal> {
    snapshot.graph().ix(id).ok_or_else(|| Refusal::NoIssue(id.clone()))
}
