//! What must hold of every state and of every step. Written from the protocol, and with as little of the
//! program's own words as can be: where a law asks whether something is released, it looks at verdicts
//! and answers.

use std::collections::BTreeSet;
use std::fmt;

use roundgate::engine::{Decision, contradiction_at, is_final};
use roundgate::model::graph::Ix;
use roundgate::model::id::IssueId;
use roundgate::model::issue::Outcome;
use roundgate::model::record::{AskKind, Opinion, Round, RoundEnd, ScopeEnd};
use roundgate::model::snapshot::Snapshot;
use roundgate::model::standing;
use roundgate::model::tag::{FLOW_ATTEMPT, FLOW_REVIEW};
use roundgate::model::waits::Waits;

use crate::key::stored;
use crate::moves::{Came, Move, attempt, decision};
use crate::world::{AGENTS, NOW, Setup, State, agent_number, id, root};

/// A law, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// What somebody holds is given to nobody else, and closed by nobody else.
    OneHolder,
    /// Whoever was given something and lost it changes nothing any more.
    Fence,
    /// A round opens once, after the one before it failed.
    OneRound,
    /// Rounds, verdicts, answers and ends stay as they were.
    History,
    /// A verdict stands until its author withdraws it, and then does what it says.
    Verdict,
    /// No more rounds than the bound, which only a human moves.
    Bound,
    /// A scope ends with a pass or a human's choice, and what waits for it waits until then.
    Release,
    /// What is final is all closed and all settled.
    Final,
    /// What is kept of a node is what a computation from nothing gives; nothing waits for itself.
    Sound,
    /// A failed review is never left closed as such.
    Review,
    /// The engine can always say what comes next.
    NotStuck,
    /// When a tick does nothing, there is nothing that it should have done.
    Used,
    /// The same thing said twice changes nothing.
    Twice,
    /// What is decided can be carried out.
    Whole,
    /// There is a way to the end, or to a human.
    Forward,
    /// Ticks alone come to rest.
    Rest,
    /// States that are taken for one behave as one: a law for the search itself.
    Key,
}

/// A law that does not hold, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    pub law: Law,
    pub why: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.law, self.why)
    }
}

pub type Held = Result<(), Breach>;

fn hold(law: Law, holds: bool, why: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(Breach { law, why: why() }) }
}

/// What must hold of a state.
pub fn of_state(setup: &Setup, state: &State) -> Held {
    let snapshot = &state.snapshot;
    sound(snapshot)?;
    for round in snapshot.all_rounds() {
        let review = state.issue(&round.review).state.outcome();
        hold(Law::Review, !review.is_some_and(Outcome::unsuccessful), || {
            format!("{} is closed as {review:?}", round.review)
        })?;
        let scope = snapshot.scope(&round.scope).unwrap();
        hold(Law::Bound, round.number <= scope.bounds.max_rounds, || {
            format!("{} has round {} of {}", round.scope, round.number, scope.bounds.max_rounds)
        })?;
    }
    one_pair_each(state)?;
    released(state)?;
    ends(setup, state)
}

fn sound(snapshot: &Snapshot) -> Held {
    let graph = snapshot.graph();
    let computed = standing::all(graph);
    for ix in graph.indices() {
        hold(Law::Sound, computed[ix] == *graph.standing(ix), || {
            format!("{}: {:?} is kept, {:?} is so", graph.id(ix), graph.standing(ix), computed[ix])
        })?;
    }
    let cycle = Waits::of(graph).cycle();
    hold(Law::Sound, cycle.is_none(), || format!("a circle of waiting: {cycle:?}"))
}

/// Below a scope or a review lies one attempt and one review at most.
fn one_pair_each(state: &State) -> Held {
    let graph = state.snapshot.graph();
    for ix in graph.indices() {
        for tag in [FLOW_ATTEMPT, FLOW_REVIEW] {
            let tagged = graph.children(ix).iter().filter(|&&child| graph.issue(child).tags.has(tag)).count();
            hold(Law::OneRound, tagged <= 1, || format!("{} has {tagged} times {tag}", graph.id(ix)))?;
        }
    }
    Ok(())
}

/// Skipped, or replaced by what is done, or below such a thing.
fn given_up(state: &State, ix: Ix) -> bool {
    let graph = state.snapshot.graph();
    graph.self_and_ancestors(ix).any(|up| {
        let ended = graph.issue(up).state.outcome();
        let replaced = || graph.superseded_by(up).iter().any(|&new| done(state, new));
        ended == Some(Outcome::Skipped) || (ended.is_some() && replaced())
    })
}

