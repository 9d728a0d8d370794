//! `update`: new values for what an issue says and is tagged with.

use super::create::{assigned, check_policy, check_reserved, check_timeout, question};
use super::packet::round_bound;
use super::{assign, find};
use crate::model::change::Field;
use crate::model::duty::AskPolicy;
use crate::model::gate;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Issue, Millis, Policy, Priority, Work, check_text, check_title};
use crate::model::primitive::Primitive;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_REVIEW_GATED, Kind, Tag, Tags};

/// What is to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// A new title.
    pub title: Option<String>,
    /// A new body.
    pub body: Option<String>,
    /// A new priority.
    pub priority: Option<Priority>,
    /// All tags anew.
    pub tags: Option<Tags>,
    /// Tags to add.
    pub add_tags: Vec<Tag>,
    /// Tags to take away.
    pub remove_tags: Vec<Tag>,
    /// Policy metadata to set.
    pub policy: Option<Policy>,
    /// Policy metadata to take away: what is above decides of it again.
    pub unset: Vec<Wanted>,
    /// What a worker needs to know, anew.
    pub work: Option<Work>,
    /// Should it become an ask: what is wanted of it where no issue says.
    pub configured: AskPolicy,
}

/// What an issue may want of its policy, or leave to what is above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// How many rounds there may be.
    MaxReviewRounds,
    /// How many equal failures are no progress.
    NoProgress,
    /// How often a step is tried again.
    StepRetries,
    /// Whether who worked may judge.
    AllowSelfReview,
    /// Who is to answer.
    AskAssignee,
    /// How long there is for an answer.
    AskDue,
    /// The time between two reminders.
    AskRemind,
    /// What nobody's answer is, and when.
    AskTimeout,
}

impl Wanted {
    /// Each of them, with its name.
    pub const NAMED: [(&str, Wanted); 8] = [
        ("max-review-rounds", Wanted::MaxReviewRounds),
        ("no-progress", Wanted::NoProgress),
        ("step-retries", Wanted::StepRetries),
        ("allow-self-review", Wanted::AllowSelfReview),
        ("ask-assignee", Wanted::AskAssignee),
        ("ask-due", Wanted::AskDue),
        ("ask-remind", Wanted::AskRemind),
        ("ask-timeout", Wanted::AskTimeout),
    ];

    fn taken_from(self, policy: &mut Policy) {
        match self {
            Wanted::MaxReviewRounds => policy.max_review_rounds = None,
            Wanted::NoProgress => policy.no_progress = None,
            Wanted::StepRetries => policy.step_retries = None,
            Wanted::AllowSelfReview => policy.allow_self_review = None,
            Wanted::AskAssignee => policy.ask.assignee = None,
            Wanted::AskDue => policy.ask.due = None,
            Wanted::AskRemind => policy.ask.remind = None,
            Wanted::AskTimeout => policy.ask.timeout = None,
        }
    }
}

/// Changes an issue; an empty list when it already is as wanted.
///
/// # Errors
/// A bad text, tag or bound; tags of round nodes, opened scopes and asks; bounds of an opened scope.
pub fn update(
    snapshot: &Snapshot,
    id: &IssueId,
    update: &Update,
    now: Millis,
) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let issue = snapshot.graph().issue(ix);
    let tags = changed_tags(snapshot, issue, update)?;
    if let Some(title) = &update.title {
        check_title(title)?;
    }
    if let Some(body) = &update.body {
        check_text("body", body)?;
    }
    let policy = changed_policy(&issue.policy, update);
    if let Some(policy) = policy.as_ref().filter(|policy| **policy != issue.policy) {
        check_policy(policy)?;
        if policy.ask != issue.policy.ask {
            check_timeout(policy)?;
            if snapshot.ask(id).is_some() {
                return Err(Refusal::AskIsAssigned(id.clone()));
            }
        }
        let bounds = Policy { ask: issue.policy.ask.clone(), ..policy.clone() };
        let fixed = snapshot.scope(id).is_some() || snapshot.round_of(id).is_some();
        if fixed && bounds != issue.policy {
            return Err(Refusal::BoundsFixed(id.clone()));
        }
    }
    if tags.review_gated() {
        round_bound(update.body.as_ref().unwrap_or(&issue.body))?;
    }
    let becomes_ask = tags.ask() && snapshot.ask(id).is_none();
    let mut fields: Vec<Field> = vec![Field::Tags(tags)];
    fields.extend(update.title.clone().map(Field::Title));
    fields.extend(update.body.clone().map(Field::Body));
    fields.extend(update.priority.map(Field::Priority));
    fields.extend(policy.map(Field::Policy));
    fields.extend(update.work.clone().map(Field::Work));
    fields.retain(|field| field.of(issue) != *field);
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let ask = becomes_ask.then(|| -> Result<Primitive, Refusal> {
        let mut after = issue.clone();
        fields.iter().for_each(|field| field.put(&mut after));
        let above = assign::wanted(snapshot, snapshot.graph().parent(ix), &update.configured);
        let ask = assigned(question(&after, &[]), &after, above, now)?;
        Ok(Primitive::OpenAsk { ask: Box::new(ask) })
    });
    let ask = ask.transpose()?;
    Ok(std::iter::once(Primitive::Edit { id: id.clone(), fields }).chain(ask).collect())
}

