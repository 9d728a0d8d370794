//! Why an act is refused. Each reason is a value; the door that shows it adds the way out.

use thiserror::Error;

use super::apply::ApplyError;
use super::id::{Actor, IssueId};
use super::issue::{Outcome, TextError};
use super::record::{HeartbeatId, Opinion};
use super::tag::{Tag, TagSetError};

/// What sort of refusal it is; the program's exit codes follow this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A value nobody could accept.
    Invalid,
    /// The thing is not there.
    NotFound,
    /// Somebody else was first.
    Conflict,
    /// The rules forbid it.
    Refused,
    /// There is nothing to be done yet: the same call may find something later.
    NotYet,
}

/// Why an act is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The graph's shape forbids it.
    #[error(transparent)]
    Shape(#[from] ApplyError),
    /// A text field is not acceptable.
    #[error(transparent)]
    Text(#[from] TextError),
    /// A set of tags is not acceptable.
    #[error(transparent)]
    Tags(#[from] TagSetError),
    /// There is no such issue.
    #[error("there is no issue {0}")]
    NoIssue(IssueId),
    /// The issue is not a review.
    #[error("{0} is not the review of a round")]
    NotAReview(IssueId),
    /// The issue is not an ask.
    #[error("{0} is not an ask")]
    NotAnAsk(IssueId),
    /// Somebody holds it.
    #[error("{id} is held by {by}")]
    HeldBy {
        /// The issue.
        id: IssueId,
        /// The holder.
        by: Actor,
    },
    /// The actor does not hold it.
    #[error("{id} is not held by {actor}")]
    NotHolder {
        /// The issue.
        id: IssueId,
        /// The actor.
        actor: Actor,
    },
    /// The fencing number is not the current one.
    #[error("{}", outdated(.id, *.given, *.current))]
    Fenced {
        /// The issue.
        id: IssueId,
        /// What was given.
        given: u64,
        /// The current number.
        current: u64,
    },
    /// The issue is not ready, and why.
    #[error("{id} is not ready: {why}")]
    NotReady {
        /// The issue.
        id: IssueId,
        /// The reasons, joined.
        why: String,
    },
    /// Nothing is ready.
    #[error("nothing is ready{0}")]
    NothingReady(String),
    /// It is closed already, with another outcome.
    #[error("{id} is already closed as {outcome}")]
    AlreadyClosed {
        /// The issue.
        id: IssueId,
        /// Its outcome.
        outcome: Outcome,
    },
    /// An outcome needs the children to be further.
    #[error("{id} cannot be closed as {outcome}: its child {child} is {found}")]
    ChildInTheWay {
        /// The issue.
        id: IssueId,
        /// The outcome that was wanted.
        outcome: Outcome,
        /// The child.
        child: IssueId,
        /// What the child is: `open`, or `not resolved`.
        found: &'static str,
    },
    /// Skipping wants a reason.
    #[error("{0} cannot be skipped without a reason")]
    SkipNeedsReason(IssueId),
    /// Asks are answered, not closed or edited.
    #[error("{0} is an ask: only a human's answer settles it")]
    AskIsAnswered(IssueId),
    /// Reviews are judged, not skipped or expanded.
    #[error("{id} is a review: it cannot be closed as {outcome}")]
    ReviewIsJudged {
        /// The review.
        id: IssueId,
        /// What was tried.
        outcome: Outcome,
    },
    /// Closing a review wants an explicit outcome.
    #[error("{0} is a review: closing it is a verdict, so the outcome must be named")]
    ReviewNeedsOutcome(IssueId),
    /// The attempt is not resolved yet.
    #[error("{review} cannot be judged yet: its attempt {attempt} is not resolved")]
    AttemptPending {
        /// The review.
        review: IssueId,
        /// The attempt.
        attempt: IssueId,
    },
    /// Whoever worked on it may not judge it.
    #[error("{actor} worked at or below {attempt} and may not judge it in {review}")]
    SelfReview {
        /// The actor.
        actor: Actor,
        /// The attempt.
        attempt: IssueId,
        /// The review.
        review: IssueId,
    },
    /// Another verdict was first.
    #[error("{review} was already judged {} by {by}", .opinion.as_str())]
    AlreadyJudged {
        /// The review.
        review: IssueId,
        /// The verdict that stands.
        opinion: Opinion,
        /// Who gave it.
        by: Actor,
        /// Whether a tick has acted on it.
        used: bool,
    },
    /// A tick has acted on the verdict.
    #[error("a tick has already acted on the round of {0}")]
    RoundEnded(IssueId),
    /// There is nothing to withdraw.
    #[error("{0} has nothing that could be withdrawn")]
    NothingToWithdraw(IssueId),
    /// Only the author withdraws.
    #[error("only {by} may withdraw what {by} recorded on {id}")]
    NotTheAuthor {
        /// The issue.
        id: IssueId,
        /// The author.
        by: Actor,
    },
    /// Another answer was first.
    #[error("{ask} was already answered {choice} by {by}")]
    AlreadyAnswered {
        /// The ask.
        ask: IssueId,
        /// The choice that stands.
        choice: String,
        /// Who answered.
        by: Actor,
        /// Whether a tick has acted on it.
        used: bool,
    },
    /// The ask is settled, or went away with what is above it.
    #[error("{0} is settled: there is nothing left to decide")]
    AskSettled(IssueId),
    /// Not one of the ask's choices.
    #[error("{choice:?} is not a choice of {ask}; the choices are {choices}")]
    NoSuchChoice {
        /// The ask.
        ask: IssueId,
        /// What was given.
        choice: String,
        /// What there is.
        choices: String,
    },
    /// An option that the choice does not take.
    #[error("{choice} takes no {option}")]
    ChoiceOption {
        /// The choice.
        choice: String,
        /// The option.
        option: &'static str,
    },
    /// A number outside its range.
    #[error("{name} must be {range}, not {given:?}")]
    OutOfRange {
        /// What it is called.
        name: &'static str,
        /// What is accepted.
        range: &'static str,
        /// What was given.
        given: String,
    },
    /// The bounds of an opened scope are fixed.
    #[error("the bounds of {0} were fixed when its first round opened")]
    BoundsFixed(IssueId),
    /// Tags, parents and edges of round nodes change only through the engine.
    #[error("{id} is part of round {round} of {scope}: only the engine changes its {what}")]
    RoundNode {
        /// The round node.
        id: IssueId,
        /// The scope.
        scope: IssueId,
        /// The round.
        round: u32,
        /// `tags`, `parent` or `edges`.
        what: &'static str,
    },
    /// The work of a decided round does not change.
    #[error("{id} belongs to round {round} of {scope}, which is already decided")]
    RoundDecided {
        /// The issue.
        id: IssueId,
        /// The scope.
        scope: IssueId,
        /// The round.
        round: u32,
    },
    /// A parent that takes no more children.
    #[error("{parent} takes no more children: it is {found}")]
    NoMoreChildren {
        /// The parent.
        parent: IssueId,
        /// Why.
        found: &'static str,
    },
    /// What is superseded stays as it is.
    #[error("{id} was superseded by {by}")]
    Superseded {
        /// The issue.
        id: IssueId,
        /// Its successor.
        by: IssueId,
    },
    /// A successor stays where what it replaced lies.
    #[error("{id} took the place of {old}, and stays beside it")]
    StaysBeside {
        /// The successor.
        id: IssueId,
        /// What it superseded.
        old: IssueId,
    },
    /// Nothing starts below what has ended.
    #[error("{id} lies below {ancestor}, which has ended")]
    BelowEnded {
        /// The issue.
        id: IssueId,
        /// The ancestor.
        ancestor: IssueId,
    },
    /// A scope with rounds ends through its rounds.
    #[error("{0} is a scope with rounds: it goes on through its rounds and asks")]
    ScopeIsOpened(IssueId),
    /// Policy tags are only put on open, unclaimed issues.
    #[error("{tag} can only be put on an open issue that nobody holds; {id} is {status}")]
    TagNeedsOpen {
        /// The tag.
        tag: Tag,
        /// The issue.
        id: IssueId,
        /// Its status.
        status: &'static str,
    },
    /// An ask stays an ask.
    #[error("{0} is an ask: its protocol tags stay as they are")]
    AskStaysAsk(IssueId),
    /// An issue with children cannot become a question.
    #[error("{0} has children, so it cannot become an ask")]
    AskWithChildren(IssueId),
    /// Work that was begun or is judged does not turn into a question, which anybody may settle.
    #[error("{id} {why}: it does not turn into a question")]
    WorkStaysWork {
        /// The issue.
        id: IssueId,
        /// What it has to do with work.
        why: &'static str,
    },
    /// A packet in a topic says two things, or nothing.
    #[error("the packet is refused: {0}")]
    BadPacket(String),
    /// Only failed work is tried again.
    #[error("{id} is {found}: only what closed as failure or needs_work is tried again")]
    NothingToRetry {
        /// The issue.
        id: IssueId,
        /// What it is.
        found: String,
    },
    /// An engine's edge.
    #[error("{0} was made by the engine and goes away with the answer")]
    EngineEdge(super::graph::Edge),
    /// Supersession by hand.
    #[error("a supersedes edge is made by a retry or by the engine, not by hand")]
    SupersedeByHand,
    /// No heartbeat or cron entry has this id, prefix or root.
    #[error("there is no {kind} {text}")]
    NoHeartbeat {
        /// `heartbeat` or `cron entry`.
        kind: &'static str,
        /// What was given.
        text: String,
    },
    /// A root has one heartbeat at most.
    #[error("{root} has a heartbeat already: {heartbeat}")]
    HasHeartbeat {
        /// The root.
        root: IssueId,
        /// Its heartbeat.
        heartbeat: HeartbeatId,
    },
    /// What is final is not ticked any more.
    #[error("{0} is final, and there is nothing left to tick")]
    RootIsFinal(IssueId),
    /// It was due once, and that is over.
    #[error("{0} was to be due once, and that moment is over")]
    MomentOver(HeartbeatId),
    /// A default that a human must choose.
    #[error(
        "{0:?} is never chosen by itself: a default is {choices}, or a choice of a plain question",
        choices = super::act::assign::BY_TIMEOUT.join(", ")
    )]
    NotByTimeout(String),
    /// What an ask wants is set by assigning it.
    #[error("{0} is an ask: who is to answer, and by when, is said by assigning it")]
    AskIsAssigned(IssueId),
    /// Who pauses says why.
    #[error("pausing {0} needs a reason")]
    PauseNeedsReason(IssueId),
    /// There is nothing that a pause would keep from starting.
    #[error("{id} is {found}: there is nothing to pause")]
    NothingToPause {
        /// The issue.
        id: IssueId,
        /// What it is.
        found: &'static str,
    },
    /// The stored rounds and the graph contradict each other.
    #[error("{scope} is stuck: {why}")]
    Stuck {
        /// The scope.
        scope: IssueId,
        /// What contradicts what.
        why: String,
    },
}

