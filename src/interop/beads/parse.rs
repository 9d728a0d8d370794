//! Bytes to lines, all or nothing: one malformed line refuses the whole file, with its number, the
//! field and the reason. What is merely odd is for [`super::plan`] to report.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use thiserror::Error;

use super::line::{BeadsComment, BeadsDependency, BeadsIssue};
use super::text;
use super::unique::Object;
use crate::model::id::{IdError, IssueId};
use crate::model::issue::{Millis, TextError, check_text, check_title};

/// Longest accepted line, in bytes (16 MiB).
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// Longer than [`MAX_LINE_BYTES`].
    #[error("a line has at most {MAX_LINE_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// Not UTF-8.
    #[error("not valid UTF-8 after byte {0}")]
    NotUtf8(usize),
    /// Not JSON, not an object, or a field that is there twice.
    #[error("not a JSON object: {0}")]
    NotAnObject(String),
    /// A field that must be there is not.
    #[error("field {0:?} is missing")]
    Missing(String),
    /// A field has another type than it must have.
    #[error("field {field:?} is not {wanted}")]
    WrongType {
        /// The field.
        field: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// The id cannot be an issue's.
    #[error("field \"id\": {0}")]
    BadId(IdError),
    /// A text that cannot be stored.
    #[error("field {field:?}: {reason}")]
    BadText {
        /// The field.
        field: String,
        /// Why.
        reason: TextError,
    },
    /// Another line has the same id and says something else.
    #[error("field \"id\": {id} is on line {first} already, with other content")]
    TwoMeanings {
        /// The id.
        id: IssueId,
        /// The earlier line.
        first: usize,
    },
}

/// Reads a whole file. Blank lines, a byte order mark and carriage returns at line ends are ignored;
/// a line that repeats an earlier one to the letter is counted there and left out.
///
/// # Errors
/// The first malformed line.
pub fn parse(bytes: &[u8]) -> Result<Vec<BeadsIssue>, ParseError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut issues: Vec<BeadsIssue> = Vec::new();
    let mut by_id: HashMap<IssueId, usize> = HashMap::new();
    for (n, raw) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = n + 1;
        let refuse = |fault| ParseError { line, fault };
        let Some(issue) = parse_line(raw, line).map_err(refuse)? else { continue };
        match by_id.get(&issue.id) {
            None => {
                by_id.insert(issue.id.clone(), issues.len());
                issues.push(issue);
            }
            Some(&at) if issues[at].same_as(&issue) => issues[at].repeats += 1,
            Some(&at) => {
                return Err(refuse(Fault::TwoMeanings { id: issue.id, first: issues[at].line }));
            }
        }
    }
    Ok(issues)
}

fn parse_line(raw: &[u8], line: usize) -> Result<Option<BeadsIssue>, Fault> {
    if raw.len() > MAX_LINE_BYTES {
        return Err(Fault::TooLong(raw.len()));
    }
    let text = std::str::from_utf8(raw).map_err(|e| Fault::NotUtf8(e.valid_up_to()))?.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let object: Object = serde_json::from_str(text).map_err(|e| Fault::NotAnObject(e.to_string()))?;
    read_issue(object.0, line).map(Some)
}

fn read_issue(object: BTreeMap<String, Value>, line: usize) -> Result<BeadsIssue, Fault> {
    let mut fields = Fields { at: String::new(), map: object };
    let id = fields.text("id")?.ok_or_else(|| Fault::Missing("id".into()))?;
    let issue = BeadsIssue {
        line,
        id: id.parse().map_err(Fault::BadId)?,
        title: fields.text("title")?.ok_or_else(|| Fault::Missing("title".into()))?,
        description: fields.text("description")?.unwrap_or_default(),
        design: fields.text("design")?.unwrap_or_default(),
        acceptance_criteria: fields.text("acceptance_criteria")?.unwrap_or_default(),
        notes: fields.text("notes")?.unwrap_or_default(),
        status: fields.text("status")?.filter(|s| !s.trim().is_empty()),
        issue_type: fields.text("issue_type")?.filter(|t| !t.trim().is_empty()),
        priority: fields.whole_number("priority")?,
        labels: fields.list("labels", |_, item| match item {
            Value::String(label) => Ok(label),
            _ => Err("a list of texts"),
        })?,
        assignee: fields.text("assignee")?.unwrap_or_default(),
        created_at: fields.time("created_at")?,
        updated_at: fields.time("updated_at")?,
        close_reason: fields.text("close_reason")?.unwrap_or_default(),
        dependencies: read_dependencies(&mut fields, &id)?,
        comments: read_comments(&mut fields)?,
        fields: fields.map,
        repeats: 0,
    };
    check(&issue)?;
    Ok(issue)
}

