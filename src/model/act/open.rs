//! `open`: a closed issue comes back (section 3, life cycle).

use super::find;
use crate::model::gate;
use crate::model::graph::Ix;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::State;
use crate::model::primitive::Primitive;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// Reopens an issue, or gives it back when the actor holds it; an empty list when it is open.
///
/// # Errors
/// Round nodes, asks and opened scopes; what is superseded; what lies below something that ended;
/// work whose round is decided; and whatever would make a circle of waiting.
pub fn open(snapshot: &Snapshot, id: &IssueId, actor: &Actor) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let graph = snapshot.graph();
    match &graph.issue(ix).state {
        State::Open => return Ok(Vec::new()),
        State::InProgress { claim } if claim.actor == *actor => {
            return Ok(vec![Primitive::Release { id: id.clone(), lost: false }]);
        }
        State::InProgress { claim } => {
            return Err(Refusal::HeldBy { id: id.clone(), by: claim.actor.clone() });
        }
        State::Closed { .. } => {}
    }
    gate::not_in_a_round(snapshot, id, "life cycle")?;
    if snapshot.ask(id).is_some() {
        return Err(Refusal::AskSettled(id.clone()));
    }
    if snapshot.scope(id).is_some() && !graph.issue(ix).tags.container() {
        return Err(Refusal::ScopeIsOpened(id.clone()));
    }
    for up in graph.self_and_ancestors(ix) {
        if let Some(&successor) = graph.superseded_by(up).first() {
            return Err(Refusal::Superseded { id: graph.id(up).clone(), by: graph.id(successor).clone() });
        }
    }
    if let Some(ancestor) = ended_above(snapshot, ix) {
        return Err(Refusal::BelowEnded { id: id.clone(), ancestor: graph.id(ancestor).clone() });
    }
    let mut primitives = gate::touch(snapshot, ix)?;
    primitives.push(Primitive::Open { id: id.clone() });
    Ok(primitives)
}

/// The nearest ancestor that ended, if the issue lies below one.
fn ended_above(snapshot: &Snapshot, ix: Ix) -> Option<Ix> {
    use crate::model::issue::Outcome;
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    if !relation.finished(ix) {
        return None;
    }
    graph.ancestors(ix).find(|&up| {
        relation.let_go(up) || graph.issue(up).state.outcome().is_some_and(|o| o != Outcome::Expanded)
    })
}
