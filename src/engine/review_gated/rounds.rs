//! The transitions of the table, as primitives.

use super::POLICY;
use crate::engine::asks;
use crate::engine::decision::Cause;
use crate::engine::failures;
use crate::engine::forge::Forge;
use crate::model::act::close::skip_below;
use crate::model::act::packet::round_bound;
use crate::model::act::verdict::packet;
use crate::model::gate;
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Issue, Outcome, Work};
use crate::model::primitive::Primitive;
use crate::model::record::{Bounds, Opinion, Round, RoundEnd, Scope, ScopeEnd, Verdict};
use crate::model::signature::signature;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_ATTEMPT, FLOW_REVIEW, Kind, NODE_AGENT, PROTOCOL, Tags};

/// What was wrong with a failed round: the reviewer's words, or the reasons of what failed.
pub fn notes_of(snapshot: &Snapshot, round: &Round, cause: &Cause) -> String {
    match (cause, &round.verdict) {
        (Cause::Verdict, Some(verdict)) => verdict.reason.clone(),
        _ => snapshot.graph().ix(&round.attempt).map_or(String::new(), |ix| failures::notes(snapshot, ix)),
    }
}

/// The first round: made new, or the pair that was made by hand.
pub fn open_first(
    snapshot: &Snapshot,
    scope: &IssueId,
    by_hand: Option<(&IssueId, &IssueId)>,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    let graph = snapshot.graph();
    let ix = graph.ix(scope)?;
    let issue = graph.issue(ix);
    let record = Scope {
        id: scope.clone(),
        policy: POLICY.to_owned(),
        bounds: bounds_of(issue, forge.defaults),
        end: None,
    };
    let (mut primitives, round) = match by_hand {
        Some((attempt, review)) => (Vec::new(), round(scope, 1, attempt, review)),
        None => pair(issue, 1, scope, issue.work.clone(), Kind::Spawn, forge),
    };
    let others = graph.children(ix).iter().filter(|&&child| {
        let id = graph.id(child);
        let waits = *id != round.attempt && *id != round.review && !snapshot.relation().resolved(child);
        waits && !gate::has_edge(snapshot, id, EdgeKind::Blocks, &round.review)
    });
    primitives.extend(
        others.map(|&child| Primitive::Serial {
            blocker: graph.id(child).clone(),
            blocked: round.review.clone(),
        }),
    );
    primitives.push(Primitive::SetScope { scope: Box::new(record) });
    primitives.push(Primitive::SetRound { round: Box::new(round) });
    if !issue.tags.container() {
        let reason = Some("opened for review-gated rounds".to_owned());
        primitives.push(Primitive::Close { id: scope.clone(), outcome: Outcome::Expanded, reason, by: None });
    }
    Some(primitives)
}

/// The most rounds a scope may have: fixed since it opened, or what its opening would fix.
pub fn max_rounds(snapshot: &Snapshot, issue: &Issue, defaults: &Bounds) -> u32 {
    let fixed = snapshot.scope(&issue.id).map(|scope| scope.bounds.max_rounds);
    fixed.unwrap_or_else(|| bounds_of(issue, defaults).max_rounds)
}

/// The bounds of a scope: its metadata, then a packet of its topic, then its body, then the defaults.
fn bounds_of(issue: &Issue, defaults: &Bounds) -> Bounds {
    let said = issue.policy.max_review_rounds_posted.or_else(|| round_bound(&issue.body).ok().flatten());
    Bounds {
        max_rounds: issue.policy.max_review_rounds.or(said).unwrap_or(defaults.max_rounds),
        no_progress: issue.policy.no_progress.unwrap_or(defaults.no_progress),
        allow_self_review: issue.policy.allow_self_review.unwrap_or(defaults.allow_self_review),
        step_retries: issue.policy.step_retries.unwrap_or(defaults.step_retries),
    }
}

fn round(scope: &IssueId, number: u32, attempt: &IssueId, review: &IssueId) -> Round {
    Round {
        scope: scope.clone(),
        number,
        attempt: attempt.clone(),
        review: review.clone(),
        verdict: None,
        end: None,
    }
}

