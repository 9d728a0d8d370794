//! Heartbeats and cron entries.

use rusqlite::Row;
use rusqlite::types::Value;

use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::record::{Ceiling, Heartbeat, HeartbeatId};
use crate::store::StoreError;

pub(in super::super) static HEARTBEATS: Table = Table {
    name: "heartbeats",
    key: &["id"],
    columns: &[
        "id",
        "kind",
        "root",
        "title",
        "reason",
        "rhythm",
        "lasts",
        "max_ticks",
        "overlap",
        "anchor",
        "halted",
        "last_run",
        "skipped",
        "gap",
        "triggered",
        "created_by",
        "created_at",
    ],
};

pub(in super::super) fn heartbeat_row(heartbeat: &Heartbeat) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::text(heartbeat.id.as_str()),
        column::text(heartbeat.kind.as_str()),
        column::text(heartbeat.root.as_str()),
        column::text(&heartbeat.title),
        column::text(&heartbeat.reason),
        column::json(&heartbeat.rhythm)?,
        column::int(heartbeat.ceiling.lasts)?,
        heartbeat.ceiling.ticks.map_or(Ok(Value::Null), column::int)?,
        column::text(heartbeat.overlap.as_str()),
        column::int(heartbeat.anchor)?,
        column::maybe_json(heartbeat.halted.as_ref())?,
        heartbeat.last_run.map_or(Ok(Value::Null), column::int)?,
        column::int(heartbeat.skipped)?,
        column::maybe_json(heartbeat.gap.as_ref())?,
        column::maybe_json(heartbeat.trigger.as_ref())?,
        column::text(heartbeat.created_by.as_str()),
        column::int(heartbeat.created_at)?,
    ])
}

/// What tells a heartbeat from others.
pub(in super::super) fn heartbeat_key(id: &HeartbeatId) -> Vec<Value> {
    vec![column::text(id.as_str())]
}

pub(in super::super) fn heartbeat_from(row: &Row<'_>) -> Result<Heartbeat, StoreError> {
    let mut row = Columns::of(row, &HEARTBEATS);
    Ok(Heartbeat {
        id: row.parsed()?,
        kind: row.word()?,
        root: row.parsed()?,
        title: row.text()?.to_owned(),
        reason: row.text()?.to_owned(),
        rhythm: row.json()?,
        ceiling: Ceiling { lasts: row.int()?, ticks: row.maybe_int()? },
        overlap: row.word()?,
        anchor: row.int()?,
        halted: row.maybe_json()?,
        last_run: row.maybe_int()?,
        skipped: row.int()?,
        gap: row.maybe_json()?,
        trigger: row.maybe_json()?,
        created_by: row.actor()?,
        created_at: row.int()?,
    })
}
