//! The documents as they are read: S3's field names and shapes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::text::SUBAGENTS;
use crate::model::document::{Head, Part, Prompt};
use crate::model::issue::Millis;

/// An envelope: a document that was set, or the name of one that was removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Envelope {
    /// A document has this text from now on.
    Set {
        /// The document.
        doc: Box<Doc>,
    },
    /// A document is gone.
    Remove {
        /// Its name.
        ui_id: String,
    },
}

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Doc {
    /// The version of this shape.
    pub v: u8,
    /// Its name.
    pub ui_id: String,
    /// A few words.
    pub title: String,
    /// A line.
    pub summary: String,
    /// What is shown.
    pub components: Vec<Component>,
    /// What can be done.
    pub actions: Vec<Action>,
    /// Counts its changes.
    pub revision: Revision,
    /// When it changed last, in epoch milliseconds.
    pub updated_at_ms: Millis,
    /// What sort of document it is.
    pub metadata: Metadata,
}

/// Something that is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Component {
    /// Rows of keys and values.
    KeyValue {
        /// Its name in the document.
        id: String,
        /// A few words.
        title: String,
        /// The rows.
        rows: Vec<Row>,
        /// Nothing so far.
        metadata: BTreeMap<String, Value>,
    },
    /// A text.
    Text {
        /// Its name in the document.
        id: String,
        /// The text.
        text: String,
        /// Nothing so far.
        metadata: BTreeMap<String, Value>,
    },
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: String,
}

/// Something that can be done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Action {
    /// The choice.
    pub id: String,
    /// A few words for a button.
    pub label: String,
    /// `primary` for the first, `secondary` for the others.
    pub kind: &'static str,
    /// Nothing so far.
    pub payload: BTreeMap<String, Value>,
    /// `command_text`: what to post in the ask's topic.
    pub metadata: BTreeMap<String, Value>,
}

/// Which text of a document this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// What is counted.
    pub id: String,
    /// How many texts there were.
    pub version: u64,
}

/// What sort of document it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// The profile.
    pub profile: Profile,
}

/// A profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// `control-flow`, `subagents` or `control-flow-escalation`.
    pub id: &'static str,
    /// `status` or `interactive`.
    pub variant: &'static str,
    /// The whole in words, of a status document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Texts>,
}

/// A document in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Texts {
    /// In one line.
    pub compact: String,
    /// In several.
    pub multiline: String,
}

/// A root's status document from its head and its parts.
pub fn status_doc(head: &Head, parts: &[Part]) -> Doc {
    let shared = head.ui_id == SUBAGENTS;
    let (profile, title) =
        if shared { ("subagents", "Subagents status") } else { ("control-flow", "Control-flow status") };
    let texts = status_texts(parts);
    Doc {
        v: 1,
        ui_id: head.ui_id.clone(),
        title: title.to_owned(),
        summary: format!("policy=review-gated · {}", texts.compact),
        components: parts.iter().map(component).collect(),
        actions: Vec::new(),
        revision: Revision { id: format!("{profile}-status"), version: head.version },
        updated_at_ms: head.updated_at,
        metadata: Metadata { profile: Profile { id: profile, variant: "status", snapshot: Some(texts) } },
    }
}

fn component(part: &Part) -> Component {
    let text = &part.text;
    let row = |key: &'static str, value: &str| Row { key, value: value.to_owned() };
    Component::KeyValue {
        id: part.name.clone(),
        title: text.title.clone(),
        rows: vec![
            row("policy", &text.policy),
            row("round", &text.round),
            row("attempt", &text.attempt),
            row("review", &text.review),
            row("next", &text.next),
        ],
        metadata: BTreeMap::new(),
    }
}

/// One scope is described as S3 does it; several are counted, and get a line each.
fn status_texts(parts: &[Part]) -> Texts {
    if let [only] = parts {
        let text = &only.text;
        return Texts {
            compact: format!("round={} · state={}", text.round, text.state),
            multiline: format!(
                "policy: review-gated\nround: {}\nstate: {}\nnext: {}",
                text.round,
                text.state,
                lowered(&text.next)
            ),
        };
    }
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    parts.iter().for_each(|part| *states.entry(&part.text.state).or_default() += 1);
    let mut compact = format!("scopes={}", parts.len());
    states.iter().for_each(|(state, count)| compact.push_str(&format!(" · {state}={count}")));
    let mut multiline = format!("policy: review-gated\nscopes: {}", parts.len());
    for part in parts {
        let text = &part.text;
        let next = lowered(&text.next);
        multiline.push_str(&format!("\n{}: round {}, {}, {next}", text.title, text.round, text.state));
    }
    Texts { compact, multiline }
}

fn lowered(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A prompt.
pub fn prompt_doc(prompt: &Prompt) -> Doc {
    let profile = "control-flow-escalation";
    let actions = prompt.text.actions.iter().enumerate().map(|(at, (id, label))| Action {
        id: id.clone(),
        label: label.clone(),
        kind: if at == 0 { "primary" } else { "secondary" },
        payload: BTreeMap::new(),
        metadata: BTreeMap::from([("command_text".to_owned(), json!(format!("/answer {id}")))]),
    });
    Doc {
        v: 1,
        ui_id: prompt.ui_id.clone(),
        title: prompt.text.title.clone(),
        summary: prompt.text.summary.clone(),
        components: vec![Component::Text {
            id: "question".to_owned(),
            text: prompt.text.question.clone(),
            metadata: BTreeMap::new(),
        }],
        actions: actions.collect(),
        revision: Revision { id: profile.to_owned(), version: prompt.version },
        updated_at_ms: prompt.updated_at,
        metadata: Metadata { profile: Profile { id: profile, variant: "interactive", snapshot: None } },
    }
}

/// A document in words; what has no snapshot of its own gives its question and what can be answered.
pub fn texts(doc: &Doc) -> Texts {
    if let Some(texts) = &doc.metadata.profile.snapshot {
        return texts.clone();
    }
    let mut multiline = format!("{}\n{}", doc.title, doc.summary);
    for component in &doc.components {
        if let Component::Text { text, .. } = component {
            multiline.push_str(&format!("\n{text}"));
        }
    }
    for action in &doc.actions {
        multiline.push_str(&format!("\n/answer {}  {}", action.id, action.label));
    }
    Texts { compact: format!("{} · {}", doc.title, doc.summary), multiline }
}
