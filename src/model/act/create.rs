//! `create`: a new issue, alone or below a parent; a new ask among them.

use super::assign;
use super::find;
use super::packet::round_bound;
use crate::model::duty::{AskPolicy, Duty};
use crate::model::gate;
use crate::model::id::IssueId;
use crate::model::issue::{Issue, Millis, Policy, Priority, TextError, Work, check_text, check_title};
use crate::model::primitive::Primitive;
use crate::model::record::{Ask, AskKind, Choice};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{Tag, Tags};

/// What a new issue is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewIssue {
    /// One line for people.
    pub title: String,
    /// What is wanted.
    pub body: String,
    /// The tags as the user wrote them; the protocol's own are added.
    pub tags: Tags,
    /// How urgent it is.
    pub priority: Priority,
    /// Its parent.
    pub parent: Option<IssueId>,
    /// Policy metadata.
    pub policy: Policy,
    /// What a worker needs to know.
    pub work: Work,
    /// The plan's name for it.
    pub key: Option<String>,
    /// For an ask: what can be answered. Empty takes the choices of a plain question.
    pub choices: Vec<String>,
    /// For an ask: when it is due, whatever its policy says.
    pub due_at: Option<Millis>,
    /// For an ask: what is wanted of it where no issue says.
    pub configured: AskPolicy,
}

/// A new issue as an actor may make it.
///
/// # Errors
/// A bad text, tag or bound; a parent that takes no more children.
pub fn create(
    snapshot: &Snapshot,
    id: &IssueId,
    new: NewIssue,
    now: Millis,
) -> Result<Vec<Primitive>, Refusal> {
    let parent = new.parent.clone();
    let (choices, due_at, configured) = (new.choices.clone(), new.due_at, new.configured.clone());
    let issue = issue(id, new, now)?;
    let adoption = match &parent {
        Some(parent) => gate::adopt(snapshot, find(snapshot, parent)?, id)?,
        None => Vec::new(),
    };
    let mut primitives = Vec::new();
    let ask = issue.tags.ask().then(|| question(&issue, &choices));
    let above = parent.as_ref().and_then(|parent| snapshot.graph().ix(parent));
    let ask = ask
        .map(|ask| assigned(ask, &issue, assign::wanted(snapshot, above, &configured), now))
        .transpose()?;
    let ask = ask.map(|ask| match due_at {
        None => ask,
        Some(_) => Ask { duty: Some(Duty { due_at, ..ask.duty.unwrap_or_else(|| Duty::since(now)) }), ..ask },
    });
    primitives.push(Primitive::Create { issue: Box::new(issue), parent });
    primitives.extend(ask.map(|ask| Primitive::OpenAsk { ask: Box::new(ask) }));
    primitives.extend(adoption);
    Ok(primitives)
}

/// The issue itself, with its fields checked.
///
/// # Errors
/// A bad text, tag or bound.
pub fn issue(id: &IssueId, new: NewIssue, now: Millis) -> Result<Issue, Refusal> {
    check_title(&new.title)?;
    check_text("body", &new.body)?;
    for criterion in &new.work.accept {
        check_text("criterion", criterion)?;
        if criterion.trim().is_empty() {
            return Err(TextError::Empty { field: "criterion" }.into());
        }
    }
    check_policy(&new.policy)?;
    check_reserved(&new.tags)?;
    let tags = new.tags.completed();
    tags.check()?;
    if !tags.ask() {
        check_timeout(&new.policy)?;
    }
    if tags.review_gated() {
        round_bound(&new.body)?;
    }
    Ok(Issue {
        body: new.body,
        priority: new.priority,
        policy: new.policy,
        work: new.work,
        key: new.key,
        ..Issue::new(id.clone(), new.title, tags, now)
    })
}

/// The choice that every question has, whatever else can be answered.
const SKIP: &str = "skip";

/// The ask that a hand-made node of `kind:ask` carries.
pub fn question(issue: &Issue, choices: &[String]) -> Ask {
    let mut offered: Vec<Choice> = Vec::new();
    for id in choices.iter().filter(|id| *id != SKIP) {
        if offered.iter().all(|choice| choice.id != *id) {
            offered.push(Choice {
                id: id.clone(),
                label: id.clone(),
                effect: "settles the question with this answer".to_owned(),
            });
        }
    }
    if offered.is_empty() {
        offered.push(Choice {
            id: "done".to_owned(),
            label: "Answered".to_owned(),
            effect: "settles the question; the note carries the answer".to_owned(),
        });
    }
    offered.push(Choice {
        id: SKIP.to_owned(),
        label: "Skip".to_owned(),
        effect: "closes the question without an answer; what waits for it goes on".to_owned(),
    });
    Ask {
        id: issue.id.clone(),
        kind: AskKind::Question,
        scope: None,
        round: None,
        about: None,
        question: issue.title.clone(),
        evidence: if issue.body.is_empty() { Vec::new() } else { vec![issue.body.clone()] },
        choices: offered,
        answer: None,
        duty: None,
    }
}

/// The ask with what it wants itself, and what is wanted of it from above.
///
/// # Errors
/// When its own default is none of its choices.
pub(super) fn assigned(ask: Ask, issue: &Issue, above: AskPolicy, now: Millis) -> Result<Ask, Refusal> {
    let own = issue.policy.ask.clone();
    if let Some(timeout) = own.timeout.as_ref().filter(|timeout| timeout.after > 0) {
        assign::check_default(&ask, &timeout.choice)?;
    }
    let duty = assign::duty(&own.or(&above), &ask, now);
    Ok(Ask { duty, ..ask })
}

/// Refuses tags that only an import sets.
///
/// # Errors
/// [`crate::model::tag::TagSetError::Reserved`].
pub fn check_reserved(tags: &Tags) -> Result<(), Refusal> {
    let reserved: Option<&Tag> = tags.iter().find(|tag| tag.as_str().starts_with("import:"));
    match reserved {
        Some(tag) => Err(crate::model::tag::TagSetError::Reserved(tag.clone()).into()),
        None => Ok(()),
    }
}

/// Checks the bounds a scope asks for.
///
/// # Errors
/// [`Refusal::OutOfRange`].
pub fn check_policy(policy: &Policy) -> Result<(), Refusal> {
    if let Some(rounds) = policy.max_review_rounds.filter(|n| !(1..=100).contains(n)) {
        return Err(out_of_range("max_review_rounds", "1 to 100", rounds));
    }
    if let Some(times) = policy.no_progress.filter(|n| *n > 100) {
        return Err(out_of_range("no_progress", "0 (off) to 100", times));
    }
    if let Some(retries) = policy.step_retries.filter(|n| *n > 100) {
        return Err(out_of_range("step_retries", "0 to 100", retries));
    }
    Ok(())
}

/// Checks what an issue wants its asks to come to by themselves.
///
/// # Errors
/// [`Refusal::NotByTimeout`].
pub fn check_timeout(policy: &Policy) -> Result<(), Refusal> {
    let timeout = policy.ask.timeout.as_ref().filter(|timeout| timeout.after > 0);
    let choice = timeout.map(|timeout| timeout.choice.as_str());
    match choice.filter(|choice| !assign::BY_TIMEOUT.contains(choice)) {
        Some(choice) => Err(Refusal::NotByTimeout(choice.to_owned())),
        None => Ok(()),
    }
}

fn out_of_range(name: &'static str, range: &'static str, given: u32) -> Refusal {
    Refusal::OutOfRange { name, range, given: given.to_string() }
}
