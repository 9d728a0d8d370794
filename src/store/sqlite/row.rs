//! Rows to values and back. The only place that knows which columns a table has.

mod document;
mod issue;
mod notice;
mod record;
mod schedule;
mod standing;

use super::table::Table;

pub(super) use document::{
    DECIDED_ABROAD, DESCRIBED_ROOTS, HEADS, PARTS, PROMPTS, head_from, head_row, hidden_head, hidden_prompt,
    part_from, part_row, prompt_from, prompt_row, removed_head, removed_part, removed_parts, removed_prompt,
};
pub(super) use issue::{
    EDGES, ISSUES, changed_issue, edge_from, edge_key, edge_row, ends_from, issue_from, issue_row,
    moved_issue,
};
pub(super) use notice::{NOTICES, notice_from, notice_key, notice_row};
pub(super) use record::{
    ANNOTATIONS, ASKS, COMPACTED, EVENTS, FINISHED_ROOTS, OPERATIONS, PLANS, POSTS, RESERVED_IDS, ROUNDS,
    SCOPES, TOPICS, annotation_from, annotation_row, answered_ask, ask_from, ask_row, assigned_ask,
    compacted_from, due_hash, event_from, event_row, hashed, id_from, id_row, link_from, numbered_post_from,
    operation_from, operation_row, plan_from, plan_row, post_from, post_row, round_from, round_key_from,
    round_row, scope_from, scope_row, topic_from,
};
pub(super) use schedule::{HEARTBEATS, heartbeat_from, heartbeat_key, heartbeat_row};

pub(super) use standing::{FRONTIER, STANDING, entry_row, level, place_from, standing_from, standing_row};

use rusqlite::Row;

use crate::model::source::Stored;
use crate::store::StoreError;

/// Every column of issues `i` and of what is derived of them, `s`; `rest` says from where.
pub(super) fn stored(rest: &str) -> String {
    let of = |letter: char, table: &Table| -> Vec<String> {
        table.columns.iter().map(|column| format!("{letter}.{column}")).collect()
    };
    format!("SELECT {}, {} {rest}", of('i', &ISSUES).join(", "), of('s', &STANDING).join(", "))
}

/// An issue with what is derived of it.
pub(super) fn stored_from(row: &Row<'_>) -> Result<Stored, StoreError> {
    let (issue, parent, _) = issue_from(row)?;
    let (_, derived) = standing_from(row, ISSUES.columns.len())?;
    Ok(Stored { issue, parent, derived })
}

/// The tables that follow from the events; those that name rows of others come first.
pub(super) static PROJECTED: [&Table; 16] = [
    &HEADS,
    &PARTS,
    &PROMPTS,
    &OPERATIONS,
    &HEARTBEATS,
    &NOTICES,
    &POSTS,
    &ANNOTATIONS,
    &RESERVED_IDS,
    &FINISHED_ROOTS,
    &PLANS,
    &ASKS,
    &ROUNDS,
    &SCOPES,
    &EDGES,
    &ISSUES,
];
