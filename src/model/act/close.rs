//! `close`: how work ends (section 3, life cycle). On a review it is a verdict.

use super::claim::{holder, not_ready};
use super::find;
use super::verdict::{judge, opinion_of};
use crate::model::graph::Ix;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Millis, Outcome, check_text};
use crate::model::primitive::Primitive;
use crate::model::readiness::{Hindrance, hindrances};
use crate::model::record::{Scope, ScopeEnd, Verdict};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::model::tag::FLOW_REVIEW;

/// How an actor wants to close an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// The outcome; `None` means `success`, except on a review, where it must be named.
    pub outcome: Option<Outcome>,
    /// Why.
    pub reason: Option<String>,
    /// Whether a skip takes along what is open below.
    pub cascade: bool,
    /// Who.
    pub actor: Actor,
    /// The fencing number, when one was given.
    pub epoch: Option<u64>,
    /// Now.
    pub now: Millis,
}

/// Closes an issue; an empty list when it is already closed that way.
///
/// # Errors
/// The guard of section 3 that stands in the way.
pub fn close(snapshot: &Snapshot, id: &IssueId, closing: &Closing) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let issue = snapshot.graph().issue(ix);
    check_text("reason", closing.reason.as_deref().unwrap_or_default())?;
    if snapshot.ask(id).is_some() {
        return Err(Refusal::AskIsAnswered(id.clone()));
    }
    if snapshot.review_round(id).is_some() {
        return close_review(snapshot, id, closing);
    }
    if closing.outcome.is_none() && issue.tags.has(FLOW_REVIEW) {
        return Err(Refusal::ReviewNeedsOutcome(id.clone()));
    }
    let outcome = closing.outcome.unwrap_or(Outcome::Success);
    if let Some(found) = issue.state.outcome() {
        return already_closed(snapshot, ix, found, outcome, closing);
    }
    if closing.epoch.is_some() {
        holder(snapshot, id, &closing.actor, closing.epoch)?;
    }
    if let Some(held) = issue.state.claim() {
        let lapsed = outcome == Outcome::Skipped && held.expired(closing.now);
        if held.actor != closing.actor && !lapsed {
            return Err(Refusal::HeldBy { id: id.clone(), by: held.actor.clone() });
        }
    }
    if outcome == Outcome::Skipped {
        return skip(snapshot, ix, closing);
    }
    guard(snapshot, ix, outcome)?;
    let by = Some(closing.actor.clone());
    Ok(vec![Primitive::Close { id: id.clone(), outcome, reason: closing.reason.clone(), by }])
}

fn close_review(snapshot: &Snapshot, id: &IssueId, closing: &Closing) -> Result<Vec<Primitive>, Refusal> {
    let outcome = closing.outcome.ok_or_else(|| Refusal::ReviewNeedsOutcome(id.clone()))?;
    let opinion = opinion_of(outcome).ok_or_else(|| Refusal::ReviewIsJudged { id: id.clone(), outcome })?;
    if closing.epoch.is_some() {
        holder(snapshot, id, &closing.actor, closing.epoch)?;
    }
    let verdict = Verdict {
        opinion,
        reason: closing.reason.clone().unwrap_or_default(),
        by: closing.actor.clone(),
        at: closing.now,
        evidence: Vec::new(),
    };
    judge(snapshot, id, verdict, false)
}

/// The same close again is a no-op, unless it gives another reason. A cascade may still take along what
/// a plain skip left open, and gives up what goes on below an expanded issue, such as a scope's rounds.
fn already_closed(
    snapshot: &Snapshot,
    ix: Ix,
    found: Outcome,
    wanted: Outcome,
    closing: &Closing,
) -> Result<Vec<Primitive>, Refusal> {
    let issue = snapshot.graph().issue(ix);
    let reason = closing.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let another = reason.is_some_and(|reason| issue.state.reason().map(str::trim) != Some(reason));
    let cascade_of = |skipped: Outcome| closing.cascade && wanted == Outcome::Skipped && found == skipped;
    if cascade_of(Outcome::Expanded) && !open_below(snapshot, ix).is_empty() {
        return match reason {
            Some(_) => Ok(cascade(snapshot, ix, closing)),
            None => Err(Refusal::SkipNeedsReason(issue.id.clone())),
        };
    }
    if found != wanted || (another && !closing.cascade) {
        return Err(Refusal::AlreadyClosed { id: snapshot.graph().id(ix).clone(), outcome: found });
    }
    if cascade_of(Outcome::Skipped) {
        return Ok(cascade(snapshot, ix, closing));
    }
    Ok(Vec::new())
}

