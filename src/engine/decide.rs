//! Which transition a root wants next. The order is total: answers, reclaims, verdicts and failed
//! rounds (innermost first), failures, opening rounds, roll-up; within one class by priority, age, id.

use super::answers;
use super::decision::{Decision, Transition};
use super::failures;
use super::review_gated;
use super::waiting;
use crate::model::graph::Ix;
use crate::model::issue::Millis;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;

/// What comes next for the tree at or below `root`.
pub fn decide(snapshot: &Snapshot, root: Ix, now: Millis, defaults: &Bounds) -> Decision {
    let below = snapshot.graph().subtree(root);
    let classes: [&dyn Fn() -> Vec<(Ix, Transition)>; 6] = [
        &|| each(&below, |ix| answered(snapshot, ix)),
        &|| each(&below, |ix| lapsed(snapshot, ix, now)),
        &|| judged(snapshot, &below),
        &|| failures::uncovered(snapshot, root, defaults),
        &|| each(&below, |ix| review_gated::opening(snapshot, ix)),
        &|| each(&below, |ix| complete(snapshot, ix)),
    ];
    for class in classes {
        if let Some(transition) = first(snapshot, class()) {
            return Decision::Act(transition);
        }
    }
    let id = snapshot.graph().id(root);
    if snapshot.relation().is_final(root) {
        let driven = below.iter().any(|&ix| {
            snapshot.graph().issue(ix).tags.container() || snapshot.scope(snapshot.graph().id(ix)).is_some()
        });
        return if driven && !snapshot.root_finished(id) {
            Decision::Act(Transition::Finish { root: id.clone() })
        } else {
            Decision::Done
        };
    }
    waiting::who_moves(snapshot, root, &below)
}

fn each(below: &[Ix], want: impl Fn(Ix) -> Option<Transition>) -> Vec<(Ix, Transition)> {
    below.iter().filter_map(|&ix| want(ix).map(|transition| (ix, transition))).collect()
}

fn first(snapshot: &Snapshot, wanted: Vec<(Ix, Transition)>) -> Option<Transition> {
    let graph = snapshot.graph();
    let best =
        wanted.into_iter().min_by(|(a, _), (b, _)| graph.issue(*a).rank().cmp(&graph.issue(*b).rank()));
    best.map(|(_, transition)| transition)
}

/// A human has answered, and no tick has used the answer. Below something that has ended an answer waits:
/// a closed root spawns nothing more, and the answer stands should the root come back.
fn answered(snapshot: &Snapshot, ix: Ix) -> Option<Transition> {
    let (issue, relation) = (snapshot.graph().issue(ix), snapshot.relation());
    if issue.state.closed() || relation.let_go(ix) || relation.finished(ix) {
        return None;
    }
    snapshot.ask(&issue.id).and_then(answers::transition)
}

/// A lease ran out: the step is lost, and the issue is anybody's again.
fn lapsed(snapshot: &Snapshot, ix: Ix, now: Millis) -> Option<Transition> {
    let issue = snapshot.graph().issue(ix);
    let claim = issue.state.claim()?;
    claim.expired(now).then(|| Transition::Reclaim { issue: issue.id.clone() })
}

/// Scopes whose round was judged or failed. Only the innermost compete: an inner scope runs to its
/// bound before an outer one looks at what became of it.
fn judged(snapshot: &Snapshot, below: &[Ix]) -> Vec<(Ix, Transition)> {
    let graph = snapshot.graph();
    let mut wanted = each(below, |ix| {
        snapshot.scope(graph.id(ix)).and_then(|scope| review_gated::verdict_or_failure(snapshot, scope))
    });
    let depth = |ix: Ix| graph.ancestors(ix).count();
    let deepest = wanted.iter().map(|(ix, _)| depth(*ix)).max();
    wanted.retain(|(ix, _)| Some(depth(*ix)) == deepest);
    wanted
}

/// A container in which everything is resolved.
fn complete(snapshot: &Snapshot, ix: Ix) -> Option<Transition> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let node = graph.node(ix);
    let wants = node.issue.state.status() == "open"
        && node.issue.tags.container()
        && !node.children.is_empty()
        && node.children.iter().all(|&child| relation.resolved(child) && graph.issue(child).state.closed())
        && !relation.blocked(ix)
        && !relation.finished(ix)
        && !crate::model::readiness::waits_for_tick(snapshot, ix);
    wants.then(|| Transition::RollUp { issue: node.issue.id.clone() })
}
