//! The tick: read, decide, compile, apply, check and commit, in one write transaction (section 4).

use serde::Serialize;

use super::session::resolve_root;
use super::{AppError, Session, Work};
use crate::engine::{Decision, Transition, Waiting, decide, review_gated, roots_to_move, stuck};
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::readiness::waits_for_tick;
use crate::model::record::{Bounds, Scope};
use crate::model::snapshot::Snapshot;

/// A transition, as a tick reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TransitionView {
    /// Such as `next_round`.
    pub kind: &'static str,
    /// The scope, ask or issue it is about.
    pub issue: String,
}

/// A primitive, as a tick reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrimitiveView {
    /// The protocol's word for it.
    pub primitive: &'static str,
    /// What it does, in a line.
    pub text: String,
}

/// Who must move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingView {
    /// `worker`, `reviewer` or `human`.
    pub actor: &'static str,
    /// The issue.
    pub issue: String,
}

/// What a tick did for a root, and what comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TickView {
    /// The root.
    pub root: String,
    /// `act`, `wait`, `done` or `stuck`.
    pub decision: &'static str,
    /// The transition, when it acted.
    pub transition: Option<TransitionView>,
    /// Whether it was carried out (not in a dry run).
    pub applied: bool,
    /// What it was compiled to.
    pub primitives: Vec<PrimitiveView>,
    /// The state of the scope that is at it, or `final`, or `stuck`; null where no scope is.
    pub state: Option<&'static str>,
    /// The scope whose state that is.
    pub scope: Option<String>,
    /// The scope's latest round.
    pub round: Option<u32>,
    /// The scope's bound.
    pub max_rounds: Option<u32>,
    /// Who must move now; null when another tick would act.
    pub waiting_on: Option<WaitingView>,
    /// What comes next, in words.
    pub next: String,
    /// Whether the root is final.
    pub r#final: bool,
}

/// The error of one root, when the others went on.
#[derive(Debug)]
pub struct RootFailure {
    /// The root.
    pub root: IssueId,
    /// What went wrong.
    pub error: AppError,
}

/// One tick for the root that an id names. A node below a root stands for its root.
///
/// # Errors
/// When the root is not there, or the store cannot do it.
pub fn tick(session: &mut Session, text: &str, dry_run: bool) -> Result<TickView, AppError> {
    let snapshot = session.read()?;
    let root = resolve_root(&snapshot, text)?;
    one(session, &snapshot, &root, dry_run)
}

/// One tick for each root that has a policy or a container still to move. A root that fails is reported
/// and does not stop the others.
///
/// # Errors
/// When the store cannot be read at all.
pub fn tick_all(session: &mut Session, dry_run: bool) -> Result<(Vec<TickView>, Vec<RootFailure>), AppError> {
    let snapshot = session.read()?;
    let (mut views, mut failures) = (Vec::new(), Vec::new());
    for root in roots_to_move(&snapshot, session.clock.now()) {
        match one(session, &snapshot, &root, dry_run) {
            Ok(view) => views.push(view),
            Err(error) => failures.push(RootFailure { root, error }),
        }
    }
    Ok((views, failures))
}

fn one(
    session: &mut Session,
    snapshot: &Snapshot,
    root: &IssueId,
    dry_run: bool,
) -> Result<TickView, AppError> {
    let defaults = session.config.bounds.clone();
    let now = session.clock.now();
    let ix = snapshot.graph().ix(root).ok_or_else(|| AppError::NoIssue(root.to_string()))?;
    let decision = decide(snapshot, ix, now, &defaults);
    if dry_run {
        return preview(session, snapshot, ix, &decision, &defaults);
    }
    if !matches!(decision, Decision::Act(_)) {
        return Ok(report(snapshot, ix, &decision, None, now, &defaults));
    }
    // Somebody may have written since: what is applied is decided again inside the transaction.
    let changed = session.change("tick", |work| act(work, root, &defaults))?;
    Ok(changed.value)
}

