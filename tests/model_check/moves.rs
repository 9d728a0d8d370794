//! What can happen next: everything that anybody may try, allowed or not. Whatever the rules refuse is
//! no move.

use std::fmt;

use roundgate::engine::{Decision, decide};
use roundgate::model::act::{answer, claim, close, open, verdict};
use roundgate::model::change::Field;
use roundgate::model::graph::Ix;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Claim, Outcome, Policy, State as Life};
use roundgate::model::primitive::Primitive;
use roundgate::model::record::{Answer, AskKind, Opinion, Round, Verdict};
use roundgate::model::refusal::Refusal;

use crate::tick;
use crate::world::{AGENTS, Bug, Job, LEASE, NOW, Setup, State, agent, human, id, root, stranger};

/// One thing that somebody tries, or that happens to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// An agent takes an issue.
    Claim { agent: usize, issue: IssueId },
    /// An agent prolongs the lease of what it was given.
    Renew { agent: usize },
    /// An agent gives back what it was given.
    Release { agent: usize, lost: bool },
    /// An agent ends what it was given.
    Finish { agent: usize, outcome: Outcome },
    /// An agent ends what it was never given.
    Close { agent: usize, issue: IssueId, outcome: Outcome },
    /// An agent judges, or a stranger when there is no number.
    Judge { agent: Option<usize>, review: IssueId, opinion: Opinion },
    /// An agent takes its verdict back.
    Withdraw { agent: usize, review: IssueId },
    /// An agent puts a scope below the attempt that it works on.
    Plan { agent: usize },
    /// An agent dies, and its successor of the same name knows nothing.
    Crash { agent: usize },
    /// A lease runs out.
    Lapse { issue: IssueId },
    /// A human answers.
    Answer { ask: IssueId, choice: String, with_dependents: bool },
    /// A human takes an answer back.
    TakeBack { ask: IssueId },
    /// A human skips something and all below it.
    Skip { issue: IssueId },
    /// A human clears away what a plain skip left open below.
    Sweep { issue: IssueId },
    /// A human brings something back.
    Reopen { issue: IssueId },
    /// The clock.
    Tick,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |number: &usize| agent(*number);
        match self {
            Move::Claim { agent, issue } => write!(f, "{} claims {issue}", name(agent)),
            Move::Renew { agent } => write!(f, "{} renews its lease", name(agent)),
            Move::Release { agent, lost: false } => write!(f, "{} gives its issue back", name(agent)),
            Move::Release { agent, lost: true } => write!(f, "{} gives its step up as failed", name(agent)),
            Move::Finish { agent, outcome } => write!(f, "{} ends its issue as {outcome}", name(agent)),
            Move::Close { agent, issue, outcome } => {
                write!(f, "{} closes {issue} as {outcome} without a claim", name(agent))
            }
            Move::Judge { agent, review, opinion } => {
                let who = agent.as_ref().map_or_else(|| stranger(review), name);
                write!(f, "{who} judges {review}: {}", opinion.as_str())
            }
            Move::Withdraw { agent, review } => {
                write!(f, "{} withdraws its verdict on {review}", name(agent))
            }
            Move::Plan { agent } => write!(f, "{} puts a scope below its attempt", name(agent)),
            Move::Crash { agent } => write!(f, "{} dies", name(agent)),
            Move::Lapse { issue } => write!(f, "the lease of {issue} runs out"),
            Move::Answer { ask, choice, with_dependents } => {
                let all = if *with_dependents { ", with dependents" } else { "" };
                write!(f, "a human answers {ask}: {choice}{all}")
            }
            Move::TakeBack { ask } => write!(f, "a human takes the answer to {ask} back"),
            Move::Skip { issue } => write!(f, "a human skips {issue} with all below it"),
            Move::Sweep { issue } => write!(f, "a human skips what is open below {issue}"),
            Move::Reopen { issue } => write!(f, "a human reopens {issue}"),
            Move::Tick => f.write_str("tick"),
        }
    }
}

/// What became of a move.
pub enum Came {
    /// The rules refuse it, or it makes no sense here.
    Refused,
    /// It is allowed, and changes nothing.
    Nothing,
    /// The world is another.
    To(Box<State>),
    /// The program contradicts itself.
    Broken(String),
}

/// What the reviewers and workers say.
const REASON: &str = "not good";
/// The scope into which an attempt is expanded.
const INNER: &str = "inner";

