//! Status documents and prompts (S3, "mu_ui visibility and handoff"), as far as they are remembered:
//! what was said of each open scope and each open ask, and how often that changed. The text around it
//! follows from this alone, so it is made when somebody reads.

use serde::{Deserialize, Serialize};

use super::id::IssueId;
use super::issue::Millis;

/// The head of a root's status document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The root it is about.
    pub root: IssueId,
    /// Its name, such as `ui:control-flow`.
    pub ui_id: String,
    /// Counts its changes, from 1.
    pub version: u64,
    /// When it changed last.
    pub updated_at: Millis,
    /// Whether it is to be seen; not after somebody removed it, until it changes again.
    pub shown: bool,
}

/// What a status document says of one open scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The scope.
    pub scope: IssueId,
    /// The root whose document it is in.
    pub root: IssueId,
    /// Counts the parts of a document in the order in which they came.
    pub place: u32,
    /// The component's name: `policy` for the first, `policy:ID` for others beside it.
    pub name: String,
    /// Whether what happens in other trees decides over its state: then each change looks at it.
    pub abroad: bool,
    /// What is said.
    pub text: PartText,
}

/// The words of a part: they follow from the scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartText {
    /// The component's title.
    pub title: String,
    /// The policy's tag.
    pub policy: String,
    /// The round and the bound, such as `2/3`.
    pub round: String,
    /// The attempt's issue.
    pub attempt: String,
    /// The review's issue.
    pub review: String,
    /// The scope's state, such as `review_pending`.
    pub state: String,
    /// What comes next.
    pub next: String,
}

/// What is shown of an open ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The ask.
    pub ask: IssueId,
    /// The root it is in.
    pub root: IssueId,
    /// The document's name, such as `ui:control-flow:escalation`.
    pub ui_id: String,
    /// Counts its changes, from 1.
    pub version: u64,
    /// When it changed last.
    pub updated_at: Millis,
    /// Whether it is to be seen; not after somebody removed it, until it changes again.
    pub shown: bool,
    /// What is said.
    pub text: PromptText,
}

/// The words of a prompt: they follow from the ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    /// The document's title.
    pub title: String,
    /// Why somebody is asked, in a line.
    pub summary: String,
    /// What is asked.
    pub question: String,
    /// What can be answered: the word, and a few words for a button.
    pub actions: Vec<(String, String)>,
}

/// A new text of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "document", rename_all = "snake_case")]
pub enum DocumentEdit {
    /// A status document: its head, and the parts that changed.
    Status {
        /// The head as it was.
        before: Option<Box<Head>>,
        /// The head as it is.
        after: Box<Head>,
        /// The parts that changed.
        parts: Vec<PartEdit>,
    },
    /// A prompt.
    Prompt {
        /// The prompt as it was.
        before: Option<Box<Prompt>>,
        /// The prompt as it is.
        after: Box<Prompt>,
    },
}

impl DocumentEdit {
    /// The root and the name of the document.
    pub fn document(&self) -> (&IssueId, &str) {
        match self {
            DocumentEdit::Status { after, .. } => (&after.root, &after.ui_id),
            DocumentEdit::Prompt { after, .. } => (&after.root, &after.ui_id),
        }
    }

    /// Leaves out what was before, as far as folding does not need it.
    pub fn forget_before(&mut self) {
        match self {
            DocumentEdit::Status { before, parts, .. } => {
                *before = None;
                let stay = parts.iter_mut().filter(|edit| edit.after.is_some());
                stay.for_each(|edit| edit.before = None);
            }
            DocumentEdit::Prompt { before, .. } => *before = None,
        }
    }

    /// The document's version from now on.
    pub fn version(&self) -> u64 {
        match self {
            DocumentEdit::Status { after, .. } => after.version,
            DocumentEdit::Prompt { after, .. } => after.version,
        }
    }
}

/// A part that came, went, or says something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEdit {
    /// The part as it was.
    pub before: Option<Box<Part>>,
    /// The part as it is.
    pub after: Option<Box<Part>>,
}

impl PartEdit {
    /// The scope that is spoken of.
    pub fn scope(&self) -> Option<&IssueId> {
        self.after.as_ref().or(self.before.as_ref()).map(|part| &part.scope)
    }
}

/// The documents of one root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documents {
    /// The head of its status document.
    pub head: Option<Head>,
    /// The parts of that, in its order.
    pub parts: Vec<Part>,
    /// Its prompts, by name.
    pub prompts: Vec<Prompt>,
}

impl Documents {
    /// Whether a document of this name is to be seen.
    pub fn shows(&self, ui_id: &str) -> bool {
        let head = self.head.as_ref().is_some_and(|head| head.ui_id == ui_id && head.shown);
        head || self.prompts.iter().any(|prompt| prompt.ui_id == ui_id && prompt.shown)
    }

    /// Takes a new text in.
    pub fn set(&mut self, edit: &DocumentEdit) {
        match edit {
            DocumentEdit::Status { after, parts, .. } => {
                self.head = Some(after.as_ref().clone());
                let edited = |part: &Part| parts.iter().any(|edit| edit.scope() == Some(&part.scope));
                self.parts.retain(|part| !edited(part));
                self.parts.extend(parts.iter().filter_map(|edit| edit.after.as_deref().cloned()));
                self.parts.sort_by_key(|part| part.place);
            }
            DocumentEdit::Prompt { after, .. } => {
                self.prompts.retain(|prompt| prompt.ask != after.ask);
                self.prompts.push(after.as_ref().clone());
                self.prompts.sort_by(|a, b| a.ui_id.cmp(&b.ui_id));
            }
        }
    }

    /// Takes a document out; where it is only `hidden`, what it is about goes on.
    pub fn remove(&mut self, ui_id: &str, hidden: bool) {
        let head = self.head.as_mut().filter(|head| head.ui_id == ui_id);
        if hidden {
            head.into_iter().for_each(|head| head.shown = false);
            let named = self.prompts.iter_mut().filter(|prompt| prompt.ui_id == ui_id);
            named.for_each(|prompt| prompt.shown = false);
            return;
        }
        if head.is_some() {
            self.head = None;
            self.parts.clear();
        }
        self.prompts.retain(|prompt| prompt.ui_id != ui_id);
    }
}
