//! What a snapshot of the live frontier asks, as SQL. Each text is put together once, and what is asked
//! of many issues at once takes them as a JSON array.

use std::sync::LazyLock;

use super::row;
use crate::model::source::End;

/// From how many issues on a question about all of them costs less than one about each: it is a
/// statement more to be planned.
pub(super) const MANY: usize = 16;

/// One issue.
pub(super) static ISSUE: LazyLock<String> =
    LazyLock::new(|| row::stored("FROM issues i JOIN standing s ON s.id = i.id WHERE i.id = ?1"));

/// Many issues.
pub(super) static ISSUES: LazyLock<String> = LazyLock::new(|| {
    row::stored(
        "FROM json_each(?1) given CROSS JOIN issues i ON i.id = given.value
         CROSS JOIN standing s ON s.id = i.id",
    )
});

/// The children of an issue.
pub(super) static CHILDREN: LazyLock<String> = LazyLock::new(|| {
    row::stored("FROM issues i JOIN standing s ON s.id = i.id WHERE i.parent = ?1 ORDER BY i.parent_seq")
});

/// A part of a list: its place is bound in any case, what else there is only where it is wanted.
pub(super) fn listed(root: bool, after: bool, due: bool) -> String {
    let mut sql = String::from("SELECT f.level, f.priority, f.created_at, f.id FROM frontier f");
    sql += if due { " CROSS JOIN standing s ON s.id = f.id" } else { "" };
    sql += " WHERE f.list = ?1";
    sql += if root { " AND f.root = ?2" } else { "" };
    sql += if after { " AND (f.level, f.priority, f.created_at, f.id) > (?3, ?4, ?5, ?6)" } else { "" };
    sql += if due { " AND s.due <= ?7" } else { "" };
    sql + " ORDER BY f.level, f.priority, f.created_at, f.id LIMIT ?8"
}

/// The other ends of an issue's edges.
pub(super) fn neighbours(end: End) -> &'static str {
    match end {
        End::From => "SELECT to_id FROM edges WHERE from_id = ?1 AND kind = ?2 ORDER BY seq",
        End::To => "SELECT from_id FROM edges WHERE to_id = ?1 AND kind = ?2 ORDER BY seq",
    }
}

/// The same of many issues: each with its neighbour.
pub(super) fn neighbours_of_each(end: End) -> &'static str {
    match end {
        End::From => {
            "SELECT e.from_id, e.to_id FROM json_each(?1) given CROSS JOIN edges e ON e.from_id = given.value
             WHERE e.kind = ?2 ORDER BY e.seq"
        }
        End::To => {
            "SELECT e.to_id, e.from_id FROM json_each(?1) given CROSS JOIN edges e ON e.to_id = given.value
             WHERE e.kind = ?2 ORDER BY e.seq"
        }
    }
}

/// The record of an opened scope.
pub(super) static SCOPE: LazyLock<String> = LazyLock::new(|| row::SCOPES.select("WHERE id = ?1"));

/// The records of many.
pub(super) static SCOPES: LazyLock<String> =
    LazyLock::new(|| row::SCOPES.select("WHERE id IN (SELECT value FROM json_each(?1))"));

/// The tally of an issue and everything below it: open, in progress, closed, resolved.
pub(super) const TALLY: &str = "WITH RECURSIVE below(id) AS (
        VALUES (?1) UNION ALL
        SELECT i.id FROM below b CROSS JOIN issues i ON i.parent = b.id)
    SELECT count(*) FILTER (WHERE i.status = 'open'), count(*) FILTER (WHERE i.status = 'in_progress'),
        count(*) FILTER (WHERE i.status = 'closed'), count(*) FILTER (WHERE s.resolved = 1)
    FROM below b CROSS JOIN issues i ON i.id = b.id CROSS JOIN standing s ON s.id = b.id";

/// What may have a policy's tag at or below an issue: the tag itself is looked for where tags are known.
pub(super) const GATED_IN: &str = "WITH RECURSIVE below(id) AS (
        VALUES (?1) UNION ALL
        SELECT i.id FROM below b CROSS JOIN issues i ON i.parent = b.id)
    SELECT i.id FROM below b CROSS JOIN issues i ON i.id = b.id WHERE instr(i.tags, 'flow:') > 0";

/// The opened scopes at or below a root.
pub(super) const SCOPES_IN: &str = "WITH RECURSIVE below(id) AS (
        VALUES (?1) UNION ALL
        SELECT i.id FROM issues i JOIN below b ON i.parent = b.id)
    SELECT id FROM below WHERE id IN (SELECT id FROM scopes)";

/// The rounds of a scope.
pub(super) static ROUNDS: LazyLock<String> =
    LazyLock::new(|| row::ROUNDS.select("WHERE scope = ?1 ORDER BY number"));

/// The round that has an issue.
pub(super) const ROUND_OF: &str = "SELECT scope, number FROM rounds WHERE attempt = ?1 OR review = ?1";

