//! Reading: the whole snapshot, and the lists that queries ask for. One statement for each table,
//! none for each row. Nothing here writes.

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row};

use super::chain::Head;
use super::fault::Stopped;
use super::row;
use super::table::Table;
use crate::model::change::Event;
use crate::model::id::IssueId;
use crate::model::record::Post;
use crate::model::snapshot::{Parts, Snapshot};
use crate::model::source::Derived;
use crate::store::{EventQuery, PostQuery, Revision, StoreError, Topic};

/// The number of the last event.
pub(super) fn revision(conn: &Connection) -> Result<Revision, Stopped> {
    let mut statement = conn.prepare_cached("SELECT coalesce(max(seq), 0) FROM events")?;
    let last: i64 = statement.query_row((), |row| row.get(0))?;
    Ok(Revision::try_from(last).unwrap_or(0))
}

/// The number and the hash of the last event.
pub(super) fn head(conn: &Connection) -> Result<Head, Stopped> {
    let found = some(conn, &row::EVENTS.select("ORDER BY seq DESC LIMIT 1"), (), row::link_from)?;
    Ok(found.into_iter().next().unwrap_or(Head::NONE))
}

/// The number and the hash of one event.
pub(super) fn link(conn: &Connection, seq: Revision) -> Result<Option<Head>, Stopped> {
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    let found = some(conn, &row::EVENTS.select("WHERE seq = ?1"), (seq,), row::link_from)?;
    Ok(found.into_iter().next())
}

/// Refuses a store whose last event is not what was written, or does not follow the one before it. What lies
/// further back, only a walk over all events can tell.
pub(super) fn check_last(conn: &Connection) -> Result<(), Stopped> {
    let mut statement = conn.prepare(&row::EVENTS.select("ORDER BY seq DESC LIMIT 2"))?;
    let mut rows = statement.query(())?;
    let Some(last) = rows.next()? else { return Ok(()) };
    // The hash that goes in first is known only once the row before is read.
    let (head, columns) = (row::link_from(last)?, row::hashed(last)?);
    let before = rows.next()?.map(row::link_from).transpose()?.unwrap_or(Head::NONE);
    let due = before.hash.then(columns.iter().map(Into::into));
    if before.seq + 1 == head.seq && due == head.hash {
        return Ok(());
    }
    let what = format!("event {}, the last, is not what was written, or the one before it is not", head.seq);
    Err(StoreError::Damaged { what }.into())
}

/// Everything the rules read. To be called within a transaction: it is several statements.
pub(super) fn snapshot(conn: &Connection) -> Result<Snapshot, Stopped> {
    let mut placed = Vec::new();
    let issues = all(conn, &row::ISSUES, "ORDER BY seq", |row| {
        let (issue, parent, seq) = row::issue_from(row)?;
        if let Some(parent) = parent {
            placed.push((seq, (issue.id.clone(), parent)));
        }
        Ok(issue)
    })?;
    let edges = all(conn, &row::EDGES, "", |row| row::edge_from(row).map(|(edge, seq)| (seq, edge)))?;
    let parts = Parts {
        issues,
        parents: in_order(placed),
        edges: in_order(edges),
        scopes: all(conn, &row::SCOPES, "", row::scope_from)?,
        rounds: all(conn, &row::ROUNDS, "", row::round_from)?,
        asks: all(conn, &row::ASKS, "", row::ask_from)?,
        plans: all(conn, &row::PLANS, "", row::plan_from)?,
        heartbeats: all(conn, &row::HEARTBEATS, "", row::heartbeat_from)?,
        heads: all(conn, &row::HEADS, "", row::head_from)?,
        parts: all(conn, &row::PARTS, "", row::part_from)?,
        prompts: all(conn, &row::PROMPTS, "", row::prompt_from)?,
        notices: all(conn, &row::NOTICES, "", row::notice_from)?,
        finished_roots: all(conn, &row::FINISHED_ROOTS, "", |r| row::id_from(r, &row::FINISHED_ROOTS))?,
        reserved: all(conn, &row::RESERVED_IDS, "", |r| row::id_from(r, &row::RESERVED_IDS))?,
        annotations: all(conn, &row::ANNOTATIONS, "ORDER BY seq", row::annotation_from)?,
    };
    Snapshot::restore(parts).map_err(|why| StoreError::Damaged { what: why.to_string() }.into())
}

