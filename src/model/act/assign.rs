//! `asks assign`: who is to answer an ask, by when, how often they are reminded, and what is chosen should
//! nobody answer. A new ask takes what the issues above it want.

use super::answer::{EXTRA_ROUND, unanswered};
use crate::model::duty::{AskPolicy, Duty, Fallback};
use crate::model::graph::Ix;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::{Ask, AskKind};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// What a scope's asks may come to by themselves: nothing that opens rounds or raises a budget.
pub const BY_TIMEOUT: [&str; 4] = ["stop-and-handoff", "accept", "abandon", "skip"];

/// What is to be different; `None` leaves it, and an inner `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Who is to answer.
    pub to: Option<Option<Actor>>,
    /// When it is due.
    pub due_at: Option<Option<Millis>>,
    /// The time between two reminders, in milliseconds.
    pub remind_every: Option<Option<Millis>>,
    /// What is chosen should nobody answer, and when.
    pub default: Option<Option<Fallback>>,
}

/// Changes who is to answer an ask, and by when; an empty list when that is so already. With another due
/// time or rhythm, reminders begin anew.
///
/// # Errors
/// When the ask is settled or answered, or the choice is none that may be made by nobody.
pub fn assign(
    snapshot: &Snapshot,
    id: &IssueId,
    wish: Assignment,
    now: Millis,
) -> Result<Vec<Primitive>, Refusal> {
    let ask = unanswered(snapshot, id)?;
    let before = ask.duty.clone().unwrap_or_else(|| Duty::since(now));
    let mut after = before.clone();
    after.assignee = wish.to.unwrap_or(after.assignee);
    after.due_at = wish.due_at.unwrap_or(after.due_at);
    after.remind_every = wish.remind_every.unwrap_or(after.remind_every);
    after.default = wish.default.unwrap_or(after.default);
    if (after.due_at, after.remind_every) != (before.due_at, before.remind_every) {
        after.begin_anew(now);
    }
    if let Some(default) = &after.default {
        check_default(ask, &default.choice)?;
    }
    if after == before {
        return Ok(Vec::new());
    }
    let duty = Some(after).filter(|duty| !duty.is_empty()).map(Box::new);
    Ok(vec![Primitive::SetDuty { id: id.clone(), duty }])
}

/// Refuses what an ask does not offer, and what must not be chosen by nobody.
///
/// # Errors
/// [`Refusal::NoSuchChoice`], [`Refusal::NotByTimeout`].
pub fn check_default(ask: &Ask, choice: &str) -> Result<(), Refusal> {
    if ask.choices.iter().all(|offered| offered.id != choice) {
        let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
        return Err(Refusal::NoSuchChoice {
            ask: ask.id.clone(),
            choice: choice.to_owned(),
            choices: choices.join(", "),
        });
    }
    if may_default(ask, choice) { Ok(()) } else { Err(Refusal::NotByTimeout(choice.to_owned())) }
}

fn may_default(ask: &Ask, choice: &str) -> bool {
    ask.kind == AskKind::Question || (choice != EXTRA_ROUND && choice != "retry")
}

/// What an issue wants of the asks in it: its own wishes, and where it has none those of the nearest
/// ancestor that has. What none of them says, the configuration says.
pub fn wanted(snapshot: &Snapshot, at: Option<Ix>, configured: &AskPolicy) -> AskPolicy {
    let graph = snapshot.graph();
    let up = at.into_iter().flat_map(|at| graph.self_and_ancestors(at));
    up.fold(AskPolicy::default(), |wanted, at| wanted.or(&graph.issue(at).policy.ask)).or(configured)
}

/// What a new ask becomes of that. A hand-off is held by whoever took it, and comes to nothing by itself.
pub fn duty(wanted: &AskPolicy, ask: &Ask, now: Millis) -> Option<Duty> {
    let offered = |choice: &str| ask.choices.iter().any(|offered| offered.id == choice);
    let timeout = wanted.timeout.as_ref().filter(|timeout| timeout.after > 0).filter(|timeout| {
        ask.kind != AskKind::Handoff && offered(&timeout.choice) && may_default(ask, &timeout.choice)
    });
    let duty = Duty {
        assignee: wanted.assignee.clone(),
        since: now,
        due_at: wanted.due.filter(|&due| due > 0).map(|due| now.saturating_add(due)),
        remind_every: wanted.remind.filter(|&every| every > 0),
        default: timeout.map(|t| Fallback {
            at: now.saturating_add(t.after),
            choice: t.choice.clone(),
            since: now,
        }),
        reminder: None,
        earlier: 0,
    };
    Some(duty).filter(|duty| !duty.is_empty())
}