/// The rounds of the scopes that have many issues.
pub(super) static ROUNDS_ABOUT: LazyLock<String> = LazyLock::new(|| {
    row::ROUNDS.select(
        "WHERE scope IN (SELECT scope FROM rounds WHERE attempt IN (SELECT value FROM json_each(?1))
                         UNION
                         SELECT scope FROM rounds WHERE review IN (SELECT value FROM json_each(?1)))
         ORDER BY scope, number",
    )
});

/// The ask that an issue carries.
pub(super) static ASK: LazyLock<String> = LazyLock::new(|| row::ASKS.select("WHERE id = ?1"));

/// The plan of a root.
pub(super) static PLAN: LazyLock<String> = LazyLock::new(|| row::PLANS.select("WHERE root = ?1"));

/// The heartbeats of a root.
pub(super) static HEARTBEATS: LazyLock<String> =
    LazyLock::new(|| row::HEARTBEATS.select("WHERE root = ?1 ORDER BY id"));

/// One heartbeat.
pub(super) static HEARTBEAT: LazyLock<String> = LazyLock::new(|| row::HEARTBEATS.select("WHERE id = ?1"));

/// The head of a root's status document.
pub(super) static HEAD: LazyLock<String> = LazyLock::new(|| row::HEADS.select("WHERE root = ?1"));

/// What is said of a scope.
pub(super) static PART: LazyLock<String> = LazyLock::new(|| row::PARTS.select("WHERE scope = ?1"));

/// What is shown of an ask.
pub(super) static PROMPT: LazyLock<String> = LazyLock::new(|| row::PROMPTS.select("WHERE ask = ?1"));

/// The prompt of a root with a name.
pub(super) static PROMPT_NAMED: LazyLock<String> =
    LazyLock::new(|| row::PROMPTS.select("WHERE root = ?1 AND ui_id = ?2"));

/// From which end an order is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forwards,
    Backwards,
}

impl Way {
    fn word(self) -> &'static str {
        match self {
            Way::Forwards => "ASC",
            Way::Backwards => "DESC",
        }
    }
}

/// Parts of a root's status document.
pub(super) fn parts(way: Way) -> String {
    row::PARTS.select(&format!("WHERE root = ?1 ORDER BY place {} LIMIT ?2", way.word()))
}

/// Prompts of a root.
pub(super) fn prompts(way: Way) -> String {
    row::PROMPTS.select(&format!("WHERE root = ?1 ORDER BY ui_id {} LIMIT ?2", way.word()))
}

/// The roots with a key.
pub(super) const ROOTS_KEYED: &str =
    "SELECT id FROM issues WHERE plan_key = ?1 AND parent IS NULL ORDER BY seq";

/// Whether an id is kept from being given.
pub(super) const RESERVED: &str = "SELECT id FROM reserved_ids WHERE id = ?1";

/// Whether a root was put away.
pub(super) const FINISHED: &str = "SELECT id FROM finished_roots WHERE id = ?1";

/// Whether an edge is there.
pub(super) const EDGE: &str = "SELECT 1 FROM edges WHERE from_id = ?1 AND kind = ?2 AND to_id = ?3";

/// The ids from one on, up to another.
pub(super) const IDS: &str = "SELECT id FROM issues WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3";

/// A page of all issues, or of those at or below one. The place is bound as values: with a place that is
/// selected, only the first of its columns would be looked up in the index.
pub(super) fn ranked(below: bool, status: bool, after: bool) -> String {
    let mut sql = String::from(if below { BELOW } else { "SELECT i.id FROM issues i" });
    sql += " WHERE ?6 > 0";
    sql += if status { " AND i.status = ?1" } else { "" };
    sql += if after { " AND (i.priority, i.created_at, i.id) > (?2, ?3, ?4)" } else { "" };
    sql + " ORDER BY i.priority, i.created_at, i.id LIMIT ?6"
}

/// The issues at or below one.
const BELOW: &str = "WITH RECURSIVE below(id) AS (
        VALUES (?5) UNION
        SELECT i.id FROM issues i JOIN below b ON i.parent = b.id)
    SELECT i.id FROM below b CROSS JOIN issues i ON i.id = b.id";

/// A page of what a search finds.
pub(super) fn found(status: bool, after: bool) -> String {
    let mut sql = String::from(
        "SELECT i.id FROM search s CROSS JOIN issues i ON i.seq = s.rowid WHERE s.search MATCH ?4",
    );
    sql += if status { " AND i.status = ?1" } else { "" };
    sql += if after { " AND s.rowid < (SELECT seq FROM issues WHERE id = ?2)" } else { "" };
    sql + " ORDER BY s.rowid DESC LIMIT ?3"
}

/// How many issues there are, and how many are not closed: those are on a list, so nobody counts the rest.
pub(super) const COUNTS: &str = "SELECT
    (SELECT count(*) FROM issues),
    (SELECT count(*) FROM frontier f JOIN issues i ON i.id = f.id WHERE f.list = ?1 AND i.status <> 'closed')";

/// The roots of what is on a list.
pub(super) const ROOTS_OF: &str = "SELECT DISTINCT root FROM frontier WHERE list = ?1";
