//! Failures that no round and no policy takes care of, and steps that were lost too often: a human is
//! asked, once.

use std::collections::BTreeSet;

use super::decision::Transition;
use super::progress;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::Outcome;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;
use crate::model::steps;

/// What a human must be asked about first in the tree of a root.
pub fn uncovered(snapshot: &Snapshot, root: Ix, defaults: &Bounds) -> Option<Transition> {
    let graph = snapshot.graph();
    let failed = snapshot.listed(List::Failed, Some(root)).first(|ix| needs_ask(snapshot, root, ix));
    let lost = snapshot.listed(List::StepsLost, Some(root)).first(|ix| steps_used_up(snapshot, ix, defaults));
    let first =
        failed.into_iter().chain(lost).min_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()))?;
    let issue = graph.id(first).clone();
    Some(match Some(first) == failed {
        true => Transition::EscalateFailure { issue },
        false => Transition::EscalateSteps { issue },
    })
}

/// The scopes whose latest attempt has an unresolved failure at or below it.
pub fn scopes_of_failures(snapshot: &Snapshot, root: Ix) -> BTreeSet<Ix> {
    let graph = snapshot.graph();
    let failed = snapshot.listed(List::Failed, Some(root)).all().into_iter();
    let attempts = failed.flat_map(|ix| graph.self_and_ancestors(ix));
    let rounds = attempts.filter_map(|up| snapshot.attempt_round(graph.id(up)));
    rounds.filter(|round| round.end.is_none()).filter_map(|round| graph.ix(&round.scope)).collect()
}

/// An unresolved failure that nothing supersedes and no undecided round covers. A root that failed is
/// its owner's to reopen or retry, since nothing stands beside it.
fn needs_ask(snapshot: &Snapshot, root: Ix, ix: Ix) -> bool {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let failed = graph.issue(ix).state.outcome().is_some_and(Outcome::unsuccessful);
    if !failed || ix == root || relation.resolved(ix) || relation.finished(ix) {
        return false;
    }
    let superseded = graph.self_and_ancestors(ix).any(|up| !graph.superseded_by(up).is_empty());
    !superseded && !covered_by_round(snapshot, ix)
}

/// Whether the failure lies at or below the attempt of a round that a tick has yet to end. Such a
/// round fails with it, once nothing else in it can move.
fn covered_by_round(snapshot: &Snapshot, ix: Ix) -> bool {
    let graph = snapshot.graph();
    graph.self_and_ancestors(ix).any(|up| {
        let round = snapshot.attempt_round(graph.id(up));
        round.is_some_and(|round| round.end.is_none() && scope_goes_on(snapshot, &round.scope))
    })
}

fn scope_goes_on(snapshot: &Snapshot, scope: &crate::model::id::IssueId) -> bool {
    let record = snapshot.scope(scope);
    let ix = snapshot.graph().ix(scope);
    matches!((record, ix), (Some(record), Some(ix))
        if record.end.is_none() && super::review_gated::live(snapshot, ix))
}

/// Whether an issue nobody holds has lost more steps than its scope allows to try again. Below
/// something that has ended nobody goes on with it, and nobody is asked.
fn steps_used_up(snapshot: &Snapshot, ix: Ix, defaults: &Bounds) -> bool {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let issue = graph.issue(ix);
    let ended = relation.let_go(ix) || relation.finished(ix);
    if ended || issue.state.status() != "open" || issue.failed_steps == 0 {
        return false;
    }
    let asked = graph.children(ix).iter().any(|&child| {
        let ask = snapshot.ask(graph.id(child));
        ask.is_some_and(|ask| ask.kind == crate::model::record::AskKind::Steps) && !relation.resolved(child)
    });
    !asked && steps::used_up(snapshot, ix, defaults.step_retries).is_some()
}

/// What went wrong at or below an attempt, for whoever tries next.
pub fn notes(snapshot: &Snapshot, attempt: Ix) -> String {
    let graph = snapshot.graph();
    let failed = progress::failures(snapshot, attempt);
    let lines: Vec<String> = failed
        .iter()
        .take(5)
        .map(|&ix| {
            let issue = graph.issue(ix);
            let reason = issue.state.reason().filter(|reason| !reason.is_empty());
            let reason = reason.unwrap_or("no reason was given");
            if ix == attempt { reason.to_owned() } else { format!("{}: {reason}", issue.title) }
        })
        .collect();
    lines.join("\n")
}