/// An old fencing number: the issue was given back or taken away, and maybe claimed again.
fn outdated(id: &IssueId, given: u64, current: u64) -> String {
    if given == current {
        return format!("{id} is not held under the fencing number {given} any more");
    }
    format!("{id} was claimed again since: the fencing number is {current}, not {given}")
}

impl Refusal {
    /// What sort of refusal it is.
    pub fn class(&self) -> Class {
        match self {
            Refusal::NoIssue(_)
            | Refusal::NoHeartbeat { .. }
            | Refusal::Shape(
                ApplyError::NoIssue(_)
                | ApplyError::NoAsk(_)
                | ApplyError::NoHeartbeat(_)
                | ApplyError::NoNotice(_),
            ) => Class::NotFound,
            Refusal::Text(_)
            | Refusal::Tags(_)
            | Refusal::NoSuchChoice { .. }
            | Refusal::ChoiceOption { .. }
            | Refusal::OutOfRange { .. }
            | Refusal::SkipNeedsReason(_)
            | Refusal::PauseNeedsReason(_)
            | Refusal::NotByTimeout(_)
            | Refusal::BadPacket(_) => Class::Invalid,
            Refusal::HeldBy { .. }
            | Refusal::NotHolder { .. }
            | Refusal::Fenced { .. }
            | Refusal::AlreadyClosed { .. }
            | Refusal::AlreadyJudged { .. }
            | Refusal::AlreadyAnswered { .. }
            | Refusal::AskSettled(_)
            | Refusal::HasHeartbeat { .. }
            | Refusal::RoundEnded(_)
            | Refusal::Shape(ApplyError::EdgeExists(_) | ApplyError::IdTaken(_)) => Class::Conflict,
            Refusal::NothingReady(_) => Class::NotYet,
            _ => Class::Refused,
        }
    }

    /// A stable word for programs: the `code` of a JSON error.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Shape(ApplyError::Deadlock(_)) => "deadlock",
            Refusal::Shape(ApplyError::OwnAncestor(_)) => "own_ancestor",
            Refusal::HeldBy { .. } => "held",
            Refusal::NotReady { .. } => "not_ready",
            Refusal::NothingReady(_) => "nothing_ready",
            Refusal::SelfReview { .. } => "self_review",
            Refusal::AlreadyJudged { .. } => "already_judged",
            Refusal::AlreadyAnswered { .. } => "already_answered",
            Refusal::AskIsAnswered(_) => "ask_is_answered",
            Refusal::Stuck { .. } => "stuck",
            _ => match self.class() {
                Class::Invalid => "invalid",
                Class::NotFound => "not_found",
                Class::Conflict => "conflict",
                Class::Refused => "refused",
                Class::NotYet => "not_yet",
            },
        }
    }
}
