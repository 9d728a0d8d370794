//! Facts: what changed, with before and after. A store keeps them as events; folding them from the
//! first to the last gives the whole snapshot again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::compaction::Compaction;
use super::document::DocumentEdit;
use super::duty::Duty;
use super::graph::Edge;
use super::id::{Actor, IssueId};
use super::issue::{Issue, Millis, Pause, Policy, Priority, State, Work};
use super::operation::Operation;
use super::record::{Annotation, Answer, Ask, Heartbeat, Notice, NoticeEnd, PlanRecord, Post, Round, Scope};
use super::tag::Tags;

/// One field of an issue, with a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "field", content = "value", rename_all = "snake_case")]
pub enum Field {
    /// The title.
    Title(String),
    /// The body.
    Body(String),
    /// The tags.
    Tags(Tags),
    /// The priority.
    Priority(Priority),
    /// Status, outcome, reason and claim.
    State(State),
    /// The last fencing number.
    Epoch(u64),
    /// Who worked on it.
    Hands(BTreeSet<Actor>),
    /// Lost or failed steps.
    FailedSteps(u32),
    /// Policy metadata.
    Policy(Policy),
    /// What a worker needs to know.
    Work(Work),
    /// The plan's name for it.
    Key(Option<String>),
    /// Who paused it, while it is paused.
    Pause(Option<Pause>),
}

impl Field {
    /// The value this field has in an issue.
    pub fn of(&self, issue: &Issue) -> Field {
        match self {
            Field::Title(_) => Field::Title(issue.title.clone()),
            Field::Body(_) => Field::Body(issue.body.clone()),
            Field::Tags(_) => Field::Tags(issue.tags.clone()),
            Field::Priority(_) => Field::Priority(issue.priority),
            Field::State(_) => Field::State(issue.state.clone()),
            Field::Epoch(_) => Field::Epoch(issue.epoch),
            Field::Hands(_) => Field::Hands(issue.hands.clone()),
            Field::FailedSteps(_) => Field::FailedSteps(issue.failed_steps),
            Field::Policy(_) => Field::Policy(issue.policy.clone()),
            Field::Work(_) => Field::Work(issue.work.clone()),
            Field::Key(_) => Field::Key(issue.key.clone()),
            Field::Pause(_) => Field::Pause(issue.pause.clone()),
        }
    }

    /// Writes this value into an issue.
    pub fn put(&self, issue: &mut Issue) {
        match self.clone() {
            Field::Title(title) => issue.title = title,
            Field::Body(body) => issue.body = body,
            Field::Tags(tags) => issue.tags = tags,
            Field::Priority(priority) => issue.priority = priority,
            Field::State(state) => issue.state = state,
            Field::Epoch(epoch) => issue.epoch = epoch,
            Field::Hands(hands) => issue.hands = hands,
            Field::FailedSteps(steps) => issue.failed_steps = steps,
            Field::Policy(policy) => issue.policy = policy,
            Field::Work(work) => issue.work = work,
            Field::Key(key) => issue.key = key,
            Field::Pause(pause) => issue.pause = pause,
        }
    }
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// An issue came into being.
    IssueCreated {
        /// The issue as it began.
        issue: Box<Issue>,
        /// Its parent.
        parent: Option<IssueId>,
    },
    /// Fields of an issue changed.
    IssueChanged {
        /// Which issue.
        id: IssueId,
        /// The fields as they were.
        before: Vec<Field>,
        /// The same fields as they are now.
        after: Vec<Field>,
    },
    /// An issue moved to another parent.
    ParentSet {
        /// Which issue.
        id: IssueId,
        /// Its parent until now.
        before: Option<IssueId>,
        /// Its parent from now on.
        after: Option<IssueId>,
    },
    /// An edge was added.
    EdgeAdded {
        /// The edge.
        edge: Edge,
    },
    /// An edge was taken out.
    EdgeRemoved {
        /// The edge.
        edge: Edge,
    },
    /// Somebody posted to the forum.
    Posted {
        /// The post.
        post: Post,
    },
    /// A policy opened a scope, or the scope's record changed.
    ScopeSet {
        /// The record as it was; `None` when the scope opened.
        before: Option<Box<Scope>>,
        /// The record as it is.
        after: Box<Scope>,
    },
    /// A round opened, was judged, or ended.
    RoundSet {
        /// The record as it was; `None` when the round opened.
        before: Option<Box<Round>>,
        /// The record as it is.
        after: Box<Round>,
    },
    /// A human is asked.
    AskOpened {
        /// The ask.
        ask: Box<Ask>,
    },
    /// An ask was answered, or the answer withdrawn.
    AnswerSet {
        /// Which ask.
        id: IssueId,
        /// The answer until now.
        before: Option<Box<Answer>>,
        /// The answer from now on.
        after: Option<Box<Answer>>,
    },
    /// Who is to answer an ask, or by when, is another from now on.
    DutySet {
        /// Which ask.
        id: IssueId,
        /// What was so until now.
        before: Option<Box<Duty>>,
        /// What is so from now on.
        after: Option<Box<Duty>>,
    },
    /// Somebody is reminded of an ask: whoever sends notices takes it up from here.
    AskReminded {
        /// Which ask.
        id: IssueId,
        /// Who is to answer, and the reminder.
        duty: Box<Duty>,
    },
    /// A plan was applied to a root.
    PlanSet {
        /// The record as it was.
        before: Option<Box<PlanRecord>>,
        /// The record as it is.
        after: Box<PlanRecord>,
    },
    /// A root was found final, or came back to life.
    RootFinished {
        /// The root.
        id: IssueId,
        /// Whether it is finished from now on.
        finished: bool,
    },
    /// A heartbeat or cron entry was made, or is another from now on.
    HeartbeatSet {
        /// The record as it was; `None` when it was made.
        before: Option<Box<Heartbeat>>,
        /// The record as it is.
        after: Box<Heartbeat>,
    },
    /// A heartbeat or cron entry was taken away.
    HeartbeatRemoved {
        /// The record as it was.
        heartbeat: Box<Heartbeat>,
    },
    /// Somebody is to be told something, or that is another from now on.
    NoticeSet {
        /// The notice as it was; `None` when it came into the outbox.
        before: Option<Box<Notice>>,
        /// The notice as it is.
        after: Box<Notice>,
    },
    /// A notice left the outbox.
    NoticeEnded {
        /// The notice as it was.
        notice: Box<Notice>,
        /// How it ended.
        end: NoticeEnd,
    },
    /// An id may not be given to anything any more.
    IdReserved {
        /// The id.
        id: IssueId,
    },
    /// Something an import could not express.
    Annotated {
        /// The annotation.
        annotation: Annotation,
    },
    /// A step of an operation was carried out: what else its transaction has is what it did.
    OperationDone {
        /// The step, with its reply.
        operation: Box<Operation>,
    },
    /// The bulk of old events was moved to an archive.
    Compacted {
        /// Which events, and where to.
        compaction: Box<Compaction>,
    },
    /// A document got another text.
    DocumentSet {
        /// The text.
        edit: Box<DocumentEdit>,
    },
    /// A document was taken out.
    DocumentRemoved {
        /// Whose it was.
        root: IssueId,
        /// Its name.
        ui_id: String,
        /// Whether what it is about goes on: somebody wanted it out of sight.
        hidden: bool,
    },
}

