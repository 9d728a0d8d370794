//! Rows to values and back. The only place that knows which columns a table has.

mod document;
mod issue;
mod record;

use super::table::Table;

pub(super) use document::{
    HEADS, PARTS, PROMPTS, head_from, head_row, hidden_head, hidden_prompt, part_from, part_row, prompt_from,
    prompt_row, removed_head, removed_part, removed_parts, removed_prompt,
};
pub(super) use issue::{
    EDGES, ISSUES, changed_issue, edge_from, edge_key, edge_row, issue_from, issue_row, moved_issue,
};
pub(super) use record::{
    ANNOTATIONS, ASKS, EVENTS, FINISHED_ROOTS, PLANS, POSTS, RESERVED_IDS, ROUNDS, SCOPES, TOPICS,
    annotation_from, annotation_row, answered_ask, ask_from, ask_row, due_hash, event_from, event_row,
    id_from, id_row, link_from, numbered_post_from, plan_from, plan_row, post_from, post_row, round_from,
    round_row, scope_from, scope_row, topic_from,
};

/// The tables that follow from the events; those that name rows of others come first.
pub(super) static PROJECTED: [&Table; 13] = [
    &HEADS,
    &PARTS,
    &PROMPTS,
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