/// Whether an issue is done with, and all that counts below it.
fn done(state: &State, ix: Ix) -> bool {
    let graph = state.snapshot.graph();
    match graph.issue(ix).state.outcome() {
        None => given_up(state, ix),
        Some(Outcome::Success | Outcome::Skipped) => true,
        Some(Outcome::Failure | Outcome::NeedsWork) => given_up(state, ix),
        Some(Outcome::Expanded) => {
            given_up(state, ix) || graph.children(ix).iter().all(|&child| done(state, child))
        }
    }
}

/// Whether a scope ended as the protocol lets it end.
fn ended(state: &State, scope: &IssueId) -> bool {
    let snapshot = &state.snapshot;
    match snapshot.scope(scope).and_then(|scope| scope.end) {
        Some(ScopeEnd::Passed) => snapshot.last_round(scope).is_some_and(passed),
        Some(ScopeEnd::Waived) => answered(state, scope, &["accept", "done"]),
        Some(ScopeEnd::Abandoned) => {
            let chosen = answered(state, scope, &["abandon", "skip"]);
            chosen || given_up(state, state.ix(scope)) || part_of_a_failure(state, scope)
        }
        None => given_up(state, state.ix(scope)),
    }
}

/// Whether the scope lies in an attempt whose round failed: what was open there was skipped with it.
fn part_of_a_failure(state: &State, scope: &IssueId) -> bool {
    let graph = state.snapshot.graph();
    graph.ancestors(state.ix(scope)).any(|up| {
        let round = state.snapshot.attempt_round(graph.id(up));
        round.is_some_and(|round| matches!(round.end, Some(RoundEnd::Failed { .. })))
    })
}

fn passed(round: &Round) -> bool {
    let pass = round.verdict.as_ref().is_some_and(|verdict| verdict.opinion == Opinion::Pass);
    pass && round.end == Some(RoundEnd::Passed)
}

fn answered(state: &State, scope: &IssueId, choices: &[&str]) -> bool {
    state.snapshot.asks().any(|ask| {
        let about = ask.scope.as_ref() == Some(scope);
        about && ask.answer.as_ref().is_some_and(|answer| choices.contains(&answer.choice.as_str()))
    })
}

/// A scope that counts as resolved was let through by somebody who may.
fn released(state: &State) -> Held {
    let (graph, relation) = (state.snapshot.graph(), state.snapshot.relation());
    for ix in graph.indices().filter(|&ix| graph.issue(ix).tags.review_gated() && relation.resolved(ix)) {
        let scope = graph.id(ix);
        hold(Law::Release, ended(state, scope), || {
            let end = state.snapshot.scope(scope).and_then(|scope| scope.end);
            format!("{scope} is released, and ended as {end:?}")
        })?;
    }
    Ok(())
}

/// What the engine says of a state, held against the state.
fn ends(setup: &Setup, state: &State) -> Held {
    let decided = decision(setup, state);
    let graph = state.snapshot.graph();
    let last = is_final(&state.snapshot, state.ix(&root()));
    let settled = graph.indices().all(|ix| graph.issue(ix).state.closed() && done(state, ix));
    let scopes = graph.issues().filter(|issue| issue.tags.review_gated());
    let every_scope = || scopes.into_iter().all(|scope| ended(state, &scope.id));
    hold(Law::Final, !last || (settled && every_scope()), || "final, and not all is settled".to_owned())?;
    hold(Law::Final, last || !matches!(decided, Decision::Done), || "done, and not final".to_owned())?;
    hold(Law::NotStuck, !matches!(decided, Decision::Stuck(_)), || format!("{decided:?}"))?;
    for scope in state.snapshot.scopes() {
        let wrong = contradiction_at(&state.snapshot, state.ix(&scope.id));
        hold(Law::NotStuck, wrong.is_none(), || format!("{wrong:?}"))?;
    }
    if matches!(decided, Decision::Act(_)) { Ok(()) } else { nothing_left_to_do(state) }
}

fn nothing_left_to_do(state: &State) -> Held {
    let snapshot = &state.snapshot;
    for round in snapshot.all_rounds().filter(|round| round.end.is_none() && round.verdict.is_some()) {
        let scope = state.ix(&round.scope);
        let over =
            snapshot.scope(&round.scope).is_some_and(|scope| scope.end.is_some()) || given_up(state, scope);
        hold(Law::Used, over, || format!("nobody uses the verdict on {}", round.review))?;
    }
    for ask in snapshot.asks().filter(|ask| ask.answer.is_some()) {
        let ix = state.ix(&ask.id);
        let over =
            state.issue(&ask.id).state.closed() || given_up(state, ix) || snapshot.relation().finished(ix);
        hold(Law::Used, over, || format!("nobody uses the answer to {}", ask.id))?;
    }
    for issue in snapshot.graph().issues() {
        let lapsed = issue.state.claim().is_some_and(|claim| claim.expired(NOW));
        hold(Law::Used, !lapsed, || format!("nobody takes {} back", issue.id))?;
    }
    Ok(())
}