/// A new attempt and its review below `parent`, with their edge.
fn pair(
    scope: &Issue,
    number: u32,
    parent: &IssueId,
    work: Work,
    kind: Kind,
    forge: &mut Forge<'_>,
) -> (Vec<Primitive>, Round) {
    let context = if kind == Kind::Fork { "ctx:inherit" } else { "ctx:clean" };
    let attempt_tags = Tags::new().with(PROTOCOL).with(NODE_AGENT).with(kind.tag()).with(context);
    let review_tags = Tags::new().with(PROTOCOL).with(NODE_AGENT).with(Kind::Fork.tag()).with("ctx:inherit");
    let review_work = Work { notes: Vec::new(), ..work.clone() };
    let attempt = node(scope, format!("Attempt {number}"), attempt_tags.with(FLOW_ATTEMPT), work, forge);
    let review = node(scope, format!("Review {number}"), review_tags.with(FLOW_REVIEW), review_work, forge);
    let round = round(&scope.id, number, &attempt.id, &review.id);
    let edge = Primitive::Serial { blocker: attempt.id.clone(), blocked: review.id.clone() };
    let create = |issue: Issue| Primitive::Create { issue: Box::new(issue), parent: Some(parent.clone()) };
    (vec![create(attempt), create(review), edge], round)
}

fn node(scope: &Issue, what: String, tags: Tags, work: Work, forge: &mut Forge<'_>) -> Issue {
    let room = crate::model::issue::MAX_TITLE_BYTES / 5;
    let title = format!("{what}: {}", asks::shortened(&scope.title, room));
    let new = Issue::new(forge.id(), title, tags, forge.now);
    Issue { body: scope.body.clone(), priority: scope.priority, work, ..new }
}

/// What the failed round leaves behind, whoever comes next: its verdict packet, its end, and an
/// attempt in which nothing is open any more.
fn fail(
    snapshot: &Snapshot,
    failed: &Round,
    cause: &Cause,
    notes: &str,
    forge: &Forge<'_>,
) -> Vec<Primitive> {
    let graph = snapshot.graph();
    let mut primitives = Vec::new();
    if *cause == Cause::AttemptFailed {
        let verdict = Verdict {
            opinion: Opinion::NeedsWork,
            reason: format!("the attempt failed\n{notes}"),
            by: Actor::engine(),
            at: forge.now,
            evidence: Vec::new(),
        };
        primitives.push(packet(&failed.review, &verdict));
        if let Some(attempt) = graph.ix(&failed.attempt) {
            let why = format!("round {} of {} failed", failed.number, failed.scope);
            primitives.extend(skip_below(snapshot, attempt, &why));
            if !graph.issue(attempt).state.closed() {
                primitives.push(Primitive::Close {
                    id: failed.attempt.clone(),
                    outcome: Outcome::Failure,
                    reason: Some(notes.to_owned()),
                    by: None,
                });
            }
        }
    }
    let end = RoundEnd::Failed { notes: notes.to_owned(), signature: signature(notes) };
    let ended = Round { end: Some(end), ..failed.clone() };
    primitives.push(Primitive::SetRound { round: Box::new(ended) });
    primitives
}

fn expand_review(failed: &Round) -> Primitive {
    Primitive::Close {
        id: failed.review.clone(),
        outcome: Outcome::Expanded,
        reason: Some(format!("round {} failed", failed.number)),
        by: None,
    }
}

/// Row 4: the next attempt and review below the failed review.
pub fn next_round(
    snapshot: &Snapshot,
    scope: &IssueId,
    failed: u32,
    cause: &Cause,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    let scope = snapshot.scope(scope)?;
    let failed = snapshot.round(&scope.id, failed)?;
    let notes = notes_of(snapshot, failed, cause);
    let mut primitives = fail(snapshot, failed, cause, &notes, forge);
    let superseded: &[IssueId] = match cause {
        Cause::AttemptFailed => std::slice::from_ref(&failed.attempt),
        Cause::Verdict => &[],
    };
    primitives.extend(follow(snapshot, scope, failed, superseded, vec![notes], forge)?);
    primitives.push(expand_review(failed));
    Some(primitives)
}

