//! May this issue be worked on? The one guard behind `ready`, `claim`, `close` and `explain`.

use super::frontier::List;
use super::graph::Ix;
use super::id::{Actor, IssueId};
use super::issue::{Millis, Outcome, Pause, State};
use super::snapshot::Snapshot;
use super::tag::FLOW_REVIEW;

/// One reason why an issue is not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hindrance {
    /// It is closed.
    Closed(Outcome),
    /// Somebody holds it.
    Held {
        /// The holder.
        by: Actor,
        /// Until when.
        until: Millis,
    },
    /// It is a container, a question, or otherwise nothing a worker executes.
    NotExecutable,
    /// Something unresolved blocks it or an ancestor.
    Blocked {
        /// The unresolved blocker.
        blocker: IssueId,
        /// What it blocks: the issue itself or the ancestor.
        blocked: IssueId,
    },
    /// A child of it is not resolved.
    UnresolvedChild(IssueId),
    /// Something above it ended: nothing starts below.
    Finished,
    /// Its policy has yet to open it.
    WaitsForTick,
    /// It was judged, and the next tick acts on the verdict.
    Judged,
    /// Its steps were lost or failed more often than it is tried again.
    StepsUsedUp {
        /// How many were, a lease that ran out among them.
        lost: u32,
        /// How many retries it has.
        retries: u32,
    },
    /// It or something above it is paused.
    Paused {
        /// What is paused.
        scope: IssueId,
        /// Who paused it, when and why.
        pause: Pause,
    },
}

impl Hindrance {
    /// The reason's code in `issues explain --json`.
    pub fn code(&self) -> &'static str {
        match self {
            Hindrance::Closed(_) => "closed",
            Hindrance::Held { .. } => "claimed",
            Hindrance::NotExecutable => "not_executable",
            Hindrance::Blocked { .. } => "blocked",
            Hindrance::UnresolvedChild(_) => "unresolved_child",
            Hindrance::Finished => "finished",
            Hindrance::WaitsForTick => "waits_for_tick",
            Hindrance::Judged => "verdict_recorded",
            Hindrance::StepsUsedUp { .. } => "steps_used_up",
            Hindrance::Paused { .. } => "paused",
        }
    }

    /// The other issue it is about, if any.
    pub fn issue(&self) -> Option<&IssueId> {
        match self {
            Hindrance::Blocked { blocker, .. } => Some(blocker),
            Hindrance::UnresolvedChild(child) => Some(child),
            Hindrance::Paused { scope, .. } => Some(scope),
            _ => None,
        }
    }

    /// The reason in words.
    pub fn text(&self) -> String {
        match self {
            Hindrance::Closed(outcome) => format!("it is closed as {outcome}"),
            Hindrance::Held { by, .. } => format!("{by} holds it"),
            Hindrance::NotExecutable => "it is not something a worker executes".to_owned(),
            Hindrance::Blocked { blocker, blocked } => {
                format!("{blocker} blocks {blocked} and is not resolved")
            }
            Hindrance::UnresolvedChild(child) => format!("its child {child} is not resolved"),
            Hindrance::Finished => "something above it has ended, and nothing starts below that".to_owned(),
            Hindrance::WaitsForTick => {
                "its policy has not opened it yet; a tick does once nothing else is in its way".to_owned()
            }
            Hindrance::Judged => "its verdict is recorded; the next tick acts on it".to_owned(),
            Hindrance::StepsUsedUp { lost, retries } => format!(
                "lost or failed steps: {lost}, and {retries} retries are allowed; the next tick asks a human"
            ),
            Hindrance::Paused { scope, pause } => {
                format!("{} paused {scope}: {}", pause.by, pause.reason)
            }
        }
    }
}

/// Why an issue is not ready; empty when it is.
pub fn hindrances(snapshot: &Snapshot, ix: Ix) -> Vec<Hindrance> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let issue = graph.issue(ix);
    let mut found = Vec::new();
    match &issue.state {
        State::Open => {}
        State::InProgress { claim } => {
            found.push(Hindrance::Held { by: claim.actor.clone(), until: claim.expires_at });
        }
        State::Closed { outcome, .. } => found.push(Hindrance::Closed(*outcome)),
    }
    if !issue.tags.executable() {
        found.push(Hindrance::NotExecutable);
    }
    found.extend(relation.open_blockers(ix).map(|(blocker, blocked)| Hindrance::Blocked {
        blocker: graph.id(blocker).clone(),
        blocked: graph.id(blocked).clone(),
    }));
    let unresolved = relation.unresolved_children(ix);
    found.extend(unresolved.map(|child| Hindrance::UnresolvedChild(graph.id(child).clone())));
    if relation.finished(ix) {
        found.push(Hindrance::Finished);
    }
    if waits_for_tick(snapshot, ix) {
        found.push(Hindrance::WaitsForTick);
    }
    if judged(snapshot, ix) {
        found.push(Hindrance::Judged);
    }
    found.extend(
        relation
            .pauses(ix)
            .map(|(at, pause)| Hindrance::Paused { scope: graph.id(at).clone(), pause: pause.clone() }),
    );
    found
}

/// Whether a worker may take the issue now: nothing is in its way.
pub fn ready(snapshot: &Snapshot, ix: Ix) -> bool {
    List::Ready.has(snapshot, ix)
}

/// Whether the issue is a review with a verdict that no tick has acted on.
pub fn judged(snapshot: &Snapshot, ix: Ix) -> bool {
    let round = snapshot.review_round(snapshot.graph().id(ix));
    round.is_some_and(|round| round.verdict.is_some() && round.end.is_none())
}

/// Whether the issue is a scope that its policy has yet to open, or the hand-made review of such a
/// scope, which no tick has adopted yet.
pub fn waits_for_tick(snapshot: &Snapshot, ix: Ix) -> bool {
    let graph = snapshot.graph();
    let unopened = |at: Ix| {
        let issue = graph.issue(at);
        issue.tags.review_gated() && !issue.state.closed() && snapshot.scope(&issue.id).is_none()
    };
    let review = graph.issue(ix).tags.has(FLOW_REVIEW);
    unopened(ix) || (review && graph.parent(ix).is_some_and(unopened))
}

/// Every ready issue at or below `root`, or anywhere, in the total order: priority, age, id.
pub fn ready_issues(snapshot: &Snapshot, below: Option<Ix>) -> Vec<Ix> {
    snapshot.listed(List::Ready, below).all()
}
