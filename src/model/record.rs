//! What the policies remember beside the graph: scopes, rounds, verdicts, asks and plans.

mod heartbeat;
mod notice;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::duty::Duty;
use super::id::{Actor, IssueId};
use super::issue::Millis;

pub use heartbeat::{
    Ceiling, Gap, HEARTBEAT_PREFIX, Halt, Halted, Heartbeat, HeartbeatId, HeartbeatIdError, HeartbeatKind,
    Overlap, Rhythm, Trigger,
};
pub use notice::{Failure, Notice, NoticeEnd, NoticeId, NoticeIdError, NoticeKind};

/// The bounds a scope runs under, as they were when its first round opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Rounds before a human is asked.
    pub max_rounds: u32,
    /// Equal failures in a row before a human is asked early; 0 is off.
    pub no_progress: u32,
    /// Whether who worked on an attempt may judge it.
    pub allow_self_review: bool,
    /// Lost or failed steps tried again before a human is asked.
    pub step_retries: u32,
}

impl Default for Bounds {
    /// S3 recommends 3 rounds; S0 sets 2 equal failures and 2 step retries.
    fn default() -> Self {
        Bounds { max_rounds: 3, no_progress: 2, allow_self_review: false, step_retries: 2 }
    }
}

/// How a scope ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeEnd {
    /// A review passed.
    Passed,
    /// A human accepted the work over the verdict, or finished it by hand.
    Waived,
    /// A human gave it up.
    Abandoned,
}

/// A node that a policy has opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The node with the policy's tag.
    pub id: IssueId,
    /// The policy and its version, as they were when the first round opened.
    pub policy: String,
    /// The bounds, as they were then; `max_rounds` grows only by a human's grant.
    pub bounds: Bounds,
    /// How it ended, once it has.
    pub end: Option<ScopeEnd>,
}

/// What a reviewer found. Not an outcome: an outcome is where an issue ends, a verdict is an opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    /// Good.
    Pass,
    /// Not yet.
    NeedsWork,
}

impl Opinion {
    /// The opinion's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Opinion::Pass => "pass",
            Opinion::NeedsWork => "needs_work",
        }
    }
}

/// A verdict on a round, with who gave it and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Pass or needs_work.
    pub opinion: Opinion,
    /// The reviewer's notes.
    pub reason: String,
    /// Who judged.
    pub by: Actor,
    /// When.
    pub at: Millis,
    /// Names of the files whose text was posted as evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum RoundEnd {
    /// Its review passed.
    Passed,
    /// Its review found faults, or its attempt failed.
    Failed {
        /// What was wrong, for whoever tries next.
        notes: String,
        /// The failure's signature; `None` equals no other.
        signature: Option<String>,
    },
}

/// One attempt and its review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// The scope it belongs to.
    pub scope: IssueId,
    /// Its number, from 1.
    pub number: u32,
    /// The attempt's issue.
    pub attempt: IssueId,
    /// The review's issue.
    pub review: IssueId,
    /// The verdict, once there is one.
    pub verdict: Option<Verdict>,
    /// How it ended, once a tick has moved on.
    pub end: Option<RoundEnd>,
}

impl Round {
    /// Whether nothing about its work may change any more: it was judged, or it ended.
    pub fn decided(&self) -> bool {
        self.verdict.is_some() || self.end.is_some()
    }
}

/// Why a human is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// The rounds are used up, or make no progress.
    Rounds,
    /// A human took the work over.
    Handoff,
    /// Something failed that no policy takes care of.
    Failure,
    /// A step was lost or failed too often.
    Steps,
    /// A question somebody put into the graph by hand.
    Question,
}

impl AskKind {
    /// The kind's word.
    pub fn as_str(self) -> &'static str {
        match self {
            AskKind::Rounds => "rounds",
            AskKind::Handoff => "handoff",
            AskKind::Failure => "failure",
            AskKind::Steps => "steps",
            AskKind::Question => "question",
        }
    }
}

/// One thing a human can decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The word to answer with.
    pub id: String,
    /// A few words for a button.
    pub label: String,
    /// What it does.
    pub effect: String,
}

/// What a human decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The chosen word.
    pub choice: String,
    /// Why, or what else there is to say.
    pub note: String,
    /// Who decided.
    pub by: Actor,
    /// When.
    pub at: Millis,
    /// How many extra rounds, where the choice grants rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Whether everything that waits for the scope is given up with it.
    #[serde(default)]
    pub with_dependents: bool,
}

impl Answer {
    /// Whether two answers decide the same.
    pub fn same_decision(&self, other: &Answer) -> bool {
        self.choice == other.choice
            && self.rounds == other.rounds
            && self.with_dependents == other.with_dependents
    }
}

/// A question to a human. Its node is an issue of `kind:ask`; it is open while that issue is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The issue that carries it.
    pub id: IssueId,
    /// Why it is asked.
    pub kind: AskKind,
    /// The scope whose rounds it is about.
    pub scope: Option<IssueId>,
    /// The round that failed.
    pub round: Option<u32>,
    /// The issue that failed or whose step was lost.
    pub about: Option<IssueId>,
    /// What is asked.
    pub question: String,
    /// What there is to know before deciding: a preview, not a transcript.
    pub evidence: Vec<String>,
    /// What can be answered.
    pub choices: Vec<Choice>,
    /// What was answered.
    pub answer: Option<Answer>,
    /// Who is to answer, by when, and what happens should nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duty: Option<Duty>,
}

/// How the workers of a role are started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSpec {
    /// The argument vector; `./` is the plan's own folder.
    pub command: Vec<String>,
    /// How long one step may take, in milliseconds.
    pub time_limit: Millis,
}

/// What `run` and the next application need to know of an applied plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The root it was applied to.
    pub root: IssueId,
    /// The plan's own folder, absolute.
    pub folder: PathBuf,
    /// Workers by role.
    pub workers: BTreeMap<String, WorkerSpec>,
    /// A digest of what the plan said of its root and of each goal, by key. A goal of which it says the
    /// same again is not looked at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<String, String>,
}

/// Something an import could not express, kept where a human can find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotation {
    /// The issue it is about.
    pub issue: IssueId,
    /// What kind of thing, such as `further_parent` or `cyclic_dependency`.
    pub kind: String,
    /// The thing itself.
    pub text: String,
}

/// One post in a topic of the forum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Such as `issue:rg-abcd`.
    pub topic: String,
    /// Who wrote it.
    pub author: Actor,
    /// What was written.
    pub body: String,
    /// When.
    pub at: Millis,
}