fn act(work: &mut Work, root: &IssueId, defaults: &Bounds) -> Result<TickView, AppError> {
    let now = work.now;
    let at =
        |snapshot: &Snapshot| snapshot.graph().ix(root).ok_or_else(|| AppError::NoIssue(root.to_string()));
    let ix = at(&work.snapshot)?;
    let decision = decide(&work.snapshot, ix, now, defaults);
    let Decision::Act(transition) = &decision else {
        return Ok(report(&work.snapshot, ix, &decision, None, now, defaults));
    };
    let before = stuck(&work.snapshot, ix).len();
    let primitives = work.compile(transition, defaults)?;
    work.as_tick(format!("tick {}", transition.kind()));
    work.apply(&primitives).map_err(|error| broken(transition, &error.to_string()))?;
    work.tell(root.clone(), transition.clone());
    let after = stuck(&work.snapshot, ix);
    if after.len() > before {
        let why: Vec<String> = after.into_iter().map(|(id, why)| format!("{id}: {why}")).collect();
        return Err(broken(transition, &why.join("; ")));
    }
    Ok(report(&work.snapshot, ix, &decision, Some((&primitives, true)), now, defaults))
}

fn broken(transition: &Transition, why: &str) -> AppError {
    AppError::Broken { transition: transition.kind().to_owned(), why: why.to_owned() }
}

/// What a tick would do, without doing it.
fn preview(
    session: &Session,
    snapshot: &Snapshot,
    ix: Ix,
    decision: &Decision,
    defaults: &Bounds,
) -> Result<TickView, AppError> {
    let now = session.clock.now();
    let Decision::Act(transition) = decision else {
        return Ok(report(snapshot, ix, decision, None, now, defaults));
    };
    let mut ids = session.ids.stream(snapshot, 0);
    let mut next_id = || ids.next(snapshot);
    let mut forge = crate::engine::Forge { now, defaults, next_id: &mut next_id };
    let primitives = crate::engine::compile(snapshot, transition, &mut forge)
        .ok_or_else(|| broken(transition, "what it was decided on is not there"))?;
    Ok(report(snapshot, ix, decision, Some((&primitives, false)), now, defaults))
}

fn report(
    snapshot: &Snapshot,
    root: Ix,
    decision: &Decision,
    done: Option<(&[Primitive], bool)>,
    now: Millis,
    defaults: &Bounds,
) -> TickView {
    let graph = snapshot.graph();
    let applied = done.is_some_and(|(_, applied)| applied);
    let now_wanted = if applied { decide(snapshot, root, now, defaults) } else { decision.clone() };
    let transition = match decision {
        Decision::Act(transition) => Some(transition),
        _ => None,
    };
    let waiting = match &now_wanted {
        Decision::Wait(waiting) => Some(waiting),
        _ => None,
    };
    let r#final = snapshot.relation().is_final(graph, root);
    let scope = scope_at_work(snapshot, root, transition, waiting);
    let record = scope.and_then(|ix| snapshot.scope(graph.id(ix)));
    let state = match (&now_wanted, r#final, scope) {
        (_, true, _) => Some("final"),
        (Decision::Stuck(_), ..) => Some("stuck"),
        (.., Some(ix)) => Some(review_gated::state(snapshot, ix).as_str()),
        _ => None,
    };
    TickView {
        root: graph.id(root).to_string(),
        decision: word(decision),
        transition: transition.map(|transition| TransitionView {
            kind: transition.kind(),
            issue: transition.subject().to_string(),
        }),
        applied,
        primitives: done.map(|(primitives, _)| primitives.iter().map(shown).collect()).unwrap_or_default(),
        state,
        scope: scope.map(|ix| graph.id(ix).to_string()),
        round: record.and_then(|scope| snapshot.last_round(&scope.id)).map(|round| round.number),
        max_rounds: record.map(|scope: &Scope| scope.bounds.max_rounds),
        waiting_on: waiting
            .map(|waiting| WaitingView { actor: waiting.actor.as_str(), issue: waiting.issue.to_string() }),
        next: next(&now_wanted),
        r#final,
    }
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Act(_) => "act",
        Decision::Wait(_) => "wait",
        Decision::Done => "done",
        Decision::Stuck(_) => "stuck",
    }
}