/// What must hold of a step.
pub fn of_step(setup: &Setup, before: &State, made: &Move, after: &State) -> Held {
    one_holder(before, made, after)?;
    fence(before, made)?;
    history(before, made, after)?;
    verdicts(before, made, after)?;
    waits(setup, before, made)?;
    twice(setup, before, made, after)
}

/// The agent that makes a move.
fn mover(made: &Move) -> Option<usize> {
    match made {
        Move::Claim { agent, .. }
        | Move::Renew { agent }
        | Move::Release { agent, .. }
        | Move::Finish { agent, .. }
        | Move::Close { agent, .. }
        | Move::Withdraw { agent, .. }
        | Move::Plan { agent } => Some(*agent),
        Move::Judge { agent, .. } => *agent,
        _ => None,
    }
}

/// What an agent holds under a lease that is not out stays as it is, whatever another agent does.
fn one_holder(before: &State, made: &Move, after: &State) -> Held {
    let Some(mover) = mover(made) else { return Ok(()) };
    for number in (0..AGENTS).filter(|&number| number != mover) {
        let Some(job) = before.at_work(number) else { continue };
        let held = before.issue(&job.issue).state.claim().filter(|claim| !claim.expired(NOW));
        let kept = held.is_none() || after.issue(&job.issue).state.claim() == held;
        hold(Law::OneHolder, kept, || format!("{} was taken from who holds it", job.issue))?;
    }
    Ok(())
}

/// What an agent was given and lost, it can neither renew nor release nor end.
fn fence(before: &State, made: &Move) -> Held {
    let (Move::Renew { agent } | Move::Release { agent, .. } | Move::Finish { agent, .. }) = made else {
        return Ok(());
    };
    let job = before.jobs[*agent].as_ref();
    hold(Law::Fence, job.is_some_and(|job| before.current(job)), || {
        format!("{job:?} is not the agent's any more")
    })
}

fn history(before: &State, made: &Move, after: &State) -> Held {
    let (old, new) = (&before.snapshot, &after.snapshot);
    for scope in old.scopes() {
        let now = new.scope(&scope.id);
        let kept = now.is_some_and(|now| scope.end.is_none() || scope.end == now.end);
        hold(Law::History, kept, || format!("{} ended as {:?}", scope.id, scope.end))?;
        let granted = matches!(made, Move::Tick) && answered(before, &scope.id, &["open-extra-round"]);
        let bound = now.is_some_and(|now| granted || now.bounds == scope.bounds);
        hold(Law::Bound, bound, || format!("the bound of {} moved", scope.id))?;
    }
    for round in old.all_rounds() {
        let now = new.round(&round.scope, round.number);
        let same = now.is_some_and(|now| {
            let ends = round.end.is_none() || (round.end == now.end && round.verdict == now.verdict);
            now.attempt == round.attempt && now.review == round.review && ends
        });
        hold(Law::History, same, || format!("round {} of {} became {now:?}", round.number, round.scope))?;
    }
    let opened: Vec<&Round> =
        new.all_rounds().filter(|round| old.round(&round.scope, round.number).is_none()).collect();
    hold(Law::OneRound, opened.len() <= usize::from(*made == Move::Tick), || format!("{opened:?} opened"))?;
    for round in opened {
        let earlier = new.rounds(&round.scope).filter(|earlier| earlier.number < round.number);
        let failed = earlier.filter(|earlier| matches!(earlier.end, Some(RoundEnd::Failed { .. }))).count();
        hold(Law::OneRound, failed + 1 == round.number as usize, || {
            format!("round {} of {} opened after {failed} that failed", round.number, round.scope)
        })?;
    }
    asks(before, made, after)
}

