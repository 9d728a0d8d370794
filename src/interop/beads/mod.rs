//! The beads JSONL format: one JSON object a line. [`parse()`] reads the bytes, all or
//! nothing; [`compile`] turns the lines into primitives and a report.
//!
//! | beads | here |
//! | --- | --- |
//! | `issue_type` | `type:<t>`; task, bug, feature and chore are executable, an epic is a container, the rest is neither |
//! | `status` open, in_progress, closed | open, held for an hour, closed `success` |
//! | `status` tombstone | the id is reserved, nothing else is kept |
//! | any other `status` | open, with `status:<s>` |
//! | `priority` p | p + 1 |
//! | `labels`, `assignee` | tags, `assignee:<x>` |
//! | `description`, `design`, `acceptance_criteria`, `notes` | the body |
//! | `dependencies` | see [`links`] |
//! | `comments` | quoted posts in the issue's topic |
//! | every other field | an annotation `field:<name>` |
//!
//! What is in the store already is never touched: a line that differs from it is reported as stale.

pub mod circles;
pub mod known;
pub mod line;
pub mod links;
pub mod map;
pub mod parse;
pub mod plan;
pub mod report;
pub mod standing;
pub mod text;
mod unique;

pub use line::BeadsIssue;
pub use parse::{ParseError, parse};
pub use plan::compile;
pub use report::{OddKind, Report};
