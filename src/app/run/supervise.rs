//! The loop: tick until nobody but a worker can move, let one worker do one step, and again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::left::{end, end_left_behind};
use super::next::{Next, Task, next_work};
use super::patience::patiently;
use super::step::{StepEnd, run_step};
use crate::app::notify::{program, send_due};
use crate::app::tick::{TickView, tick};
use crate::app::{AppError, Session};
use crate::model::act::claim::{self, Role};
use crate::model::frontier::List;
use crate::model::id::IssueId;
use crate::runner::{self, Liveness};
use crate::store::{EventQuery, Revision};

/// How often a run that waits for others asks whether somebody has written: so often at first, and less
/// and less often down to the second.
const ASK_AGAIN: Duration = Duration::from_millis(250);
const ASK_SELDOM: Duration = Duration::from_secs(2);
/// When it looks again at what it waits for although nobody has written: leases end and runners die without
/// a word.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How long Ctrl-C waits at most.
const NAP: Duration = Duration::from_millis(50);

/// Something worth a line.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A tick did something.
    Ticked(&'a TickView),
    /// A step begins.
    Started {
        /// The issue.
        issue: &'a IssueId,
        /// Its title.
        title: &'a str,
        /// Its role.
        role: Role,
        /// The round it is part of, and the bound.
        round: Option<(u32, u32)>,
    },
    /// A worker is at it; comes several times a second.
    Working {
        /// The issue.
        issue: &'a IssueId,
        /// Its role.
        role: Role,
        /// For how long.
        elapsed: Duration,
    },
    /// A step ended.
    Ended {
        /// The issue.
        issue: &'a IssueId,
        /// Its role.
        role: Role,
        /// How.
        end: &'a StepEndView,
    },
    /// A dead runner's work was taken back.
    TakenBack {
        /// The issue.
        issue: &'a IssueId,
    },
    /// A worker that a dead runner left behind was ended.
    LeftBehind {
        /// What it worked on.
        issue: &'a IssueId,
        /// Its number.
        pid: u32,
    },
    /// Somebody was not told something; it is tried again.
    NotTold {
        /// Why.
        why: &'a str,
    },
    /// Nothing is left for a worker of this run, and others must move.
    WaitingForOthers {
        /// The first of what others hold in this tree.
        held: Option<&'a IssueId>,
        /// What is waited for, in words.
        next: &'a str,
    },
}

/// How a step ended, in a word and a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepEndView {
    /// `success`, `needs_work`, `failed step` and the like.
    pub word: String,
    /// What was said with it, or why.
    pub why: String,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The root is final.
    Final,
    /// A human must move.
    Human,
    /// Nobody can move.
    Stuck,
    /// Ctrl-C.
    Interrupted,
}

/// What a run needs beside the session.
pub struct Supervisor<'a> {
    /// The root.
    pub root: IssueId,
    /// The folder `run` was called from.
    pub cwd: PathBuf,
    /// The store's folder.
    pub store: PathBuf,
    /// Whether somebody pressed Ctrl-C.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// Runs a root to where it ends, and gives the last tick's report.