fn in_order<T>(mut numbered: Vec<(u64, T)>) -> Vec<T> {
    numbered.sort_by_key(|(seq, _)| *seq);
    numbered.into_iter().map(|(_, value)| value).collect()
}

fn all<T>(
    conn: &Connection,
    table: &'static Table,
    rest: &str,
    read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, Stopped> {
    some(conn, &table.select(rest), (), read)
}

pub(super) fn some<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, Stopped> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// What is derived of every issue.
pub(super) fn derived(conn: &Connection) -> Result<Vec<(IssueId, Derived)>, Stopped> {
    all(conn, &row::STANDING, "", |row| row::standing_from(row, 0))
}

/// Whether a list has an entry.
pub(super) fn has_entry(conn: &Connection, entry: Vec<Value>) -> Result<bool, Stopped> {
    let found = some(conn, &row::FRONTIER.exists(), rusqlite::params_from_iter(entry), |_| Ok(()))?;
    Ok(!found.is_empty())
}

/// So many, for LIMIT; a negative number is no limit.
fn limit(rows: Option<usize>) -> i64 {
    rows.map_or(-1, |rows| i64::try_from(rows).unwrap_or(i64::MAX))
}

/// The events a query asks for, oldest first.
pub(super) fn events(conn: &Connection, query: &EventQuery) -> Result<Vec<Event>, Stopped> {
    let after = i64::try_from(query.after).unwrap_or(i64::MAX);
    // The first are read from the front. Where the latest of them are wanted, too, that is what is left.
    let (order, limit) = match query.first {
        Some(first) => ("ASC", limit(Some(first))),
        None => ("DESC", limit(query.last)),
    };
    // Two statements and not one with a condition that may be off: that one could use no index.
    let mut found = match &query.subject {
        Some(id) => {
            let rest = format!("WHERE subject = ?1 AND seq > ?2 ORDER BY seq {order} LIMIT ?3");
            some(conn, &row::EVENTS.select(&rest), (id.as_str(), after, limit), row::event_from)?
        }
        None => {
            let rest = format!("WHERE seq > ?1 ORDER BY seq {order} LIMIT ?2");
            some(conn, &row::EVENTS.select(&rest), (after, limit), row::event_from)?
        }
    };
    if query.first.is_none() {
        found.reverse();
    }
    let skip = query.last.map_or(0, |last| found.len().saturating_sub(last));
    Ok(found.split_off(skip))
}

/// The posts a query asks for, oldest first.
pub(super) fn posts(conn: &Connection, query: &PostQuery) -> Result<Vec<Post>, Stopped> {
    let limit = limit(query.last);
    let mut found = match &query.topic {
        Some(topic) => {
            let sql = row::POSTS.select("WHERE topic = ?1 ORDER BY seq DESC LIMIT ?2");
            some(conn, &sql, (topic, limit), row::post_from)?
        }
        None => {
            let sql = row::POSTS.select("ORDER BY seq DESC LIMIT ?1");
            some(conn, &sql, (limit,), row::post_from)?
        }
    };
    found.reverse();
    Ok(found)
}

/// The topics whose name starts with a prefix, by name.
pub(super) fn topics(conn: &Connection, prefix: &str) -> Result<Vec<Topic>, Stopped> {
    let mut statement = conn.prepare_cached(row::TOPICS)?;
    let mut rows = statement.query((prefix,))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let topic = row::topic_from(row)?;
        // They come in order, so the first that does not match is behind all that do.
        if !topic.name.starts_with(prefix) {
            break;
        }
        found.push(topic);
    }
    Ok(found)
}
