//! Asks and the time: reminders, answers that nobody gave, and questions that went away.

use super::decision::Transition;
use crate::model::act::verdict::topic;
use crate::model::frontier::List;
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Millis, Outcome};
use crate::model::primitive::Primitive;
use crate::model::record::{Answer, Ask, AskKind, Scope, ScopeEnd};
use crate::model::snapshot::Snapshot;

/// An ask whose question went away: what it is about was skipped, or something took its place.
pub fn moot(snapshot: &Snapshot, root: Ix) -> Option<Transition> {
    let ix = snapshot.listed(List::Moot, Some(root)).first(|_| true)?;
    Some(Transition::Moot { ask: snapshot.graph().id(ix).clone() })
}

/// An ask that nobody answered in the time that its scope gives.
pub fn timed_out(snapshot: &Snapshot, root: Ix, now: Millis) -> Option<Transition> {
    let over = |ask: &Ask| {
        let default = ask.duty.as_ref().and_then(|duty| duty.default.as_ref());
        default.is_some_and(|default| default.at <= now)
    };
    Some(Transition::TimeOut { ask: first_due(snapshot, root, now, over)? })
}

/// An ask of which somebody is to be reminded.
pub fn reminder(snapshot: &Snapshot, root: Ix, now: Millis) -> Option<Transition> {
    let due = |ask: &Ask| ask.duty.as_ref().and_then(|duty| duty.due_reminder(now)).is_some();
    Some(Transition::Remind { ask: first_due(snapshot, root, now, due)? })
}

/// The first open ask of which something holds whose time has come. Below what is paused time stands still.
fn first_due(snapshot: &Snapshot, root: Ix, now: Millis, want: impl Fn(&Ask) -> bool) -> Option<IssueId> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let found = snapshot.listed(List::Asking, Some(root)).due_by(now).first(|ix| {
        let goes_on = !relation.let_go(ix) && !relation.finished(ix) && !relation.paused(ix);
        goes_on && snapshot.ask(graph.id(ix)).is_some_and(|ask| ask.answer.is_none() && want(ask))
    })?;
    Some(graph.id(found).clone())
}

/// Closes an ask as moot. Should what it is about come back, it must not have been decided by that: rounds
/// that are half closed do not count, and a failure is asked about again.
pub fn close_as_moot(snapshot: &Snapshot, id: &IssueId) -> Option<Vec<Primitive>> {
    let (ask, graph) = (snapshot.ask(id)?, snapshot.graph());
    let ix = graph.ix(id)?;
    let mut primitives = Vec::new();
    match ask.kind {
        AskKind::Rounds | AskKind::Handoff => {
            let scope = ask.scope.as_ref().and_then(|scope| snapshot.scope(scope));
            primitives.extend(scope.filter(|scope| scope.end.is_none()).map(|scope| {
                let ended = Scope { end: Some(ScopeEnd::Abandoned), ..scope.clone() };
                Primitive::SetScope { scope: Box::new(ended) }
            }));
        }
        AskKind::Failure => {
            let failed = ask.about.as_ref().and_then(|about| graph.ix(about));
            let takes_over = failed.filter(|&failed| graph.has_edge(ix, EdgeKind::Supersedes, failed));
            primitives.extend(
                takes_over
                    .map(|failed| Primitive::Unsupersede { new: id.clone(), old: graph.id(failed).clone() }),
            );
        }
        AskKind::Steps | AskKind::Question => {}
    }
    let reason = Some("moot: what it asked about has gone away".to_owned());
    primitives.push(Primitive::Close { id: id.clone(), outcome: Outcome::Skipped, reason, by: None });
    Some(primitives)
}

/// The answer of nobody, which the next tick acts on like any other.
pub fn answer_for_nobody(snapshot: &Snapshot, id: &IssueId, now: Millis) -> Option<Vec<Primitive>> {
    let default = snapshot.ask(id)?.duty.as_ref()?.default.as_ref()?;
    let answer = Answer {
        choice: default.choice.clone(),
        note: "nobody answered in time".to_owned(),
        by: Actor::engine(),
        at: now,
        rounds: None,
        with_dependents: false,
    };
    let body = format!("TIMEOUT: {}\nnobody answered in time", default.choice);
    Some(vec![
        Primitive::Post { topic: topic(id), body },
        Primitive::SetAnswer { id: id.clone(), answer: Some(Box::new(answer)) },
    ])
}

/// Records that somebody is reminded.
pub fn remind(snapshot: &Snapshot, id: &IssueId, now: Millis) -> Option<Vec<Primitive>> {
    let reminder = snapshot.ask(id)?.duty.as_ref()?.due_reminder(now)?;
    Some(vec![Primitive::Remind { id: id.clone(), reminder }])
}