/// Everything somebody could try.
pub fn tries(state: &State) -> Vec<Move> {
    let graph = state.snapshot.graph();
    let mut moves = vec![Move::Tick];
    for number in 0..AGENTS {
        moves.extend(tries_of(state, number));
    }
    for ix in graph.indices() {
        let issue = graph.issue(ix);
        let id = issue.id.clone();
        if let Some(ask) = state.snapshot.ask(&id) {
            if issue.state.closed() {
                continue;
            }
            if ask.answer.is_some() {
                moves.push(Move::TakeBack { ask: id });
                continue;
            }
            for choice in &ask.choices {
                for with_dependents in [false, true] {
                    let (ask, choice) = (id.clone(), choice.id.clone());
                    moves.push(Move::Answer { ask, choice, with_dependents });
                }
            }
            continue;
        }
        if issue.state.claim().is_some_and(|claim| !claim.expired(NOW)) {
            moves.push(Move::Lapse { issue: id.clone() });
        }
        if issue.state.outcome() == Some(Outcome::Skipped)
            && !close::open_below(&state.snapshot, ix).is_empty()
        {
            moves.push(Move::Sweep { issue: id.clone() });
        }
        let undecided = |round: &Round| !round.decided();
        if state.snapshot.review_round(&id).is_some_and(undecided) {
            let judge = |opinion| Move::Judge { agent: None, review: id.clone(), opinion };
            moves.extend([judge(Opinion::Pass), judge(Opinion::NeedsWork)]);
        } else if state.snapshot.round_of(&id).is_none() {
            if state.left.skips > 0 && !issue.state.closed() {
                moves.push(Move::Skip { issue: id.clone() });
            }
            if state.left.reopenings > 0 && issue.state.closed() {
                moves.push(Move::Reopen { issue: id });
            }
        }
    }
    moves
}

fn tries_of(state: &State, agent: usize) -> Vec<Move> {
    let graph = state.snapshot.graph();
    let mut moves = Vec::new();
    if state.jobs[agent].is_some() {
        moves.extend([Move::Renew { agent }, Move::Crash { agent }, Move::Plan { agent }]);
        moves.extend([false, true].map(|lost| Move::Release { agent, lost }));
        moves.extend(Outcome::ALL.map(|outcome| Move::Finish { agent, outcome }));
    }
    for issue in graph.issues() {
        let id = &issue.id;
        let closed = issue.state.closed();
        if !closed && issue.tags.executable() {
            moves.push(Move::Claim { agent, issue: id.clone() });
        }
        let review = state.snapshot.review_round(id);
        if let Some(round) = review {
            if round.end.is_none() {
                let judge = |opinion| Move::Judge { agent: Some(agent), review: id.clone(), opinion };
                moves.extend([judge(Opinion::Pass), judge(Opinion::NeedsWork)]);
                moves.push(Move::Withdraw { agent, review: id.clone() });
            }
        } else if !closed && issue.tags.executable() {
            let ends = [Outcome::Success, Outcome::Failure, Outcome::Skipped];
            moves.extend(ends.map(|outcome| Move::Close { agent, issue: id.clone(), outcome }));
        }
    }
    moves
}

/// Tries a move.
pub fn attempt(setup: &Setup, state: &State, tried: &Move) -> Came {
    match tried {
        Move::Tick => tick::tick(setup, state),
        Move::Crash { agent } => crash(setup, state, *agent),
        Move::Lapse { issue } => lapse(state, issue),
        Move::Claim { agent, issue } => claims(setup, state, *agent, issue),
        Move::Plan { agent } => plan(setup, state, *agent),
        Move::Answer { ask, choice, with_dependents } => answers(state, ask, choice, *with_dependents),
        Move::TakeBack { ask } => act(state, answer::withdraw(&state.snapshot, ask, &human()), &human()),
        Move::Judge { agent: None, review, opinion } => stranger_judges(setup, state, review, *opinion),
        Move::Judge { agent: Some(number), review, opinion } => {
            judges(state, &agent(*number), review, *opinion)
        }
        Move::Withdraw { agent: number, review } => {
            let by = agent(*number);
            act(state, verdict::withdraw(&state.snapshot, review, &by), &by)
        }
        Move::Skip { issue } => {
            act_then(state, skip_all(state, issue), &human(), |next| next.left.skips -= 1)
        }
        Move::Sweep { issue } => act(state, skip_all(state, issue), &human()),
        Move::Reopen { issue } => reopens(state, issue),
        Move::Close { agent: number, issue, outcome } => {
            let closing = closing(agent(*number), None, *outcome);
            act(state, close::close(&state.snapshot, issue, &closing), &closing.actor)
        }
        Move::Renew { .. } | Move::Release { .. } | Move::Finish { .. } => with_job(setup, state, tried),
    }
}

/// What an act leads to.
fn act(state: &State, act: Result<Vec<Primitive>, Refusal>, by: &Actor) -> Came {
    let Ok(primitives) = act else { return Came::Refused };
    if primitives.is_empty() {
        return Came::Nothing;
    }
    let mut next = state.clone();
    match next.apply(&primitives, by) {
        Ok(()) => Came::To(Box::new(next)),
        Err(_) => Came::Refused,
    }
}

