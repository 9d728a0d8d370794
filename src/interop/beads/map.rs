//! One live line to one issue, and what of the line has no place in an issue. Parents and edges are
//! not its business: see [`super::links`].

use std::collections::BTreeSet;

use super::known::{CONTAINER_TYPE, EXECUTABLE_TYPES, kept_field, reserved_family};
use super::line::BeadsIssue;
use super::parse::empty;
use super::report::Report;
use super::text;
use crate::model::id::Actor;
use crate::model::issue::{Claim, Issue, Millis, Outcome, Priority, State};
use crate::model::record::Annotation;
use crate::model::tag::{NODE_AGENT, NODE_ROOT, Tag, Tags};

/// How long work that was in progress stays with its holder, in milliseconds: a lease by hand.
pub const LEASE: Millis = 3_600_000;

/// The circumstances of an import.
#[derive(Debug, Clone, Copy)]
pub struct Import<'a> {
    /// When.
    pub now: Millis,
    /// Who imports.
    pub importer: &'a Actor,
}

impl Import<'_> {
    /// The issue a line describes. What had to change on the way goes to the report.
    pub fn issue(&self, line: &BeadsIssue, report: &mut Report) -> Issue {
        let id = line.id.as_str();
        let title = text::title(&line.title).into_owned();
        if title != line.title {
            report.odd("title_changed", id);
        }
        let state = self.state(line, report);
        let claim = state.claim();
        let created_at = line.created_at.or(line.updated_at);
        if line.created_at.is_none() || line.updated_at.is_none() {
            report.odd("missing_time", id);
        }
        let created_at = created_at.unwrap_or(self.now);
        let tags = tags(line, report);
        Issue {
            body: text::body(line),
            priority: priority(line, report),
            updated_at: line.updated_at.unwrap_or(created_at),
            epoch: claim.map_or(0, |claim| claim.epoch),
            hands: claim.map(|claim| claim.actor.clone()).into_iter().collect::<BTreeSet<_>>(),
            state,
            ..Issue::new(line.id.clone(), title, tags, created_at)
        }
    }

    fn state(&self, line: &BeadsIssue, report: &mut Report) -> State {
        match line.status.as_deref() {
            Some("open") => State::Open,
            Some("closed") => {
                let reason = Some(&line.close_reason).filter(|reason| !reason.is_empty());
                State::Closed { outcome: Outcome::Success, reason: reason.cloned() }
            }
            Some("in_progress") => {
                let holder = text::actor(&line.assignee).map(|(actor, _)| actor);
                let claim = Claim {
                    actor: holder.unwrap_or_else(|| self.importer.clone()),
                    epoch: 1,
                    expires_at: self.now.saturating_add(LEASE),
                    runner: None,
                    worker: None,
                };
                State::InProgress { claim }
            }
            Some(status) => {
                report.odd_value("unknown_status", line.id.as_str(), status);
                State::Open
            }
            None => {
                report.odd_value("missing_field", line.id.as_str(), "status");
                State::Open
            }
        }
    }
}

fn tags(line: &BeadsIssue, report: &mut Report) -> Tags {
    let id = line.id.as_str();
    let mut tags: Vec<Tag> = Vec::new();
    let issue_type = line.issue_type.as_deref().unwrap_or_else(|| {
        report.odd_value("missing_field", id, "issue_type");
        "task"
    });
    if EXECUTABLE_TYPES.contains(&issue_type) {
        tags.push(Tag::known(NODE_AGENT));
    } else if issue_type == CONTAINER_TYPE {
        tags.push(Tag::known(NODE_ROOT));
    } else {
        report.odd_value("unknown_type", id, issue_type);
    }
    let mut add = |prefix: &str, text: &str| {
        let made = text::tag(prefix, text);
        let changed = made.as_ref().is_none_or(|(_, changed)| *changed);
        tags.extend(made.map(|(tag, _)| tag));
        changed
    };
    if add("type:", issue_type) {
        report.odd_value("type_changed", id, issue_type);
    }
    if line.unknown_status().is_some_and(|status| add("status:", status)) {
        report.odd("status_changed", id);
    }
    if !line.assignee.is_empty() && add("assignee:", &line.assignee) {
        report.odd("assignee_changed", &format!("{id}: {:?}", line.assignee));
    }
    for label in &line.labels {
        let reserved = reserved_family(label.trim());
        if add(if reserved { "label:" } else { "" }, label) || reserved {
            report.odd("label_changed", &format!("{id}: {label:?}"));
        }
    }
    tags.into_iter().collect()
}

fn priority(line: &BeadsIssue, report: &mut Report) -> Priority {
    let Some(written) = line.priority else {
        report.odd_value("missing_field", line.id.as_str(), "priority");
        return Priority::default();
    };
    if !(0..=4).contains(&written) {
        report.odd_value("priority_out_of_range", line.id.as_str(), &written.to_string());
    }
    let number = written.clamp(0, 4) + 1;
    u8::try_from(number).ok().and_then(|n| Priority::try_from(n).ok()).unwrap_or_default()
}

/// The fields that no issue has a place for, as annotations. A known field that only says what is
/// also so without it is left out, and counted.
pub fn field_annotations(line: &BeadsIssue, report: &mut Report) -> Vec<Annotation> {
    let id = line.id.as_str();
    let mut kept = Vec::new();
    let mut keep = |name: &str, text: String| {
        kept.push(Annotation { issue: line.id.clone(), kind: format!("field:{name}"), text });
    };
    for (name, value) in &line.fields {
        if !kept_field(name) {
            report.odd_value("unknown_field", id, name);
        } else if empty(value) {
            report.odd_value("empty_field", id, name);
            continue;
        } else {
            *report.kept_fields.entry(name.clone()).or_default() += 1;
        }
        keep(name, value.to_string());
    }
    if line.status.as_deref() != Some("closed") && !line.close_reason.is_empty() {
        *report.kept_fields.entry("close_reason".into()).or_default() += 1;
        keep("close_reason", serde_json::Value::from(line.close_reason.as_str()).to_string());
    }
    for (name, text) in line.comments.iter().flat_map(|comment| &comment.unknown) {
        let name = format!("comments.{name}");
        report.odd_value("unknown_field", id, &name);
        keep(&name, text.clone());
    }
    kept
}
