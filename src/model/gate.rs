//! Which rounds a piece of work belongs to, and what follows: work of a decided round stays as it is,
//! and touching work that is under review takes the review from its reviewer.

use super::graph::{EdgeKind, Ix};
use super::id::IssueId;
use super::issue::State;
use super::primitive::Primitive;
use super::record::Round;
use super::refusal::Refusal;
use super::snapshot::Snapshot;

/// The rounds that judge what lies at `ix`, innermost first: those whose attempt is `ix` or above it,
/// those whose review lies above it and was judged, and the latest round of every opened scope in which
/// `ix` lies beside the rounds.
pub fn judged_by(snapshot: &Snapshot, ix: Ix) -> Vec<&Round> {
    let graph = snapshot.graph();
    let each = graph.self_and_ancestors(ix).filter_map(|at| {
        let id = graph.id(at);
        snapshot.attempt_round(id).or_else(|| judged_review(snapshot, id)).or_else(|| {
            let parent = graph.parent(at)?;
            beside_rounds(snapshot, at, parent)
        })
    });
    each.collect()
}

/// The round of a review that was judged, until a tick acts on that: what the reviewer had done below the
/// review is as decided as the work. Once the round has failed, its successor lies there.
fn judged_review<'s>(snapshot: &'s Snapshot, id: &IssueId) -> Option<&'s Round> {
    snapshot.review_round(id).filter(|round| round.verdict.is_some() && round.end.is_none())
}

/// The latest round of the scope `parent`, when `child` is other work in that scope.
fn beside_rounds(snapshot: &Snapshot, child: Ix, parent: Ix) -> Option<&Round> {
    let graph = snapshot.graph();
    let id = graph.id(child);
    let other_work = snapshot.round_of(id).is_none() && snapshot.ask(id).is_none();
    if other_work { snapshot.last_round(graph.id(parent)) } else { None }
}

/// Refuses a change of work whose round is decided. For work under review it gives the primitives that
/// take the review from whoever holds it.
///
/// # Errors
/// [`Refusal::RoundDecided`] names the round.
pub fn touch(snapshot: &Snapshot, ix: Ix) -> Result<Vec<Primitive>, Refusal> {
    disturb(snapshot, snapshot.graph().id(ix), judged_by(snapshot, ix))
}

/// The same for a child that is yet to be put below `parent`, and with it the edges such a child
/// needs: new work in an opened scope is waited for by the current review.
///
/// # Errors
/// When `parent` takes no more children.
pub fn adopt(snapshot: &Snapshot, parent: Ix, child: &IssueId) -> Result<Vec<Primitive>, Refusal> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let id = graph.id(parent);
    let refuse = |found: &'static str| Err(Refusal::NoMoreChildren { parent: id.clone(), found });
    if snapshot.ask(id).is_some() {
        return refuse("a question");
    }
    if relation.finished(parent) || relation.let_go(parent) {
        return refuse("part of something that has ended");
    }
    match &graph.issue(parent).state {
        State::Closed { outcome, .. } if *outcome != super::issue::Outcome::Expanded => {
            return refuse("closed, and not as expanded");
        }
        State::Closed { .. } if relation.resolved(parent) => return refuse("expanded and resolved"),
        State::Closed { .. } if snapshot.review_round(id).is_some() => {
            return refuse("a review whose round has ended");
        }
        _ => {}
    }
    if let Some(round) = snapshot.review_round(id).filter(|round| round.decided()) {
        return Err(decided(id, round));
    }
    let successor = graph.self_and_ancestors(parent).find_map(|up| graph.superseded_by(up).first());
    if let Some(&successor) = successor {
        return Err(Refusal::Superseded { id: id.clone(), by: graph.id(successor).clone() });
    }
    let mut rounds: Vec<&Round> = judged_by(snapshot, parent);
    let own = snapshot.last_round(id);
    rounds.extend(own);
    let mut primitives = disturb(snapshot, id, rounds)?;
    if let Some(round) = own {
        primitives.push(Primitive::Serial { blocker: child.clone(), blocked: round.review.clone() });
    }
    Ok(primitives)
}

fn disturb(snapshot: &Snapshot, id: &IssueId, rounds: Vec<&Round>) -> Result<Vec<Primitive>, Refusal> {
    let mut primitives = Vec::new();
    for round in rounds {
        if round.decided() {
            return Err(decided(id, round));
        }
        let review = snapshot.graph().get(&round.review);
        if review.is_some_and(|review| review.state.claim().is_some()) {
            primitives.push(Primitive::Release { id: round.review.clone(), lost: false });
        }
    }
    Ok(primitives)
}

fn decided(id: &IssueId, round: &Round) -> Refusal {
    Refusal::RoundDecided { id: id.clone(), scope: round.scope.clone(), round: round.number }
}

/// Refuses a change that only the engine may make to a node of a round.
///
/// # Errors
/// [`Refusal::RoundNode`] names the round.
pub fn not_in_a_round(snapshot: &Snapshot, id: &IssueId, what: &'static str) -> Result<(), Refusal> {
    match snapshot.round_of(id) {
        None => Ok(()),
        Some(round) => {
            Err(Refusal::RoundNode { id: id.clone(), scope: round.scope.clone(), round: round.number, what })
        }
    }
}

/// The unresolved blockers of an issue, as ids.
pub fn open_blockers(snapshot: &Snapshot, ix: Ix) -> Vec<IssueId> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let open = graph.blockers(ix).iter().filter(|&&b| !relation.resolved(b));
    open.map(|&b| graph.id(b).clone()).collect()
}

/// What already has an edge of this kind from `from`.
pub fn has_edge(snapshot: &Snapshot, from: &IssueId, kind: EdgeKind, to: &IssueId) -> bool {
    let graph = snapshot.graph();
    matches!((graph.ix(from), graph.ix(to)), (Some(a), Some(b)) if graph.has_edge(a, kind, b))
}
