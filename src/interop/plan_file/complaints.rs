//! Everything found wrong with a text, each with its place, and the words to say it in.

use super::PlanError;
use crate::model::quote::QUOTED_CHARS;
pub(super) use crate::model::quote::quoted;

/// More complaints than this are counted, not listed: nobody reads them, and a file can hold a million.
const MAX_ERRORS: usize = 100;

/// Everything found wrong so far, by offset into the text.
pub(super) struct Complaints<'t> {
    text: &'t str,
    /// Where each line starts, in bytes.
    lines: Vec<usize>,
    found: Vec<Complaint>,
}

struct Complaint {
    offset: usize,
    section: String,
    field: String,
    message: String,
}

impl<'t> Complaints<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Complaints { text, lines, found: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether a further complaint would still be listed: whether a costly suggestion is worth its time.
    fn listed(&self) -> bool {
        self.found.len() < MAX_ERRORS
    }

    pub(super) fn add(&mut self, offset: usize, section: &str, field: &str, message: impl Into<String>) {
        let (section, field) = (section.to_owned(), field.to_owned());
        self.found.push(Complaint { offset, section, field, message: message.into() });
    }

    /// `; did you mean "x"?`, when one of the names is close enough to be what was meant.
    pub(super) fn did_you_mean<'n>(&self, wrong: &str, names: impl IntoIterator<Item = &'n str>) -> String {
        if !self.listed() || wrong.chars().count() > QUOTED_CHARS {
            return String::new();
        }
        // A plan has tens of names; the bound keeps a hostile one from costing minutes.
        let close = names.into_iter().take(1000).filter_map(|name| {
            let apart = distance(wrong, name)?;
            (apart <= (wrong.chars().count() / 3).max(1)).then_some((apart, name))
        });
        match close.min() {
            Some((_, name)) => format!("; did you mean {}?", quoted(name)),
            None => String::new(),
        }
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset)
    }

    /// The complaints in the order of the text.
    pub(super) fn into_errors(mut self) -> Vec<PlanError> {
        self.found.sort_by_key(|complaint| complaint.offset);
        let left_out = self.found.len().saturating_sub(MAX_ERRORS);
        let mut errors: Vec<PlanError> =
            self.found.iter().take(MAX_ERRORS).map(|complaint| self.locate(complaint)).collect();
        if let Some(first) = self.found.get(MAX_ERRORS).filter(|_| left_out > 0) {
            let place = self.locate(first);
            let message = format!("and {left_out} more from here on");
            errors.push(PlanError { section: String::new(), field: String::new(), message, ..place });
        }
        errors
    }

    fn locate(&self, complaint: &Complaint) -> PlanError {
        let offset = complaint.offset.min(self.text.len());
        let line = self.line(offset);
        let start = self.lines[line - 1];
        // Characters, counted by their first bytes: a syntax error's place may lie inside one.
        let before =
            self.text.as_bytes()[start..offset].iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
        let dot = if complaint.section.is_empty() || complaint.field.is_empty() { "" } else { "." };
        PlanError {
            line,
            column: before + 1,
            section: complaint.section.clone(),
            field: format!("{}{dot}{}", complaint.section, complaint.field),
            message: complaint.message.clone(),
        }
    }
}

/// A message of the TOML parser without raw control characters.
pub(super) fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A key as TOML writes it: bare where it may be.
pub(super) fn bare_or_quoted(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !key.is_empty() && key.len() <= QUOTED_CHARS && key.chars().all(bare) {
        key.to_owned()
    } else {
        quoted(key)
    }
}

/// How many characters have to be put in, taken out or changed; nothing where the lengths alone are too far apart.
fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > a.len().max(3) / 3 {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied()
}