/// Round k+1 after a human's grant; the failed review is already expanded.
pub fn grant(
    snapshot: &Snapshot,
    scope: &Scope,
    failed: &Round,
    superseded: &[IssueId],
    note: Option<String>,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    let ended = match &failed.end {
        Some(RoundEnd::Failed { notes, .. }) => Some(notes.clone()),
        _ => None,
    };
    let notes = ended.into_iter().chain(note).collect();
    follow(snapshot, scope, failed, superseded, notes, forge)
}

/// The pair of round k+1. What still blocks review_k moves to the new review: the new attempt lies
/// below review_k, and would wait for it otherwise. A failed attempt's own edge is only taken out, since
/// the new attempt, which supersedes it, blocks the new review. What was superseded goes to the new
/// attempt.
fn follow(
    snapshot: &Snapshot,
    scope: &Scope,
    failed: &Round,
    superseded: &[IssueId],
    notes: Vec<String>,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    let graph = snapshot.graph();
    let issue = graph.get(&scope.id)?;
    let before = graph.get(&failed.attempt)?;
    let review = graph.ix(&failed.review)?;
    let mut work = before.work.clone();
    work.notes.extend(notes.into_iter().filter(|note| !note.is_empty()));
    let kind = before.tags.kind().filter(|kind| *kind == Kind::Fork).unwrap_or(Kind::Spawn);
    let (mut primitives, next) = pair(issue, failed.number + 1, &failed.review, work, kind, forge);
    for blocker in gate::open_blockers(snapshot, review) {
        primitives.push(Primitive::Undep { blocker: blocker.clone(), blocked: failed.review.clone() });
        if blocker != failed.attempt {
            primitives.push(Primitive::Serial { blocker, blocked: next.review.clone() });
        }
    }
    let take_over = |old: &IssueId| Primitive::Supersede { new: next.attempt.clone(), old: old.clone() };
    primitives.extend(superseded.iter().map(take_over));
    primitives.push(Primitive::SetRound { round: Box::new(next) });
    Some(primitives)
}

/// Row 3: the review passed.
pub fn accept(snapshot: &Snapshot, scope: &IssueId, number: u32) -> Option<Vec<Primitive>> {
    let scope = snapshot.scope(scope)?;
    let round = snapshot.round(&scope.id, number)?;
    let verdict = round.verdict.as_ref()?;
    let reason = Some(verdict.reason.clone()).filter(|reason| !reason.is_empty());
    let passed = Round { end: Some(RoundEnd::Passed), ..round.clone() };
    let ended = Scope { end: Some(ScopeEnd::Passed), ..scope.clone() };
    Some(vec![
        Primitive::Close {
            id: round.review.clone(),
            outcome: Outcome::Success,
            reason,
            by: Some(verdict.by.clone()),
        },
        Primitive::SetRound { round: Box::new(passed) },
        Primitive::SetScope { scope: Box::new(ended) },
    ])
}

/// Row 5: a human is asked below the failed review, and what waited for the review waits for the ask.
///
/// What still blocks the review stays where it is, for a later grant: a human can answer meanwhile.
pub fn escalate(
    snapshot: &Snapshot,
    scope: &IssueId,
    number: u32,
    cause: &Cause,
    no_progress: bool,
    forge: &mut Forge<'_>,
) -> Option<Vec<Primitive>> {
    let graph = snapshot.graph();
    let scope = snapshot.scope(scope)?;
    let failed = snapshot.round(&scope.id, number)?;
    let review = graph.ix(&failed.review)?;
    let notes = notes_of(snapshot, failed, cause);
    let mut primitives = fail(snapshot, failed, cause, &notes, forge);
    let ask = asks::rounds(snapshot, scope, failed, &notes, (cause, no_progress), forge)?;
    let id = ask.issue.id.clone();
    primitives.extend(ask.primitives());
    if *cause == Cause::AttemptFailed {
        primitives.push(Primitive::Supersede { new: id.clone(), old: failed.attempt.clone() });
    }
    let waiting = graph.blocks(review).iter();
    primitives.extend(
        waiting.map(|&ix: &Ix| Primitive::Serial { blocker: id.clone(), blocked: graph.id(ix).clone() }),
    );
    primitives.push(expand_review(failed));
    Some(primitives)
}
