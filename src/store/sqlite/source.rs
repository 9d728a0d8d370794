//! The store as a snapshot of the live frontier asks it: one issue, one list of neighbours, one page of
//! what can move at a time, all within one transaction.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rusqlite::{Connection, Params, Row, params, params_from_iter};

use super::fault::Stopped;
use super::question::Way;
use super::{load, question, row, search};
use crate::model::document::{Head, Part as DocumentPart, Prompt};
use crate::model::frontier::List;
use crate::model::graph::{Edge, EdgeKind};
use crate::model::id::IssueId;
use crate::model::issue::Issue;
use crate::model::record::{Ask, Heartbeat, HeartbeatId, Notice, NoticeId, PlanRecord, Round, Scope};
use crate::model::search::{Page, Query};
use crate::model::snapshot::Tally;
use crate::model::source::{End, Outbox, Part, Place, Source, Stored, Take};
use crate::store::StoreError;

/// A source over a connection that is in a transaction.
#[derive(Debug)]
pub(super) struct Rows {
    conn: Rc<Connection>,
    /// Why it gives nothing any more.
    stopped: RefCell<Option<Stopped>>,
    /// Whether its transaction has ended.
    closed: Cell<bool>,
}

impl Rows {
    pub(super) fn over(conn: &Rc<Connection>) -> Rc<Rows> {
        Rc::new(Rows { conn: Rc::clone(conn), stopped: RefCell::default(), closed: Cell::new(false) })
    }

