//! The use cases of scopes and their rounds.

use serde::{Deserialize, Serialize};

use super::session::resolve;
use super::view::{RoundView, RoundsView, Word};
use super::{AppError, Changed, Session};
use crate::engine::review_gated;
use crate::model::act::update::{self, Update};
use crate::model::act::verdict::{self, topic};
use crate::model::id::IssueId;
use crate::model::issue::{Policy, check_text};
use crate::model::primitive::Primitive;
use crate::model::readiness::waits_for_tick;
use crate::model::record::{Bounds, Opinion, Verdict};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_REVIEW_GATED, Tag};

/// The rounds of a scope.
///
/// # Errors
/// When the issue is not there, or no policy owns it.
pub fn show(session: &Session, text: &str) -> Result<RoundsView, AppError> {
    session.look(|snapshot| view(snapshot, &resolve(snapshot, text)?, &session.config.bounds))
}

fn view(snapshot: &Snapshot, id: &IssueId, defaults: &Bounds) -> Result<RoundsView, AppError> {
    let graph = snapshot.graph();
    // A round node stands for its scope.
    let scope = snapshot.round_of(id).map_or_else(|| id.clone(), |round| round.scope.clone());
    let ix = graph.ix(&scope).ok_or_else(|| AppError::NoIssue(scope.to_string()))?;
    if !graph.issue(ix).tags.review_gated() && snapshot.scope(&scope).is_none() {
        return Err(AppError::Usage(format!("{scope} is not a scope: it has no tag {FLOW_REVIEW_GATED}")));
    }
    let ask = review_gated::open_asks(snapshot, ix).into_iter().next();
    Ok(RoundsView {
        scope: scope.to_string(),
        max_rounds: review_gated::max_rounds(snapshot, graph.issue(ix), defaults),
        rounds: snapshot.rounds(&scope).map(RoundView::of).collect(),
        state: review_gated::state(snapshot, ix).as_str().into(),
        ask: ask.map(|ask| ask.id.to_string()),
    })
}

/// Puts an issue under the review-gated policy and opens its first round, unless something blocks it;
/// then the first round opens with the tick that finds it free.
///
/// # Errors
/// When the issue is held or closed, or its bounds are fixed already.
pub fn open(session: &mut Session, text: &str, policy: Policy) -> Result<Changed<RoundsView>, AppError> {
    let defaults = session.config.bounds.clone();
    session.change("rounds open", |work| {
        let id = resolve(&work.snapshot, text)?;
        let wish = Update {
            add_tags: vec![Tag::known(FLOW_REVIEW_GATED)],
            policy: Some(policy),
            ..Update::default()
        };
        let primitives = update::update(&work.snapshot, &id, &wish, work.now)?;
        work.apply(&primitives)?;
        let ix = work.snapshot.graph().ix(&id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
        if waits_for_tick(&work.snapshot, ix)
            && let Some(transition) = review_gated::opening(&work.snapshot, ix)
        {
            let primitives = work.compile(&transition, &defaults)?;
            work.as_tick(format!("tick {}", transition.kind()));
            work.apply(&primitives)?;
            let root = work.snapshot.graph().id(work.snapshot.graph().root(ix)).clone();
            work.tell(root, transition);
        }
        view(&work.snapshot, &id, &defaults)
    })
}

/// A file that supports a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What was recorded about a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictView {
    /// The review.
    pub review: String,
    /// The scope.
    pub scope: String,
    /// The round.
    pub round: u32,
    /// The verdict, or null after a withdrawal.
    pub verdict: Option<Word>,
    /// Its notes.
    pub notes: String,
    /// Who gave it.
    pub by: Option<String>,
}

impl VerdictView {
    fn of(snapshot: &Snapshot, review: &IssueId) -> Result<Self, AppError> {
        let round = snapshot.review_round(review).ok_or_else(|| Refusal::NotAReview(review.clone()))?;
        let verdict = round.verdict.as_ref();
        Ok(VerdictView {
            review: review.to_string(),
            scope: round.scope.to_string(),
            round: round.number,
            verdict: verdict.map(|verdict| verdict.opinion.as_str().into()),
            notes: verdict.map(|verdict| verdict.reason.clone()).unwrap_or_default(),
            by: verdict.map(|verdict| verdict.by.to_string()),
        })
    }
}

/// Records a verdict; the effect comes with the next tick. The texts of the evidence are posted into the
/// review's topic.
///
/// # Errors
/// What [`verdict::judge`] refuses.
pub fn judge(
    session: &mut Session,
    text: &str,
    opinion: Opinion,
    note: &str,
    evidence: &[Evidence],
) -> Result<Changed<VerdictView>, AppError> {
    for file in evidence {
        check_text("evidence file", &file.text).map_err(|error| AppError::Refusal(error.into()))?;
    }
    session.change("rounds verdict", |work| {
        let review = resolve(&work.snapshot, text)?;
        let given = Verdict {
            opinion,
            reason: note.to_owned(),
            by: work.actor.clone(),
            at: work.now,
            evidence: evidence.iter().map(|file| file.name.clone()).collect(),
        };
        let primitives = verdict::judge(&work.snapshot, &review, given, false)?;
        if !primitives.is_empty() {
            let posts = evidence.iter().map(|file| Primitive::Post {
                topic: topic(&review),
                body: format!("EVIDENCE {}\n{}", file.name, file.text),
            });
            work.apply(&posts.collect::<Vec<_>>())?;
        }
        work.apply(&primitives)?;
        VerdictView::of(&work.snapshot, &review)
    })
}

/// Takes a verdict back, as long as no tick has acted on it.
///
/// # Errors
/// What [`verdict::withdraw`] refuses.
pub fn withdraw(session: &mut Session, text: &str) -> Result<Changed<VerdictView>, AppError> {
    session.change("rounds withdraw", |work| {
        let review = resolve(&work.snapshot, text)?;
        let actor = work.actor.clone();
        let primitives = verdict::withdraw(&work.snapshot, &review, &actor)?;
        work.apply(&primitives)?;
        VerdictView::of(&work.snapshot, &review)
    })
}
