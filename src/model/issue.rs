//! One issue: its fields, its state and the policy metadata it carries.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::duty::AskPolicy;
use super::id::{Actor, IssueId};
use super::quote::{beginning, quoted};
use super::tag::Tags;

/// A moment, in milliseconds since the Unix epoch.
pub type Millis = i64;

/// Longest accepted title, in bytes.
pub const MAX_TITLE_BYTES: usize = 1024;
/// Longest accepted body, reason, note or post, in bytes (1 MiB).
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// How a closed issue ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done as asked.
    Success,
    /// Tried and failed.
    Failure,
    /// Done, and not good enough.
    NeedsWork,
    /// Not done, on purpose; with it goes everything below.
    Skipped,
    /// Replaced by its children.
    Expanded,
}

impl Outcome {
    /// Every outcome, in the order of the vocabulary.
    pub const ALL: [Outcome; 5] =
        [Outcome::Success, Outcome::Failure, Outcome::NeedsWork, Outcome::Skipped, Outcome::Expanded];

    /// The outcome's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Failure => "failure",
            Outcome::NeedsWork => "needs_work",
            Outcome::Skipped => "skipped",
            Outcome::Expanded => "expanded",
        }
    }

    /// `failure` or `needs_work`: an end that settles nothing.
    pub fn unsuccessful(self) -> bool {
        matches!(self, Outcome::Failure | Outcome::NeedsWork)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word outside a closed vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{word:?} is not one of {allowed}")]
pub struct WordError {
    /// What was given.
    pub word: String,
    /// What would have been taken.
    pub allowed: &'static str,
}

impl FromStr for Outcome {
    type Err = WordError;

    fn from_str(word: &str) -> Result<Self, WordError> {
        Outcome::ALL.into_iter().find(|o| o.as_str() == word).ok_or_else(|| WordError {
            word: beginning(word),
            allowed: "success, failure, needs_work, skipped, expanded",
        })
    }
}

/// How urgent an issue is: 1 (most) to 5, 3 unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Priority(u8);

/// A priority outside 1..=5.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a priority is 1 (most urgent) to 5, not {0}")]
pub struct PriorityError(pub String);

impl Priority {
    /// The number, 1 to 5.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Priority(3)
    }
}

impl TryFrom<u8> for Priority {
    type Error = PriorityError;

    fn try_from(number: u8) -> Result<Self, PriorityError> {
        if (1..=5).contains(&number) { Ok(Priority(number)) } else { Err(PriorityError(number.to_string())) }
    }
}

impl From<Priority> for u8 {
    fn from(priority: Priority) -> u8 {
        priority.0
    }
}

impl FromStr for Priority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, PriorityError> {
        text.parse::<u8>().map_err(|_| PriorityError(quoted(text)))?.try_into()
    }
}

/// A process of this machine, told apart from every other one that had or will have its number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The kernel's id of this boot.
    pub boot_id: String,
    /// The process id.
    pub pid: u32,
    /// When it started, in the kernel's clock ticks since boot.
    pub started: u64,
    /// The namespace in which the process has this id; unknown in what an older release wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<u64>,
}

/// Who holds an issue, until when, and under which fencing number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The holder.
    pub actor: Actor,
    /// The fencing number: one more at every claim of this issue, never reused.
    pub epoch: u64,
    /// When the lease runs out.
    pub expires_at: Millis,
    /// The runner that took it, when a runner did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<Process>,
    /// The worker the runner started for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Process>,
}

impl Claim {
    /// Whether the lease has run out.
    pub fn expired(&self, now: Millis) -> bool {
        self.expires_at <= now
    }
}

/// Where an issue is in its life. A closed issue always has an outcome; only work in progress is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum State {
    /// Nobody has it.
    Open,
    /// Somebody holds it.
    InProgress {
        /// Who, and until when.
        claim: Claim,
    },
    /// It ended.
    Closed {
        /// How.
        outcome: Outcome,
        /// Why, in the words of whoever closed it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl State {
    /// The status word: `open`, `in_progress` or `closed`.
    pub fn status(&self) -> &'static str {
        match self {
            State::Open => "open",
            State::InProgress { .. } => "in_progress",
            State::Closed { .. } => "closed",
        }
    }

    /// The outcome of a closed issue.
    pub fn outcome(&self) -> Option<Outcome> {
        match self {
            State::Closed { outcome, .. } => Some(*outcome),
            _ => None,
        }
    }

    /// The reason a closed issue was closed with.
    pub fn reason(&self) -> Option<&str> {
        match self {
            State::Closed { reason, .. } => reason.as_deref(),
            _ => None,
        }
    }

    /// The claim of an issue in progress.
    pub fn claim(&self) -> Option<&Claim> {
        match self {
            State::InProgress { claim } => Some(claim),
            _ => None,
        }
    }

    /// Whether the issue is closed.
    pub fn closed(&self) -> bool {
        matches!(self, State::Closed { .. })
    }
}

