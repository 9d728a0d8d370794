//! What each table of a plan means: its fields, their defaults, and what they may not be.

use std::collections::{BTreeMap, HashSet};

use super::after::{self, Named};
use super::asks;
use super::complaints::{Complaints, quoted};
use super::fields::{Item, Section, Text};
use super::{DEFAULT_TIME_LIMIT, MAX_KEY_BYTES, PlanFile, PlanGoal, PlanRoot, PlanWorker};
use crate::interop::duration::{DurationError, parse_duration};
use crate::model::act::packet::round_bound;
use crate::model::issue::{Millis, Policy, Priority, check_text, check_title};
use crate::model::tag::Tag;

/// The flow of a goal that is attempted and reviewed in rounds; the default.
const GATED: &str = "review-gated-v1";
/// The flow of a goal that is done when a worker says so.
const UNGATED: &str = "none";
/// Tag families that a plan has other words for, or that the program sets by itself.
const RESERVED: [&str; 7] = ["proto:", "node:", "kind:", "ctx:", "actor:", "flow:", "import:"];
/// What only the root may say.
const ROOT: [&str; 4] = ["key", "title", "body", "priority"];
/// What `[defaults]` and a goal may say about how work is judged and repeated.
const BOUNDS: [&str; 5] = ["flow", "max_review_rounds", "no_progress", "step_retries", "allow_self_review"];
/// What only a goal may say.
const GOAL: [&str; 10] =
    ["key", "title", "body", "accept", "verify", "after", "priority", "attempt", "review", "tags"];

type Workers = BTreeMap<String, PlanWorker>;

/// Reads the whole document. Where something is wrong, a complaint is left and a placeholder taken.
pub(super) fn plan(document: &Section<'_>, complaints: &mut Complaints<'_>) -> PlanFile {
    document.refuse_unknown(&["root", "defaults", "workers", "goal"], complaints);
    let root = root(document, complaints);
    let defaults = defaults(document, complaints);
    let workers = workers(document, &defaults, complaints);
    let mut goals = Vec::new();
    let mut named = Vec::new();
    let tables = document.array_of_tables("goal", "[[goal]]", complaints);
    for (index, (table, offset)) in tables.into_iter().enumerate() {
        let mut section = Section::new(table, format!("goal[{index}]"), offset);
        if let Some(key) = section.peek("key").filter(|key| !key.is_empty()) {
            section.name = format!("goal {}", quoted(key));
        }
        let key = key(&section, complaints);
        let after = section.strings("after", complaints).unwrap_or_default();
        goals.push(goal(&section, key, &after, &defaults, workers.as_ref(), complaints));
        named.push(Named { section, key, after });
    }
    after::check(&root.key, &named, complaints);
    PlanFile { root, workers: workers.unwrap_or_default(), goals }
}

fn root(document: &Section<'_>, complaints: &mut Complaints<'_>) -> PlanRoot {
    if !document.has("root") {
        document.refuse("root", "missing: a plan has a [root] with a key and a title", complaints);
    }
    let Some(section) = document.table("root", "[root]", complaints) else {
        let (key, title, body, ask) = Default::default();
        return PlanRoot { key, title, body, priority: Priority::default(), ask };
    };
    section.refuse_unknown(&[&ROOT[..], &asks::FIELDS].concat(), complaints);
    PlanRoot {
        key: key(&section, complaints).map_or("", |key| key.text).to_owned(),
        title: title(&section, complaints),
        body: body(&section, complaints),
        priority: priority(&section, complaints),
        ask: asks::wanted(&section, complaints),
    }
}

/// What holds for every goal and worker that does not say otherwise.
struct Defaults {
    gated: bool,
    policy: Policy,
    time_limit: Millis,
}

fn defaults(document: &Section<'_>, complaints: &mut Complaints<'_>) -> Defaults {
    let none = Defaults { gated: true, policy: Policy::default(), time_limit: DEFAULT_TIME_LIMIT };
    let Some(section) = document.table("defaults", "[defaults]", complaints) else { return none };
    section.refuse_unknown(&[&BOUNDS[..], &asks::FIELDS, &["time_limit"]].concat(), complaints);
    Defaults {
        gated: gated(&section, complaints).unwrap_or(none.gated),
        policy: policy(&section, &none.policy, complaints),
        time_limit: time_limit(&section, complaints).unwrap_or(none.time_limit),
    }
}

