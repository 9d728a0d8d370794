//! Pausing a scope and going on with it, and who paused what.

use serde::{Deserialize, Serialize};

use super::session::resolve;
use super::{AppError, Changed, Session, Work};
use crate::model::act::pause as act;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Millis, Pause};
use crate::model::snapshot::Snapshot;

/// One pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseView {
    /// The issue at and below which nothing starts.
    pub scope: String,
    /// Who paused it.
    pub by: String,
    /// When, in epoch milliseconds.
    pub at: Millis,
    /// Why.
    pub reason: String,
}

impl PauseView {
    fn of(scope: &IssueId, pause: &Pause) -> Self {
        let Pause { by, at, reason } = pause;
        PauseView { scope: scope.to_string(), by: by.to_string(), at: *at, reason: reason.clone() }
    }

    /// The pauses at and above an issue, nearest first.
    pub fn over(snapshot: &Snapshot, ix: Ix) -> Vec<PauseView> {
        let found = snapshot.relation().pauses(ix);
        found.map(|(at, pause)| PauseView::of(snapshot.graph().id(at), pause)).collect()
    }

    /// The pauses of what is not settled at or below an issue, or anywhere.
    pub fn within(snapshot: &Snapshot, top: Option<Ix>) -> Vec<PauseView> {
        let paused = snapshot.listed(List::Paused, top).all().into_iter();
        let issues = paused.map(|ix| snapshot.graph().issue(ix));
        issues.filter_map(|issue| Some(PauseView::of(&issue.id, issue.pause.as_ref()?))).collect()
    }
}

/// What was paused, or goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeView {
    /// The issue.
    pub scope: String,
    /// Its title.
    pub title: String,
    /// Its own pause.
    pub paused: Option<PauseView>,
    /// The pauses above it, nearest first.
    pub paused_above: Vec<PauseView>,
    /// What is held at or below it, and may be finished.
    pub held: Vec<String>,
}

fn shown(work: &Work, id: &IssueId) -> Result<ScopeView, AppError> {
    let (snapshot, graph) = (&work.snapshot, work.snapshot.graph());
    let ix = graph.ix(id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
    let (own, above): (Vec<_>, Vec<_>) =
        PauseView::over(snapshot, ix).into_iter().partition(|pause| pause.scope == id.as_str());
    let held = snapshot.listed(List::Held, Some(ix)).all().into_iter();
    Ok(ScopeView {
        scope: id.to_string(),
        title: graph.issue(ix).title.clone(),
        paused: own.into_iter().next(),
        paused_above: above,
        held: held.map(|ix| graph.id(ix).to_string()).collect(),
    })
}

/// Who paused what of that which is not settled, at or below an issue or anywhere.
///
/// # Errors
/// When the issue is not there.
pub fn list(session: &Session, root: Option<&str>) -> Result<Vec<PauseView>, AppError> {
    session.look(|snapshot| {
        let id = root.map(|text| resolve(snapshot, text)).transpose()?;
        let top = id.and_then(|id| snapshot.graph().ix(&id));
        let mut found = top.map(|top| PauseView::over(snapshot, top)).unwrap_or_default();
        let below = PauseView::within(snapshot, top);
        found.extend(
            below
                .into_iter()
                .filter(|pause| top.is_none_or(|ix| pause.scope != snapshot.graph().id(ix).as_str())),
        );
        Ok(found)
    })
}

/// Pauses an issue: nothing new starts at or below it.
///
/// # Errors
/// What [`act::pause`] refuses.
pub fn pause(session: &mut Session, text: &str, reason: &str) -> Result<Changed<ScopeView>, AppError> {
    session.change("pause", |work| {
        let id = resolve(&work.snapshot, text)?;
        let pause = Pause { by: work.actor.clone(), at: work.now, reason: reason.to_owned() };
        let primitives = act::pause(&work.snapshot, &id, pause)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// Lets an issue that was paused go on. What is paused above it still holds it.
///
/// # Errors
/// When it is not there.
pub fn resume(session: &mut Session, text: &str) -> Result<Changed<ScopeView>, AppError> {
    session.change("resume", |work| {
        let id = resolve(&work.snapshot, text)?;
        let primitives = act::resume(&work.snapshot, &id, work.now)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}
