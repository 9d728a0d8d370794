//! Why an issue is, or is not, ready.

use serde::Serialize;

use super::session::resolve;
use super::{AppError, Session};
use crate::model::readiness::{hindrances, ready};
use crate::model::snapshot::Snapshot;
use crate::model::steps::used_up;

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReasonView {
    /// Its stable word, such as `blocked` or `waits_for_tick`.
    pub code: &'static str,
    /// The reason in words.
    pub text: String,
    /// The other issue it is about.
    pub issue: Option<String>,
}

/// What `issues explain` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The issue.
    pub id: String,
    /// Whether a worker may take it now.
    pub ready: bool,
    /// Why not; empty when it is ready.
    pub reasons: Vec<ReasonView>,
}

/// Explains an issue.
///
/// # Errors
/// When there is no such issue.
pub fn explain(session: &Session, text: &str) -> Result<Explanation, AppError> {
    session.look(|snapshot| of(snapshot, text, session.config.bounds.step_retries))
}

fn of(snapshot: &Snapshot, text: &str, step_retries: u32) -> Result<Explanation, AppError> {
    let id = resolve(snapshot, text)?;
    let ix = snapshot.graph().ix(&id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
    let used_up =
        used_up(snapshot, ix, step_retries).filter(|_| snapshot.graph().issue(ix).state.status() == "open");
    let takes = ready(snapshot, ix) && used_up.is_none();
    let reasons = hindrances(snapshot, ix).into_iter().chain(used_up).map(|hindrance| ReasonView {
        code: hindrance.code(),
        text: hindrance.text(),
        issue: hindrance.issue().map(ToString::to_string),
    });
    Ok(Explanation { id: id.to_string(), ready: takes, reasons: reasons.collect() })
}
