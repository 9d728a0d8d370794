//! A verdict on a round (section 4): by command, by packet or by closing the review, it is this one act.

use super::claim::{holder, not_ready};
use super::find;
use super::reviewer::may_judge;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::check_text;
use crate::model::primitive::Primitive;
use crate::model::readiness::{Hindrance, hindrances};
use crate::model::record::{Opinion, Round, Verdict};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// Records a verdict; an empty list when the same verdict stands already. Who gave it may add to what
/// it says as long as no tick has used it; whoever else says more, or other things, is not first.
///
/// The primitives post the packet first, so that the forum always tells what the records say; a
/// verdict that came as a packet is already posted, and `posted` says so.
///
/// # Errors
/// When the attempt is not resolved, the review is neither ready nor held by the actor, the actor
/// worked on the attempt, or another verdict was first.
pub fn judge(
    snapshot: &Snapshot,
    review: &IssueId,
    verdict: Verdict,
    posted: bool,
) -> Result<Vec<Primitive>, Refusal> {
    let round = reviewed(snapshot, review)?;
    check_text("note", &verdict.reason)?;
    if let Some(first) = &round.verdict {
        if says_no_more(&verdict, first) {
            return Ok(Vec::new());
        }
        if first.opinion != verdict.opinion || first.by != verdict.by {
            return Err(already(round, first));
        }
    }
    if round.end.is_some() {
        return Err(Refusal::RoundEnded(review.clone()));
    }
    let attempt = find(snapshot, &round.attempt)?;
    if !snapshot.relation().resolved(attempt) {
        return Err(Refusal::AttemptPending { review: review.clone(), attempt: round.attempt.clone() });
    }
    may_judge(snapshot, review, &verdict.by)?;
    let ix = find(snapshot, review)?;
    let mut others = hindrances(snapshot, ix);
    // Whoever comes this far with a verdict recorded gave that verdict, and says more.
    others.retain(|hindrance| *hindrance != Hindrance::Judged);
    let held = snapshot.graph().issue(ix).state.claim();
    if held.is_some() {
        holder(snapshot, review, &verdict.by, None)?;
        others.retain(|hindrance| !matches!(hindrance, Hindrance::Held { .. } | Hindrance::Paused { .. }));
    }
    if !others.is_empty() {
        return Err(not_ready(review, &others));
    }
    let mut primitives = Vec::new();
    if !posted {
        primitives.push(packet(review, &verdict));
    }
    if held.is_some() {
        primitives.push(Primitive::Release { id: review.clone(), lost: false });
    }
    let judged = Round { verdict: Some(verdict), ..round.clone() };
    primitives.push(Primitive::SetRound { round: Box::new(judged) });
    Ok(primitives)
}

/// Whether a verdict says nothing that the first one does not say.
fn says_no_more(verdict: &Verdict, first: &Verdict) -> bool {
    let reason = verdict.reason.trim();
    let news = verdict.evidence.iter().any(|found| !first.evidence.contains(found));
    first.opinion == verdict.opinion && (reason.is_empty() || reason == first.reason.trim()) && !news
}

/// Takes a verdict back, as long as no tick has acted on it.
///
/// # Errors
/// When there is none, a tick has used it, or somebody else gave it.
pub fn withdraw(snapshot: &Snapshot, review: &IssueId, actor: &Actor) -> Result<Vec<Primitive>, Refusal> {
    let round = reviewed(snapshot, review)?;
    let verdict = match &round.verdict {
        _ if round.end.is_some() => return Err(Refusal::RoundEnded(review.clone())),
        None => return Err(Refusal::NothingToWithdraw(review.clone())),
        Some(verdict) => verdict,
    };
    if verdict.by != *actor {
        return Err(Refusal::NotTheAuthor { id: review.clone(), by: verdict.by.clone() });
    }
    let body = format!("The verdict {} is withdrawn.", verdict.opinion.as_str());
    Ok(vec![
        Primitive::Post { topic: topic(review), body },
        Primitive::SetRound { round: Box::new(Round { verdict: None, ..round.clone() }) },
    ])
}

/// The VERDICT packet of a verdict.
pub fn packet(review: &IssueId, verdict: &Verdict) -> Primitive {
    let notes = if verdict.reason.is_empty() { String::new() } else { format!("\n{}", verdict.reason) };
    Primitive::Post { topic: topic(review), body: format!("VERDICT: {}{}", verdict.opinion.as_str(), notes) }
}

/// The forum topic of an issue.
pub fn topic(id: &IssueId) -> String {
    format!("issue:{id}")
}

fn reviewed<'s>(snapshot: &'s Snapshot, review: &IssueId) -> Result<&'s Round, Refusal> {
    find(snapshot, review)?;
    snapshot.review_round(review).ok_or_else(|| Refusal::NotAReview(review.clone()))
}

fn already(round: &Round, first: &Verdict) -> Refusal {
    Refusal::AlreadyJudged {
        review: round.review.clone(),
        opinion: first.opinion,
        by: first.by.clone(),
        used: round.end.is_some(),
    }
}

/// The opinion that closing a review by hand expresses, if closing it so is allowed.
pub fn opinion_of(outcome: crate::model::issue::Outcome) -> Option<Opinion> {
    use crate::model::issue::Outcome;
    match outcome {
        Outcome::Success => Some(Opinion::Pass),
        Outcome::NeedsWork | Outcome::Failure => Some(Opinion::NeedsWork),
        Outcome::Skipped | Outcome::Expanded => None,
    }
}
