//! `flow:review-gated-v1` (S3): attempt, review, and on a failed review the next round, up to a bound.

mod decide;
mod rounds;
mod shape;
mod state;

pub use decide::{opening, verdict_or_failure};
pub use rounds::{accept, escalate, grant, max_rounds, next_round, notes_of, open_first};
pub use shape::contradiction;
pub use state::{ScopeState, open_asks, state};

use crate::model::graph::Ix;
use crate::model::issue::Outcome;
use crate::model::snapshot::Snapshot;

/// The policy's name, as a scope's record keeps it.
pub const POLICY: &str = "review-gated-v1";

/// Whether a scope may still go on: it has not ended, and nothing above it has.
pub fn live(snapshot: &Snapshot, scope: Ix) -> bool {
    let relation = snapshot.relation();
    let open = snapshot.graph().issue(scope).state.outcome().is_none_or(|o| o == Outcome::Expanded);
    open && !relation.finished(scope) && !relation.let_go(scope)
}
