//! The tick: read, decide, compile, apply, check and commit, in one write transaction (section 4).

use serde::{Deserialize, Serialize};

use super::pause::PauseView;
use super::session::{compiled, resolve_root};
use super::view::Word;
use super::{AppError, Session, Work};
use crate::engine::{
    Actor as Mover, Decision, Transition, Waiting, contradiction_at, decide, is_final, review_gated,
    roots_to_move,
};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::{Bounds, Scope};
use crate::model::snapshot::Snapshot;

/// A transition, as a tick reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitionView {
    /// Such as `next_round`.
    pub kind: Word,
    /// The scope, ask or issue it is about.
    pub issue: String,
}

/// A primitive, as a tick reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrimitiveView {
    /// The protocol's word for it.
    pub primitive: Word,
    /// What it does, in a line.
    pub text: String,
}

/// Who must move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingView {
    /// `worker`, `reviewer` or `human`.
    pub actor: Word,
    /// The issue.
    pub issue: String,
}

/// What a tick did for a root, and what comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickView {
    /// The root.
    pub root: String,
    /// `act`, `wait`, `done` or `stuck`.
    pub decision: Word,
    /// The transition, when it acted.
    pub transition: Option<TransitionView>,
    /// Whether it was carried out (not in a dry run).
    pub applied: bool,
    /// What it was compiled to.
    pub primitives: Vec<PrimitiveView>,
    /// The state of the scope that is at it, or `final`, or `stuck`; null where no scope is.
    pub state: Option<Word>,
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
    /// The pause that keeps the root from going on: its own, or the one whose end is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseView>,
    /// Why a tick over the whole store left this root alone; then `decision` is what it would have done.
    pub skipped: Option<String>,
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
    let root = session.look(|snapshot| resolve_root(snapshot, text))?;
    one(session, &root, dry_run)
}

/// One tick for each root that has a policy or a container still to move. A root that fails is reported
/// and does not stop the others.
///
/// # Errors
/// When the store cannot be read at all.
pub fn tick_all(session: &mut Session, dry_run: bool) -> Result<(Vec<TickView>, Vec<RootFailure>), AppError> {
    let mut roots: Vec<(IssueId, Option<String>)> = session.look(|snapshot| {
        let roots = roots_to_move(snapshot, session.clock.now(), &session.config.bounds).into_iter();
        Ok(roots.map(|root| (root.clone(), silence(snapshot, &root))).collect())
    })?;
    if session.operation.is_some() {
        // A retry has the roots of the first call, whatever has become of them.
        roots = session.change("tick", |_| Ok(roots))?.value;
    }
    let (mut views, mut failures) = (Vec::new(), Vec::new());
    for (root, skipped) in roots {
        match one(session, &root, dry_run || skipped.is_some()) {
            Ok(view) => views.push(TickView { skipped, ..view }),
            Err(error) => failures.push(RootFailure { root, error }),
        }
    }
    Ok((views, failures))
}

/// Why a tick over the whole store leaves a root alone.
fn silence(snapshot: &Snapshot, root: &IssueId) -> Option<String> {
    if let Some(pause) = snapshot.graph().get(root).and_then(|issue| issue.pause.as_ref()) {
        return Some(format!("{} paused it: {}", pause.by, pause.reason));
    }
    let silent = snapshot.heartbeats_of(root).into_iter().find(|heartbeat| heartbeat.silences_root());
    silent.map(|heartbeat| format!("its heartbeat {} is disabled", heartbeat.id))
}

fn one(session: &mut Session, root: &IssueId, dry_run: bool) -> Result<TickView, AppError> {
    let defaults = session.config.bounds.clone();
    let now = session.clock.now();
    let idle = session.look(|snapshot| {
        let ix = snapshot.graph().ix(root).ok_or_else(|| AppError::NoIssue(root.to_string()))?;
        let decision = decide(snapshot, ix, now, &defaults);
        if dry_run {
            return preview(session, snapshot, ix, &decision, &defaults).map(Some);
        }
        // What an operation found is recorded, also when that is nothing.
        let writes = matches!(decision, Decision::Act(_)) || session.operation.is_some();
        Ok((!writes).then(|| report(snapshot, ix, &decision, None, now, &defaults)))
    })?;
    match idle {
        Some(view) => Ok(view),
        // Somebody may have written since: what is applied is decided again inside the transaction.
        None => Ok(session.change("tick", |work| act(work, root, &defaults))?.value),
    }
}

