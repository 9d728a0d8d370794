//! Status documents and prompts.

use rusqlite::Row;
use rusqlite::types::Value;

use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::document::{Head, Part, Prompt};
use crate::model::id::IssueId;
use crate::store::StoreError;

pub(in super::super) static HEADS: Table = Table {
    name: "document_heads",
    key: &["root"],
    columns: &["root", "ui_id", "version", "updated_at", "shown"],
};

pub(in super::super) static PARTS: Table = Table {
    name: "document_parts",
    key: &["scope"],
    columns: &["scope", "root", "place", "name", "abroad", "text"],
};

pub(in super::super) static PROMPTS: Table = Table {
    name: "document_prompts",
    key: &["ask"],
    columns: &["ask", "root", "ui_id", "version", "updated_at", "shown", "text"],
};

/// The roots that have documents.
pub(in super::super) const DESCRIBED_ROOTS: &str =
    "SELECT root FROM document_heads UNION SELECT root FROM document_prompts";

/// The scopes over whose state other trees decide.
pub(in super::super) const DECIDED_ABROAD: &str = "SELECT scope FROM document_parts WHERE abroad = 1";

/// A statement and its values.
type Statement = (&'static str, Vec<Value>);

pub(in super::super) fn head_row(head: &Head) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::text(head.root.as_str()),
        column::text(&head.ui_id),
        column::int(head.version)?,
        column::int(head.updated_at)?,
        column::int(head.shown)?,
    ])
}

pub(in super::super) fn head_from(row: &Row<'_>) -> Result<Head, StoreError> {
    let mut row = Columns::of(row, &HEADS);
    Ok(Head {
        root: row.parsed()?,
        ui_id: row.text()?.to_owned(),
        version: row.int()?,
        updated_at: row.int()?,
        shown: row.int::<i64>()? != 0,
    })
}

pub(in super::super) fn part_row(part: &Part) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::text(part.scope.as_str()),
        column::text(part.root.as_str()),
        column::int(part.place)?,
        column::text(&part.name),
        column::int(part.abroad)?,
        column::json(&part.text)?,
    ])
}

pub(in super::super) fn part_from(row: &Row<'_>) -> Result<Part, StoreError> {
    let mut row = Columns::of(row, &PARTS);
    Ok(Part {
        scope: row.parsed()?,
        root: row.parsed()?,
        place: row.int()?,
        name: row.text()?.to_owned(),
        abroad: row.int::<i64>()? != 0,
        text: row.json()?,
    })
}

pub(in super::super) fn prompt_row(prompt: &Prompt) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::text(prompt.ask.as_str()),
        column::text(prompt.root.as_str()),
        column::text(&prompt.ui_id),
        column::int(prompt.version)?,
        column::int(prompt.updated_at)?,
        column::int(prompt.shown)?,
        column::json(&prompt.text)?,
    ])
}

pub(in super::super) fn prompt_from(row: &Row<'_>) -> Result<Prompt, StoreError> {
    let mut row = Columns::of(row, &PROMPTS);
    Ok(Prompt {
        ask: row.parsed()?,
        root: row.parsed()?,
        ui_id: row.text()?.to_owned(),
        version: row.int()?,
        updated_at: row.int()?,
        shown: row.int::<i64>()? != 0,
        text: row.json()?,
    })
}

fn named(root: &IssueId, ui_id: &str) -> Vec<Value> {
    vec![column::text(root.as_str()), column::text(ui_id)]
}

pub(in super::super) fn hidden_head(root: &IssueId, ui_id: &str) -> Statement {
    ("UPDATE document_heads SET shown = 0 WHERE root = ?1 AND ui_id = ?2", named(root, ui_id))
}

pub(in super::super) fn hidden_prompt(root: &IssueId, ui_id: &str) -> Statement {
    ("UPDATE document_prompts SET shown = 0 WHERE root = ?1 AND ui_id = ?2", named(root, ui_id))
}

pub(in super::super) fn removed_head(root: &IssueId, ui_id: &str) -> Statement {
    ("DELETE FROM document_heads WHERE root = ?1 AND ui_id = ?2", named(root, ui_id))
}

pub(in super::super) fn removed_parts(root: &IssueId) -> Statement {
    ("DELETE FROM document_parts WHERE root = ?1", vec![column::text(root.as_str())])
}

pub(in super::super) fn removed_prompt(root: &IssueId, ui_id: &str) -> Statement {
    ("DELETE FROM document_prompts WHERE root = ?1 AND ui_id = ?2", named(root, ui_id))
}

/// A part may be in another document by now, where it stays.
pub(in super::super) fn removed_part(part: &Part) -> Statement {
    ("DELETE FROM document_parts WHERE scope = ?1 AND root = ?2", named(&part.scope, part.root.as_str()))
}
