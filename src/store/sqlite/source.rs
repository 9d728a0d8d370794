//! The store as a snapshot of the live frontier asks it: one issue, one list of neighbours, one page of
//! what can move at a time, all within one transaction.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};

use super::fault::Stopped;
use super::table::Table;
use super::{load, row};
use crate::model::document::Documents;
use crate::model::frontier::List;
use crate::model::graph::{Edge, EdgeKind};
use crate::model::id::IssueId;
use crate::model::record::{Ask, Heartbeat, HeartbeatId, Notice, NoticeId, PlanRecord, Round, Scope};
use crate::model::source::{End, Outbox, Part, Source, Stored};
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

    fn one<T>(
        &self,
        table: &'static Table,
        id: &IssueId,
        read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Option<T> {
        let key = table.key[0];
        self.some(&table.select(&format!("WHERE {key} = ?1")), (id.as_str(),), read).pop()
    }

    fn stored(&self, rest: &str, params: impl Params) -> Vec<Stored> {
        self.some(&row::stored(rest), params, row::stored_from)
    }
}

impl Source for Rows {
    fn issue(&self, id: &IssueId) -> Option<Stored> {
        self.stored("WHERE i.id = ?1", (id.as_str(),)).pop()
    }

    fn children(&self, id: &IssueId) -> Vec<Stored> {
        self.stored("WHERE i.parent = ?1 ORDER BY i.parent_seq", (id.as_str(),))
    }

    fn neighbours(&self, id: &IssueId, kind: EdgeKind, end: End) -> Vec<IssueId> {
        let sql = match end {
            End::From => "SELECT to_id FROM edges WHERE from_id = ?1 AND kind = ?2 ORDER BY seq",
            End::To => "SELECT from_id FROM edges WHERE to_id = ?1 AND kind = ?2 ORDER BY seq",
        };
        self.some(sql, (id.as_str(), kind.as_str()), |r| row::id_from(r, &row::EDGES))
    }

    fn has_edge(&self, edge: &Edge) -> bool {
        let key = params_from_iter(row::edge_key(edge));
        let sql = "SELECT 1 FROM edges WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";
        !self.some(sql, key, |_| Ok(())).is_empty()
    }

    fn starting_with(&self, prefix: &str, limit: usize) -> Vec<IssueId> {
        let sql = "SELECT id FROM issues WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let behind = format!("{prefix}{}", char::MAX);
        self.some(sql, (prefix, behind, limit), |r| row::id_from(r, &row::ISSUES))
    }

    fn listed(&self, list: List, part: &Part<'_>) -> Vec<Stored> {
        let mut values = vec![Value::Integer(list as i64)];
        let mut bind = |value: Value| {
            values.push(value);
            format!("?{}", values.len())
        };
        let mut wanted = String::from("WHERE f.list = ?1");
        if let Some(root) = part.root {
            wanted += &format!(" AND f.root = {}", bind(Value::Text(root.to_string())));
        }
        if let Some(after) = part.after {
            let level = row::level(list, after.depth.0);
            let places = [
                bind(Value::Integer(level)),
                bind(Value::Integer(i64::from(after.priority.get()))),
                bind(Value::Integer(after.created_at)),
                bind(Value::Text(after.id.to_string())),
            ];
            wanted += &format!(" AND (f.level, f.priority, f.created_at, f.id) > ({})", places.join(", "));
        }
        if let Some(by) = part.due_by {
            wanted += &format!(" AND s.due <= {}", bind(Value::Integer(by)));
        }
        let limit = bind(Value::Integer(i64::try_from(part.limit).unwrap_or(i64::MAX)));
        let sql =
            row::listed(&format!("{wanted} ORDER BY f.level, f.priority, f.created_at, f.id LIMIT {limit}"));
        self.some(&sql, params_from_iter(values), row::stored_from)
    }

    fn roots_of(&self, list: List) -> Vec<IssueId> {
        let sql = "SELECT DISTINCT root FROM frontier WHERE list = ?1";
        self.some(sql, (list as i64,), |r| row::id_from(r, &row::FRONTIER))
    }

    fn reserved(&self, id: &IssueId) -> bool {
        let read = |r: &Row<'_>| row::id_from(r, &row::RESERVED_IDS);
        self.one(&row::RESERVED_IDS, id, read).is_some()
    }

    fn scope(&self, id: &IssueId) -> Option<Scope> {
        self.one(&row::SCOPES, id, row::scope_from)
    }

    fn scopes_in(&self, root: &IssueId) -> Vec<IssueId> {
        let sql = "WITH RECURSIVE below(id) AS (
                       VALUES (?1) UNION ALL
                       SELECT i.id FROM issues i JOIN below b ON i.parent = b.id)
                   SELECT id FROM below WHERE id IN (SELECT id FROM scopes)";
        self.some(sql, (root.as_str(),), |r| row::id_from(r, &row::SCOPES))
    }

    fn rounds(&self, scope: &IssueId) -> Vec<Round> {
        let sql = row::ROUNDS.select("WHERE scope = ?1 ORDER BY number");
        self.some(&sql, (scope.as_str(),), row::round_from)
    }

    fn round_of(&self, id: &IssueId) -> Option<(IssueId, u32)> {
        let by = |column: &str| {
            let sql = row::ROUNDS.select(&format!("WHERE {column} = ?1"));
            self.some(&sql, (id.as_str(),), row::round_from).pop()
        };
        by("attempt").or_else(|| by("review")).map(|round| (round.scope, round.number))
    }

    fn ask(&self, id: &IssueId) -> Option<Ask> {
        self.one(&row::ASKS, id, row::ask_from)
    }

    fn plan(&self, root: &IssueId) -> Option<PlanRecord> {
        self.one(&row::PLANS, root, row::plan_from)
    }

    fn heartbeats(&self, issue: &IssueId) -> Vec<Heartbeat> {
        let sql = row::HEARTBEATS.select("WHERE root = ?1 ORDER BY id");
        self.some(&sql, (issue.as_str(),), row::heartbeat_from)
    }

    fn heartbeat_at(&self, id: &HeartbeatId) -> Option<IssueId> {
        let sql = row::HEARTBEATS.select("WHERE id = ?1");
        self.some(&sql, (id.as_str(),), row::heartbeat_from).pop().map(|heartbeat| heartbeat.root)
    }

    fn documents(&self, root: &IssueId) -> Option<Documents> {
        let of = |table: &Table, order: &str| table.select(&format!("WHERE root = ?1 ORDER BY {order}"));
        let root = (root.as_str(),);
        let found = Documents {
            head: self.some(&of(&row::HEADS, "root"), root, row::head_from).pop(),
            parts: self.some(&of(&row::PARTS, "place"), root, row::part_from),
            prompts: self.some(&of(&row::PROMPTS, "ui_id"), root, row::prompt_from),
        };
        Some(found).filter(|found| !found.is_empty())
    }

    fn described_in(&self, id: &IssueId) -> Option<IssueId> {
        self.some(row::DESCRIBED_IN, (id.as_str(),), |r| row::id_from(r, &row::HEADS)).pop()
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
        let read = |r: &Row<'_>| row::id_from(r, &row::FINISHED_ROOTS);
        self.one(&row::FINISHED_ROOTS, id, read).is_some()
    }

    fn damaged(&self, what: &str) {
        self.stop(StoreError::Damaged { what: what.to_owned() });
    }

    fn wants_whole(&self, what: &str) {
        self.stop(StoreError::Unfit { what: format!("{what} was wanted of a part of the graph") });
    }
}
