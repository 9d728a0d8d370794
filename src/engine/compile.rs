//! From a transition to the primitives that carry it out. Pure: time and new ids come in.

use super::decision::Transition;
use super::forge::Forge;
use super::{answers, asks, duties, review_gated};
use crate::model::issue::Outcome;
use crate::model::primitive::Primitive;
use crate::model::snapshot::Snapshot;

/// The primitives of a transition; `None` when the snapshot is not the one it was decided on.
pub fn compile(
    snapshot: &Snapshot,
    transition: &Transition,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    match transition {
        Transition::OpenRound { scope } => review_gated::open_first(snapshot, scope, None, forge),
        Transition::AdoptRound { scope, attempt, review } => {
            review_gated::open_first(snapshot, scope, Some((attempt, review)), forge)
        }
        Transition::NextRound { scope, failed, cause } => {
            review_gated::next_round(snapshot, scope, *failed, cause, forge)
        }
        Transition::AcceptRound { scope, round } => review_gated::accept(snapshot, scope, *round),
        Transition::Escalate { scope, round, cause, no_progress } => {
            review_gated::escalate(snapshot, scope, *round, cause, *no_progress, forge)
        }
        Transition::EscalateFailure { issue } => {
            let ask = asks::failure(snapshot, snapshot.graph().ix(issue)?, forge);
            let takes_over = Primitive::Supersede { new: ask.issue.id.clone(), old: issue.clone() };
            Some(ask.primitives().into_iter().chain([takes_over]).collect())
        }
        Transition::EscalateSteps { issue } => {
            Some(asks::steps(snapshot, snapshot.graph().ix(issue)?, forge).primitives())
        }
        Transition::GrantRounds { ask } => answers::grant(snapshot, ask, forge),
        Transition::Waive { ask } => answers::waive(snapshot, ask),
        Transition::HandOff { ask } => answers::hand_off(snapshot, ask, forge),
        Transition::Abandon { ask } => answers::abandon(snapshot, ask),
        Transition::Retry { ask } => answers::retry(snapshot, ask, forge),
        Transition::Skip { ask } => answers::skip(snapshot, ask),
        Transition::Settle { ask } => answers::settle(snapshot, ask),
        Transition::Moot { ask } => duties::close_as_moot(snapshot, ask),
        Transition::TimeOut { ask } => duties::answer_for_nobody(snapshot, ask, forge.now),
        Transition::Remind { ask } => duties::remind(snapshot, ask, forge.now),
        Transition::Reclaim { issue } => Some(vec![Primitive::Release { id: issue.clone(), lost: true }]),
        Transition::RollUp { issue } => Some(vec![Primitive::Close {
            id: issue.clone(),
            outcome: Outcome::Success,
            reason: Some("everything in it is resolved".to_owned()),
            by: None,
        }]),
        Transition::Finish { root } => Some(vec![Primitive::FinishRoot { id: root.clone(), finished: true }]),
    }
}
