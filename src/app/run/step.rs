//! One step: claim, start the worker, record it, feed it, and write down what it answered. A worker that
//! was lost or answered nothing usable costs a step retry, never a round.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::left::Started;
use super::packet::packet;
use super::patience::{busy, patiently};
use super::supervise::Progress;
use crate::app::asks::STEP_FAILED;
use crate::app::issues::topic_of;
use crate::app::{AppError, Session};
use crate::model::act::claim::{self, Role, Wish};
use crate::model::act::close::{self, Closing};
use crate::model::act::verdict;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Issue, MAX_TEXT_BYTES, Outcome};
use crate::model::primitive::Primitive;
use crate::model::record::{Opinion, Verdict, WorkerSpec};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::runner::{self, AttemptReply, Exit, Poll, ReviewReply, StepError};

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepEnd {
    /// The answer is stored: its word, and what was said with it.
    Done(String, String),
    /// The step failed, and why.
    Failed(String),
    /// Ctrl-C: the issue is free again, and no step was lost.
    Stopped,
    /// The issue was taken from the worker while it worked.
    TakenAway,
    /// The issue was closed by command, by its worker or with something above it: its outcome.
    Closed(Outcome),
}

/// Everything a step needs to know beside the session.
#[derive(Debug, Clone)]
pub struct StepPlan {
    /// The issue.
    pub issue: IssueId,
    /// Its role.
    pub role: Role,
    /// In whose name the worker acts.
    pub actor: Actor,
    /// The worker.
    pub worker: WorkerSpec,
    /// The plan's own folder.
    pub folder: PathBuf,
    /// The folder `run` was called from.
    pub cwd: PathBuf,
    /// The store, for the worker's environment.
    pub store: PathBuf,
}

