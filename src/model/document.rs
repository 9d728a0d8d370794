//! Status documents and prompts (S3, "mu_ui visibility and handoff"), as far as they are remembered:
//! what was said of each open scope and each open ask, and how often that changed. The text around it
//! follows from this alone, so it is made when somebody reads.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Whether its attempt holds a failure: then what happens elsewhere may decide over its state.
    pub failing: bool,
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

/// Every document there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Documents {
    heads: BTreeMap<IssueId, Head>,
    parts: BTreeMap<IssueId, Part>,
    prompts: BTreeMap<IssueId, Prompt>,
    failing: BTreeSet<IssueId>,
}

impl Documents {
    /// Documents from what a store kept of them.
    pub fn of(heads: Vec<Head>, parts: Vec<Part>, prompts: Vec<Prompt>) -> Documents {
        let failing = parts.iter().filter(|part| part.text.failing).map(|part| part.scope.clone());
        Documents {
            failing: failing.collect(),
            heads: heads.into_iter().map(|head| (head.root.clone(), head)).collect(),
            parts: parts.into_iter().map(|part| (part.scope.clone(), part)).collect(),
            prompts: prompts.into_iter().map(|prompt| (prompt.ask.clone(), prompt)).collect(),
        }
    }

    /// Every head, by root.
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        self.heads.values()
    }

    /// Every part, by scope.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.values()
    }

    /// Every prompt, by ask.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.prompts.values()
    }

    /// The head of a root's status document.
    pub fn head(&self, root: &IssueId) -> Option<&Head> {
        self.heads.get(root)
    }

    /// What is said of a scope.
    pub fn part(&self, scope: &IssueId) -> Option<&Part> {
        self.parts.get(scope)
    }

    /// What is shown of an ask.
    pub fn prompt(&self, ask: &IssueId) -> Option<&Prompt> {
        self.prompts.get(ask)
    }

    /// The parts of a root's document, in its order.
    pub fn parts_of(&self, root: &IssueId) -> Vec<&Part> {
        let mut parts: Vec<&Part> = self.parts.values().filter(|part| part.root == *root).collect();
        parts.sort_by_key(|part| part.place);
        parts
    }

    /// The prompts of a root, by name.
    pub fn prompts_of(&self, root: &IssueId) -> Vec<&Prompt> {
        let mut prompts: Vec<&Prompt> = self.prompts.values().filter(|p| p.root == *root).collect();
        prompts.sort_by(|a, b| a.ui_id.cmp(&b.ui_id));
        prompts
    }

    /// The scopes whose attempt holds a failure.
    pub fn failing(&self) -> impl Iterator<Item = &IssueId> {
        self.failing.iter()
    }

    /// Takes a new text in.
    pub fn set(&mut self, edit: &DocumentEdit) {
        match edit {
            DocumentEdit::Status { after, parts, .. } => {
                self.heads.insert(after.root.clone(), after.as_ref().clone());
                parts.iter().for_each(|edit| self.edit_part(edit));
            }
            DocumentEdit::Prompt { after, .. } => {
                self.prompts.insert(after.ask.clone(), after.as_ref().clone());
            }
        }
    }

    /// A part may be in another document by now: then its leaving this one changes nothing there.
    fn edit_part(&mut self, edit: &PartEdit) {
        match (&edit.before, &edit.after) {
            (_, Some(after)) => {
                self.failing.remove(&after.scope);
                if after.text.failing {
                    self.failing.insert(after.scope.clone());
                }
                self.parts.insert(after.scope.clone(), after.as_ref().clone());
            }
            (Some(before), None) if self.part(&before.scope).is_some_and(|p| p.root == before.root) => {
                self.failing.remove(&before.scope);
                self.parts.remove(&before.scope);
            }
            _ => {}
        }
    }

    /// Takes a document out; where it is only `hidden`, what it is about goes on.
    pub fn remove(&mut self, root: &IssueId, ui_id: &str, hidden: bool) {
        if hidden {
            let named = self.prompts.values_mut().filter(|p| p.root == *root && p.ui_id == ui_id);
            named.for_each(|prompt| prompt.shown = false);
            let head = self.heads.get_mut(root).filter(|head| head.ui_id == ui_id);
            head.into_iter().for_each(|head| head.shown = false);
            return;
        }
        self.prompts.retain(|_, prompt| prompt.root != *root || prompt.ui_id != ui_id);
        if self.heads.get(root).is_some_and(|head| head.ui_id == ui_id) {
            self.heads.remove(root);
            let parts = std::mem::take(&mut self.parts);
            let (gone, kept) = parts.into_iter().partition(|(_, part)| part.root == *root);
            self.parts = kept;
            let gone: BTreeMap<IssueId, Part> = gone;
            gone.keys().for_each(|scope| {
                self.failing.remove(scope);
            });
        }
    }
}