/// The workers by role; `None` where the plan leaves them out altogether.
fn workers(document: &Section<'_>, defaults: &Defaults, complaints: &mut Complaints<'_>) -> Option<Workers> {
    let section = document.table("workers", "[workers.NAME]", complaints)?;
    let mut workers = Workers::new();
    for (role, worker) in section.tables(|name| format!("[workers.{name}]"), complaints) {
        if let Some(fault) = key_fault("a role", role.text) {
            complaints.add(role.offset, &worker.name, "", fault);
        }
        worker.refuse_unknown(&["command", "time_limit"], complaints);
        if !worker.has("command") {
            let message = r#"missing, and required: an argument vector like ["sh", "./work.sh"]"#;
            worker.refuse("command", message, complaints);
        }
        let command = texts(&worker.vector("command", complaints).unwrap_or_default());
        let time_limit = time_limit(&worker, complaints).unwrap_or(defaults.time_limit);
        workers.insert(role.text.to_owned(), PlanWorker { command, time_limit });
    }
    Some(workers)
}

fn goal(
    section: &Section<'_>,
    key: Option<Text<'_>>,
    after: &[Item<'_>],
    defaults: &Defaults,
    workers: Option<&Workers>,
    complaints: &mut Complaints<'_>,
) -> PlanGoal {
    section.refuse_unknown(&[&GOAL[..], &BOUNDS, &asks::FIELDS].concat(), complaints);
    let gated = gated(section, complaints).unwrap_or(defaults.gated);
    PlanGoal {
        key: key.map_or("", |key| key.text).to_owned(),
        title: title(section, complaints),
        body: goal_body(section, gated, complaints),
        accept: accept(section, gated, complaints),
        verify: section
            .vectors("verify", complaints)
            .unwrap_or_default()
            .iter()
            .map(|vector| texts(vector))
            .collect(),
        after: texts(after),
        priority: priority(section, complaints),
        gated,
        policy: policy(section, &defaults.policy, complaints),
        attempt: role(section, "attempt", true, workers, complaints),
        review: role(section, "review", gated, workers, complaints),
        tags: tags(section, complaints),
        line: complaints.line(section.offset),
    }
}

fn key<'a>(section: &Section<'a>, complaints: &mut Complaints<'_>) -> Option<Text<'a>> {
    let key = section.required("key", complaints)?;
    match key_fault("a key", key.text) {
        None => Some(key),
        Some(fault) => {
            section.refuse("key", fault, complaints);
            // Still what others refer to: one fault is told once.
            Some(key).filter(|key| !key.text.is_empty())
        }
    }
}

fn key_fault(what: &str, key: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let Some(first) = key.chars().next() else { return Some(format!("{what} cannot be empty")) };
    let bad =
        Some(first).filter(|c| !c.is_ascii_alphanumeric()).or_else(|| key.chars().find(|c| !allowed(*c)));
    match bad {
        Some(bad) => Some(format!(
            "{what} is made of letters, digits, '.', '_' and '-', and starts with a letter or digit; found {bad:?}"
        )),
        None if key.len() > MAX_KEY_BYTES => {
            Some(format!("{what} has at most {MAX_KEY_BYTES} characters, this one has {}", key.len()))
        }
        None => None,
    }
}

fn title(section: &Section<'_>, complaints: &mut Complaints<'_>) -> String {
    let title = section.required("title", complaints);
    checked(section, "title", title, |title| check_title(title).map_err(|e| e.to_string()), complaints)
}

fn body(section: &Section<'_>, complaints: &mut Complaints<'_>) -> String {
    let body = section.string("body", complaints);
    checked(section, "body", body, |body| check_text("body", body).map_err(|e| e.to_string()), complaints)
}

/// A `max_review_rounds=N` line in the body of what is reviewed is a bound.
fn goal_body(section: &Section<'_>, gated: bool, complaints: &mut Complaints<'_>) -> String {
    let body = body(section, complaints);
    if let Err(refusal) = round_bound(if gated { &body } else { "" }) {
        section.refuse("body", refusal.to_string(), complaints);
    }
    body
}

fn checked(
    section: &Section<'_>,
    field: &str,
    text: Option<Text<'_>>,
    check: impl Fn(&str) -> Result<(), String>,
    complaints: &mut Complaints<'_>,
) -> String {
    let Some(text) = text else { return String::new() };
    if let Err(message) = check(text.text) {
        section.refuse(field, message, complaints);
    }
    text.text.to_owned()
}

fn accept(section: &Section<'_>, gated: bool, complaints: &mut Complaints<'_>) -> Vec<String> {
    let before = complaints.count();
    let accept = section.strings("accept", complaints).unwrap_or_default();
    for item in &accept {
        if let Err(error) = check_text("criterion", item.text) {
            complaints.add(item.offset, &section.name, &format!("accept[{}]", item.index), error.to_string());
        }
    }
    if gated && accept.is_empty() && complaints.count() == before {
        let message = r#"a reviewed goal says what its review looks for: add at least one criterion, or set flow = "none""#;
        section.refuse("accept", message, complaints);
    }
    texts(&accept)
}

fn priority(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Priority {
    let number = section.integer("priority", 1..=5, complaints).and_then(|number| u8::try_from(number).ok());
    number.and_then(|number| Priority::try_from(number).ok()).unwrap_or_default()
}

fn gated(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Option<bool> {
    match section.string("flow", complaints)?.text {
        GATED => Some(true),
        UNGATED => Some(false),
        other => {
            let meant = complaints.did_you_mean(other, [GATED, UNGATED]);
            let message = format!("{} is neither {GATED:?} nor {UNGATED:?}{meant}", quoted(other));
            section.refuse("flow", message, complaints);
            None
        }
    }
}

fn policy(section: &Section<'_>, base: &Policy, complaints: &mut Complaints<'_>) -> Policy {
    Policy {
        max_review_rounds: section
            .integer("max_review_rounds", 1..=100, complaints)
            .or(base.max_review_rounds),
        max_review_rounds_posted: None,
        no_progress: section.integer("no_progress", 0..=100, complaints).or(base.no_progress),
        allow_self_review: section.boolean("allow_self_review", complaints).or(base.allow_self_review),
        step_retries: section.integer("step_retries", 0..=100, complaints).or(base.step_retries),
        ask: asks::wanted(section, complaints).or(&base.ask),
    }
}

fn time_limit(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Option<Millis> {
    length(section, "time_limit", parse_duration, complaints)
}

/// A field that says how long something is.
pub(super) fn length(
    section: &Section<'_>,
    field: &str,
    parse: impl Fn(&str) -> Result<Millis, DurationError>,
    complaints: &mut Complaints<'_>,
) -> Option<Millis> {
    let fault = match parse(section.peek(field).unwrap_or_default()) {
        Ok(length) => return Some(length),
        Err(fault) => fault,
    };
    if section.peek(field).is_some() {
        section.refuse(field, fault.to_string(), complaints);
    } else if section.has(field) {
        let message = r#"a duration is a string with units: write "30s", "10m" or "1h30m""#;
        section.refuse(field, message, complaints);
    }
    None
}

/// A role, by default the one with the field's own name. It needs a worker where it is named or `needed`, unless the
/// plan has no workers at all: then agents claim by themselves, and roles are only words to them.
fn role(
    section: &Section<'_>,
    field: &str,
    needed: bool,
    workers: Option<&Workers>,
    complaints: &mut Complaints<'_>,
) -> String {
    let named = section.string(field, complaints);
    let role = named.map_or(field, |named| named.text);
    if let Some(fault) = key_fault("a role", role) {
        section.refuse(field, fault, complaints);
    } else if let Some(workers) = workers.filter(|workers| !workers.contains_key(role)) {
        let meant = complaints.did_you_mean(role, workers.keys().map(String::as_str));
        if named.is_some() {
            section.refuse(field, format!("there is no [workers.{role}]{meant}"), complaints);
        } else if needed && !section.has(field) {
            let message = format!("there is no [workers.{role}], the role it has by default{meant}");
            section.refuse(field, message, complaints);
        }
    }
    role.to_owned()
}

fn tags(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Vec<Tag> {
    let mut seen = HashSet::new();
    let mut tags = Vec::new();
    for item in section.strings("tags", complaints).unwrap_or_default() {
        let message = match item.text.parse::<Tag>() {
            Err(error) => error.to_string(),
            Ok(_) if !seen.insert(item.text) => format!("{} is listed twice", quoted(item.text)),
            Ok(_) if item.text.starts_with("flow:") => {
                format!("{} is no free tag; the field `flow` says how a goal is judged", quoted(item.text))
            }
            Ok(_) if RESERVED.iter().any(|family| item.text.starts_with(family)) => {
                format!("{} is no free tag; the program sets it where it belongs", quoted(item.text))
            }
            Ok(tag) => {
                tags.push(tag);
                continue;
            }
        };
        complaints.add(item.offset, &section.name, &format!("tags[{}]", item.index), message);
    }
    tags
}

fn texts(items: &[Item<'_>]) -> Vec<String> {
    items.iter().map(|item| item.text.to_owned()).collect()
}