/// Runs one step.
///
/// # Errors
/// When the store fails; what a worker does is never an error here.
pub fn run_step(
    session: &mut Session,
    plan: &StepPlan,
    interrupted: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<StepEnd, AppError> {
    let base = std::mem::replace(&mut session.actor, plan.actor.clone());
    let end = claimed(session, plan, interrupted, progress);
    session.actor = base;
    match end? {
        StepEnd::TakenAway => patiently(interrupted, || not_held(session, plan)),
        end => Ok(end),
    }
}

/// Why the run does not hold the issue any more.
fn not_held(session: &Session, plan: &StepPlan) -> Result<StepEnd, AppError> {
    session.look(|snapshot| {
        let issue = snapshot.graph().get(&plan.issue);
        let outcome = issue.and_then(|issue| issue.state.outcome());
        Ok(outcome.map_or(StepEnd::TakenAway, StepEnd::Closed))
    })
}

fn claimed(
    session: &mut Session,
    plan: &StepPlan,
    interrupted: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<StepEnd, AppError> {
    let (epoch, input, root) = match patiently(interrupted, || take(session, plan)) {
        Ok(taken) => taken,
        // Another run or an agent was quicker since the issue was found ready: then it is theirs.
        Err(AppError::Refusal(
            Refusal::HeldBy { .. } | Refusal::NotReady { .. } | Refusal::SelfReview { .. },
        )) => {
            return Ok(StepEnd::TakenAway);
        }
        Err(other) => return Err(other),
    };
    let spec = &plan.worker;
    let env = environment(session, plan, &root);
    // What a worker has done is kept for as long as nobody else may take its issue.
    let lease = Duration::from_millis(u64::try_from(session.config.runner_lease).unwrap_or(0));
    let renewed = Cell::new(Instant::now());
    let no_time = || interrupted() || renewed.get().elapsed() >= lease;
    let step = runner::Step {
        argv: &spec.command,
        base: Some(&plan.folder),
        cwd: &plan.cwd,
        env: &env,
        time_limit: Duration::from_millis(u64::try_from(spec.time_limit).unwrap_or(u64::MAX)),
        output_cap: usize::try_from(session.config.output_cap).unwrap_or(usize::MAX),
    };
    let running = match step.start() {
        Ok(running) => running,
        Err(error) => return patiently(&no_time, || fail(session, plan, epoch, &error.to_string())),
    };
    let worker = running.identity();
    let _started = Started::note(&plan.store, &plan.issue, &worker)?;
    match patiently(&no_time, || renew(session, plan, epoch, Some(worker.clone()))) {
        Ok(()) => {}
        // Its worker has no packet yet, and is ended unfed.
        Err(AppError::Refusal(_)) => return Ok(StepEnd::TakenAway),
        Err(other) => return Err(other),
    }
    let started = Instant::now();
    renewed.set(started);
    let (mut tried, every) = (started, lease / 3);
    let mut lost_claim: Option<AppError> = None;
    let result = running.finish(&input, &mut || {
        progress(Progress::Working { issue: &plan.issue, role: plan.role, elapsed: started.elapsed() });
        if tried.elapsed() >= every {
            tried = Instant::now();
            match renew(session, plan, epoch, None) {
                Ok(()) => renewed.set(tried),
                Err(error) if busy(&error) => {}
                Err(error) => lost_claim = Some(error),
            }
        }
        if lost_claim.is_some() || interrupted() { Poll::Stop } else { Poll::Continue }
    });
    match (result, lost_claim) {
        (Err(StepError::Stopped), Some(AppError::Refusal(_))) => Ok(StepEnd::TakenAway),
        // A store that cannot be written any more: going on would wait for a claim that is one's own.
        (Err(StepError::Stopped), Some(error)) => Err(error),
        // Ctrl-C came already: here only the lease counts.
        (Err(StepError::Stopped), None) => {
            let over = || renewed.get().elapsed() >= lease;
            match patiently(&over, || release(session, plan, epoch, false, "stopped by hand")) {
                // A worker may have closed its issue just before: then there is nothing to give back.
                Ok(()) | Err(AppError::Refusal(_)) => Ok(StepEnd::Stopped),
                Err(other) => Err(other),
            }
        }
        (Err(error), _) => patiently(&no_time, || fail(session, plan, epoch, &error.to_string())),
        (Ok(ended), _) => patiently(&no_time, || ended_by_itself(session, plan, epoch, &ended)),
    }
}

/// Writes down what came of a worker that ended by itself.
fn ended_by_itself(
    session: &mut Session,
    plan: &StepPlan,
    epoch: u64,
    ended: &runner::Ended,
) -> Result<StepEnd, AppError> {
    let what = match ended.exit {
        Exit::Code(0) => return answer(session, plan, epoch, &ended.stdout),
        Exit::Code(code) => format!("the worker exited with {code}"),
        Exit::Signal(signal) => format!("signal {signal} ended the worker"),
    };
    fail(session, plan, epoch, &with_tail(&what, ended))
}

fn with_tail(what: &str, ended: &runner::Ended) -> String {
    let tail = String::from_utf8_lossy(&ended.stderr_tail);
    let tail = tail.trim();
    if tail.is_empty() {
        return what.to_owned();
    }
    let skip = tail.chars().count().saturating_sub(2_000);
    format!("{what}; its stderr ended with:\n{}", tail.chars().skip(skip).collect::<String>())
}

/// Claims the issue for the runner, and gives the fencing number and the packet.
fn take(session: &mut Session, plan: &StepPlan) -> Result<(u64, Vec<u8>, IssueId), AppError> {
    let (lease, step_retries) = (session.config.runner_lease, session.config.bounds.step_retries);
    let changed = session.change("run claim", |work| {
        let runner = Some(runner::this_process());
        let wish = Wish { actor: work.actor.clone(), now: work.now, lease, runner, step_retries };
        let primitives = claim::claim(&work.snapshot, &plan.issue, &wish)?;
        work.apply(&primitives)?;
        let start = format!("START: {} by {}", plan.role.as_str(), work.actor);
        work.apply(&[Primitive::Post { topic: topic_of(&plan.issue), body: start }])?;
        let graph = work.snapshot.graph();
        let ix = graph.ix(&plan.issue).ok_or_else(|| AppError::NoIssue(plan.issue.to_string()))?;
        let packet = packet(&work.snapshot, ix, plan.role, Some(&plan.folder));
        let mut input = serde_json::to_vec(&packet)
            .map_err(|error| AppError::Usage(format!("the packet cannot be written: {error}")))?;
        input.push(b'\n');
        Ok((graph.issue(ix).epoch, input, graph.id(graph.root(ix)).clone()))
    })?;
    Ok(changed.value)
}

fn environment(session: &Session, plan: &StepPlan, root: &IssueId) -> Vec<(String, OsString)> {
    let pair = |name: &str, value: OsString| (name.to_owned(), value);
    vec![
        pair("ROUNDGATE_STORE", plan.store.clone().into_os_string()),
        pair("ROUNDGATE_ROOT", root.to_string().into()),
        pair("ROUNDGATE_ISSUE", plan.issue.to_string().into()),
        pair("ROUNDGATE_ACTOR", session.actor.to_string().into()),
    ]
}

fn renew(
    session: &mut Session,
    plan: &StepPlan,
    epoch: u64,
    worker: Option<crate::model::issue::Process>,
) -> Result<(), AppError> {
    let (lease, step_retries) = (session.config.runner_lease, session.config.bounds.step_retries);
    session.change("run renew", |work| {
        let wish = Wish { actor: work.actor.clone(), now: work.now, lease, runner: None, step_retries };
        let primitives = claim::renew(&work.snapshot, &plan.issue, &wish, Some(epoch), worker)?;
        work.apply(&primitives)
    })?;
    Ok(())
}

fn release(
    session: &mut Session,
    plan: &StepPlan,
    epoch: u64,
    lost: bool,
    why: &str,
) -> Result<(), AppError> {
    session.change("run release", |work| {
        let actor = work.actor.clone();
        let primitives = claim::release(&work.snapshot, &plan.issue, &actor, Some(epoch), lost)?;
        work.apply(&primitives)?;
        let what = if lost { STEP_FAILED } else { "STEP STOPPED" };
        work.apply(&[post(&plan.issue, &format!("{what}: {why}"))])
    })?;
    Ok(())
}

fn post(issue: &IssueId, text: &str) -> Primitive {
    let mut body = text.replace('\0', "\u{fffd}");
    if body.len() > MAX_TEXT_BYTES {
        let cut = (0..=MAX_TEXT_BYTES).rev().find(|&at| body.is_char_boundary(at)).unwrap_or(0);
        body.truncate(cut);
    }
    Primitive::Post { topic: topic_of(issue), body }
}

/// Counts a failed step. Whoever took the issue meanwhile keeps it.
fn fail(session: &mut Session, plan: &StepPlan, epoch: u64, why: &str) -> Result<StepEnd, AppError> {
    match release(session, plan, epoch, true, why) {
        Ok(()) => Ok(StepEnd::Failed(why.to_owned())),
        Err(AppError::Refusal(_)) => Ok(StepEnd::TakenAway),
        Err(other) => Err(other),
    }
}

fn answer(session: &mut Session, plan: &StepPlan, epoch: u64, stdout: &[u8]) -> Result<StepEnd, AppError> {
    let stored = match plan.role {
        Role::Attempt => match runner::parse_attempt(stdout) {
            Ok(reply) => finish_attempt(session, plan, epoch, reply),
            Err(error) => return fail(session, plan, epoch, &error.to_string()),
        },
        Role::Review => match runner::parse_review(stdout) {
            Ok(reply) => finish_review(session, plan, epoch, reply),
            Err(error) => return fail(session, plan, epoch, &error.to_string()),
        },
    };
    match stored {
        Ok(Some((word, said))) => Ok(StepEnd::Done(word, said)),
        Ok(None) => Ok(StepEnd::TakenAway),
        Err(AppError::Refusal(refusal)) => fail(session, plan, epoch, &refusal.to_string()),
        Err(other) => Err(other),
    }
}

/// The outcome and what was said with it; nothing where the attempt was taken away meanwhile.
fn finish_attempt(
    session: &mut Session,
    plan: &StepPlan,
    epoch: u64,
    reply: AttemptReply,
) -> Result<Option<(String, String)>, AppError> {
    let (outcome, result) = match reply {
        AttemptReply::Success { result } => (Outcome::Success, result),
        AttemptReply::Failure { result } => (Outcome::Failure, result),
        AttemptReply::Skipped { result } => (Outcome::Skipped, result),
    };
    let stored = session.change("run complete", |work| {
        let issue = current(work, &plan.issue)?;
        let result_post = post(&plan.issue, &format!("RESULT: {outcome}\n{result}"));
        // A worker may have closed its issue itself, by command: expanded, say. Then that stands.
        if issue.state.closed() {
            // Ended together with something above it, or under a later claim, the result is nobody's.
            if issue.epoch != epoch || ended_above(&work.snapshot, &plan.issue) {
                return Ok(false);
            }
            work.apply(&[result_post])?;
            return Ok(true);
        }
        let closing = Closing {
            outcome: Some(outcome),
            reason: Some(result.clone()),
            cascade: false,
            actor: work.actor.clone(),
            epoch: Some(epoch),
            now: work.now,
        };
        work.apply(&[result_post])?;
        let primitives = close::close(&work.snapshot, &plan.issue, &closing)?;
        work.apply(&primitives)?;
        Ok(true)
    })?;
    Ok(stored.value.then(|| (outcome.to_string(), result)))
}

/// Whether something above an issue ended, or a scope that it lies in was given up or accepted.
fn ended_above(snapshot: &Snapshot, id: &IssueId) -> bool {
    let graph = snapshot.graph();
    let over = |up| snapshot.scope(graph.id(up)).is_some_and(|scope| scope.end.is_some());
    graph.ix(id).is_some_and(|ix| snapshot.relation().finished(ix) || graph.ancestors(ix).any(over))
}

fn current<'w>(work: &'w crate::app::Work, id: &IssueId) -> Result<&'w Issue, AppError> {
    work.snapshot.graph().get(id).ok_or_else(|| AppError::NoIssue(id.to_string()))
}

fn finish_review(
    session: &mut Session,
    plan: &StepPlan,
    epoch: u64,
    reply: ReviewReply,
) -> Result<Option<(String, String)>, AppError> {
    let (opinion, reason) = match reply {
        ReviewReply::Pass { notes } => (Opinion::Pass, notes),
        ReviewReply::NeedsWork { notes } => (Opinion::NeedsWork, notes),
    };
    session.change("run verdict", |work| {
        let by: Actor = work.actor.clone();
        // A worker may have judged by command itself; then it holds the review no more, and that stands.
        let first = work.snapshot.review_round(&plan.issue).and_then(|round| round.verdict.as_ref());
        if first.is_some_and(|first| first.by == by && first.opinion == opinion) {
            return Ok(());
        }
        if first.is_none() {
            claim::holder(&work.snapshot, &plan.issue, &by, Some(epoch))?;
        }
        let given = Verdict { opinion, reason: reason.clone(), by, at: work.now, evidence: Vec::new() };
        let primitives = verdict::judge(&work.snapshot, &plan.issue, given, false)?;
        work.apply(&primitives)
    })?;
    Ok(Some((opinion.as_str().to_owned(), reason)))
}
