//! `update`: new values for what an issue says and is tagged with.

use super::create::{check_policy, check_reserved, check_timeout, question};
use super::find;
use super::packet::round_bound;
use crate::model::change::Field;
use crate::model::gate;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Issue, Policy, Priority, Work, check_text, check_title};
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
    /// What a worker needs to know, anew.
    pub work: Option<Work>,
}

/// Changes an issue; an empty list when it already is as wanted.
///
/// # Errors
/// A bad text, tag or bound; tags of round nodes, opened scopes and asks; bounds of an opened scope.
pub fn update(snapshot: &Snapshot, id: &IssueId, update: &Update) -> Result<Vec<Primitive>, Refusal> {
    let issue = snapshot.graph().issue(find(snapshot, id)?);
    let tags = changed_tags(snapshot, issue, update)?;
    if let Some(title) = &update.title {
        check_title(title)?;
    }
    if let Some(body) = &update.body {
        check_text("body", body)?;
    }
    let policy = update.policy.as_ref().map(|set| merged(&issue.policy, set));
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
    let ask = becomes_ask.then(|| {
        let mut after = issue.clone();
        fields.iter().for_each(|field| field.put(&mut after));
        Primitive::OpenAsk { ask: Box::new(question(&after, &[])) }
    });
    Ok(std::iter::once(Primitive::Edit { id: id.clone(), fields }).chain(ask).collect())
}

fn merged(old: &Policy, set: &Policy) -> Policy {
    Policy {
        max_review_rounds: set.max_review_rounds.or(old.max_review_rounds),
        max_review_rounds_posted: set.max_review_rounds_posted.or(old.max_review_rounds_posted),
        no_progress: set.no_progress.or(old.no_progress),
        allow_self_review: set.allow_self_review.or(old.allow_self_review),
        step_retries: set.step_retries.or(old.step_retries),
        ask: set.ask.clone().or(&old.ask),
    }
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
