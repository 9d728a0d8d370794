//! What a notifier is told: one JSON object with all that is needed to decide, or to pass it on.

use serde::{Deserialize, Serialize};

use crate::app::view::{AskView, Word};
use crate::model::issue::Millis;
use crate::model::record::Notice;
use crate::model::snapshot::Snapshot;

/// The version of the shape.
const VERSION: u32 = 1;

/// A choice of the ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoicePacket {
    /// The word to answer with.
    pub id: String,
    /// A few words for a button.
    pub label: String,
    /// What it does.
    pub effect: String,
    /// What chooses it as a post in the ask's topic.
    pub command_text: String,
    /// What chooses it on the command line.
    pub command: String,
}

/// One notification. More fields may be added, none of these renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// The version of this shape.
    pub v: u32,
    /// The notification's id: the same one every time it is sent.
    pub id: String,
    /// `asked reminder due timeout moot`.
    pub kind: Word,
    /// The how manieth of its kind for this ask.
    pub number: u32,
    /// The how manieth try to send it.
    pub attempt: u32,
    /// When it came about, in epoch milliseconds.
    pub created_at: Millis,
    /// The ask.
    pub ask: String,
    /// The root it is in.
    pub root: String,
    /// The root's title.
    pub root_title: String,
    /// The scope it is about.
    pub scope: Option<String>,
    /// What is asked.
    pub question: String,
    /// What there is to know before deciding.
    pub evidence: Vec<String>,
    /// What can be answered.
    pub choices: Vec<ChoicePacket>,
    /// `open`, `answered` or `settled`, when it is sent.
    pub status: Word,
    /// The chosen word, once there is one.
    pub answer: Option<String>,
    /// Who is to answer, when somebody is.
    pub assignee: Option<String>,
    /// When an answer is due, in epoch milliseconds.
    pub due_at: Option<Millis>,
}

impl Packet {
    /// What a notice says of its ask as that is now. `None` where the ask is not there.
    pub fn of(snapshot: &Snapshot, notice: &Notice) -> Option<Packet> {
        let ask = AskView::of(snapshot, snapshot.ask(&notice.id.ask)?);
        let graph = snapshot.graph();
        let root = graph.ix(&notice.id.ask).map(|ix| graph.issue(graph.root(ix)));
        let choices = ask.choices.into_iter().map(|choice| ChoicePacket {
            command_text: format!("/answer {}", choice.id),
            command: format!("roundgate answer {} {}", ask.id, choice.id),
            id: choice.id,
            label: choice.label,
            effect: choice.effect,
        });
        Some(Packet {
            v: VERSION,
            id: notice.id.to_string(),
            kind: notice.id.kind.as_str().into(),
            number: notice.id.number,
            attempt: notice.attempts,
            created_at: notice.created_at,
            choices: choices.collect(),
            ask: ask.id,
            root: ask.root,
            root_title: root.map(|root| root.title.clone()).unwrap_or_default(),
            scope: ask.scope,
            question: ask.question,
            evidence: ask.evidence,
            status: ask.status,
            answer: ask.answer,
            assignee: ask.assignee,
            due_at: ask.due_at,
        })
    }
}