/// The same, with something else that changes when it goes through.
fn act_then(
    state: &State,
    done: Result<Vec<Primitive>, Refusal>,
    by: &Actor,
    then: impl FnOnce(&mut State),
) -> Came {
    match act(state, done, by) {
        Came::To(mut next) => {
            then(&mut next);
            Came::To(next)
        }
        other => other,
    }
}

fn closing(actor: Actor, epoch: Option<u64>, outcome: Outcome) -> close::Closing {
    let reason = (outcome != Outcome::Success).then(|| REASON.to_owned());
    close::Closing { outcome: Some(outcome), reason, cascade: false, actor, epoch, now: NOW }
}

fn wish(setup: &Setup, actor: Actor) -> claim::Wish {
    claim::Wish { actor, now: NOW, lease: LEASE, runner: None, step_retries: setup.step_retries }
}

/// An agent does one thing at a time: it takes nothing else while what it was given is its own.
fn claims(setup: &Setup, state: &State, number: usize, issue: &IssueId) -> Came {
    if state.at_work(number).is_some_and(|job| job.issue != *issue) {
        return Came::Refused;
    }
    let by = agent(number);
    let mut done = claim::claim(&state.snapshot, issue, &wish(setup, by.clone()));
    if setup.bug == Some(Bug::ClaimIgnoresHolder) && matches!(done, Err(Refusal::HeldBy { .. })) {
        let epoch = state.issue(issue).epoch + 1;
        let claim = Claim { actor: by.clone(), epoch, expires_at: NOW + LEASE, runner: None, worker: None };
        done = Ok(vec![Primitive::Claim { id: issue.clone(), claim }]);
    }
    if setup.bug == Some(Bug::BlockerForgotten) && matches!(done, Err(Refusal::NotReady { .. })) {
        let claim = Claim {
            actor: by.clone(),
            epoch: state.issue(issue).epoch + 1,
            expires_at: NOW + LEASE,
            runner: None,
            worker: None,
        };
        let plain = !state.issue(issue).tags.review_gated() && state.snapshot.round_of(issue).is_none();
        if plain && state.issue(issue).state == Life::Open {
            done = Ok(vec![Primitive::Claim { id: issue.clone(), claim }]);
        }
    }
    act_then(state, done, &by, |next| {
        let epoch = next.issue(issue).epoch;
        next.jobs[number] = Some(Job { issue: issue.clone(), epoch });
    })
}

/// What an agent does with what it was given, or believes to have been given.
fn with_job(setup: &Setup, state: &State, tried: &Move) -> Came {
    let (Move::Renew { agent: number }
    | Move::Release { agent: number, .. }
    | Move::Finish { agent: number, .. }) = tried
    else {
        return Came::Refused;
    };
    let Some(job) = &state.jobs[*number] else { return Came::Refused };
    let (mut by, mut epoch) = (agent(*number), Some(job.epoch));
    if setup.bug == Some(Bug::FenceIgnored) {
        epoch = None;
        by = state.issue(&job.issue).state.claim().map_or(by, |claim| claim.actor.clone());
    }
    let gone = |next: &mut State| next.jobs[*number] = None;
    match tried {
        Move::Renew { .. } => {
            let renewed = claim::renew(&state.snapshot, &job.issue, &wish(setup, by.clone()), epoch, None);
            act(state, renewed, &by)
        }
        Move::Release { lost, .. } => {
            if *lost && state.left.crashes == 0 {
                return Came::Refused;
            }
            let mut released = claim::release(&state.snapshot, &job.issue, &by, epoch, *lost);
            if setup.bug == Some(Bug::RetryCounted) && released.is_err() {
                let steps = Field::FailedSteps(state.issue(&job.issue).failed_steps + 1);
                released = Ok(vec![Primitive::Edit { id: job.issue.clone(), fields: vec![steps] }]);
            }
            act_then(state, released, &by, |next| {
                next.left.crashes -= u8::from(*lost);
                gone(next);
            })
        }
        Move::Finish { outcome, .. } => {
            let done = close::close(&state.snapshot, &job.issue, &closing(by.clone(), epoch, *outcome));
            act_then(state, done, &by, gone)
        }
        _ => Came::Refused,
    }
}