/// The limits of the model, on the texts as they will be stored.
fn check(issue: &BeadsIssue) -> Result<(), Fault> {
    let bad = |field: &str| {
        let field = field.to_owned();
        move |reason| Fault::BadText { field, reason }
    };
    check_title(&text::title(&issue.title)).map_err(bad("title"))?;
    check_text("body", &text::body(issue)).map_err(bad("description"))?;
    check_text("reason", &issue.close_reason).map_err(bad("close_reason"))?;
    for (n, comment) in issue.comments.iter().enumerate() {
        check_text("post", &text::post(comment)).map_err(bad(&format!("comments[{n}].text")))?;
    }
    Ok(())
}

fn read_dependencies(fields: &mut Fields, own_id: &str) -> Result<Vec<BeadsDependency>, Fault> {
    let entries = fields.list("dependencies", |_, item| Ok(item))?;
    let read = |(n, entry): (usize, Value)| {
        let json = entry.to_string();
        let mut entry = Fields::of(entry, format!("dependencies[{n}]"))?;
        let mut must = |name: &str| entry.text(name)?.ok_or_else(|| Fault::Missing(entry.path(name)));
        let depends_on_id = must("depends_on_id")?;
        let kind = must("type")?;
        let issue_id = entry.text("issue_id")?.unwrap_or_else(|| own_id.to_owned());
        let detailed = entry.map.values().any(|value| !empty(value));
        Ok(BeadsDependency { issue_id, depends_on_id, kind, detailed, json })
    };
    entries.into_iter().enumerate().map(read).collect()
}

fn read_comments(fields: &mut Fields) -> Result<Vec<BeadsComment>, Fault> {
    let entries = fields.list("comments", |_, item| Ok(item))?;
    let read = |(n, entry): (usize, Value)| {
        let mut entry = Fields::of(entry, format!("comments[{n}]"))?;
        let text = entry.text("text")?.ok_or_else(|| Fault::Missing(entry.path("text")))?;
        let author = entry.text("author")?.unwrap_or_default();
        let created_at = entry.text("created_at")?.unwrap_or_default();
        // The number of a comment and the issue it stands in say nothing that its place does not.
        entry.map.remove("id");
        entry.map.remove("issue_id");
        let unknown = entry.map.into_iter().map(|(name, value)| (name, value.to_string())).collect();
        Ok(BeadsComment { author, created_at, text, unknown })
    };
    entries.into_iter().enumerate().map(read).collect()
}

/// Whether a value is what its field would have without being written.
pub(super) fn empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// The fields of an object that have not been read yet, and where the object stands.
struct Fields {
    at: String,
    map: BTreeMap<String, Value>,
}

impl Fields {
    fn of(value: Value, at: String) -> Result<Self, Fault> {
        match value {
            Value::Object(map) => Ok(Fields { at, map: map.into_iter().collect() }),
            _ => Err(Fault::WrongType { field: at, wanted: "an object" }),
        }
    }

    fn path(&self, name: &str) -> String {
        if self.at.is_empty() { name.to_owned() } else { format!("{}.{name}", self.at) }
    }

    fn wrong(&self, name: &str, wanted: &'static str) -> Fault {
        Fault::WrongType { field: self.path(name), wanted }
    }

    /// Takes a field out; `null` is like not being there.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, Fault> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    fn whole_number(&mut self, name: &str) -> Result<Option<i64>, Fault> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_i64().or_else(|| value.as_u64().map(|_| i64::MAX));
        number.map(Some).ok_or_else(|| self.wrong(name, "a whole number"))
    }

    fn time(&mut self, name: &str) -> Result<Option<Millis>, Fault> {
        let Some(text) = self.text(name)?.filter(|text| !text.is_empty()) else { return Ok(None) };
        match chrono::DateTime::parse_from_rfc3339(&text) {
            Ok(time) => Ok(Some(time.timestamp_millis())),
            Err(_) => Err(self.wrong(name, "an RFC 3339 time")),
        }
    }

    fn list<T>(
        &mut self,
        name: &str,
        each: impl Fn(usize, Value) -> Result<T, &'static str>,
    ) -> Result<Vec<T>, Fault> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let read = items.into_iter().enumerate().map(|(n, item)| each(n, item));
                read.collect::<Result<_, _>>().map_err(|wanted| self.wrong(name, wanted))
            }
            Some(_) => Err(self.wrong(name, "a list")),
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