/// An answer stays until it is taken back, and asks close with one, or as moot.
fn asks(before: &State, made: &Move, after: &State) -> Held {
    for ask in before.snapshot.asks() {
        let now = after.snapshot.ask(&ask.id).and_then(|now| now.answer.as_ref());
        let taken_back = matches!(made, Move::TakeBack { .. });
        let kept = ask.answer.is_none() || now == ask.answer.as_ref() || taken_back;
        hold(Law::History, kept, || format!("the answer to {} is gone", ask.id))?;
        let closes = !before.issue(&ask.id).state.closed() && after.issue(&ask.id).state.closed();
        let moot = after.issue(&ask.id).state.outcome() == Some(Outcome::Skipped);
        let allowed = !closes || moot || (*made == Move::Tick && ask.answer.is_some());
        hold(Law::Release, allowed, || format!("{} closed, and no human answered", ask.id))?;
    }
    let opened = after.snapshot.asks().filter(|ask| before.snapshot.ask(&ask.id).is_none()).count();
    hold(Law::OneRound, opened <= usize::from(*made == Move::Tick), || format!("{opened} asks opened"))
}

/// A verdict stands until it is withdrawn or used, and is used for what it says.
fn verdicts(before: &State, made: &Move, after: &State) -> Held {
    for round in before.snapshot.all_rounds().filter(|round| round.end.is_none()) {
        let now = after.snapshot.round(&round.scope, round.number);
        let Some(now) = now else { continue };
        if let Some(verdict) = &round.verdict {
            let withdrawn =
                matches!(made, Move::Withdraw { agent, .. } if Some(*agent) == agent_number(&verdict.by));
            hold(Law::Verdict, withdrawn || now.verdict == round.verdict, || {
                format!("the verdict on {} is gone", round.review)
            })?;
        }
        let opinion = now.verdict.as_ref().map(|verdict| verdict.opinion);
        let right = match &now.end {
            None => true,
            Some(RoundEnd::Passed) => opinion == Some(Opinion::Pass) && *made == Move::Tick,
            Some(RoundEnd::Failed { .. }) => {
                opinion != Some(Opinion::Pass) && *made == Move::Tick && goes_on(after, now)
            }
        };
        hold(Law::Verdict, right, || {
            format!("{} was judged {opinion:?} and ended {:?}", round.review, now.end)
        })?;
    }
    Ok(())
}

/// After a failed round there is another, or a human is asked.
fn goes_on(after: &State, round: &Round) -> bool {
    let next = after.snapshot.round(&round.scope, round.number + 1).is_some();
    let asked = after.snapshot.asks().any(|ask| {
        ask.kind == AskKind::Rounds
            && ask.scope.as_ref() == Some(&round.scope)
            && ask.round == Some(round.number)
    });
    next != asked
}

/// What waits for a scope is not begun before the scope ended. To skip it is not to begin it.
fn waits(setup: &Setup, before: &State, made: &Move) -> Held {
    let (number, issue) = match made {
        Move::Claim { agent, issue } => (*agent, issue),
        Move::Close { agent, issue, outcome } if *outcome != Outcome::Skipped => (*agent, issue),
        _ => return Ok(()),
    };
    if goes_on_with(before, made, number, issue) {
        return Ok(());
    }
    let graph = before.snapshot.graph();
    let above: BTreeSet<&str> =
        graph.self_and_ancestors(before.ix(issue)).map(|up| graph.id(up).as_str()).collect();
    for work in setup.work.iter().filter(|work| above.contains(work.name)) {
        let Some(blocker) = work.after.map(id) else { continue };
        let gated = before.issue(&blocker).tags.review_gated();
        let done = if gated { ended(before, &blocker) } else { before.issue(&blocker).state.closed() };
        hold(Law::Release, done, || format!("{issue} began, and {blocker} has not ended"))?;
    }
    Ok(())
}

/// Whether the agent began this before: a reopening elsewhere revokes no claim. A holder whose lease is out
/// may end what nobody took back, but not prolong it: that is to begin anew.
fn goes_on_with(before: &State, made: &Move, number: usize, issue: &IssueId) -> bool {
    before.issue(issue).state.claim().is_some_and(|claim| {
        let in_time = !claim.expired(NOW) || matches!(made, Move::Close { .. });
        in_time && agent_number(&claim.actor) == Some(number)
    })
}

/// Whoever does not know whether it was heard says it again.
fn twice(setup: &Setup, before: &State, made: &Move, after: &State) -> Held {
    if matches!(made, Move::Tick | Move::Lapse { .. } | Move::Crash { .. }) {
        return Ok(());
    }
    let again = State { jobs: before.jobs.clone(), left: before.left, ..after.clone() };
    let why = match attempt(setup, &again, made) {
        Came::Refused | Came::Nothing => return Ok(()),
        Came::To(next) if stored(setup, &next) == stored(setup, after) => return Ok(()),
        Came::To(_) => format!("{made}, and again: that did more"),
        Came::Broken(why) => why,
    };
    hold(Law::Twice, false, || why)
}
