//! Tables and blocks for people. Never cut silently: a footer says how many more there are.

use chrono::{DateTime, Utc};
use comfy_table::{ContentArrangement, Table, presets};

use super::output::{line, multiline};
use crate::app::pause::PauseView;
use crate::app::view::IssueView;
use crate::model::issue::Millis;

/// How many rows a table shows unless told otherwise.
pub const TABLE_ROWS: usize = 50;

/// Which rows of a list to show.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct RowsArgs {
    /// Show every row
    #[arg(long)]
    pub all: bool,
    /// Show at most this many rows (0 for every row)
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

impl RowsArgs {
    /// How many of `total` rows a table shows.
    pub fn shown(&self, total: usize) -> usize {
        match self.limit {
            _ if self.all => total,
            Some(0) => total,
            Some(limit) => limit.min(total),
            None => TABLE_ROWS.min(total),
        }
    }

    /// How many rows are wanted of what is read page by page: for a table, or for JSON, which has all of
    /// them unless a limit was given.
    pub fn wanted(&self, json: bool) -> Option<usize> {
        match self.limit {
            _ if self.all => None,
            Some(0) => None,
            None if json => None,
            None => Some(TABLE_ROWS),
            limit => limit,
        }
    }

    /// How many of `total` rows JSON shows: all of them, unless a limit was given.
    pub fn shown_in_json(&self, total: usize) -> usize {
        if self.limit.is_some() { self.shown(total) } else { total }
    }
}

/// A table with a header, and its footer.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, limits: RowsArgs, nothing: &str) -> String {
    table_of(header, rows, limits, nothing, "--all")
}

/// The same where another flag shows every row.
pub fn table_of(
    header: &[&str],
    rows: Vec<Vec<String>>,
    limits: RowsArgs,
    nothing: &str,
    every: &str,
) -> String {
    let total = rows.len();
    if total == 0 {
        return format!("{nothing}\n");
    }
    let shown = limits.shown(total);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.iter().copied());
    for row in rows.into_iter().take(shown) {
        table.add_row(row.iter().map(|cell| line(cell).into_owned()));
    }
    let mut out: String = table.lines().map(|row| format!("{}\n", row.trim_end())).collect();
    if shown < total {
        out.push_str(&format!("... and {} more; {every} shows every row\n", total - shown));
    }
    out
}

/// A table of one page, and what shows the next.
pub fn page_table(header: &[&str], rows: Vec<Vec<String>>, more: bool, nothing: &str) -> String {
    let last = rows.last().and_then(|row| row.first()).cloned().unwrap_or_default();
    let everything = RowsArgs { all: true, limit: None };
    let mut out = table(header, rows, everything, nothing);
    if more {
        out.push_str(&format!("... and more; --after {last} shows them, --all every row\n"));
    }
    out
}

/// A moment, in UTC.
pub fn moment(at: Millis) -> String {
    DateTime::<Utc>::from_timestamp_millis(at)
        .map_or_else(|| format!("{at} ms"), |moment| moment.format("%Y-%m-%d %H:%M:%SZ").to_string())
}

/// The status of an issue in a word: its outcome once it is closed.
pub fn status_word(issue: &IssueView) -> String {
    issue.outcome.as_ref().unwrap_or(&issue.status).to_string()
}

/// The rows of a list of issues.
pub fn issue_row(issue: &IssueView) -> Vec<String> {
    let holder = issue.claim.as_ref().map_or(String::new(), |claim| claim.actor.clone());
    vec![issue.id.clone(), format!("p{}", issue.priority), status_word(issue), holder, issue.title.clone()]
}

/// An issue in full.
pub fn issue_block(issue: &IssueView) -> String {
    let mut out = format!("{}  {}\n", issue.id, line(&issue.title));
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            out.push_str(&format!("  {name:<12} {}\n", line(value)));
        }
    };
    field("status", &status_word(issue));
    field("reason", issue.reason.as_deref().unwrap_or_default());
    field("priority", &issue.priority.to_string());
    field("parent", issue.parent.as_deref().unwrap_or_default());
    field("tags", &issue.tags.join(" "));
    if let Some(claim) = &issue.claim {
        let until = moment(claim.expires_at);
        field("held by", &format!("{} until {until}, fencing number {}", claim.actor, claim.epoch));
    }
    if let Some(pause) = &issue.paused {
        let PauseView { scope, by, at, reason } = pause;
        field("paused", &format!("{scope} by {by} since {}: {reason}", moment(*at)));
    }
    field("blocked by", &issue.blocked_by.join(" "));
    let blocks: Vec<&str> =
        issue.deps.iter().filter(|dep| dep.r#type == "blocks").map(|dep| dep.target.as_str()).collect();
    field("blocks", &blocks.join(" "));
    field("superseded by", &issue.superseded_by.join(" "));
    field("created", &moment(issue.created_at));
    field("updated", &moment(issue.updated_at));
    let lists = [("accept", &issue.work.accept), ("notes", &issue.work.notes)];
    for (name, texts) in lists {
        for text in texts {
            out.push_str(&format!("  {name:<12} {}\n", multiline(text).replace('\n', "\n               ")));
        }
    }
    for argv in &issue.work.verify {
        out.push_str(&format!("  {:<12} {}\n", "verify", line(&argv.join(" "))));
    }
    if !issue.body.is_empty() {
        out.push_str(&format!("\n{}\n", multiline(issue.body.trim_end())));
    }
    out
}
