//! What a tick can decide, as data.

use crate::model::id::IssueId;

/// What comes next for a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This transition.
    Act(Transition),
    /// Somebody else must move first.
    Wait(Waiting),
    /// The root is final, and everything about it is put away.
    Done,
    /// Nobody can move: the graph or the records contradict themselves.
    Stuck(String),
}

/// Who must move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// Whoever works on attempts and plain issues.
    Worker,
    /// Whoever reviews.
    Reviewer,
    /// A human.
    Human,
}

impl Actor {
    /// The actor's word in `waiting_on`.
    pub fn as_str(self) -> &'static str {
        match self {
            Actor::Worker => "worker",
            Actor::Reviewer => "reviewer",
            Actor::Human => "human",
        }
    }
}

/// Who must move, on what, and what for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Who.
    pub actor: Actor,
    /// On which issue.
    pub issue: IssueId,
    /// What for, as the end of "waits for ...".
    pub what: String,
}

/// Why a round failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Its review said needs_work.
    Verdict,
    /// Its attempt failed, and nothing in it can move any more.
    AttemptFailed,
}

/// One transition. Everything it depends on is in the snapshot it was decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// Round 1 of a scope.
    OpenRound {
        /// The scope.
        scope: IssueId,
    },
    /// A pair made by hand becomes round 1.
    AdoptRound {
        /// The scope.
        scope: IssueId,
        /// The attempt found there.
        attempt: IssueId,
        /// The review found there.
        review: IssueId,
    },
    /// The next attempt and review.
    NextRound {
        /// The scope.
        scope: IssueId,
        /// The round that failed.
        failed: u32,
        /// Why.
        cause: Cause,
    },
    /// The review passed.
    AcceptRound {
        /// The scope.
        scope: IssueId,
        /// The round.
        round: u32,
    },
    /// The rounds are used up or make no progress: a human is asked.
    Escalate {
        /// The scope.
        scope: IssueId,
        /// The round that failed last.
        round: u32,
        /// Why it failed.
        cause: Cause,
        /// Whether the same failure came again before the rounds were used up.
        no_progress: bool,
    },
    /// Something failed that no policy takes care of: a human is asked.
    EscalateFailure {
        /// What failed.
        issue: IssueId,
    },
    /// Steps were lost or failed too often: a human is asked.
    EscalateSteps {
        /// What does not get done.
        issue: IssueId,
    },
    /// A human opened further rounds.
    GrantRounds {
        /// The ask.
        ask: IssueId,
    },
    /// A human accepted the work over the verdict, or finished it by hand.
    Waive {
        /// The ask.
        ask: IssueId,
    },
    /// A human takes the work over.
    HandOff {
        /// The ask.
        ask: IssueId,
    },
    /// A human gave the scope up.
    Abandon {
        /// The ask.
        ask: IssueId,
    },
    /// A human wants it tried again.
    Retry {
        /// The ask.
        ask: IssueId,
    },
    /// A human does without it.
    Skip {
        /// The ask.
        ask: IssueId,
    },
    /// A human answered a plain question.
    Settle {
        /// The ask.
        ask: IssueId,
    },
    /// What a human was asked about has gone away.
    Moot {
        /// The ask.
        ask: IssueId,
    },
    /// Nobody answered in time: the default is the answer.
    TimeOut {
        /// The ask.
        ask: IssueId,
    },
    /// Somebody is reminded of an ask.
    Remind {
        /// The ask.
        ask: IssueId,
    },
    /// A lease ran out.
    Reclaim {
        /// The issue it was for.
        issue: IssueId,
    },
    /// Everything in a container is resolved.
    RollUp {
        /// The container.
        issue: IssueId,
    },
    /// The root is final.
    Finish {
        /// The root.
        root: IssueId,
    },
}

impl Transition {
    /// The transition's kind, as `tick --json` prints it.
    pub fn kind(&self) -> &'static str {
        match self {
            Transition::OpenRound { .. } => "open_round",
            Transition::AdoptRound { .. } => "adopt_round",
            Transition::NextRound { .. } => "next_round",
            Transition::AcceptRound { .. } => "accept_round",
            Transition::Escalate { .. }
            | Transition::EscalateFailure { .. }
            | Transition::EscalateSteps { .. } => "escalate",
            Transition::GrantRounds { .. } => "grant_rounds",
            Transition::Waive { .. } => "waive",
            Transition::HandOff { .. } => "hand_off",
            Transition::Abandon { .. } => "abandon",
            Transition::Retry { .. } => "retry",
            Transition::Skip { .. } => "skip",
            Transition::Settle { .. } => "settle",
            Transition::Moot { .. } => "moot",
            Transition::TimeOut { .. } => "time_out",
            Transition::Remind { .. } => "remind",
            Transition::Reclaim { .. } => "reclaim",
            Transition::RollUp { .. } => "roll_up",
            Transition::Finish { .. } => "finish",
        }
    }

    /// The issue it is about: a scope, an ask, or what failed.
    pub fn subject(&self) -> &IssueId {
        match self {
            Transition::OpenRound { scope }
            | Transition::AdoptRound { scope, .. }
            | Transition::NextRound { scope, .. }
            | Transition::AcceptRound { scope, .. }
            | Transition::Escalate { scope, .. } => scope,
            Transition::GrantRounds { ask }
            | Transition::Waive { ask }
            | Transition::HandOff { ask }
            | Transition::Abandon { ask }
            | Transition::Retry { ask }
            | Transition::Skip { ask }
            | Transition::Settle { ask }
            | Transition::Moot { ask }
            | Transition::TimeOut { ask }
            | Transition::Remind { ask } => ask,
            Transition::EscalateFailure { issue }
            | Transition::EscalateSteps { issue }
            | Transition::Reclaim { issue }
            | Transition::RollUp { issue } => issue,
            Transition::Finish { root } => root,
        }
    }
}