/// The tick itself, within a transaction.
pub(super) fn act(work: &mut Work, root: &IssueId, defaults: &Bounds) -> Result<TickView, AppError> {
    let now = work.now;
    let at =
        |snapshot: &Snapshot| snapshot.graph().ix(root).ok_or_else(|| AppError::NoIssue(root.to_string()));
    let ix = at(&work.snapshot)?;
    let decision = decide(&work.snapshot, ix, now, defaults);
    let Decision::Act(transition) = &decision else {
        return Ok(report(&work.snapshot, ix, &decision, None, now, defaults));
    };
    let primitives = work.compile(transition, defaults)?;
    work.as_tick(format!("tick {}", transition.kind()));
    work.apply(&primitives).map_err(|error| broken(transition, &error.to_string()))?;
    work.tell(root.clone(), transition.clone());
    // A scope whose records contradict the graph is never acted on, so this one's did not before.
    let about = scope_above(&work.snapshot, transition.subject());
    if let Some((id, why)) = about.and_then(|scope| contradiction_at(&work.snapshot, scope)) {
        return Err(broken(transition, &format!("{id}: {why}")));
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
    let mut ids = session.ids.stream(0);
    let primitives = compiled(snapshot, transition, &mut ids, (now, defaults, &session.config.asks))?;
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
    let r#final = is_final(snapshot, root);
    let paused = pause_at(snapshot, root, waiting).filter(|_| !r#final);
    let scope = scope_at_work(snapshot, root, transition, waiting);
    let record = scope.and_then(|ix| snapshot.scope(graph.id(ix)));
    let state = match (&now_wanted, r#final, scope) {
        (_, true, _) => Some("final"),
        (Decision::Stuck(_), ..) => Some("stuck"),
        (Decision::Wait(_), ..) if paused.is_some() => Some("paused"),
        (.., Some(ix)) => Some(review_gated::state(snapshot, ix).as_str()),
        _ => None,
    };
    TickView {
        root: graph.id(root).to_string(),
        decision: word(decision).into(),
        transition: transition.map(|transition| TransitionView {
            kind: transition.kind().into(),
            issue: transition.subject().to_string(),
        }),
        applied,
        primitives: done.map(|(primitives, _)| primitives.iter().map(shown).collect()).unwrap_or_default(),
        state: state.map(Word::from),
        scope: scope.map(|ix| graph.id(ix).to_string()),
        round: record.and_then(|scope| snapshot.last_round(&scope.id)).map(|round| round.number),
        max_rounds: record.map(|scope: &Scope| scope.bounds.max_rounds),
        waiting_on: waiting.map(|waiting| WaitingView {
            actor: waiting.actor.as_str().into(),
            issue: waiting.issue.to_string(),
        }),
        next: next(&now_wanted),
        r#final,
        paused,
        skipped: None,
    }
}

/// The pause of the root, or of the issue that somebody must resume before anything moves.
fn pause_at(snapshot: &Snapshot, root: Ix, waiting: Option<&Waiting>) -> Option<PauseView> {
    let graph = snapshot.graph();
    let human = waiting.filter(|waiting| waiting.actor == Mover::Human);
    let resumed = human.and_then(|waiting| graph.ix(&waiting.issue));
    let at = resumed.filter(|&ix| graph.issue(ix).pause.is_some()).unwrap_or(root);
    PauseView::over(snapshot, at).into_iter().next()
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
    let named = transition.and_then(|transition| scope_above(snapshot, transition.subject()));
    let waiting = || waiting.and_then(|waiting| scope_above(snapshot, &waiting.issue));
    let unresolved = || snapshot.listed(List::Gated, Some(root)).first(|_| true);
    named.or_else(waiting).or_else(unresolved)
}

/// The scope that an ask is about, or that an issue is or lies in.
fn scope_above(snapshot: &Snapshot, id: &IssueId) -> Option<Ix> {
    let graph = snapshot.graph();
    let ask = snapshot.ask(id).and_then(|ask| ask.scope.as_ref()).and_then(|scope| graph.ix(scope));
    ask.or_else(|| {
        let ix = graph.ix(id)?;
        graph.self_and_ancestors(ix).find(|&up| graph.issue(up).tags.review_gated())
    })
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
        Primitive::SetDuty { id, .. } => format!("who is to answer {id}"),
        Primitive::Remind { id, reminder } => format!("reminder {} of {id}", reminder.count),
        Primitive::SetPlan { plan } => format!("plan of {}", plan.root),
        Primitive::FinishRoot { id, finished: true } => format!("root {id} is final; what ticks it stops"),
        Primitive::FinishRoot { id, finished: false } => format!("root {id} goes on"),
        Primitive::SetHeartbeat { heartbeat } => format!("heartbeat {}", heartbeat.id),
        Primitive::RemoveHeartbeat { id } => format!("heartbeat {id}"),
        Primitive::SetNotice { notice } => format!("notification {}", notice.id),
        Primitive::EndNotice { id, end } => format!("notification {id} {}", end.as_str()),
        Primitive::Annotate { annotation } => format!("{} of {}", annotation.kind, annotation.issue),
        Primitive::SetDocument { edit } => {
            let (root, ui_id) = edit.document();
            format!("document {ui_id} of {root}")
        }
        Primitive::RemoveDocument { root, ui_id, .. } => format!("document {ui_id} of {root}, removed"),
    };
    PrimitiveView { primitive: primitive.word().into(), text }
}
