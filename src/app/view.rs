//! What programs read: the shapes that `--json` prints (section 9). Fields may be added, never renamed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::pause::PauseView;
use crate::engine::choices;
use crate::model::act::claim::Role;
use crate::model::duty::Fallback;
use crate::model::graph::Ix;
use crate::model::issue::{Millis, Policy, Work};
use crate::model::record::{Ask, AskKind, Choice, Round};
use crate::model::snapshot::Snapshot;

/// A word of this program, or one that was read back from a stored reply.
pub type Word = Cow<'static, str>;

/// One edge, as seen from its first end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepView {
    /// `blocks`, `supersedes` or `parent`.
    pub r#type: Word,
    /// The other end.
    pub target: String,
}

/// Who holds an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimView {
    /// The holder.
    pub actor: String,
    /// The fencing number.
    pub epoch: u64,
    /// When the lease runs out, in epoch milliseconds.
    pub expires_at: Millis,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IssueView {
    /// Its id.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// What is wanted.
    pub body: String,
    /// `open`, `in_progress` or `closed`.
    pub status: Word,
    /// The outcome of a closed issue.
    pub outcome: Option<Word>,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// What it blocks and supersedes, and its parent.
    pub deps: Vec<DepView>,
    /// 1 (most urgent) to 5.
    pub priority: u8,
    /// In epoch milliseconds.
    pub created_at: Millis,
    /// In epoch milliseconds.
    pub updated_at: Millis,
    /// Counts its changes.
    pub revision: u64,
    /// Its parent.
    pub parent: Option<String>,
    /// Who holds it.
    pub claim: Option<ClaimView>,
    /// Why it was closed.
    pub reason: Option<String>,
    /// What blocks it and is not resolved.
    pub blocked_by: Vec<String>,
    /// What took its place.
    pub superseded_by: Vec<String>,
    /// The plan's name for it.
    pub key: Option<String>,
    /// Policy metadata.
    pub policy: Policy,
    /// Acceptance criteria, checks and notes.
    pub work: Work,
    /// The nearest pause at or above it, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<PauseView>,
}

impl IssueView {
    /// The view of an issue.
    pub fn of(snapshot: &Snapshot, ix: Ix) -> Self {
        let (graph, relation) = (snapshot.graph(), snapshot.relation());
        let (issue, parent) = (graph.issue(ix), graph.parent(ix));
        let name = |ix: &Ix| graph.id(*ix).to_string();
        let dep = |r#type: &'static str| move |ix: &Ix| DepView { r#type: r#type.into(), target: name(ix) };
        let above = parent.iter().map(dep("parent"));
        let blocks = graph.blocks(ix).iter().map(dep("blocks"));
        let supersedes = graph.supersedes(ix).iter().map(dep("supersedes"));
        IssueView {
            id: issue.id.to_string(),
            title: issue.title.clone(),
            body: issue.body.clone(),
            status: issue.state.status().into(),
            outcome: issue.state.outcome().map(|outcome| outcome.as_str().into()),
            tags: issue.tags.iter().map(ToString::to_string).collect(),
            deps: above.chain(blocks).chain(supersedes).collect(),
            priority: issue.priority.get(),
            created_at: issue.created_at,
            updated_at: issue.updated_at,
            revision: issue.revision,
            parent: parent.as_ref().map(name),
            claim: issue.state.claim().map(|claim| ClaimView {
                actor: claim.actor.to_string(),
                epoch: claim.epoch,
                expires_at: claim.expires_at,
            }),
            reason: issue.state.reason().map(str::to_owned),
            blocked_by: relation.own_open_blockers(ix).map(|blocker| name(&blocker)).collect(),
            superseded_by: graph.superseded_by(ix).iter().map(name).collect(),
            key: issue.key.clone(),
            policy: issue.policy.clone(),
            work: issue.work.clone(),
            paused: PauseView::over(snapshot, ix).into_iter().next(),
        }
    }
}

/// A ready issue: the issue, its round and its role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReadyView {
    /// The issue.
    #[serde(flatten)]
    pub issue: IssueView,
    /// The round it is part of.
    pub round: Option<u32>,
    /// `attempt`, `review` or null.
    pub role: Option<&'static str>,
}

impl ReadyView {
    /// The view of a ready issue.
    pub fn of(snapshot: &Snapshot, ix: Ix) -> Self {
        let id = snapshot.graph().id(ix);
        ReadyView {
            issue: IssueView::of(snapshot, ix),
            round: snapshot.round_of(id).map(|round| round.number),
            role: Role::of(snapshot, ix).map(Role::as_str),
        }
    }
}

/// One round of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundView {
    /// Its number, from 1.
    pub round: u32,
    /// The attempt's issue.
    pub attempt: String,
    /// The review's issue.
    pub review: String,
    /// `pass`, `needs_work` or null.
    pub verdict: Option<Word>,
    /// Who judged.
    pub by: Option<String>,
    /// What was found wrong, or good.
    pub notes: String,
    /// `passed`, `failed` or null while it goes on.
    pub end: Option<Word>,
}

