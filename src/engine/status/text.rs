//! What is said of one scope and of one ask: functions of that scope or ask, so that a change costs
//! what it touched.

use crate::engine::asks::shortened;
use crate::engine::decision::Transition;
use crate::engine::progress;
use crate::engine::review_gated::{self, ScopeState};
use crate::model::document::{PartText, PromptText};
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::record::{Ask, AskKind, Opinion, Round, Scope};
use crate::model::snapshot::Snapshot;
use crate::model::tag::FLOW_SUBAGENTS;

/// The name of a prompt; others of the same root append their ask's id.
pub const ESCALATION: &str = "ui:control-flow:escalation";

/// The name of a status document.
pub(super) const CONTROL_FLOW: &str = "ui:control-flow";

/// The same, where the orchestration is shared.
pub(super) const SUBAGENTS: &str = "ui:subagents";

/// How much of a title is shown.
const TITLE_CHARS: usize = 80;

/// The name of a root's status document.
pub(super) fn status_name(snapshot: &Snapshot, root: &IssueId) -> &'static str {
    let shared = snapshot.graph().get(root).is_some_and(|issue| issue.tags.has(FLOW_SUBAGENTS));
    if shared { SUBAGENTS } else { CONTROL_FLOW }
}

/// Whether what happens in other trees decides over the state of a scope.
pub(super) fn decided_abroad(snapshot: &Snapshot, id: &IssueId) -> bool {
    let round = snapshot.last_round(id).filter(|round| round.end.is_none());
    let attempt = round.and_then(|round| snapshot.graph().ix(&round.attempt));
    attempt.is_some_and(|attempt| progress::looks_abroad(snapshot, attempt))
}

/// What is said of a scope; nothing when it was not opened, has ended, or is in a human's hands.
pub fn part_text(snapshot: &Snapshot, id: &IssueId) -> Option<PartText> {
    let graph = snapshot.graph();
    let (ix, scope) = (graph.ix(id)?, snapshot.scope(id)?);
    let state = match review_gated::state(snapshot, ix) {
        ScopeState::Passed | ScopeState::Waived | ScopeState::Abandoned | ScopeState::HandedOff => {
            return None;
        }
        state => state,
    };
    let round = snapshot.last_round(id);
    let failing = round.is_some_and(|round| failing(snapshot, round));
    let is_root = graph.ancestors(ix).next().is_none();
    let gate = "Review gate";
    Some(PartText {
        title: if is_root { gate.to_owned() } else { format!("{gate}: {}", title(snapshot, ix)) },
        policy: format!("flow:{}", scope.policy),
        round: format!("{}/{}", round.map_or(0, |round| round.number), scope.bounds.max_rounds),
        attempt: round.map(|round| round.attempt.to_string()).unwrap_or_default(),
        review: round.map(|round| round.review.to_string()).unwrap_or_default(),
        state: state.as_str().to_owned(),
        next: next(snapshot, scope, round, state, failing),
    })
}

fn title(snapshot: &Snapshot, ix: Ix) -> String {
    shortened(&snapshot.graph().issue(ix).title, TITLE_CHARS)
}

fn failing(snapshot: &Snapshot, round: &Round) -> bool {
    let attempt = snapshot.graph().ix(&round.attempt).filter(|_| round.end.is_none());
    attempt.is_some_and(|attempt| !progress::failures(snapshot, attempt).is_empty())
}

/// What comes next for a scope, in words that begin with a capital.
fn next(
    snapshot: &Snapshot,
    scope: &Scope,
    round: Option<&Round>,
    state: ScopeState,
    failing: bool,
) -> String {
    let number = round.map_or(0, |round| round.number);
    let passed = round.and_then(|round| round.verdict.as_ref()).map(|verdict| verdict.opinion);
    match state {
        ScopeState::AttemptPending if failing => {
            format!("Run what is left of attempt_{number}: a part of it failed")
        }
        ScopeState::AttemptPending => format!("Run attempt_{number}"),
        ScopeState::ReviewPending if passed == Some(Opinion::Pass) => format!("Accept round {number}"),
        ScopeState::ReviewPending => format!("Run review_{number}"),
        ScopeState::RoundFailed => match review_gated::verdict_or_failure(snapshot, scope) {
            Some(Transition::NextRound { failed, .. }) => format!("Open round {}", failed.saturating_add(1)),
            Some(Transition::Escalate { .. }) => "Ask a human".to_owned(),
            _ => "Decide on what failed".to_owned(),
        },
        ScopeState::Paused => "Wait until it is resumed".to_owned(),
        ScopeState::Escalated => "Wait for a human's answer".to_owned(),
        ScopeState::Stuck => {
            let why = review_gated::contradiction(snapshot, scope);
            format!("Look into it: {}", why.as_deref().unwrap_or("the records and the graph disagree"))
        }
        ScopeState::NoRound
        | ScopeState::HandedOff
        | ScopeState::Passed
        | ScopeState::Waived
        | ScopeState::Abandoned => "Nothing".to_owned(),
    }
}

/// What is shown of an ask; nothing when it was settled or what it asks about went away.
pub fn prompt_text(snapshot: &Snapshot, id: &IssueId) -> Option<PromptText> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let (ix, ask) = (graph.ix(id)?, snapshot.ask(id)?);
    if graph.issue(ix).state.closed() || relation.let_go(ix) || relation.finished(ix) {
        return None;
    }
    let (title, summary) = heading(snapshot, ask);
    let summary = match &ask.answer {
        Some(answer) => format!("Answered {} by {}; the next tick acts on it.", answer.choice, answer.by),
        None => summary.to_owned(),
    };
    Some(PromptText {
        title: title.to_owned(),
        summary,
        question: ask.question.clone(),
        actions: ask.choices.iter().map(|choice| (choice.id.clone(), choice.label.clone())).collect(),
    })
}

fn heading(snapshot: &Snapshot, ask: &Ask) -> (&'static str, &'static str) {
    let bound = ask.scope.as_ref().and_then(|scope| snapshot.scope(scope)).map(|s| s.bounds.max_rounds);
    match ask.kind {
        AskKind::Rounds if ask.round.is_some_and(|round| bound.is_some_and(|bound| round < bound)) => {
            ("Review rounds make no progress", "Need user decision after rounds that failed in the same way.")
        }
        AskKind::Rounds => ("Review rounds exhausted", "Need user decision after max failed review rounds."),
        AskKind::Handoff => ("Work handed off", "Need user decision on work that a human took over."),
        AskKind::Failure => ("Work failed", "Need user decision after a failure nobody takes care of."),
        AskKind::Steps => ("Steps failed", "Need user decision after a worker failed too often."),
        AskKind::Question => ("Question", "Need user decision on a question."),
    }
}
