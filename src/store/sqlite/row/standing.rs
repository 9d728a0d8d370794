//! What is derived of an issue, and the lists it is on.

use std::cmp::Reverse;

use rusqlite::Row;
use rusqlite::types::Value;

use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::frontier::{List, Lists};
use crate::model::id::IssueId;
use crate::model::issue::{Millis, Priority};
use crate::model::source::{Derived, Place};
use crate::model::standing::Standing;
use crate::store::StoreError;

pub(in super::super) static STANDING: Table = Table {
    name: "standing",
    key: &["id"],
    columns: &[
        "id",
        "root",
        "depth",
        "priority",
        "resolved",
        "let_go",
        "children",
        "open_children",
        "unresolved_children",
        "open_blockers",
        "lists",
        "due",
    ],
};

pub(in super::super) static FRONTIER: Table = Table {
    name: "frontier",
    key: &["list", "root", "level", "priority", "created_at", "id"],
    columns: &["list", "root", "level", "priority", "created_at", "id"],
};

/// What is derived of an issue.
pub(in super::super) fn standing_row(id: &IssueId, derived: &Derived) -> Result<Vec<Value>, StoreError> {
    let standing = &derived.standing;
    Ok(vec![
        column::text(id.as_str()),
        column::text(derived.root.as_str()),
        column::int(derived.depth)?,
        column::int(derived.priority.get())?,
        column::int(u8::from(standing.resolved))?,
        column::int(u8::from(standing.let_go))?,
        column::int(standing.children)?,
        column::int(standing.open_children)?,
        column::int(standing.unresolved_children)?,
        column::int(standing.open_blockers)?,
        column::int(derived.lists.0)?,
        derived.due.map_or(Value::Null, Value::Integer),
    ])
}

/// What is derived of an issue, from its columns in a row that has `skip` others before them.
pub(in super::super) fn standing_from(row: &Row<'_>, skip: usize) -> Result<(IssueId, Derived), StoreError> {
    let mut row = Columns::of(row, &STANDING);
    row.start_at(skip);
    let id = row.parsed()?;
    let root = row.parsed()?;
    let depth = row.int()?;
    let number: u8 = row.int()?;
    let priority = Priority::try_from(number).or_else(|why| row.contradiction(&why.to_string()))?;
    let standing = Standing {
        resolved: row.int::<u8>()? != 0,
        let_go: row.int::<u8>()? != 0,
        children: row.int()?,
        open_children: row.int()?,
        unresolved_children: row.int()?,
        open_blockers: row.int()?,
    };
    let lists = Lists(row.int()?);
    Ok((id, Derived { root, depth, priority, standing, lists, due: row.maybe_int()? }))
}

/// An entry of a list.
pub(in super::super) fn entry_row(
    list: List,
    derived: &Derived,
    created_at: Millis,
    id: &IssueId,
) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::int(list as u32)?,
        column::text(derived.root.as_str()),
        column::int(level(list, derived.depth))?,
        column::int(derived.priority.get())?,
        Value::Integer(created_at),
        column::text(id.as_str()),
    ])
}

/// The columns of an entry that say where in its list it is.
static PLACES: Table =
    Table { name: "frontier", key: &["id"], columns: &["level", "priority", "created_at", "id"] };

/// A place in a list, of a row that was selected with the columns that say where it is.
pub(in super::super) fn place_from(row: &Row<'_>) -> Result<Place, StoreError> {
    let mut row = Columns::of(row, &PLACES);
    let level: i64 = row.int()?;
    let Ok(depth) = u32::try_from(level.unsigned_abs()) else {
        return row.contradiction("there are not so many levels");
    };
    let number: u8 = row.int()?;
    let priority = Priority::try_from(number).or_else(|why| row.contradiction(&why.to_string()))?;
    Ok(Place { depth: Reverse(depth), priority, created_at: row.int()?, id: row.parsed()? })
}

/// What comes first has the lowest level.
pub(in super::super) fn level(list: List, depth: u32) -> i64 {
    if list.innermost_first() { -i64::from(depth) } else { 0 }
}