impl RoundView {
    /// The view of a round.
    pub fn of(round: &Round) -> Self {
        use crate::model::record::RoundEnd;
        let (end, failure) = match &round.end {
            None => (None, None),
            Some(RoundEnd::Passed) => (Some("passed".into()), None),
            Some(RoundEnd::Failed { notes, .. }) => (Some("failed".into()), Some(notes.clone())),
        };
        let verdict = round.verdict.as_ref();
        RoundView {
            round: round.number,
            attempt: round.attempt.to_string(),
            review: round.review.to_string(),
            verdict: verdict.map(|verdict| verdict.opinion.as_str().into()),
            by: verdict.map(|verdict| verdict.by.to_string()),
            notes: verdict.map(|verdict| verdict.reason.clone()).or(failure).unwrap_or_default(),
            end,
        }
    }
}

/// A scope and its rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsView {
    /// The scope.
    pub scope: String,
    /// Its bound.
    pub max_rounds: u32,
    /// Its rounds, in order.
    pub rounds: Vec<RoundView>,
    /// Its state, such as `attempt_pending`.
    pub state: Word,
    /// The open ask about it.
    pub ask: Option<String>,
}

/// An ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskView {
    /// Its issue.
    pub id: String,
    /// The root it is in.
    pub root: String,
    /// The scope it is about.
    pub scope: Option<String>,
    /// What kind of ask it is: `rounds handoff failure steps question`.
    pub kind: Word,
    /// What is asked.
    pub question: String,
    /// What can be answered.
    pub choices: Vec<Choice>,
    /// `open`, `answered` (until the next tick) or `settled`.
    pub status: Word,
    /// The chosen word.
    pub answer: Option<String>,
    /// What was said with it.
    pub note: Option<String>,
    /// Who chose it.
    pub answered_by: Option<String>,
    /// Who is to answer, when somebody is.
    pub assignee: Option<String>,
    /// When it is due, in epoch milliseconds.
    pub due_at: Option<Millis>,
    /// The time between two reminders, in milliseconds.
    #[serde(default)]
    pub remind_every_ms: Option<Millis>,
    /// How many reminders there were.
    #[serde(default)]
    pub reminders: u32,
    /// What is chosen should nobody answer, and when.
    #[serde(default)]
    pub timeout: Option<Fallback>,
    /// What keeps its time from going on, when it is open below a pause.
    #[serde(default)]
    pub paused: Option<PauseView>,
    /// Why it was closed, once it is settled.
    #[serde(default)]
    pub reason: Option<String>,
    /// The command that shows all there is to know.
    #[serde(default)]
    pub everything: String,
    /// What there is to know before deciding.
    pub evidence: Vec<String>,
}

impl AskView {
    /// The view of an ask.
    pub fn of(snapshot: &Snapshot, ask: &Ask) -> Self {
        let (graph, duty) = (snapshot.graph(), ask.duty.as_ref());
        let ix = graph.ix(&ask.id);
        let settled = ix.is_none_or(|ix| graph.issue(ix).state.closed());
        let status = match (&ask.answer, settled) {
            (_, true) => "settled",
            (Some(_), false) => "answered",
            (None, false) => "open",
        };
        AskView {
            id: ask.id.to_string(),
            root: ix.map_or_else(|| ask.id.to_string(), |ix| graph.id(graph.root(ix)).to_string()),
            scope: ask.scope.as_ref().map(ToString::to_string),
            kind: ask.kind.as_str().into(),
            question: ask.question.clone(),
            choices: if status == "open" { choices(snapshot, ask) } else { ask.choices.clone() },
            status: status.into(),
            answer: ask.answer.as_ref().map(|answer| answer.choice.clone()),
            note: ask.answer.as_ref().map(|answer| answer.note.clone()),
            answered_by: ask.answer.as_ref().map(|answer| answer.by.to_string()),
            assignee: duty.and_then(|duty| duty.assignee.as_ref()).map(ToString::to_string),
            due_at: duty.and_then(|duty| duty.due_at),
            remind_every_ms: duty.and_then(|duty| duty.remind_every),
            reminders: duty.map_or(0, |duty| duty.reminders()),
            timeout: duty.and_then(|duty| duty.default.clone()),
            paused: ix
                .filter(|_| status == "open")
                .and_then(|ix| PauseView::over(snapshot, ix).into_iter().next()),
            reason: ix.and_then(|ix| graph.issue(ix).state.reason()).map(str::to_owned),
            everything: everything(ask),
            evidence: ask.evidence.clone(),
        }
    }
}

/// How a line of evidence begins that says where the rest is.
pub const EVERYTHING: &str = "everything: ";

/// The command that shows all there is to know about an ask.
fn everything(ask: &Ask) -> String {
    let engines = ask.evidence.iter().filter(|_| ask.kind != AskKind::Question);
    let named = engines.filter_map(|line| line.strip_prefix(EVERYTHING)).next();
    named.map_or_else(|| format!("roundgate forum read issue:{}", ask.id), str::to_owned)
}
