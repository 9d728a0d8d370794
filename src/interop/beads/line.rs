//! One line of a beads file, with the types this program reads. What it does not read is kept as JSON.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::id::IssueId;
use crate::model::issue::Millis;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct BeadsIssue {
    /// Its number in the file, from 1.
    pub line: usize,
    /// The issue's id.
    pub id: IssueId,
    /// The title as it was written; may have several lines.
    pub title: String,
    /// The description.
    pub description: String,
    /// The design.
    pub design: String,
    /// The acceptance criteria.
    pub acceptance_criteria: String,
    /// The notes.
    pub notes: String,
    /// The status, if there is one.
    pub status: Option<String>,
    /// The type, if there is one.
    pub issue_type: Option<String>,
    /// The priority, 0 (most urgent) to 4, if there is one.
    pub priority: Option<i64>,
    /// The labels.
    pub labels: Vec<String>,
    /// Whose it is.
    pub assignee: String,
    /// When it was created.
    pub created_at: Option<Millis>,
    /// When it last changed.
    pub updated_at: Option<Millis>,
    /// Why it was closed.
    pub close_reason: String,
    /// What it depends on.
    pub dependencies: Vec<BeadsDependency>,
    /// What was said about it.
    pub comments: Vec<BeadsComment>,
    /// Every other field.
    pub fields: BTreeMap<String, Value>,
    /// How often the same line, to the letter of its values, comes again further down.
    pub repeats: usize,
}

/// One dependency: `issue_id` depends on `depends_on_id`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeadsDependency {
    /// Who depends; the line's own id where the entry names nobody.
    pub issue_id: String,
    /// On whom. Not always an issue's id: `external:...` points into another tracker.
    pub depends_on_id: String,
    /// In what way.
    pub kind: String,
    /// Whether the entry says more than these three.
    pub detailed: bool,
    /// The entry as compact JSON.
    pub json: String,
}

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeadsComment {
    /// Who wrote it, if that is said.
    pub author: String,
    /// When, as it was written.
    pub created_at: String,
    /// What was said.
    pub text: String,
    /// Fields of the comment nothing is known about, as compact JSON by name.
    pub unknown: BTreeMap<String, String>,
}

impl BeadsIssue {
    /// Whether the line is what is left of a deleted issue.
    pub fn tombstone(&self) -> bool {
        self.status.as_deref() == Some("tombstone")
    }

    /// The status, where it is none that an issue can have.
    pub fn unknown_status(&self) -> Option<&str> {
        let known = ["open", "in_progress", "closed", "tombstone"];
        self.status.as_deref().filter(|status| !known.contains(status))
    }

    /// Whether another line says the same, wherever it stands.
    pub fn same_as(&self, other: &BeadsIssue) -> bool {
        let placed = BeadsIssue { line: self.line, repeats: self.repeats, ..other.clone() };
        *self == placed
    }
}
