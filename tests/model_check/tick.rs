//! The clock's move: decide, compile, apply, as a tick does, with ids that say what they are for. So a
//! state does not remember in which order its issues were made.

use roundgate::engine::{Cause, Decision, Forge, Transition, compile};
use roundgate::model::act::close::skip_below;
use roundgate::model::duty::AskPolicy;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::Outcome;
use roundgate::model::primitive::Primitive;
use roundgate::model::record::{Round, RoundEnd, Scope, ScopeEnd, Verdict};

use crate::moves::{Came, decision};
use crate::world::{Bug, NOW, Setup, State, id, root};

/// One tick.
pub fn tick(setup: &Setup, state: &State) -> Came {
    let mut wanted = match decision(setup, state) {
        Decision::Act(wanted) => wanted,
        Decision::Wait(waiting) if setup.bug == Some(Bug::AskExpires) => {
            return expire(state, &waiting.issue);
        }
        _ => return Came::Refused,
    };
    match (setup.bug, &wanted) {
        (Some(Bug::BoundIgnored), Transition::Escalate { scope, round, cause, .. }) => {
            wanted = Transition::NextRound { scope: scope.clone(), failed: *round, cause: cause.clone() };
        }
        (
            Some(Bug::FailedRoundForgotten),
            Transition::NextRound { cause: Cause::AttemptFailed, .. }
            | Transition::Escalate { cause: Cause::AttemptFailed, .. },
        ) => return Came::Refused,
        _ => {}
    }
    let names = names(state, &wanted);
    let mut unused = names.into_iter();
    let mut next_id = || unused.next().unwrap_or_else(|| panic!("{wanted:?} makes more than was thought"));
    let defaults = setup.defaults();
    let mut forge =
        Forge { now: NOW, defaults: &defaults, asks: &AskPolicy::default(), next_id: &mut next_id };
    let Some(mut primitives) = compile(&state.snapshot, &wanted, &mut forge) else {
        return Came::Broken(format!("{wanted:?} does not compile"));
    };
    if let Some(bug) = setup.bug {
        spoil(bug, state, &wanted, &mut primitives);
    }
    let mut next = state.clone();
    if let Err(why) = next.apply(&primitives, &Actor::engine()) {
        return Came::Broken(format!("{wanted:?} does not apply: {why}"));
    }
    match wanted {
        Transition::GrantRounds { .. } => next.left.grants = next.left.grants.saturating_sub(1),
        Transition::Retry { .. } => next.left.retries = next.left.retries.saturating_sub(1),
        _ => {}
    }
    Came::To(Box::new(next))
}

/// Takes the silence of a human for a yes.
fn expire(state: &State, asked: &IssueId) -> Came {
    if state.snapshot.ask(asked).is_none() {
        return Came::Refused;
    }
    let mut next = state.clone();
    let close = Primitive::Close { id: asked.clone(), outcome: Outcome::Success, reason: None, by: None };
    match next.apply(&[close], &Actor::engine()) {
        Ok(()) => Came::To(Box::new(next)),
        Err(why) => Came::Broken(why),
    }
}

/// The ids of what a transition makes, in the order in which it asks for them.
fn names(state: &State, wanted: &Transition) -> Vec<IssueId> {
    let pair = |scope: &IssueId, number: u32| {
        vec![id(&format!("{scope}.a{number}")), id(&format!("{scope}.r{number}"))]
    };
    let about = |ask: &IssueId| state.snapshot.ask(ask).unwrap();
    match wanted {
        Transition::OpenRound { scope } => pair(scope, 1),
        Transition::NextRound { scope, failed, .. } => pair(scope, failed + 1),
        Transition::Escalate { scope, round, .. } => vec![id(&format!("{scope}.q{round}"))],
        Transition::EscalateFailure { issue } => vec![id(&format!("{issue}.f"))],
        Transition::EscalateSteps { issue } => {
            let names = (1..).map(|n| id(&format!("{issue}.s{n}")));
            names.filter(|name| state.snapshot.graph().ix(name).is_none()).take(1).collect()
        }
        Transition::GrantRounds { ask } => {
            let ask = about(ask);
            pair(ask.scope.as_ref().unwrap(), ask.round.unwrap() + 1)
        }
        Transition::HandOff { ask } => {
            let ask = about(ask);
            vec![id(&format!("{}.h{}", ask.scope.as_ref().unwrap(), ask.round.unwrap()))]
        }
        Transition::Retry { ask } => vec![id(&format!("{}.n", about(ask).about.as_ref().unwrap()))],
        _ => Vec::new(),
    }
}

/// Changes what a transition does, as a fault would.
fn spoil(bug: Bug, state: &State, wanted: &Transition, primitives: &mut Vec<Primitive>) {
    match (bug, wanted) {
        (Bug::RoundTwice, Transition::NextRound { .. }) => {
            let again = |primitive: &Primitive| match primitive {
                Primitive::Create { issue, parent } => {
                    let mut issue = issue.clone();
                    issue.id = id(&format!("{}.again", issue.id));
                    Some(Primitive::Create { issue, parent: parent.clone() })
                }
                _ => None,
            };
            let twins: Vec<Primitive> = primitives.iter().filter_map(again).collect();
            primitives.extend(twins);
        }
        (Bug::ReviewStaysNeedsWork, Transition::NextRound { .. }) => {
            for primitive in primitives {
                if let Primitive::Close { outcome: outcome @ Outcome::Expanded, .. } = primitive {
                    *outcome = Outcome::NeedsWork;
                }
            }
        }
        (Bug::BoundPasses, Transition::Escalate { scope, round, cause: Cause::Verdict, .. }) => {
            let round = state.snapshot.round(scope, *round).unwrap().clone();
            let scope = state.snapshot.scope(scope).unwrap().clone();
            let by = round.verdict.as_ref().map(|verdict: &Verdict| verdict.by.clone());
            *primitives = vec![
                Primitive::Close { id: round.review.clone(), outcome: Outcome::Success, reason: None, by },
                Primitive::SetRound { round: Box::new(Round { end: Some(RoundEnd::Passed), ..round }) },
                Primitive::SetScope { scope: Box::new(Scope { end: Some(ScopeEnd::Passed), ..scope }) },
            ];
        }
        (Bug::FinalTooSoon, Transition::AcceptRound { scope, .. }) => {
            let others = state.snapshot.graph().children(state.ix(&root()));
            for &other in others.iter().filter(|&&other| state.snapshot.graph().id(other) != scope) {
                let graph = state.snapshot.graph();
                primitives.extend(skip_below(&state.snapshot, other, "enough"));
                if !graph.issue(other).state.closed() {
                    let (id, outcome) = (graph.id(other).clone(), Outcome::Skipped);
                    primitives.push(Primitive::Close { id, outcome, reason: None, by: None });
                }
            }
        }
        _ => {}
    }
}