/// What closing with an outcome needs, beyond nobody else holding the issue. What came to stand before
/// held work after it was claimed does not keep its holder from ending it, except that nothing ends in
/// what was let go: a round may have been judged without it.
fn guard(snapshot: &Snapshot, ix: Ix, outcome: Outcome) -> Result<(), Refusal> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let id = graph.id(ix);
    let planning = outcome == Outcome::Expanded;
    let held = graph.issue(ix).state.claim().is_some();
    let mut others = hindrances(snapshot, ix);
    others.retain(|hindrance| match hindrance {
        Hindrance::Held { .. } | Hindrance::NotExecutable | Hindrance::UnresolvedChild(_) => false,
        Hindrance::Blocked { .. } | Hindrance::Paused { .. } => !planning && !held,
        Hindrance::Finished => !held || relation.let_go(ix),
        _ => true,
    });
    if !others.is_empty() {
        return Err(not_ready(id, &others));
    }
    let in_the_way = graph.children(ix).iter().find_map(|&child| match outcome {
        Outcome::Success if !relation.resolved(child) => Some((child, "not resolved")),
        Outcome::Failure | Outcome::NeedsWork if !graph.issue(child).state.closed() => Some((child, "open")),
        _ => None,
    });
    match in_the_way {
        Some((child, found)) => {
            Err(Refusal::ChildInTheWay { id: id.clone(), outcome, child: graph.id(child).clone(), found })
        }
        None => Ok(()),
    }
}

fn skip(snapshot: &Snapshot, ix: Ix, closing: &Closing) -> Result<Vec<Primitive>, Refusal> {
    let id = snapshot.graph().id(ix);
    let reason = closing.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    if reason.is_none() {
        return Err(Refusal::SkipNeedsReason(id.clone()));
    }
    // Whoever skips an attempt has closed it, and may not judge it.
    let own = Primitive::Close {
        id: id.clone(),
        outcome: Outcome::Skipped,
        reason: closing.reason.clone(),
        by: Some(closing.actor.clone()),
    };
    let below = if closing.cascade { cascade(snapshot, ix, closing) } else { Vec::new() };
    Ok(std::iter::once(own).chain(below).collect())
}

fn cascade(snapshot: &Snapshot, ix: Ix, closing: &Closing) -> Vec<Primitive> {
    let graph = snapshot.graph();
    let why =
        format!("{} was skipped: {}", graph.id(ix), closing.reason.as_deref().unwrap_or("no reason given"));
    let mut primitives = skip_below(snapshot, ix, &why);
    for primitive in &mut primitives {
        if let Primitive::Close { by, .. } = primitive {
            *by = Some(closing.actor.clone());
        }
    }
    primitives
}

/// Closes as skipped whatever is open below a node. Asks become moot, claims are revoked, and scopes at
/// or below it are given up: should the node come back, their half-closed rounds must not count.
pub fn skip_below(snapshot: &Snapshot, ix: Ix, why: &str) -> Vec<Primitive> {
    let graph = snapshot.graph();
    let below = graph.subtree(ix);
    let scopes = below.iter().filter_map(|&at| snapshot.scope(graph.id(at)));
    let given_up = scopes.filter(|scope| scope.end.is_none()).map(|scope| {
        let ended = Scope { end: Some(ScopeEnd::Abandoned), ..scope.clone() };
        Primitive::SetScope { scope: Box::new(ended) }
    });
    let open = below.iter().skip(1).filter(|&&at| !graph.issue(at).state.closed());
    let skipped = open.map(|&at| {
        let id = graph.id(at).clone();
        let reason = if snapshot.ask(&id).is_some() { format!("moot: {why}") } else { why.to_owned() };
        Primitive::Close { id, outcome: Outcome::Skipped, reason: Some(reason), by: None }
    });
    skipped.chain(given_up).collect()
}

/// What is still open below an issue.
pub fn open_below(snapshot: &Snapshot, ix: Ix) -> Vec<IssueId> {
    let graph = snapshot.graph();
    let below = graph.subtree(ix).into_iter().skip(1);
    below.filter(|&x| !graph.issue(x).state.closed()).map(|x| graph.id(x).clone()).collect()
}
