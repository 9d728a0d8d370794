//! A plan file: TOML that names a root, its goals and its workers.
//!
//! Text in, data or complaints out. This room must not know files, clocks or stores: `./` in a command stays as it is
//! written, and whether a plan fits what is stored already is asked elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use toml::de::DeTable;

use crate::model::duty::AskPolicy;
use crate::model::issue::{Millis, Policy, Priority};
use crate::model::tag::Tag;

use complaints::{Complaints, printable};
use fields::Section;

mod after;
mod asks;
mod complaints;
mod fields;
mod read;
#[cfg(test)]
mod tests;

/// Longest accepted plan, in bytes (4 MiB).
pub const MAX_PLAN_BYTES: usize = 4 << 20;
/// Longest accepted key or role name, in bytes.
pub const MAX_KEY_BYTES: usize = 64;
/// How long a worker's step may take where the plan does not say: one hour.
pub const DEFAULT_TIME_LIMIT: Millis = 60 * 60 * 1000;

/// A plan, as its file says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// The effort as a whole.
    pub root: PlanRoot,
    /// Workers by role. Empty where the plan names none: then agents claim the work by themselves.
    pub workers: BTreeMap<String, PlanWorker>,
    /// What is to be done, in the order of the file.
    pub goals: Vec<PlanGoal>,
}

/// The container of everything in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRoot {
    /// The stable name: applying a plan again finds the same root.
    pub key: String,
    /// One line for people.
    pub title: String,
    /// What it is about; may be empty.
    pub body: String,
    /// How urgent it is.
    pub priority: Priority,
    /// What it wants of the asks about it and in it, over what is configured; goals say more.
    pub ask: AskPolicy,
}

/// How the workers of a role are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanWorker {
    /// The argument vector, as written: never empty, and `./` still stands for the plan's own folder.
    pub command: Vec<String>,
    /// How long one step may take, in milliseconds.
    pub time_limit: Millis,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanGoal {
    /// The stable name, unique in the plan and not the root's.
    pub key: String,
    /// One line for people.
    pub title: String,
    /// What is wanted; may be empty.
    pub body: String,
    /// Acceptance criteria; a gated goal has at least one.
    pub accept: Vec<String>,
    /// Argument vectors that show whether the work is right; `./` still stands for the plan's own folder.
    pub verify: Vec<Vec<String>>,
    /// Keys of the goals that must be resolved first: known, distinct, and never in a circle.
    pub after: Vec<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// Whether it is attempted and reviewed in rounds (`flow = "review-gated-v1"`).
    pub gated: bool,
    /// The goal's own bounds over the plan's defaults; what neither says is `None`.
    pub policy: Policy,
    /// The worker role for attempts.
    pub attempt: String,
    /// The worker role for reviews.
    pub review: String,
    /// Free tags, distinct, in the order of the file; none of the protocol's.
    pub tags: Vec<Tag>,
    /// Where it starts in the file, from 1.
    pub line: usize,
}

/// One thing wrong with a plan, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The table it is in, such as `root`, `workers.attempt`, `goal "lexer"` or, where the key is no help, `goal[2]`
    /// (counted from 0); empty for the file as a whole.
    pub section: String,
    /// The field with its table in front, such as `goal "lexer".accept[0]`; empty where it is about no field.
    pub field: String,
    /// What is wrong and what would be right: one line without control characters.
    pub message: String,
}

impl PlanError {
    /// The complaint without its line, for behind a `plan.toml:12:5: `: `goal "lexer", field accept: ...`.
    pub fn complaint(&self) -> String {
        let field = self.field.strip_prefix(self.section.as_str()).unwrap_or(&self.field);
        let field = if self.section.is_empty() { field } else { field.strip_prefix('.').unwrap_or(field) };
        match (self.section.as_str(), field) {
            ("", "") => self.message.clone(),
            ("", field) => format!("field {field}: {}", self.message),
            (section, "") => format!("{section}: {}", self.message),
            (section, field) => format!("{section}, field {field}: {}", self.message),
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field_or_section = !self.section.is_empty() || !self.field.is_empty();
        write!(f, "line {}{} {}", self.line, if field_or_section { "," } else { ":" }, self.complaint())
    }
}

impl std::error::Error for PlanError {}

/// Reads a plan.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file and never empty. A syntax error comes alone, and past a
/// hundred errors the rest is counted in a last one.
pub fn parse(text: &str) -> Result<PlanFile, Vec<PlanError>> {
    let mut complaints = Complaints::new(text);
    if text.len() > MAX_PLAN_BYTES {
        let found = text.len();
        complaints.add(0, "", "", format!("a plan has at most {MAX_PLAN_BYTES} bytes, this one has {found}"));
        return Err(complaints.into_errors());
    }
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let message: Vec<String> = error.message().lines().map(printable).collect();
            complaints.add(error.span().map_or(0, |span| span.start), "", "", message.join(", "));
            return Err(complaints.into_errors());
        }
    };
    let plan = read::plan(&Section::new(document.get_ref(), "", 0), &mut complaints);
    // With a complaint, what was read has placeholders in it and is never handed out.
    if complaints.is_empty() { Ok(plan) } else { Err(complaints.into_errors()) }
}