/// The bounds a scope may set for its policy; what is not set falls back to the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Rounds before a human is asked, 1..=100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_review_rounds: Option<u32>,
    /// The same, read from a `max_review_rounds=N` line in a packet of the scope's topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_review_rounds_posted: Option<u32>,
    /// Equal failures in a row before a human is asked early; 0 switches that off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_progress: Option<u32>,
    /// Whether who worked on an attempt may judge it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_self_review: Option<bool>,
    /// Lost or failed steps that are tried again before a human is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_retries: Option<u32>,
    /// Who is to answer the asks in it, and by when.
    #[serde(default, skip_serializing_if = "AskPolicy::is_empty")]
    pub ask: AskPolicy,
}

/// Nothing new starts at or below a paused issue, and what runs may finish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Who paused it.
    pub by: Actor,
    /// When.
    pub at: Millis,
    /// Why.
    pub reason: String,
}

/// What a worker needs to know beyond title and body.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Acceptance criteria.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// Commands, as argument vectors, that show whether the work is right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<Vec<String>>,
    /// What earlier rounds or attempts found wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The plan's worker role for attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<String>,
    /// The plan's worker role for reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
}

/// One issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Its name; never reused.
    pub id: IssueId,
    /// One line for people.
    pub title: String,
    /// What is wanted.
    pub body: String,
    /// Where it is in its life.
    pub state: State,
    /// Free and protocol tags.
    pub tags: Tags,
    /// 1 (most urgent) to 5.
    pub priority: Priority,
    /// When it was created.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// The last fencing number given out.
    #[serde(default)]
    pub epoch: u64,
    /// Everyone who ever claimed or closed it: they may not judge it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hands: BTreeSet<Actor>,
    /// Steps lost or failed since the last answer to a step ask.
    #[serde(default)]
    pub failed_steps: u32,
    /// Policy metadata.
    #[serde(default)]
    pub policy: Policy,
    /// What a worker needs to know.
    #[serde(default)]
    pub work: Work,
    /// The stable name a plan gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Who paused it, while it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
}

impl Issue {
    /// A new, open issue that says nothing beyond its title yet.
    pub fn new(id: IssueId, title: String, tags: Tags, at: Millis) -> Self {
        Issue {
            id,
            title,
            body: String::new(),
            state: State::Open,
            tags,
            priority: Priority::default(),
            created_at: at,
            updated_at: at,
            revision: 1,
            epoch: 0,
            hands: BTreeSet::new(),
            failed_steps: 0,
            policy: Policy::default(),
            work: Work::default(),
            key: None,
            pause: None,
        }
    }

    /// The total order of everything that is listed or chosen: priority, then age, then id.
    pub fn rank(&self) -> (Priority, Millis, &IssueId) {
        (self.priority, self.created_at, &self.id)
    }
}

/// Why a text field is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TextError {
    /// Nothing but white space.
    #[error("a title cannot be empty")]
    EmptyTitle,
    /// A title is one line.
    #[error("a title is one line; put the rest into the body")]
    TitleLines,
    /// Too long.
    #[error("a {field} has at most {limit} bytes, this one has {found}")]
    TooLong {
        /// Which field.
        field: &'static str,
        /// The limit in bytes.
        limit: usize,
        /// What was given, in bytes.
        found: usize,
    },
    /// Nothing but white space.
    #[error("a {field} cannot be empty")]
    Empty {
        /// Which field.
        field: &'static str,
    },
    /// A NUL byte, which neither terminals nor environments can carry.
    #[error("a {field} cannot contain a NUL byte")]
    Nul {
        /// Which field.
        field: &'static str,
    },
}

/// Checks a title as a user may write it.
///
/// # Errors
/// Empty, over [`MAX_TITLE_BYTES`], more than one line, or a NUL byte.
pub fn check_title(title: &str) -> Result<(), TextError> {
    if title.trim().is_empty() {
        return Err(TextError::EmptyTitle);
    }
    if title.len() > MAX_TITLE_BYTES {
        return Err(TextError::TooLong { field: "title", limit: MAX_TITLE_BYTES, found: title.len() });
    }
    if title.contains(['\n', '\r']) {
        return Err(TextError::TitleLines);
    }
    if title.contains('\0') {
        return Err(TextError::Nul { field: "title" });
    }
    Ok(())
}

/// Checks a longer text: a body, a reason, a note, a post.
///
/// # Errors
/// Over [`MAX_TEXT_BYTES`], or a NUL byte.
pub fn check_text(field: &'static str, text: &str) -> Result<(), TextError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(TextError::TooLong { field, limit: MAX_TEXT_BYTES, found: text.len() });
    }
    if text.contains('\0') {
        return Err(TextError::Nul { field });
    }
    Ok(())
}