    /// Whether all it gave can be believed. It gives nothing from now on: its transaction ends.
    pub(super) fn end(&self) -> Result<(), Stopped> {
        self.closed.set(true);
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// The first reason stands: what comes after it may follow from it.
    fn stop(&self, why: impl Into<Stopped>) {
        self.stopped.borrow_mut().get_or_insert_with(|| why.into());
    }

    fn ask<T: Default>(&self, read: impl FnOnce(&Connection) -> Result<T, Stopped>) -> T {
        if self.closed.get() || self.stopped.borrow().is_some() {
            return T::default();
        }
        read(&self.conn).unwrap_or_else(|why| {
            self.stop(why);
            T::default()
        })
    }

    fn some<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Vec<T> {
        self.ask(|conn| load::some(conn, sql, params, read))
    }

    /// One row that an id tells from others.
    fn one<T>(
        &self,
        sql: &str,
        id: &IssueId,
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Option<T> {
        self.some(sql, (id.as_str(),), read).pop()
    }

    /// The first or the last rows of a root, in their order.
    fn some_of<T>(
        &self,
        root: &IssueId,
        take: Take,
        question: impl FnOnce(Way) -> String,
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Vec<T> {
        let (way, most) = match take {
            Take::First(most) => (Way::Forwards, most),
            Take::Last(most) => (Way::Backwards, most),
        };
        let mut found = self.some(&question(way), (root.as_str(), limit(most)), read);
        if way == Way::Backwards {
            found.reverse();
        }
        found
    }
}

/// So many, for LIMIT.
fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Issues for a question about many.
fn array(ids: &[IssueId]) -> String {
    let words: Vec<&str> = ids.iter().map(IssueId::as_str).collect();
    serde_json::Value::from(words).to_string()
}

impl Source for Rows {
    fn issue(&self, id: &IssueId) -> Option<Stored> {
        self.one(&question::ISSUE, id, row::stored_from)
    }

    fn issues(&self, ids: &[IssueId]) -> Vec<Stored> {
        if ids.len() < question::MANY {
            return ids.iter().filter_map(|id| self.issue(id)).collect();
        }
        self.some(&question::ISSUES, (array(ids),), row::stored_from)
    }

    fn children(&self, id: &IssueId) -> Vec<Stored> {
        self.some(&question::CHILDREN, (id.as_str(),), row::stored_from)
    }

    fn neighbours(&self, id: &IssueId, kind: EdgeKind, end: End) -> Vec<IssueId> {
        let read = |r: &Row<'_>| row::id_from(r, &row::EDGES);
        self.some(question::neighbours(end), (id.as_str(), kind.as_str()), read)
    }

    fn neighbours_of_each(&self, ids: &[IssueId], kind: EdgeKind, end: End) -> Vec<(IssueId, IssueId)> {
        if ids.len() < question::MANY {
            let of = |id: &IssueId| {
                let others = self.neighbours(id, kind, end).into_iter();
                others.map(|other| (id.clone(), other)).collect::<Vec<_>>()
            };
            return ids.iter().flat_map(of).collect();
        }
        self.some(question::neighbours_of_each(end), (array(ids), kind.as_str()), row::ends_from)
    }

    fn has_edge(&self, edge: &Edge) -> bool {
        !self.some(question::EDGE, params_from_iter(row::edge_key(edge)), |_| Ok(())).is_empty()
    }

    fn starting_with(&self, prefix: &str, limit: usize) -> Vec<IssueId> {
        let behind = format!("{prefix}{}", char::MAX);
        self.some(question::IDS, (prefix, behind, self::limit(limit)), |r| row::id_from(r, &row::ISSUES))
    }

    fn listed(&self, list: List, part: &Part<'_>) -> Vec<Place> {
        let sql = question::listed(part.root.is_some(), part.after.is_some(), part.due_by.is_some());
        let after = part.after;
        let params = params![
            list as i64,
            part.root.map(IssueId::as_str),
            after.map(|after| row::level(list, after.depth.0)),
            after.map(|after| after.priority.get()),
            after.map(|after| after.created_at),
            after.map(|after| after.id.as_str()),
            part.due_by,
            limit(part.limit),
        ];
        self.some(&sql, params, row::place_from)
    }

    fn ranked(&self, below: Option<&IssueId>, page: &Page<'_>) -> Vec<IssueId> {
        let after = page.after.and_then(|id| self.issue(id)).map(|stored| stored.issue);
        let sql = question::ranked(below.is_some(), page.status.is_some(), after.is_some());
        let rank = after.as_ref().map(Issue::rank);
        let params = params![
            page.status,
            rank.map(|(priority, ..)| priority.get()),
            rank.map(|(_, created_at, _)| created_at),
            rank.map(|(.., id)| id.as_str()),
            below.map(IssueId::as_str),
            limit(page.limit),
        ];
        self.some(&sql, params, |r| row::id_from(r, &row::ISSUES))
    }

    fn found(&self, query: &Query, page: &Page<'_>) -> Vec<IssueId> {
        let sql = question::found(page.status.is_some(), page.after.is_some());
        let after = page.after.map(IssueId::as_str);
        let params = params![page.status, after, limit(page.limit), search::matching(query)];
        self.some(&sql, params, |r| row::id_from(r, &row::ISSUES))
    }

    fn counts(&self) -> (usize, usize) {
        let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let unsettled = (List::Unsettled as i64,);
        let found: (i64, i64) = self.ask(|conn| Ok(conn.query_row(question::COUNTS, unsettled, pair)?));
        (found.0.try_into().unwrap_or_default(), found.1.try_into().unwrap_or_default())
    }

    fn roots_of(&self, list: List) -> Vec<IssueId> {
        self.some(question::ROOTS_OF, (list as i64,), |r| row::id_from(r, &row::FRONTIER))
    }

    fn roots_keyed(&self, key: &str) -> Vec<IssueId> {
        self.some(question::ROOTS_KEYED, (key,), |r| row::id_from(r, &row::ISSUES))
    }

    fn reserved(&self, id: &IssueId) -> bool {
        self.one(question::RESERVED, id, |_| Ok(())).is_some()
    }

    fn scope(&self, id: &IssueId) -> Option<Scope> {
        self.one(&question::SCOPE, id, row::scope_from)
    }

    fn scopes(&self, ids: &[IssueId]) -> Vec<Scope> {
        if ids.len() < question::MANY {
            return ids.iter().filter_map(|id| self.scope(id)).collect();
        }
        self.some(&question::SCOPES, (array(ids),), row::scope_from)
    }

    fn tally(&self, id: &IssueId) -> Tally {
        let counted = |row: &Row<'_>| -> rusqlite::Result<Tally> {
            let number = |at: usize| row.get::<_, i64>(at).map(|n| n.try_into().unwrap_or_default());
            Ok(Tally { open: number(0)?, in_progress: number(1)?, closed: number(2)?, resolved: number(3)? })
        };
        self.ask(|conn| Ok(conn.prepare_cached(question::TALLY)?.query_row((id.as_str(),), counted)?))
    }

    fn gated_in(&self, id: &IssueId) -> Vec<IssueId> {
        self.some(question::GATED_IN, (id.as_str(),), |r| row::id_from(r, &row::ISSUES))
    }

    fn scopes_in(&self, root: &IssueId) -> Vec<IssueId> {
        self.some(question::SCOPES_IN, (root.as_str(),), |r| row::id_from(r, &row::SCOPES))
    }

    fn rounds(&self, scope: &IssueId) -> Vec<Round> {
        self.some(&question::ROUNDS, (scope.as_str(),), row::round_from)
    }

    fn round_of(&self, id: &IssueId) -> Option<(IssueId, u32)> {
        self.one(question::ROUND_OF, id, row::round_key_from)
    }

    fn rounds_about(&self, ids: &[IssueId]) -> Vec<Round> {
        self.some(&question::ROUNDS_ABOUT, (array(ids),), row::round_from)
    }

    fn asks(&self) -> Vec<Ask> {
        self.some(&row::ASKS.select("ORDER BY id"), (), row::ask_from)
    }

    fn ask(&self, id: &IssueId) -> Option<Ask> {
        self.one(&question::ASK, id, row::ask_from)
    }

    fn plan(&self, root: &IssueId) -> Option<PlanRecord> {
        self.one(&question::PLAN, root, row::plan_from)
    }

    fn heartbeats(&self, issue: &IssueId) -> Vec<Heartbeat> {
        self.some(&question::HEARTBEATS, (issue.as_str(),), row::heartbeat_from)
    }

    fn heartbeat_at(&self, id: &HeartbeatId) -> Option<IssueId> {
        self.some(&question::HEARTBEAT, (id.as_str(),), row::heartbeat_from)
            .pop()
            .map(|heartbeat| heartbeat.root)
    }

    fn head(&self, root: &IssueId) -> Option<Head> {
        self.one(&question::HEAD, root, row::head_from)
    }

    fn part(&self, scope: &IssueId) -> Option<DocumentPart> {
        self.one(&question::PART, scope, row::part_from)
    }

    fn prompt(&self, ask: &IssueId) -> Option<Prompt> {
        self.one(&question::PROMPT, ask, row::prompt_from)
    }

    fn parts_of(&self, root: &IssueId, take: Take) -> Vec<DocumentPart> {
        self.some_of(root, take, question::parts, row::part_from)
    }

    fn prompts_of(&self, root: &IssueId, take: Take) -> Vec<Prompt> {
        self.some_of(root, take, question::prompts, row::prompt_from)
    }

    fn prompt_named(&self, root: &IssueId, ui_id: &str) -> Option<Prompt> {
        self.some(&question::PROMPT_NAMED, (root.as_str(), ui_id), row::prompt_from).pop()
    }

    fn described_roots(&self) -> Vec<IssueId> {
        self.some(row::DESCRIBED_ROOTS, (), |r| row::id_from(r, &row::HEADS))
    }

    fn decided_abroad(&self) -> Vec<IssueId> {
        self.some(row::DECIDED_ABROAD, (), |r| row::id_from(r, &row::PARTS))
    }

    fn notice(&self, id: &NoticeId) -> Option<Notice> {
        let key = params_from_iter(row::notice_key(id));
        self.some(&row::NOTICES.select("WHERE id = ?1"), key, row::notice_from).pop()
    }

    fn outbox(&self, order: Outbox, limit: usize) -> Vec<Notice> {
        let rest = match order {
            Outbox::FirstDue => "ORDER BY due_at, id LIMIT ?1",
            Outbox::LastFailed => "WHERE failed_at IS NOT NULL ORDER BY failed_at DESC, id LIMIT ?1",
        };
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.some(&row::NOTICES.select(rest), (limit,), row::notice_from)
    }

    fn root_finished(&self, id: &IssueId) -> bool {
        self.one(question::FINISHED, id, |_| Ok(())).is_some()
    }

    fn damaged(&self, what: &str) {
        self.stop(StoreError::Damaged { what: what.to_owned() });
    }

    fn wants_whole(&self, what: &str) {
        self.stop(StoreError::Unfit { what: format!("{what} was wanted of a part of the graph") });
    }
}
