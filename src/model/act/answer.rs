//! `answer`: a human decides an ask (section 5). The effect comes with the next tick.

use super::find;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::check_text;
use crate::model::primitive::Primitive;
use crate::model::record::{Answer, Ask};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// The choice that opens further rounds.
pub const EXTRA_ROUND: &str = "open-extra-round";
/// The choice that gives a scope up.
pub const ABANDON: &str = "abandon";

/// Records an answer; an empty list when the same answer stands already.
///
/// # Errors
/// When the ask is settled, the choice is not one of its choices, or another answer was first, or the same
/// with another note.
pub fn answer(snapshot: &Snapshot, id: &IssueId, answer: Answer) -> Result<Vec<Primitive>, Refusal> {
    let ask = asked(snapshot, id)?;
    check_text("note", &answer.note)?;
    if let Some(first) = &ask.answer {
        // A note that nobody would find again is not passed over in silence.
        let nothing_new = answer.note.is_empty() || answer.note == first.note;
        if first.same_decision(&answer) && nothing_new {
            return Ok(Vec::new());
        }
        return Err(first_was(snapshot, id, first));
    }
    open(snapshot, id)?;
    if snapshot.relation().finished(find(snapshot, id)?) {
        return Err(Refusal::AskSettled(id.clone()));
    }
    if ask.choices.iter().all(|choice| choice.id != answer.choice) {
        let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
        return Err(Refusal::NoSuchChoice {
            ask: id.clone(),
            choice: answer.choice,
            choices: choices.join(", "),
        });
    }
    if answer.rounds.is_some() && answer.choice != EXTRA_ROUND {
        return Err(Refusal::ChoiceOption { choice: answer.choice, option: "--rounds" });
    }
    if answer.with_dependents && (answer.choice != ABANDON || ask.scope.is_none()) {
        return Err(Refusal::ChoiceOption { choice: answer.choice, option: "--with-dependents" });
    }
    if let Some(rounds) = answer.rounds.filter(|n| !(1..=100).contains(n)) {
        return Err(Refusal::OutOfRange { name: "rounds", range: "1 to 100", given: rounds.to_string() });
    }
    Ok(vec![Primitive::SetAnswer { id: id.clone(), answer: Some(Box::new(answer)) }])
}

fn first_was(snapshot: &Snapshot, id: &IssueId, first: &Answer) -> Refusal {
    Refusal::AlreadyAnswered {
        ask: id.clone(),
        choice: first.choice.clone(),
        by: first.by.clone(),
        used: snapshot.graph().get(id).is_some_and(|issue| issue.state.closed()),
    }
}

/// An ask that can still be answered.
///
/// # Errors
/// When it is settled, or somebody was first.
pub fn unanswered<'s>(snapshot: &'s Snapshot, id: &IssueId) -> Result<&'s Ask, Refusal> {
    let ask = asked(snapshot, id)?;
    if let Some(first) = &ask.answer {
        return Err(first_was(snapshot, id, first));
    }
    open(snapshot, id)?;
    if snapshot.relation().finished(find(snapshot, id)?) {
        return Err(Refusal::AskSettled(id.clone()));
    }
    Ok(ask)
}

/// Takes an answer back, as long as no tick has used it.
///
/// # Errors
/// When there is none, a tick has used it, or somebody else gave it.
pub fn withdraw(snapshot: &Snapshot, id: &IssueId, actor: &Actor) -> Result<Vec<Primitive>, Refusal> {
    let ask = asked(snapshot, id)?;
    open(snapshot, id)?;
    let first = ask.answer.as_ref().ok_or_else(|| Refusal::NothingToWithdraw(id.clone()))?;
    if first.by != *actor {
        return Err(Refusal::NotTheAuthor { id: id.clone(), by: first.by.clone() });
    }
    Ok(vec![Primitive::SetAnswer { id: id.clone(), answer: None }])
}

fn asked<'s>(snapshot: &'s Snapshot, id: &IssueId) -> Result<&'s Ask, Refusal> {
    find(snapshot, id)?;
    snapshot.ask(id).ok_or_else(|| Refusal::NotAnAsk(id.clone()))
}

/// An ask is open while its issue is, and what it asks about has not gone away.
fn open(snapshot: &Snapshot, id: &IssueId) -> Result<(), Refusal> {
    let ix = find(snapshot, id)?;
    let settled = snapshot.graph().issue(ix).state.closed() || snapshot.relation().let_go(ix);
    if settled { Err(Refusal::AskSettled(id.clone())) } else { Ok(()) }
}
