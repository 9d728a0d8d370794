//! Lists of issues and events, read page by page.

use super::session::resolve;
use super::view::{IssueView, ReadyView};
use super::{AppError, Session};
use crate::model::act::claim::Role;
use crate::model::change::{Change, Event};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::search::{Page, Query, found, ranked};
use crate::model::snapshot::Snapshot;
use crate::model::steps::used_up;
use crate::model::tag::Tag;
use crate::store::EventQuery;

/// Which issues to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those with this status.
    pub status: Option<String>,
    /// Only those with all these tags.
    pub tags: Vec<Tag>,
    /// Only those at or below this issue.
    pub root: Option<String>,
    /// Only those of this role.
    pub role: Option<Role>,
    /// Only those behind this one.
    pub after: Option<String>,
    /// No more than so many.
    pub limit: Option<usize>,
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Paged<T> {
    /// What is on it.
    pub rows: Vec<T>,
    /// Whether more comes behind it.
    pub more: bool,
}

/// How many rows are read at first to find those that are wanted; then twice as many, and so on.
const LEAST: usize = 64;

impl Filter {
    pub(super) fn takes(&self, snapshot: &Snapshot, ix: Ix) -> bool {
        let issue = snapshot.graph().issue(ix);
        self.status.as_deref().is_none_or(|status| status == issue.state.status())
            && issue.tags.all(&self.tags)
            && self.role.is_none_or(|role| Role::of(snapshot, ix) == Some(role))
    }

    /// Whether much of what is read may not be taken.
    fn narrows(&self) -> bool {
        !self.tags.is_empty() || self.role.is_some()
    }

    /// What it takes of pages that come one after the other; where they are of more than its root, of what
    /// lies there.
    fn paged<T>(
        &self,
        snapshot: &Snapshot,
        below: Option<Ix>,
        next: impl Fn(&Page<'_>) -> Vec<Ix>,
        view: impl Fn(&Snapshot, Ix) -> T,
    ) -> Result<Paged<T>, AppError> {
        let graph = snapshot.graph();
        let wanted = self.limit.map_or(usize::MAX, |limit| limit.saturating_add(1));
        let mut after = self.after.as_deref().map(|text| resolve(snapshot, text)).transpose()?;
        let mut taken: Vec<Ix> = Vec::new();
        // Where nearly all is taken, no more is read than is wanted.
        let mut least = if self.narrows() || below.is_some() { LEAST } else { 1 };
        loop {
            let limit = wanted.saturating_sub(taken.len()).max(least);
            least = least.saturating_mul(2);
            let page = next(&Page { status: self.status.as_deref(), after: after.as_ref(), limit });
            let end = page.len() < limit;
            after = page.last().map(|&ix| graph.id(ix).clone());
            let here = |ix| below.is_none_or(|top| graph.at_or_below(ix, top));
            taken.extend(page.into_iter().filter(|&ix| self.takes(snapshot, ix) && here(ix)));
            if end || taken.len() >= wanted {
                break;
            }
        }
        let more = taken.len() >= wanted;
        taken.truncate(self.limit.unwrap_or(usize::MAX));
        graph.relate(&taken);
        Ok(Paged { rows: taken.into_iter().map(|ix| view(snapshot, ix)).collect(), more })
    }

    pub(super) fn within(&self, snapshot: &Snapshot) -> Result<Option<Ix>, AppError> {
        let Some(root) = &self.root else { return Ok(None) };
        let id = resolve(snapshot, root)?;
        Ok(snapshot.graph().ix(&id))
    }
}

/// The issues a filter takes, in the total order.
///
/// # Errors
/// When the filter's root, or the issue it starts behind, is not there.
pub fn list(session: &Session, filter: &Filter) -> Result<Paged<IssueView>, AppError> {
    session.look(|snapshot| {
        let within = filter.within(snapshot)?;
        filter.paged(snapshot, None, |page| ranked(snapshot, within, page), IssueView::of)
    })
}

/// The issues of which title and body have what is searched for, and that a filter takes, the latest
/// first.
///
/// # Errors
/// As for [`list`].
pub fn search(session: &Session, query: &Query, filter: &Filter) -> Result<Paged<IssueView>, AppError> {
    session.look(|snapshot| {
        let within = filter.within(snapshot)?;
        filter.paged(snapshot, within, |page| found(snapshot, query, page), IssueView::of)
    })
}

/// The ready issues a filter takes, in the total order.
///
/// # Errors
/// As for [`list`].
pub fn ready(session: &Session, filter: &Filter) -> Result<Paged<ReadyView>, AppError> {
    session.look(|snapshot| {
        let list = snapshot.listed(List::Ready, filter.within(snapshot)?);
        let retries = session.config.bounds.step_retries;
        let goes_on = |ix| used_up(snapshot, ix, retries).is_none();
        filter.paged(snapshot, None, |page| list.some(page.after, page.limit, goes_on), ReadyView::of)
    })
}

/// What happened to an issue, oldest first. What its documents say follows from that, and is left out:
/// `ui log` has it.
///
/// # Errors
/// When there is no such issue.
pub fn history(
    session: &Session,
    text: &str,
    after: u64,
    first: Option<usize>,
) -> Result<Paged<Event>, AppError> {
    let id = session.look(|snapshot| resolve(snapshot, text))?;
    let shown =
        |event: &Event| !matches!(event.change, Change::DocumentSet { .. } | Change::DocumentRemoved { .. });
    events(session, Some(&id), after, first, shown)
}

/// The latest events, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn log(session: &Session, last: Option<usize>) -> Result<Vec<Event>, AppError> {
    Ok(session.store.events(&EventQuery { last, ..EventQuery::default() })?)
}

/// The events after one, no more than so many.
///
/// # Errors
/// When the store cannot be read.
pub fn log_after(session: &Session, after: u64, first: Option<usize>) -> Result<Paged<Event>, AppError> {
    events(session, None, after, first, |_| true)
}

/// The first events after one of which something holds.
fn events(
    session: &Session,
    subject: Option<&IssueId>,
    mut after: u64,
    first: Option<usize>,
    want: impl Fn(&Event) -> bool,
) -> Result<Paged<Event>, AppError> {
    let wanted = first.map(|first| first.saturating_add(1));
    let mut rows: Vec<Event> = Vec::new();
    let mut least = LEAST;
    loop {
        let limit = wanted.map(|wanted| wanted.saturating_sub(rows.len()).max(least));
        least = least.saturating_mul(2);
        let query = EventQuery { subject: subject.cloned(), after, first: limit, last: None };
        let page = session.store.events(&query)?;
        let end = limit.is_none_or(|limit| page.len() < limit);
        after = page.last().map_or(after, |last| last.seq);
        rows.extend(page.into_iter().filter(&want));
        if end || wanted.is_some_and(|wanted| rows.len() >= wanted) {
            break;
        }
    }
    let more = wanted.is_some_and(|wanted| rows.len() >= wanted);
    rows.truncate(first.unwrap_or(usize::MAX));
    Ok(Paged { rows, more })
}