/// A dead agent's issue stays claimed, and nobody works on it.
fn crash(setup: &Setup, state: &State, number: usize) -> Came {
    let loses = state.at_work(number).is_some();
    if loses && state.left.crashes == 0 {
        return Came::Refused;
    }
    let mut next = state.clone();
    next.jobs[number] = None;
    next.left.crashes -= u8::from(loses);
    if setup.bug == Some(Bug::VerdictDropped) {
        let rounds: Vec<Round> = state.snapshot.all_rounds().cloned().collect();
        let given = |round: &Round| round.verdict.as_ref().is_some_and(|verdict| agent(number) == verdict.by);
        for round in rounds.into_iter().filter(|round| round.end.is_none() && given(round)) {
            let forgotten = Round { verdict: None, ..round };
            next.apply(&[Primitive::SetRound { round: Box::new(forgotten) }], &human()).unwrap();
        }
    }
    Came::To(Box::new(next))
}

/// The lease of a dead holder runs out some day; that of a living one when it is slow.
fn lapse(state: &State, issue: &IssueId) -> Came {
    let Some(held) = state.issue(issue).state.claim() else { return Came::Refused };
    let alive = (0..AGENTS).any(|number| state.at_work(number).is_some_and(|job| job.issue == *issue));
    if alive && state.left.slow == 0 {
        return Came::Refused;
    }
    let mut next = state.clone();
    next.left.slow -= u8::from(alive);
    let claim = Claim { expires_at: NOW, ..held.clone() };
    match next.apply(&[Primitive::Claim { id: issue.clone(), claim }], &Actor::engine()) {
        Ok(()) => Came::To(Box::new(next)),
        Err(why) => Came::Broken(why),
    }
}

fn judges(state: &State, by: &Actor, review: &IssueId, opinion: Opinion) -> Came {
    let reason = if opinion == Opinion::Pass { "" } else { REASON }.to_owned();
    let given = Verdict { opinion, reason, by: by.clone(), at: NOW, evidence: Vec::new() };
    act(state, verdict::judge(&state.snapshot, review, given, false), by)
}

/// Somebody else judges where every agent had a hand in the attempt, and nowhere else.
fn stranger_judges(setup: &Setup, state: &State, review: &IssueId, opinion: Opinion) -> Came {
    let agents = || (0..AGENTS).map(agent);
    let anyone = agents().any(|agent| match judges(state, &agent, review, opinion) {
        Came::To(_) => true,
        _ => may_claim(setup, state, &agent, review),
    });
    if anyone { Came::Refused } else { judges(state, &stranger(review), review, opinion) }
}

fn may_claim(setup: &Setup, state: &State, by: &Actor, issue: &IssueId) -> bool {
    claim::claim(&state.snapshot, issue, &wish(setup, by.clone())).is_ok()
}

/// Only an attempt of the first round of a scope that is there from the beginning is expanded.
fn plan(setup: &Setup, state: &State, number: usize) -> Came {
    let Some(job) = state.at_work(number) else { return Came::Refused };
    let first = state.snapshot.attempt_round(&job.issue).is_some_and(|round| round.number == 1);
    if state.left.plans == 0 || !first || state.snapshot.graph().ix(&id(INNER)).is_some() {
        return Came::Refused;
    }
    let policy = Policy { max_review_rounds: Some(setup.inner_rounds), ..Policy::default() };
    let tags = "kind:goal flow:review-gated-v1";
    let Some(primitives) = state.new_issue(&id(INNER), Some(job.issue.clone()), tags, policy) else {
        return Came::Refused;
    };
    act_then(state, Ok(primitives), &agent(number), |next| next.left.plans -= 1)
}

fn answers(state: &State, ask: &IssueId, choice: &str, with_dependents: bool) -> Came {
    let Some(asked) = state.snapshot.ask(ask) else { return Came::Refused };
    let grants = choice == answer::EXTRA_ROUND;
    let retries = asked.kind == AskKind::Failure && choice == "retry";
    if (grants && state.left.grants == 0) || (retries && state.left.retries == 0) {
        return Came::Refused;
    }
    let given = Answer {
        choice: choice.to_owned(),
        note: String::new(),
        by: human(),
        at: NOW,
        rounds: None,
        with_dependents,
    };
    act(state, answer::answer(&state.snapshot, ask, given), &human())
}

fn skip_all(state: &State, issue: &IssueId) -> Result<Vec<Primitive>, Refusal> {
    let skipped = close::Closing { cascade: true, ..closing(human(), None, Outcome::Skipped) };
    close::close(&state.snapshot, issue, &skipped)
}

fn reopens(state: &State, issue: &IssueId) -> Came {
    if state.left.reopenings == 0 || *issue == root() {
        return Came::Refused;
    }
    let done = open::open(&state.snapshot, issue, &human());
    act_then(state, done, &human(), |next| next.left.reopenings -= 1)
}

/// What the next tick decides.
pub fn decision(setup: &Setup, state: &State) -> Decision {
    let root: Ix = state.ix(&root());
    decide(&state.snapshot, root, NOW, &setup.defaults())
}
