//! Do the stored rounds and the graph say the same? Where they contradict each other no transition
//! guesses: the scope is stuck, and a human is told why.

use super::POLICY;
use crate::model::graph::EdgeKind;
use crate::model::issue::Outcome;
use crate::model::record::{Round, Scope};
use crate::model::snapshot::Snapshot;
use crate::model::tag::{FLOW_ATTEMPT, FLOW_REVIEW};

/// The first contradiction between a scope's records and the graph.
pub fn contradiction(snapshot: &Snapshot, scope: &Scope) -> Option<String> {
    if scope.policy != POLICY {
        return Some(format!("its policy {} is not one this engine knows", scope.policy));
    }
    let rounds: Vec<&Round> = snapshot.rounds(&scope.id).collect();
    if rounds.is_empty() {
        return Some("it was opened, and has no round".to_owned());
    }
    let last = rounds.len() - 1;
    rounds.iter().enumerate().find_map(|(at, round)| {
        let above = if at == 0 { &scope.id } else { &rounds[at - 1].review };
        let wrong = if usize::try_from(round.number).is_ok_and(|number| number == at + 1) {
            broken_round(snapshot, round, above, at == last)
        } else {
            Some(format!("its number is {} where {} was expected", round.number, at + 1))
        };
        wrong.map(|why| format!("round {}: {why}", at + 1))
    })
}

fn broken_round(
    snapshot: &Snapshot,
    round: &Round,
    above: &crate::model::id::IssueId,
    last: bool,
) -> Option<String> {
    let graph = snapshot.graph();
    let (Some(attempt), Some(review), Some(above)) =
        (graph.ix(&round.attempt), graph.ix(&round.review), graph.ix(above))
    else {
        return Some("one of its issues is missing".to_owned());
    };
    for (ix, tag) in [(attempt, FLOW_ATTEMPT), (review, FLOW_REVIEW)] {
        let id = graph.id(ix);
        if graph.parent(ix) != Some(above) {
            return Some(format!("{id} is not a child of {}", graph.id(above)));
        }
        if !graph.issue(ix).tags.has(tag) || !graph.issue(ix).tags.executable() {
            return Some(format!("{id} is not an executable issue tagged {tag}"));
        }
    }
    let closed = graph.issue(review).state.outcome();
    if last && round.end.is_none() {
        if let Some(outcome) = closed {
            return Some(format!("{} is closed as {outcome} without a verdict", round.review));
        }
        if !graph.has_edge(attempt, EdgeKind::Blocks, review) {
            return Some(format!("{} does not block {}", round.attempt, round.review));
        }
    }
    if !last && closed != Some(Outcome::Expanded) {
        return Some(format!("{} is not closed as expanded", round.review));
    }
    None
}