impl Change {
    /// The change's word, as events and logs show it.
    pub fn name(&self) -> &'static str {
        match self {
            Change::IssueCreated { .. } => "issue_created",
            Change::IssueChanged { .. } => "issue_changed",
            Change::ParentSet { .. } => "parent_set",
            Change::EdgeAdded { .. } => "edge_added",
            Change::EdgeRemoved { .. } => "edge_removed",
            Change::Posted { .. } => "posted",
            Change::ScopeSet { .. } => "scope_set",
            Change::RoundSet { .. } => "round_set",
            Change::AskOpened { .. } => "ask_opened",
            Change::AnswerSet { .. } => "answer_set",
            Change::DutySet { .. } => "duty_set",
            Change::AskReminded { .. } => "ask_reminded",
            Change::PlanSet { .. } => "plan_set",
            Change::RootFinished { .. } => "root_finished",
            Change::HeartbeatSet { .. } => "heartbeat_set",
            Change::HeartbeatRemoved { .. } => "heartbeat_removed",
            Change::NoticeSet { .. } => "notice_set",
            Change::NoticeEnded { .. } => "notice_ended",
            Change::IdReserved { .. } => "id_reserved",
            Change::Annotated { .. } => "annotated",
            Change::OperationDone { .. } => "operation_done",
            Change::Compacted { .. } => "compacted",
            Change::DocumentSet { .. } => "document_set",
            Change::DocumentRemoved { .. } => "document_removed",
        }
    }

    /// The issue a change is about, where it is about one: the key of `history ID`.
    pub fn subject(&self) -> Option<&IssueId> {
        match self {
            Change::IssueCreated { issue, .. } => Some(&issue.id),
            Change::IssueChanged { id, .. }
            | Change::ParentSet { id, .. }
            | Change::AnswerSet { id, .. }
            | Change::DutySet { id, .. }
            | Change::AskReminded { id, .. }
            | Change::RootFinished { id, .. }
            | Change::IdReserved { id } => Some(id),
            Change::EdgeAdded { edge } | Change::EdgeRemoved { edge } => Some(&edge.to),
            Change::Posted { .. } | Change::OperationDone { .. } | Change::Compacted { .. } => None,
            Change::ScopeSet { after, .. } => Some(&after.id),
            Change::RoundSet { after, .. } => Some(&after.review),
            Change::AskOpened { ask } => Some(&ask.id),
            Change::PlanSet { after, .. } => Some(&after.root),
            Change::HeartbeatSet { after, .. } => Some(&after.root),
            Change::HeartbeatRemoved { heartbeat } => Some(&heartbeat.root),
            Change::NoticeSet { after: notice, .. } | Change::NoticeEnded { notice, .. } => {
                Some(&notice.id.ask)
            }
            Change::Annotated { annotation } => Some(&annotation.issue),
            Change::DocumentSet { edit } => Some(edit.document().0),
            Change::DocumentRemoved { root, .. } => Some(root),
        }
    }
}

/// A fact with its circumstances, as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Counts all events of a store, from 1, without gaps.
    pub seq: u64,
    /// When.
    pub at: Millis,
    /// Who did it.
    pub actor: Actor,
    /// The act or transition it was part of, such as `issues close` or `tick next_round`.
    pub cause: String,
    /// The first event of the tick it was part of, if a tick did it.
    pub tick: Option<u64>,
    /// The fact.
    #[serde(flatten)]
    pub change: Change,
}
