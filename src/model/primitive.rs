//! The primitives: the only ways to change the graph's shape, and the records beside them. Data, so
//! that a tick can show what it would do; [`super::apply`] carries them out.

use serde::Serialize;

use super::change::Field;
use super::document::DocumentEdit;
use super::duty::{Duty, Reminder};
use super::id::{Actor, IssueId};
use super::issue::{Claim, Issue, Outcome};
use super::record::{
    Annotation, Answer, Ask, Heartbeat, HeartbeatId, Notice, NoticeEnd, NoticeId, PlanRecord, Round, Scope,
};
use super::tag::Kind;

/// One step of an act or a transition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "primitive", rename_all = "snake_case")]
pub enum Primitive {
    /// A new node, below a parent or alone: spawn, fork, ask, or the like, by its kind.
    Create {
        /// The node.
        issue: Box<Issue>,
        /// Its parent.
        parent: Option<IssueId>,
    },
    /// New values for fields that are neither state nor shape.
    Edit {
        /// The issue.
        id: IssueId,
        /// The values.
        fields: Vec<Field>,
    },
    /// Another parent, or none.
    Reparent {
        /// The child.
        id: IssueId,
        /// The parent from now on.
        parent: Option<IssueId>,
    },
    /// `blocker` must be resolved before `blocked` may start.
    Serial {
        /// The blocker.
        blocker: IssueId,
        /// The blocked.
        blocked: IssueId,
    },
    /// Takes such an edge out.
    Undep {
        /// The blocker.
        blocker: IssueId,
        /// The blocked.
        blocked: IssueId,
    },
    /// `new` takes the place of `old`.
    Supersede {
        /// The successor.
        new: IssueId,
        /// The superseded.
        old: IssueId,
    },
    /// Takes such an edge out.
    Unsupersede {
        /// The successor.
        new: IssueId,
        /// The superseded.
        old: IssueId,
    },
    /// Gives the issue to a holder, or renews what the holder has.
    Claim {
        /// The issue.
        id: IssueId,
        /// The claim as it will be.
        claim: Claim,
    },
    /// Takes the issue from its holder; `lost` counts a failed step.
    Release {
        /// The issue.
        id: IssueId,
        /// Whether a step was lost or failed.
        lost: bool,
    },
    /// Ends the issue.
    Close {
        /// The issue.
        id: IssueId,
        /// How.
        outcome: Outcome,
        /// Why.
        reason: Option<String>,
        /// Who did the work, when that was not the engine.
        by: Option<Actor>,
    },
    /// Brings a closed issue back.
    Open {
        /// The issue.
        id: IssueId,
    },
    /// Says something in a topic.
    Post {
        /// The topic.
        topic: String,
        /// What is said.
        body: String,
    },
    /// Records a scope.
    SetScope {
        /// The record.
        scope: Box<Scope>,
    },
    /// Records a round.
    SetRound {
        /// The record.
        round: Box<Round>,
    },
    /// Records what is asked on a node of `kind:ask`.
    OpenAsk {
        /// The record.
        ask: Box<Ask>,
    },
    /// Records or withdraws an answer.
    SetAnswer {
        /// The ask.
        id: IssueId,
        /// The answer.
        answer: Option<Box<Answer>>,
    },
    /// Records who is to answer an ask, and by when.
    SetDuty {
        /// The ask.
        id: IssueId,
        /// The record.
        duty: Option<Box<Duty>>,
    },
    /// Records that somebody is reminded of an ask.
    Remind {
        /// The ask.
        id: IssueId,
        /// The reminder.
        reminder: Reminder,
    },
    /// Records a plan.
    SetPlan {
        /// The record.
        plan: Box<PlanRecord>,
    },
    /// Marks a root as finished, or as alive again. What ticks it stops, or starts again.
    FinishRoot {
        /// The root.
        id: IssueId,
        /// Which of the two.
        finished: bool,
    },
    /// Records a heartbeat or cron entry.
    SetHeartbeat {
        /// The record.
        heartbeat: Box<Heartbeat>,
    },
    /// Takes one away.
    RemoveHeartbeat {
        /// Which.
        id: HeartbeatId,
    },
    /// Records what somebody is to be told.
    SetNotice {
        /// The record.
        notice: Box<Notice>,
    },
    /// Takes it out of the outbox.
    EndNotice {
        /// Which.
        id: NoticeId,
        /// How it ended.
        end: NoticeEnd,
    },
    /// Keeps an id from ever being given out.
    Reserve {
        /// The id.
        id: IssueId,
    },
    /// Keeps what an import could not express.
    Annotate {
        /// The annotation.
        annotation: Annotation,
    },
    /// Gives a document another text.
    SetDocument {
        /// The text.
        edit: Box<DocumentEdit>,
    },
    /// Takes a document out.
    RemoveDocument {
        /// Whose it is.
        root: IssueId,
        /// Its name.
        ui_id: String,
        /// Whether what it is about goes on.
        hidden: bool,
    },
}

impl Primitive {
    /// The protocol's word for it: `spawn fork ask expand complete serial`, the life cycle's words,
    /// or `record` for what only the policies see.
    pub fn word(&self) -> &'static str {
        match self {
            Primitive::Create { issue, .. } => match issue.tags.kind() {
                Some(Kind::Fork) => "fork",
                Some(Kind::Ask) => "ask",
                Some(Kind::Spawn) => "spawn",
                _ => "create",
            },
            Primitive::Edit { .. } => "update",
            Primitive::Reparent { .. } => "reparent",
            Primitive::Serial { .. } => "serial",
            Primitive::Undep { .. } => "undep",
            Primitive::Supersede { .. } => "supersede",
            Primitive::Unsupersede { .. } => "unsupersede",
            Primitive::Claim { .. } => "claim",
            Primitive::Release { .. } => "release",
            Primitive::Close { outcome: Outcome::Expanded, .. } => "expand",
            Primitive::Close { outcome: Outcome::Success, .. } => "complete",
            Primitive::Close { .. } => "close",
            Primitive::Open { .. } => "open",
            Primitive::Post { .. } => "post",
            Primitive::SetScope { .. }
            | Primitive::SetRound { .. }
            | Primitive::OpenAsk { .. }
            | Primitive::SetAnswer { .. }
            | Primitive::SetDuty { .. }
            | Primitive::Remind { .. }
            | Primitive::SetPlan { .. }
            | Primitive::FinishRoot { .. }
            | Primitive::SetHeartbeat { .. }
            | Primitive::RemoveHeartbeat { .. }
            | Primitive::SetNotice { .. }
            | Primitive::EndNotice { .. }
            | Primitive::Reserve { .. }
            | Primitive::Annotate { .. }
            | Primitive::SetDocument { .. }
            | Primitive::RemoveDocument { .. } => "record",
        }
    }
}
