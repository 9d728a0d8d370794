//! Where everything stands: a line for each root, or one root in full.

use std::collections::BTreeSet;

use serde::Serialize;

use super::asks;
use super::notify::{Undelivered, undelivered};
use super::pause::PauseView;
use super::session::resolve;
use super::tick::next;
use super::view::AskView;
use super::{AppError, Session};
use crate::engine::{decide, review_gated, roots_to_move};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::{Millis, State};
use crate::model::readiness::ready_issues;
use crate::model::record::Halt;
use crate::model::snapshot::Snapshot;

/// A scope, in a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeLine {
    /// The scope.
    pub scope: String,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: &'static str,
    /// Its latest round; 0 before the first.
    pub round: u32,
    /// Its bound.
    pub max_rounds: u32,
}

/// Who holds what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldLine {
    /// The issue.
    pub issue: String,
    /// The holder.
    pub actor: String,
    /// When the lease runs out, in epoch milliseconds.
    pub expires_at: i64,
}

/// A heartbeat that reached its ceiling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HaltedLine {
    /// The heartbeat.
    pub heartbeat: String,
    /// What ended it, in words.
    pub note: String,
    /// When, in epoch milliseconds.
    pub at: Millis,
}

/// A root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootStatus {
    /// Its id.
    pub root: String,
    /// Its title.
    pub title: String,
    /// Whether it is final.
    pub r#final: bool,
    /// How many issues at or below it are open.
    pub open: usize,
    /// How many are in progress.
    pub in_progress: usize,
    /// How many are closed.
    pub closed: usize,
    /// How many are resolved: what is let go counts.
    pub resolved: usize,
    /// How many are ready.
    pub ready: usize,
    /// What comes next, in words.
    pub next: String,
    /// Its scopes.
    pub scopes: Vec<ScopeLine>,
    /// The heartbeats that reached their ceiling, and beat no more until somebody enables them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub halted: Vec<HaltedLine>,
    /// What is paused.
    pub paused: Vec<PauseView>,
    /// What is held.
    pub held: Vec<HeldLine>,
    /// The asks that wait.
    pub asks: Vec<AskView>,
}

/// The whole store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How many issues there are.
    pub issues: usize,
    /// How many of them are closed.
    pub closed: usize,
    /// How many are ready.
    pub ready: usize,
    /// How many asks wait for a human.
    pub asks: usize,
    /// Whether somebody is told what humans are asked.
    pub notifier: bool,
    /// What somebody is still to be told.
    pub notifications: Undelivered,
    /// The roots with something left to do.
    pub roots: Vec<RootStatus>,
    /// How many issues that nothing lies above or below are not done.
    pub alone: usize,
}

/// One root.
///
/// # Errors
/// When there is no such issue.
pub fn root(session: &Session, text: &str) -> Result<RootStatus, AppError> {
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        let ix = snapshot.graph().ix(&id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
        Ok(of(session, snapshot, snapshot.graph().root(ix)))
    })
}

/// Every root with something left to do.
///
/// # Errors
/// When the store cannot be read.
pub fn all(session: &Session) -> Result<Status, AppError> {
    session.look(|snapshot| Ok(of_all(session, snapshot)))
}

fn of_all(session: &Session, snapshot: &Snapshot) -> Status {
    let graph = snapshot.graph();
    let moving = roots_to_move(snapshot, session.clock.now(), &session.config.bounds);
    let unsettled = snapshot.roots_on(List::Unsettled).into_iter().filter(|id| !moving.contains(id));
    let unsettled: BTreeSet<Ix> = unsettled.filter_map(|id| graph.ix(&id)).collect();
    let (trees, alone): (Vec<Ix>, Vec<Ix>) =
        unsettled.into_iter().partition(|&ix| graph.standing(ix).children > 0);
    let mut roots: Vec<Ix> = moving.iter().filter_map(|id| graph.ix(id)).chain(trees).collect();
    roots.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
    let (issues, open) = snapshot.counts();
    Status {
        issues,
        closed: issues - open,
        ready: ready_issues(snapshot, None).len(),
        asks: asks::found(snapshot, None, &[], false).len(),
        notifier: session.config.notify.configured(),
        notifications: undelivered(snapshot),
        roots: roots.into_iter().map(|ix| of(session, snapshot, ix)).collect(),
        alone: alone.len(),
    }
}

fn of(session: &Session, snapshot: &Snapshot, root: Ix) -> RootStatus {
    let (graph, id) = (snapshot.graph(), snapshot.graph().id(root));
    let tally = snapshot.tally(root);
    let decision = decide(snapshot, root, session.clock.now(), &session.config.bounds);
    let held = snapshot.listed(List::Held, Some(root)).all();
    let held = held.into_iter().filter_map(|ix| match &graph.issue(ix).state {
        State::InProgress { claim } => Some(HeldLine {
            issue: graph.id(ix).to_string(),
            actor: claim.actor.to_string(),
            expires_at: claim.expires_at,
        }),
        _ => None,
    });
    RootStatus {
        root: id.to_string(),
        title: graph.issue(root).title.clone(),
        r#final: tally.settled(),
        open: tally.open,
        in_progress: tally.in_progress,
        closed: tally.closed,
        resolved: tally.resolved,
        ready: ready_issues(snapshot, Some(root)).len(),
        next: next(&decision),
        scopes: snapshot.gated_in(root).into_iter().map(|ix| scope_line(session, snapshot, ix)).collect(),
        halted: halted(snapshot, root),
        paused: PauseView::within(snapshot, Some(root)),
        held: held.collect(),
        asks: asks::found(snapshot, Some(id), &[], false)
            .into_iter()
            .map(|ask| AskView::of(snapshot, ask))
            .collect(),
    }
}

/// What no longer ticks a root although it goes on.
fn halted(snapshot: &Snapshot, root: Ix) -> Vec<HaltedLine> {
    let of = snapshot.heartbeats_of(snapshot.graph().id(root)).into_iter();
    let ended = of.filter_map(|heartbeat| Some((heartbeat, heartbeat.halted.as_ref()?)));
    let lines = ended.filter(|(_, halted)| halted.why == Halt::Ceiling).map(|(heartbeat, halted)| {
        HaltedLine { heartbeat: heartbeat.id.to_string(), note: halted.note.clone(), at: halted.at }
    });
    lines.collect()
}

fn scope_line(session: &Session, snapshot: &Snapshot, ix: Ix) -> ScopeLine {
    let issue = snapshot.graph().issue(ix);
    ScopeLine {
        scope: issue.id.to_string(),
        title: issue.title.clone(),
        state: review_gated::state(snapshot, ix).as_str(),
        round: snapshot.last_round(&issue.id).map_or(0, |round| round.number),
        max_rounds: review_gated::max_rounds(snapshot, issue, &session.config.bounds),
    }
}
