//! What a run can do next: the first ready issue that a worker of this run may take, and which worker that
//! is. Looks at the ready list of the root and at nothing else of the store.

use std::cell::RefCell;

use super::step::StepPlan;
use super::supervise::Supervisor;
use crate::app::issues::actor_in_role;
use crate::app::{AppError, Session};
use crate::model::act::claim::{self, Role, Wish};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Work;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::runner;

/// What a run can do next.
pub enum Next {
    /// A step.
    Work(Box<Task>),
    /// Nothing: others must move.
    Others {
        /// The first that somebody holds below the root.
        held: Option<IssueId>,
    },
}

/// A step, and what is said of it.
pub struct Task {
    /// The issue's title.
    pub title: String,
    /// The round it is part of, and the bound.
    pub round: Option<(u32, u32)>,
    /// The step.
    pub step: StepPlan,
}

/// The first ready issue below the root that a worker of this run may take now. What no worker of it may
/// take does not keep it from the rest.
///
/// # Errors
/// When the store cannot be read. When nobody holds anything, and all that is ready wants a worker that
/// the root does not have, or an actor that this run is not.
pub fn next_work(session: &Session, run: &Supervisor<'_>) -> Result<Next, AppError> {
    let process = runner::this_process();
    session.look(|snapshot| {
        let graph = snapshot.graph();
        let root = graph.ix(&run.root).ok_or_else(|| AppError::NoIssue(run.root.to_string()))?;
        let wish = |task: &Task| Wish {
            actor: task.step.actor.clone(),
            now: session.clock.now(),
            lease: session.config.runner_lease,
            runner: Some(process.clone()),
            step_retries: session.config.bounds.step_retries,
        };
        let found: RefCell<Option<Task>> = RefCell::default();
        let passed_over: RefCell<Option<AppError>> = RefCell::default();
        let fits = |ix: Ix| {
            let task = task(session, snapshot, run, ix).and_then(|task| {
                claim::claim(snapshot, graph.id(ix), &wish(&task))?;
                Ok(task)
            });
            match task {
                Ok(task) => {
                    found.replace(Some(task));
                    true
                }
                // The next tick has something to do about it.
                Err(AppError::Refusal(Refusal::NotReady { .. })) => false,
                Err(error) => {
                    passed_over.borrow_mut().get_or_insert(error);
                    false
                }
            }
        };
        snapshot.listed(List::Ready, Some(root)).first(fits);
        if let Some(task) = found.into_inner() {
            return Ok(Next::Work(Box::new(task)));
        }
        let held = snapshot.listed(List::Held, Some(root)).first(|_| true).map(|ix| graph.id(ix).clone());
        match passed_over.into_inner() {
            // Where others are at work, what comes of it may be for this run.
            Some(error) if held.is_none() => Err(error),
            _ => Ok(Next::Others { held }),
        }
    })
}

/// The step that does an issue.
fn task(session: &Session, snapshot: &Snapshot, run: &Supervisor<'_>, ix: Ix) -> Result<Task, AppError> {
    let issue = snapshot.graph().issue(ix);
    let role = Role::of(snapshot, ix).unwrap_or(Role::Attempt);
    let name = worker_name(snapshot, ix, role);
    let (plan, worker) = snapshot
        .plan(&run.root)
        .and_then(|plan| plan.workers.get(name).map(|worker| (plan, worker)))
        .ok_or_else(|| AppError::NoWorker { root: run.root.clone(), role: name.to_owned() })?;
    let round = snapshot.round_of(&issue.id).map(|round| {
        let max = snapshot.scope(&round.scope).map_or(0, |scope| scope.bounds.max_rounds);
        (round.number, max)
    });
    let step = StepPlan {
        issue: issue.id.clone(),
        role,
        actor: actor_in_role(&session.actor, &acting_as(snapshot, ix, role))?,
        worker: worker.clone(),
        folder: plan.folder.clone(),
        cwd: run.cwd.clone(),
        store: run.store.clone(),
    };
    Ok(Task { title: issue.title.clone(), round, step })
}

/// The name of the worker in the plan. What a worker makes by command says nothing of workers: then it is
/// that of the nearest above which says something.
fn worker_name<'s>(snapshot: &'s Snapshot, ix: Ix, role: Role) -> &'s str {
    let graph = snapshot.graph();
    let named = |work: &'s Work| match role {
        Role::Attempt => work.attempt.as_deref(),
        Role::Review => work.review.as_deref(),
    };
    graph.self_and_ancestors(ix).find_map(|up| named(&graph.issue(up).work)).unwrap_or(role.as_str())
}

/// What is added to the name of whoever called `run`. Who reviews within an attempt has a hand in it and
/// may not judge it, so each scope around another makes a reviewer of its own.
fn acting_as(snapshot: &Snapshot, ix: Ix, role: Role) -> String {
    let graph = snapshot.graph();
    let scopes = graph.ancestors(ix).filter(|&up| snapshot.scope(graph.id(up)).is_some()).count();
    match role {
        Role::Review if scopes > 1 => format!("{}-{scopes}", role.as_str()),
        _ => role.as_str().to_owned(),
    }
}