/// The policy with what is taken away and what is set; `None` where the update says nothing of it.
fn changed_policy(old: &Policy, update: &Update) -> Option<Policy> {
    if update.policy.is_none() && update.unset.is_empty() {
        return None;
    }
    let mut old = old.clone();
    update.unset.iter().for_each(|wanted| wanted.taken_from(&mut old));
    let set = update.policy.clone().unwrap_or_default();
    Some(Policy {
        max_review_rounds: set.max_review_rounds.or(old.max_review_rounds),
        max_review_rounds_posted: set.max_review_rounds_posted.or(old.max_review_rounds_posted),
        no_progress: set.no_progress.or(old.no_progress),
        allow_self_review: set.allow_self_review.or(old.allow_self_review),
        step_retries: set.step_retries.or(old.step_retries),
        ask: set.ask.or(&old.ask),
    })
}

fn changed_tags(snapshot: &Snapshot, issue: &Issue, update: &Update) -> Result<Tags, Refusal> {
    let mut tags = update.tags.clone().unwrap_or_else(|| issue.tags.clone());
    for tag in &update.remove_tags {
        tags.remove(tag.as_str());
    }
    tags = tags.iter().cloned().chain(update.add_tags.iter().cloned()).collect();
    if tags == issue.tags {
        return Ok(tags);
    }
    let added: Tags = tags.iter().filter(|tag| !issue.tags.has(tag.as_str())).cloned().collect();
    let dropped: Tags = issue.tags.iter().filter(|tag| !tags.has(tag.as_str())).cloned().collect();
    check_reserved(&added)?;
    check_reserved(&dropped)?;
    tags.check()?;
    let protocol = |tag: &Tag| {
        let families = ["flow:", "kind:", "node:", "ctx:", "proto:", "actor:"];
        families.iter().any(|family| tag.as_str().starts_with(family))
    };
    if added.iter().chain(dropped.iter()).any(protocol) {
        gate::not_in_a_round(snapshot, &issue.id, "tags")?;
        if snapshot.ask(&issue.id).is_some() {
            return Err(Refusal::AskStaysAsk(issue.id.clone()));
        }
        if snapshot.scope(&issue.id).is_some() {
            return Err(Refusal::ScopeIsOpened(issue.id.clone()));
        }
    }
    for decisive in [FLOW_REVIEW_GATED, Kind::Ask.tag()] {
        if added.has(decisive) && issue.state.status() != "open" {
            return Err(Refusal::TagNeedsOpen {
                tag: Tag::known(decisive),
                id: issue.id.clone(),
                status: issue.state.status(),
            });
        }
    }
    let ix = find(snapshot, &issue.id)?;
    if added.has(Kind::Ask.tag()) {
        may_become_ask(snapshot, ix)?;
    }
    Ok(tags)
}

/// A question is settled by whoever answers it; work is not, once somebody began it or a round judges it.
fn may_become_ask(snapshot: &Snapshot, ix: Ix) -> Result<(), Refusal> {
    let (graph, issue) = (snapshot.graph(), snapshot.graph().issue(ix));
    let id = issue.id.clone();
    if !graph.children(ix).is_empty() {
        return Err(Refusal::AskWithChildren(id));
    }
    let why = if issue.epoch > 0 {
        "was claimed"
    } else if !graph.supersedes(ix).is_empty() {
        "stands for work that did not succeed"
    } else if !gate::judged_by(snapshot, ix).is_empty() {
        "is work that a review judges"
    } else {
        return Ok(());
    };
    Err(Refusal::WorkStaysWork { id, why })
}