///
/// # Errors
/// When the store fails, or the root has no workers for what must be done.
pub fn supervise(
    session: &mut Session,
    run: &Supervisor<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(End, TickView), AppError> {
    loop {
        let seen = patiently(run.interrupted, || latest(session, None))?.unwrap_or(0);
        end_left_behind(&run.store, progress)?;
        patiently(run.interrupted, || take_back(session, &run.root, progress))?;
        let view = patiently(run.interrupted, || tick(session, run.root.as_str(), false))?;
        if view.applied {
            progress(Progress::Ticked(&view));
        }
        tell(session, run, progress);
        if view.applied && !(run.interrupted)() {
            continue;
        }
        if (run.interrupted)() {
            return Ok((End::Interrupted, view));
        }
        match (view.decision.as_ref(), view.waiting_on.as_ref().map(|waiting| waiting.actor.as_ref())) {
            ("done", _) => return Ok((End::Final, view)),
            ("stuck", _) => return Ok((End::Stuck, view)),
            (_, Some("human")) => return Ok((End::Human, view)),
            _ => {}
        }
        match patiently(run.interrupted, || next_work(session, run))? {
            Next::Work(task) => {
                if step(session, run, &task, progress)? == StepEnd::Stopped {
                    return Ok((End::Interrupted, view));
                }
            }
            Next::Others { held } => {
                progress(Progress::WaitingForOthers { held: held.as_ref(), next: &view.next });
                wait(session, run, seen)?;
            }
        }
    }
}

/// Waits until somebody has written since this revision, or the run is stopped, or it is time to look.
fn wait(session: &Session, run: &Supervisor<'_>, since: Revision) -> Result<(), AppError> {
    let (began, mut pause) = (Instant::now(), ASK_AGAIN);
    while began.elapsed() < LOOK_AGAIN {
        let asked = Instant::now();
        while asked.elapsed() < pause {
            if (run.interrupted)() {
                return Ok(());
            }
            std::thread::sleep(NAP);
        }
        if patiently(run.interrupted, || latest(session, Some(since)))?.is_some() {
            return Ok(());
        }
        pause = (pause * 2).min(ASK_SELDOM);
    }
    Ok(())
}

/// The store's revision, if it is not the one that is known.
fn latest(session: &Session, known: Option<Revision>) -> Result<Option<Revision>, AppError> {
    let query = EventQuery { after: known.unwrap_or(0), last: Some(1), ..EventQuery::default() };
    Ok(session.store.events(&query)?.last().map(|event| event.seq))
}

/// Sends what somebody is to be told. Where that fails, the run goes on.
fn tell(session: &mut Session, run: &Supervisor<'_>, progress: &mut dyn FnMut(Progress<'_>)) {
    let terms = session.config.notify.clone();
    let sent = send_due(session, &mut program(&terms, &run.store, run.interrupted));
    let why = sent.map_or_else(|error| Some(error.to_string()), |sent| sent.failed.map(|failed| failed.why));
    if let Some(why) = why {
        progress(Progress::NotTold { why: &why });
    }
}

fn step(
    session: &mut Session,
    run: &Supervisor<'_>,
    task: &Task,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<StepEnd, AppError> {
    let Task { title, round, step } = task;
    let (issue, role) = (&step.issue, step.role);
    progress(Progress::Started { issue, title, role, round: *round });
    let end = run_step(session, step, run.interrupted, progress)?;
    let view = match &end {
        StepEnd::Done(word, said) => StepEndView { word: word.clone(), why: said.clone() },
        StepEnd::Failed(why) => StepEndView { word: "failed step".to_owned(), why: why.clone() },
        StepEnd::Stopped => StepEndView { word: "stopped".to_owned(), why: String::new() },
        StepEnd::Closed(outcome) => StepEndView {
            word: outcome.to_string(),
            why: "closed by command while its worker was at it".to_owned(),
        },
        StepEnd::TakenAway => StepEndView {
            word: "taken away".to_owned(),
            why: "this run does not hold it any more".to_owned(),
        },
    };
    progress(Progress::Ended { issue, role, end: &view });
    Ok(end)
}

/// Takes back what a runner held that is no longer there, and ends the worker it left behind, so that
/// nothing runs twice at once. It costs a step, like every lost worker.
fn take_back(
    session: &mut Session,
    root: &IssueId,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), AppError> {
    let held = session.look(|snapshot| {
        let graph = snapshot.graph();
        let held = graph.ix(root).map(|ix| snapshot.listed(List::Held, Some(ix)).all()).unwrap_or_default();
        Ok(held.into_iter().map(|ix| graph.issue(ix).clone()).collect::<Vec<_>>())
    })?;
    for issue in held {
        let Some(claim) = issue.state.claim() else { continue };
        let dead = claim.runner.as_ref().is_some_and(|runner| runner::liveness(runner) == Liveness::Dead);
        if !dead {
            continue;
        }
        if let Some(worker) = &claim.worker {
            end(&issue.id, worker, progress);
        }
        let (id, epoch) = (issue.id.clone(), claim.epoch);
        let changed = session.change("run reclaim", |work| {
            let primitives = claim::reclaim(&work.snapshot, &id, epoch);
            work.apply(&primitives)
        })?;
        if changed.changed {
            progress(Progress::TakenBack { issue: &issue.id });
        }
    }
    Ok(())
}
