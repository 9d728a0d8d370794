//! Compaction: the bulk of what is final for long goes to an archive, and the store keeps the rest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{AppError, Session, config, place};
use crate::model::graph::Ix;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::model::snapshot::Snapshot;
use crate::store::Store;
use crate::store::sqlite;

/// What `compact` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactView {
    /// How many roots are final for long enough.
    pub roots: usize,
    /// How many issues those have.
    pub issues: usize,
    /// How many events lose some of their text.
    pub events: u64,
    /// How many bytes of text that is.
    pub bytes: u64,
    /// The archive, once it was written.
    pub archive: Option<PathBuf>,
    /// Whether anything was moved.
    pub changed: bool,
}

/// Which roots a compaction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Nothing at or below the root may have changed since this moment.
    pub since: Millis,
}

/// What a compaction would move. Writes nothing.
///
/// # Errors
/// When the store cannot be read.
pub fn preview(folder: &Path, idle: Idle) -> Result<CompactView, AppError> {
    let options = place::options(&config::load(folder)?);
    let (roots, issues) = found(folder, idle)?;
    let movable = sqlite::compactable(folder, &issues, &options)?;
    Ok(CompactView {
        roots,
        issues: issues.len(),
        events: movable.events,
        bytes: movable.bytes,
        archive: None,
        changed: false,
    })
}

/// Moves it to a new file.
///
/// # Errors
/// When the file is there already, or one of the two cannot be written.
pub fn compact(
    folder: &Path,
    idle: Idle,
    archive: &Path,
    actor: &Actor,
    now: Millis,
) -> Result<CompactView, AppError> {
    let options = place::options(&config::load(folder)?);
    Session::of_engine(folder, now)?.bring_up_to_date()?;
    let (roots, issues) = found(folder, idle)?;
    // Somebody may take up one of them meanwhile. That costs nothing: what folding needs stays.
    let done = sqlite::compact(folder, &issues, archive, (actor, now), &options)?;
    Ok(CompactView {
        roots,
        issues: issues.len(),
        events: done.as_ref().map_or(0, |done| done.moved.events),
        bytes: done.as_ref().map_or(0, |done| done.moved.bytes),
        changed: done.is_some(),
        archive: done.map(|done| done.archive),
    })
}

/// How many roots are final and idle, and every issue at or below them.
fn found(folder: &Path, idle: Idle) -> Result<(usize, BTreeSet<IssueId>), AppError> {
    let snapshot = place::open(folder, &config::load(folder)?)?.snapshot()?.0;
    let graph = snapshot.graph();
    let roots = graph.indices().filter(|&ix| graph.node(ix).parent.is_none());
    let old: Vec<Vec<Ix>> = roots.filter_map(|root| idle_below(&snapshot, root, idle)).collect();
    let issues = old.iter().flatten().map(|&ix| graph.id(ix).clone()).collect();
    Ok((old.len(), issues))
}

fn idle_below(snapshot: &Snapshot, root: Ix, idle: Idle) -> Option<Vec<Ix>> {
    let graph = snapshot.graph();
    if !snapshot.relation().is_final(root) {
        return None;
    }
    let below = graph.subtree(root);
    below.iter().all(|&ix| graph.issue(ix).updated_at <= idle.since).then_some(below)
}
