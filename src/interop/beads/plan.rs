//! Lines to primitives. Pure: what comes out depends on the snapshot, the lines, the moment and the
//! importer, and applies to that snapshot as a whole.

use super::known::{self, Link};
use super::line::BeadsIssue;
use super::links::{Fate, Links};
use super::map::{Import, field_annotations};
use super::report::Report;
use super::standing::{DETAIL, Known, Standing};
use super::text;
use crate::model::graph::Ix;
use crate::model::id::Actor;
use crate::model::issue::{Issue, Millis, Outcome};
use crate::model::primitive::Primitive;
use crate::model::record::Annotation;
use crate::model::snapshot::Snapshot;
use crate::model::tag::{IMPORT_OPEN_BELOW_CLOSED, Tag};

/// What importing these lines does to a store. Nothing that is in the store changes, so the second
/// import of a file has no primitives.
pub fn compile(
    snapshot: &Snapshot,
    lines: &[BeadsIssue],
    now: Millis,
    importer: &Actor,
) -> (Vec<Primitive>, Report) {
    let import = Import { now, importer };
    let mut report = Report::default();
    let mut primitives = Vec::new();
    let known = Known::of(snapshot);
    let mut new: Vec<&BeadsIssue> = Vec::new();
    for line in lines {
        report.lines += 1 + line.repeats;
        (0..line.repeats).for_each(|_| report.odd("duplicate_line", line.id.as_str()));
        match known.standing(line, &import) {
            Standing::New => new.push(line),
            Standing::NewTombstone => primitives.push(reserve(line, &mut report)),
            Standing::Unchanged => report.unchanged += 1,
            Standing::Stale(differences) => stale(snapshot, line, &differences, &mut report),
            Standing::ReservedId => report.odd("reserved_id", line.id.as_str()),
        }
    }
    let mut issues: Vec<Issue> = new.iter().map(|line| import.issue(line, &mut report)).collect();
    let links = Links::of(snapshot, &new, &issues);
    mark_open_below_closed(&links, &mut issues, &mut report);
    create(&links, issues, &mut report, &mut primitives);
    link(&links, &new, &mut report, &mut primitives);
    remember(&new, &mut report, &mut primitives);
    (primitives, report)
}

fn reserve(line: &BeadsIssue, report: &mut Report) -> Primitive {
    let id = line.id.as_str();
    report.reserved += 1;
    report.odd("tombstone", id);
    // Nothing but the id outlives a deletion; what else hung on it is at least counted.
    line.dependencies.iter().for_each(|entry| report.odd_value("tombstone_dependency", id, &entry.kind));
    line.comments.iter().for_each(|_| report.odd("tombstone_comment", id));
    let unknown = line.fields.keys().filter(|name| !known::kept_field(name));
    unknown.for_each(|name| report.odd_value("unknown_field", id, name));
    Primitive::Reserve { id: line.id.clone() }
}

fn stale(snapshot: &Snapshot, line: &BeadsIssue, differences: &[&str], report: &mut Report) {
    report.stale += 1;
    let stored = snapshot.graph().get(&line.id).map(|issue| issue.updated_at);
    let newer = line.updated_at.is_some_and(|at| stored.is_some_and(|stored| at > stored));
    let note = if newer { " (the line is newer, and was not taken over)" } else { "" };
    report.odd("stale_row", &format!("{}: {}{note}", line.id, differences.join(", ")));
}

/// Section 3, `finished`: imported open work below what is closed stays workable, and is reported.
fn mark_open_below_closed(links: &Links, issues: &mut [Issue], report: &mut Report) {
    for (n, issue) in issues.iter_mut().enumerate() {
        let above = links.parent(n).and_then(|parent| links.graph.issue(parent).state.outcome());
        let below_closed = above.is_some_and(|outcome| outcome != Outcome::Expanded);
        if below_closed && !issue.state.closed() {
            issue.tags.insert(Tag::known(IMPORT_OPEN_BELOW_CLOSED));
            report.odd("open_below_closed", issue.id.as_str());
        }
    }
}

/// Parents come before their children, otherwise the order is the file's.
fn create(links: &Links, issues: Vec<Issue>, report: &mut Report, primitives: &mut Vec<Primitive>) {
    let mut waiting: Vec<Option<Issue>> = issues.into_iter().map(Some).collect();
    let place = |ix: Ix| ix.checked_sub(links.first);
    for n in 0..waiting.len() {
        let mut line_up: Vec<usize> = Vec::new();
        let mut next = Some(n);
        while let Some(at) = next.filter(|&at| waiting[at].is_some()) {
            line_up.push(at);
            next = links.parent(at).and_then(place);
        }
        while let Some(at) = line_up.pop() {
            let Some(issue) = waiting[at].take() else { continue };
            let parent = links.parent(at).map(|parent| links.graph.id(parent).clone());
            report.created += 1;
            report.parents += usize::from(parent.is_some());
            primitives.push(Primitive::Create { issue: Box::new(issue), parent });
        }
    }
}

/// The edges, and the annotations of what could not become one.
fn link(links: &Links, new: &[&BeadsIssue], report: &mut Report, primitives: &mut Vec<Primitive>) {
    let mut annotations: Vec<Primitive> = Vec::new();
    for (line, fates) in new.iter().zip(&links.fates) {
        let mut annotate = |kind: String, text: &str, report: &mut Report| {
            report.annotations += 1;
            let annotation = Annotation { issue: line.id.clone(), kind, text: text.to_owned() };
            annotations.push(Primitive::Annotate { annotation });
        };
        for (entry, fate) in line.dependencies.iter().zip(fates) {
            let what = format!("{} {} {}", line.id, entry.kind, entry.depends_on_id);
            if known::link(&entry.kind) == Link::Unknown {
                report.odd_among("unknown_dependency_type", &what, &entry.kind);
            }
            match *fate {
                Fate::Kept(kind) => {
                    report.odd_among(kind, &what, &entry.kind);
                    annotate(kind.to_owned(), &entry.json, report);
                }
                Fate::Remark => {
                    report.odd_among("dependency_as_annotation", &what, &entry.kind);
                    annotate(format!("dependency:{}", entry.kind), &entry.json, report);
                }
                Fate::Parent | Fate::Edge(_) if entry.detailed => {
                    annotate(DETAIL.to_owned(), &entry.json, report);
                }
                Fate::Parent | Fate::Edge(_) => {}
            }
            if let Fate::Edge(blocker) = *fate {
                let blocker = links.graph.id(blocker).clone();
                report.edges += 1;
                primitives.push(Primitive::Serial { blocker, blocked: line.id.clone() });
            }
        }
    }
    primitives.extend(annotations);
}

/// The fields that issues have no place for, and what was said.
fn remember(new: &[&BeadsIssue], report: &mut Report, primitives: &mut Vec<Primitive>) {
    for line in new {
        let annotations = field_annotations(line, report);
        report.annotations += annotations.len();
        primitives.extend(annotations.into_iter().map(|annotation| Primitive::Annotate { annotation }));
        let topic = format!("issue:{}", line.id);
        let posts = line.comments.iter().map(text::post);
        report.comments += line.comments.len();
        primitives.extend(posts.map(|body| Primitive::Post { topic: topic.clone(), body }));
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
