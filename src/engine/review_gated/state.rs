//! The state of a scope in one word, for `tick`, `rounds show` and the status documents.

use super::{contradiction, live};
use crate::engine::progress;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::Outcome;
use crate::model::record::{Ask, AskKind, Opinion, ScopeEnd};
use crate::model::snapshot::Snapshot;

/// Where a scope stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeState {
    /// No round yet.
    NoRound,
    /// The attempt is not resolved.
    AttemptPending,
    /// The attempt is resolved, and the review is not acted on.
    ReviewPending,
    /// The round failed; the next tick acts on it.
    RoundFailed,
    /// A human is asked.
    Escalated,
    /// A human has taken the work over.
    HandedOff,
    /// It or something above it is paused.
    Paused,
    /// A review passed.
    Passed,
    /// A human accepted or finished the work.
    Waived,
    /// A human gave it up, or something above it ended.
    Abandoned,
    /// The records and the graph contradict each other.
    Stuck,
}

impl ScopeState {
    /// The state's word.
    pub fn as_str(self) -> &'static str {
        match self {
            ScopeState::NoRound => "no_round",
            ScopeState::AttemptPending => "attempt_pending",
            ScopeState::ReviewPending => "review_pending",
            ScopeState::RoundFailed => "round_failed",
            ScopeState::Escalated => "escalated",
            ScopeState::HandedOff => "handed_off",
            ScopeState::Paused => "paused",
            ScopeState::Passed => "passed",
            ScopeState::Waived => "waived",
            ScopeState::Abandoned => "abandoned",
            ScopeState::Stuck => "stuck",
        }
    }
}

/// The open asks about a scope's rounds, in the total order. They lie below the latest round: what is asked
/// about the round below its review, what is asked about lost steps below whatever the steps were for. With
/// another round, the ask that opened it is settled.
pub fn open_asks(snapshot: &Snapshot, scope: Ix) -> Vec<&Ask> {
    let graph = snapshot.graph();
    let Some(round) = snapshot.last_round(graph.id(scope)) else { return Vec::new() };
    let halves: Vec<Ix> = [&round.attempt, &round.review].into_iter().filter_map(|id| graph.ix(id)).collect();
    let mut below: Vec<Ix> = halves.iter().flat_map(|&half| graph.children(half).to_vec()).collect();
    // The parts of an expanded attempt lie deeper.
    let expanded = |&&half: &&Ix| graph.issue(half).state.outcome() == Some(Outcome::Expanded);
    if let Some(&attempt) = halves.first().filter(expanded) {
        below.extend(snapshot.listed(List::Asking, Some(attempt)).all());
    }
    below.retain(|&ix| !graph.issue(ix).state.closed() && graph.issue(ix).tags.ask());
    below.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
    below.dedup();
    let asks = below.into_iter().filter_map(|ix| snapshot.ask(graph.id(ix)));
    asks.filter(|ask| ask.scope.as_ref() == Some(graph.id(scope))).collect()
}

/// The state of a node with the policy's tag.
pub fn state(snapshot: &Snapshot, ix: Ix) -> ScopeState {
    let graph = snapshot.graph();
    let id = graph.id(ix);
    let Some(scope) = snapshot.scope(id) else {
        return match live(snapshot, ix) {
            true if snapshot.relation().paused(ix) => ScopeState::Paused,
            true => ScopeState::NoRound,
            false => ScopeState::Abandoned,
        };
    };
    match scope.end {
        Some(ScopeEnd::Passed) => return ScopeState::Passed,
        Some(ScopeEnd::Waived) => return ScopeState::Waived,
        Some(ScopeEnd::Abandoned) => return ScopeState::Abandoned,
        None if !live(snapshot, ix) => return ScopeState::Abandoned,
        None => {}
    }
    if contradiction(snapshot, scope).is_some() {
        return ScopeState::Stuck;
    }
    let open_ask = |kind: AskKind| open_asks(snapshot, ix).into_iter().any(|ask| ask.kind == kind);
    if open_ask(AskKind::Handoff) {
        return ScopeState::HandedOff;
    }
    if open_ask(AskKind::Rounds) || open_ask(AskKind::Steps) {
        return ScopeState::Escalated;
    }
    if snapshot.relation().paused(ix) {
        return ScopeState::Paused;
    }
    let Some(round) = snapshot.last_round(id) else { return ScopeState::NoRound };
    let Some(attempt) = graph.ix(&round.attempt) else { return ScopeState::Stuck };
    let needs_work = round.verdict.as_ref().is_some_and(|verdict| verdict.opinion == Opinion::NeedsWork);
    if needs_work || progress::failed_for_good(snapshot, attempt) {
        ScopeState::RoundFailed
    } else if snapshot.relation().resolved(attempt) {
        ScopeState::ReviewPending
    } else {
        ScopeState::AttemptPending
    }
}