/// What comes next, in words.
pub(super) fn next(decision: &Decision) -> String {
    match decision {
        Decision::Act(transition) => format!("{} with the next tick", transition.kind()),
        Decision::Wait(waiting) => format!("waits for {}", waiting.what),
        Decision::Done => "nothing: it is done".to_owned(),
        Decision::Stuck(why) => format!("stuck: {why}"),
    }
}

/// The scope that a report speaks of: the transition's, or that of whoever must move, or the first that
/// is not resolved.
fn scope_at_work(
    snapshot: &Snapshot,
    root: Ix,
    transition: Option<&Transition>,
    waiting: Option<&Waiting>,
) -> Option<Ix> {
    let graph = snapshot.graph();
    let scope_above = |id: &IssueId| {
        let ask = snapshot.ask(id).and_then(|ask| ask.scope.as_ref()).and_then(|scope| graph.ix(scope));
        ask.or_else(|| {
            let ix = graph.ix(id)?;
            graph.self_and_ancestors(ix).find(|&up| graph.issue(up).tags.review_gated())
        })
    };
    let named = transition.map(Transition::subject).and_then(scope_above);
    let waiting = || waiting.and_then(|waiting| scope_above(&waiting.issue));
    let unresolved = || {
        graph.subtree(root).into_iter().find(|&ix| {
            let gated = graph.issue(ix).tags.review_gated();
            gated && (waits_for_tick(snapshot, ix) || !snapshot.relation().resolved(ix))
        })
    };
    named.or_else(waiting).or_else(unresolved)
}

fn shown(primitive: &Primitive) -> PrimitiveView {
    let below =
        |parent: &Option<IssueId>| parent.as_ref().map_or(String::new(), |parent| format!(" below {parent}"));
    let text = match primitive {
        Primitive::Create { issue, parent } => format!("{}{}: {}", issue.id, below(parent), issue.title),
        Primitive::Edit { id, .. } | Primitive::Open { id } | Primitive::Reserve { id } => id.to_string(),
        Primitive::Reparent { id, parent } => format!("{id}{}", below(parent)),
        Primitive::Serial { blocker, blocked } | Primitive::Undep { blocker, blocked } => {
            format!("{blocker} blocks {blocked}")
        }
        Primitive::Supersede { new, old } | Primitive::Unsupersede { new, old } => {
            format!("{new} supersedes {old}")
        }
        Primitive::Claim { id, claim } => format!("{id} by {}", claim.actor),
        Primitive::Release { id, lost } => format!("{id}{}", if *lost { ", a step was lost" } else { "" }),
        Primitive::Close { id, outcome, .. } => format!("{id} as {outcome}"),
        Primitive::Post { topic, body } => {
            format!("{topic}: {}", body.lines().next().unwrap_or_default())
        }
        Primitive::SetScope { scope } => format!("scope {}", scope.id),
        Primitive::SetRound { round } => format!("round {} of {}", round.number, round.scope),
        Primitive::OpenAsk { ask } => format!("ask {}", ask.id),
        Primitive::SetAnswer { id, .. } => format!("answer of {id}"),
        Primitive::SetPlan { plan } => format!("plan of {}", plan.root),
        Primitive::FinishRoot { id, .. } => format!("root {id}"),
        Primitive::Annotate { annotation } => format!("{} of {}", annotation.kind, annotation.issue),
        Primitive::SetDocument { edit } => {
            let (root, ui_id) = edit.document();
            format!("document {ui_id} of {root}")
        }
        Primitive::RemoveDocument { root, ui_id, .. } => format!("document {ui_id} of {root}, removed"),
    };
    PrimitiveView { primitive: primitive.word(), text }
}
