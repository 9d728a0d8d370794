//! Is a root final, and if not, what is in the way?

use serde::Serialize;

use super::pause::PauseView;
use super::session::resolve;
use super::{AppError, Session};
use crate::engine::stuck;
use crate::model::graph::Ix;
use crate::model::issue::Outcome;
use crate::model::record::ScopeEnd;
use crate::model::snapshot::Snapshot;

/// Something stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StuckView {
    /// The issue.
    pub issue: String,
    /// Why.
    pub why: String,
}

/// What `issues validate` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Validation {
    /// The root.
    pub root: String,
    /// Whether everything at or below it is settled.
    pub is_final: bool,
    /// Why, in words.
    pub reason: String,
    /// How many issues at or below it are not closed.
    pub pending: usize,
    /// Unresolved issues closed as `failure` or `needs_work`.
    pub needs_work: Vec<String>,
    /// Issues closed as `expanded` without a child.
    pub expanded_without_children: Vec<String>,
    /// Scopes that a human accepted over the verdict, or finished by hand.
    pub waived: Vec<String>,
    /// What was given up: abandoned scopes, skipped work, and failures that a human went on without; of
    /// each only the topmost, and nothing that a round or a successor has replaced.
    pub given_up: Vec<String>,
    /// Open asks.
    pub waiting_on_human: Vec<String>,
    /// Who paused what.
    pub paused: Vec<PauseView>,
    /// Scopes and circles that nobody can move.
    pub stuck: Vec<StuckView>,
    /// Issues that are open below something that was closed before they came (an import).
    pub open_below_closed: Vec<String>,
}

/// Validates the tree at or below an issue.
///
/// # Errors
/// When there is no such issue: a root that does not exist is never final.
pub fn validate(session: &Session, text: &str) -> Result<Validation, AppError> {
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        let ix = snapshot.graph().ix(&id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
        Ok(of(snapshot, ix))
    })
}

/// Validates a tree of a snapshot.
pub fn of(snapshot: &Snapshot, root: Ix) -> Validation {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let below = graph.subtree(root);
    let named = |wanted: &dyn Fn(Ix) -> bool| -> Vec<String> {
        below.iter().filter(|&&ix| wanted(ix)).map(|&ix| graph.id(ix).to_string()).collect()
    };
    let outcome = |ix: Ix| graph.issue(ix).state.outcome();
    let open = |ix: Ix| !graph.issue(ix).state.closed();
    let pending = below.iter().filter(|&&ix| open(ix)).count();
    let needs_work = named(&|ix| !relation.resolved(ix) && outcome(ix).is_some_and(Outcome::unsuccessful));
    let waiting_on_human = named(&|ix| open(ix) && graph.issue(ix).tags.ask() && !relation.let_go(ix));
    let stuck: Vec<StuckView> = stuck(snapshot, root)
        .into_iter()
        .map(|(issue, why)| StuckView { issue: issue.to_string(), why })
        .collect();
    let paused = PauseView::within(snapshot, Some(root));
    let is_final = relation.is_final(root);
    let ended = |ix: Ix, wanted: ScopeEnd| {
        snapshot.scope(graph.id(ix)).is_some_and(|scope| scope.end == Some(wanted))
    };
    let waived = named(&|ix| ended(ix, ScopeEnd::Waived));
    let given_up = named(&|ix| {
        let replaced = graph.parent(ix).is_some_and(|parent| relation.let_go(parent));
        if replaced || graph.issue(ix).tags.ask() || snapshot.round_of(graph.id(ix)).is_some() {
            return false;
        }
        let skipped = |ix: Ix| outcome(ix) == Some(Outcome::Skipped);
        let without = |&by: &Ix| graph.issue(by).tags.ask() && skipped(by);
        skipped(ix) || ended(ix, ScopeEnd::Abandoned) || graph.superseded_by(ix).iter().any(without)
    });
    let reason = if is_final {
        settled(waived.len(), given_up.len())
    } else if !stuck.is_empty() {
        format!("{} stuck", stuck.len())
    } else if relation.paused(root) {
        format!("{pending} not closed, and it is paused")
    } else if !waiting_on_human.is_empty() {
        format!("{pending} not closed, {} of them wait for a human", waiting_on_human.len())
    } else if pending > 0 {
        format!("{pending} not closed")
    } else if !needs_work.is_empty() {
        format!("{} closed without success and not superseded", needs_work.len())
    } else {
        "something closed is not resolved".to_owned()
    };
    Validation {
        root: graph.id(root).to_string(),
        is_final,
        reason,
        pending,
        needs_work,
        expanded_without_children: named(&|ix| {
            outcome(ix) == Some(Outcome::Expanded) && graph.children(ix).is_empty()
        }),
        waived,
        given_up,
        waiting_on_human,
        paused,
        stuck,
        open_below_closed: named(&|ix| {
            open(ix) && graph.issue(ix).tags.has(crate::model::tag::IMPORT_OPEN_BELOW_CLOSED)
        }),
    }
}

/// That all is settled, and what of it never passed.
fn settled(waived: usize, given_up: usize) -> String {
    let mut text = "everything is settled".to_owned();
    for (count, what) in [(waived, "accepted without a pass"), (given_up, "given up")] {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    }
    text
}
