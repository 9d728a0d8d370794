//! How often work is started again after it was lost or failed. A step runs at most once more than the
//! retries it is allowed; then a human is asked, and until that nobody starts it.

use super::graph::Ix;
use super::readiness::Hindrance;
use super::snapshot::Snapshot;

/// Why nobody may start an issue again, if its steps are used up; `default` are the retries of what has
/// no bound of its own. A claim whose lease ran out is one more lost step.
pub fn used_up(snapshot: &Snapshot, ix: Ix, default: u32) -> Option<Hindrance> {
    let issue = snapshot.graph().issue(ix);
    let lost = issue.failed_steps.saturating_add(u32::from(issue.state.claim().is_some()));
    let retries = allowed(snapshot, ix, default);
    (lost > retries).then_some(Hindrance::StepsUsedUp { lost, retries })
}

/// The step retries that apply to an issue: its own, or those of the nearest scope above it.
fn allowed(snapshot: &Snapshot, ix: Ix, default: u32) -> u32 {
    let graph = snapshot.graph();
    let own = graph.issue(ix).policy.step_retries;
    let scope_of = |up: Ix| {
        let id = graph.id(up);
        let round = snapshot.round_of(id).and_then(|round| snapshot.scope(&round.scope));
        round.or_else(|| snapshot.scope(id)).map(|scope| scope.bounds.step_retries)
    };
    own.or_else(|| graph.self_and_ancestors(ix).find_map(scope_of)).unwrap_or(default)
}
