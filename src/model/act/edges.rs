//! `dep` and `undep`: blocking edges and parents, as an actor may change them.

use super::find;
use crate::model::gate;
use crate::model::graph::{Edge, EdgeKind};
use crate::model::id::IssueId;
use crate::model::primitive::Primitive;
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;

/// `blocker blocks blocked`; an empty list when the edge is there.
///
/// A round node may come to block other work (that only makes the other work wait), but nothing new
/// may come to block a round node.
///
/// # Errors
/// An edge into a round, to an own ancestor, or one that closes a circle of waiting.
pub fn block(snapshot: &Snapshot, blocker: &IssueId, blocked: &IssueId) -> Result<Vec<Primitive>, Refusal> {
    find(snapshot, blocker)?;
    find(snapshot, blocked)?;
    if gate::has_edge(snapshot, blocker, EdgeKind::Blocks, blocked) {
        return Ok(Vec::new());
    }
    gate::not_in_a_round(snapshot, blocked, "edges")?;
    Ok(vec![Primitive::Serial { blocker: blocker.clone(), blocked: blocked.clone() }])
}

/// Takes a blocking edge out.
///
/// # Errors
/// An edge of a round node or of an ask of the engine: taking it out would release what waits.
pub fn unblock(snapshot: &Snapshot, blocker: &IssueId, blocked: &IssueId) -> Result<Vec<Primitive>, Refusal> {
    find(snapshot, blocker)?;
    find(snapshot, blocked)?;
    gate::not_in_a_round(snapshot, blocker, "edges")?;
    gate::not_in_a_round(snapshot, blocked, "edges")?;
    if snapshot.ask(blocker).is_some_and(|ask| ask.scope.is_some() || ask.about.is_some()) {
        let edge = Edge { from: blocker.clone(), kind: EdgeKind::Blocks, to: blocked.clone() };
        return Err(Refusal::EngineEdge(edge));
    }
    Ok(vec![Primitive::Undep { blocker: blocker.clone(), blocked: blocked.clone() }])
}

/// Gives an issue another parent, or none.
///
/// # Errors
/// A round node, an ask of the engine, a successor or what it superseded; a parent that takes no more children; work of a decided round;
/// the last child of an expanded node; a circle of waiting.
pub fn reparent(
    snapshot: &Snapshot,
    child: &IssueId,
    parent: Option<&IssueId>,
) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, child)?;
    let graph = snapshot.graph();
    let current = graph.parent(ix).map(|p| graph.id(p));
    if current == parent {
        return Ok(Vec::new());
    }
    gate::not_in_a_round(snapshot, child, "parent")?;
    if snapshot.ask(child).is_some_and(|ask| ask.scope.is_some() || ask.about.is_some()) {
        return Err(Refusal::AskIsAnswered(child.clone()));
    }
    // Elsewhere, a successor could be reopened after a verdict on the work that counts on it.
    if let Some(&old) = graph.supersedes(ix).first() {
        return Err(Refusal::StaysBeside { id: child.clone(), old: graph.id(old).clone() });
    }
    if let Some(&by) = graph.superseded_by(ix).first() {
        return Err(Refusal::Superseded { id: child.clone(), by: graph.id(by).clone() });
    }
    let mut primitives = gate::touch(snapshot, ix)?;
    let move_it = Primitive::Reparent { id: child.clone(), parent: parent.cloned() };
    let Some(parent) = parent else {
        primitives.push(move_it);
        return Ok(primitives);
    };
    let adoption = gate::adopt(snapshot, find(snapshot, parent)?, child)?;
    primitives.push(move_it);
    for primitive in adoption {
        let known = match &primitive {
            Primitive::Serial { blocker, blocked } => {
                gate::has_edge(snapshot, blocker, EdgeKind::Blocks, blocked)
            }
            other => primitives.contains(other),
        };
        if !known {
            primitives.push(primitive);
        }
    }
    Ok(primitives)
}
