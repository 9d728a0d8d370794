//! Imports in the beads format: a file that is read can be stored whole, and read again it changes nothing.

use std::path::Path;

use chrono::DateTime;
use roundgate::app::{Session, import};
use roundgate::interop::beads::line::BeadsComment;
use roundgate::interop::beads::{BeadsIssue, parse};
use serde_json::{Map, Value, json};

use super::{Behind, Held, Target, hold, speaks, taken};

pub const TARGET: Target = Target {
    name: "import",
    law,
    words: &[
        "{\"id\":\"a\",\"title\":\"t\"}\n",
        "\"id\":",
        "\"title\":",
        "\"status\":",
        "\"open\"",
        "\"closed\"",
        "\"in_progress\"",
        "\"tombstone\"",
        "\"issue_type\":",
        "\"epic\"",
        "\"priority\":",
        "\"labels\":",
        "\"assignee\":",
        "\"created_at\":",
        "\"updated_at\":",
        "\"2026-01-02T03:04:05Z\"",
        "\"dependencies\":",
        "\"depends_on_id\":",
        "\"type\":",
        "\"blocks\"",
        "\"parent-child\"",
        "\"supersedes\"",
        "\"issue_id\":",
        "\"comments\":",
        "\"text\":",
        "\"author\":",
        "\"close_reason\":",
        "\"description\":",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\\u0000",
        "null",
        "\"a\"",
        "\"b\"",
        "\u{feff}",
    ],
};

fn law(input: &[u8], behind: Behind) -> Held {
    let lines = match parse(input) {
        Err(refusal) => {
            hold(refusal.line >= 1, || "the line 0".to_owned())?;
            return speaks(&refusal);
        }
        Ok(lines) => lines,
    };
    let printed: String = lines.iter().map(|line| format!("{}\n", print(line))).collect();
    match parse(printed.as_bytes()) {
        Err(refusal) => return Err(format!("printed, it is refused: {refusal}\n{printed}")),
        Ok(again) => {
            let same = again.len() == lines.len() && again.iter().zip(&lines).all(|(a, b)| a.same_as(b));
            hold(same, || format!("printed, it is another: {again:?}, and not {lines:?}"))?;
        }
    }
    behind.session(|session| imported(session, input))
}

fn imported(session: &mut Session, input: &[u8]) -> Held {
    let file = Path::new("import.jsonl");
    taken(import::beads(session, file, input, false))?;
    let again = taken(import::beads(session, file, input, false))?;
    hold(!again.changed, || format!("imported again, it changes {:?}", again.value))
}

fn print(line: &BeadsIssue) -> Value {
    let mut object: Map<String, Value> = line.fields.clone().into_iter().collect();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("id", line.id.as_str().into());
    put("title", line.title.as_str().into());
    put("description", line.description.as_str().into());
    put("design", line.design.as_str().into());
    put("acceptance_criteria", line.acceptance_criteria.as_str().into());
    put("notes", line.notes.as_str().into());
    put("status", line.status.clone().into());
    put("issue_type", line.issue_type.clone().into());
    put("priority", line.priority.into());
    put("labels", line.labels.clone().into());
    put("assignee", line.assignee.as_str().into());
    let time = |at: Option<i64>| at.and_then(DateTime::from_timestamp_millis).map(|at| at.to_rfc3339());
    put("created_at", time(line.created_at).into());
    put("updated_at", time(line.updated_at).into());
    put("close_reason", line.close_reason.as_str().into());
    let dependencies =
        line.dependencies.iter().map(|entry| serde_json::from_str(&entry.json).unwrap_or_default());
    put("dependencies", Value::Array(dependencies.collect()));
    put("comments", line.comments.iter().map(comment).collect());
    Value::Object(object)
}

fn comment(comment: &BeadsComment) -> Value {
    let mut object = Map::new();
    for (name, json) in &comment.unknown {
        object.insert(name.clone(), serde_json::from_str(json).unwrap_or_default());
    }
    let said = json!({ "author": comment.author, "created_at": comment.created_at, "text": comment.text });
    object.extend(said.as_object().cloned().unwrap_or_default());
    Value::Object(object)
}
