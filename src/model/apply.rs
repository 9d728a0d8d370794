//! Carries primitives out on a snapshot, and says which facts that made. Every backend uses this
//! one function. It refuses what would break the graph's shape, whoever asks; whether an *actor* may
//! do something is asked before, in `act`.

mod heartbeats;
mod notices;

use std::collections::HashSet;

use thiserror::Error;

use super::change::{Change, Field};
use super::duty::Duty;
use super::graph::{Edge, EdgeKind, Graph, Ix};
use super::id::{Actor, IssueId};
use super::issue::{Claim, Issue, Millis, Outcome, State};
use super::primitive::Primitive;
use super::record::{HeartbeatId, NoticeId, Post};
use super::snapshot::Snapshot;
use super::waits::{Cycle, Event, Waits};

/// Why a primitive cannot be carried out on this snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ApplyError {
    /// There is no such issue.
    #[error("there is no issue {0}")]
    NoIssue(IssueId),
    /// There is no such ask.
    #[error("{0} is not an ask")]
    NoAsk(IssueId),
    /// There is no such heartbeat.
    #[error("there is no heartbeat {0}")]
    NoHeartbeat(HeartbeatId),
    /// There is nothing of the kind in the outbox.
    #[error("there is no notification {0} that was not delivered")]
    NoNotice(NoticeId),
    /// The id is or was another issue's.
    #[error("the id {0} is already taken")]
    IdTaken(IssueId),
    /// The edge is there already.
    #[error("{0} is there already")]
    EdgeExists(Edge),
    /// There is no such edge.
    #[error("there is no edge {0}")]
    NoEdge(Edge),
    /// An edge between a node and itself or its own ancestor.
    #[error("{0} is refused: one is the other or lies below it, and waits for it anyway")]
    OwnAncestor(Edge),
    /// The change would make nodes wait for each other in a circle.
    #[error("refused, because it would make a circle of waiting: {0}")]
    Deadlock(Cycle),
    /// A node would become its own ancestor.
    #[error("{child} cannot be a child of {parent}, which lies at or below it")]
    ParentBelow {
        /// The node to move.
        child: IssueId,
        /// The parent it was to get.
        parent: IssueId,
    },
    /// An expanded node keeps at least one child.
    #[error("{child} is the last child of {parent}, which is closed expanded and would have nothing left")]
    LastChild {
        /// The node to move.
        child: IssueId,
        /// Its parent.
        parent: IssueId,
    },
    /// An issue is closed that should not be, or the reverse.
    #[error("{id} is {status}, so it cannot {verb}")]
    WrongState {
        /// The issue.
        id: IssueId,
        /// Its status.
        status: &'static str,
        /// What was wanted of it.
        verb: &'static str,
    },
    /// `expanded` needs something to expand into.
    #[error("{0} has no children, so it cannot be closed as expanded")]
    NothingExpanded(IssueId),
}

/// Who does something, and when: what the facts of one act have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// The actor.
    pub actor: Actor,
    /// The moment.
    pub at: Millis,
}

/// Carries primitives out, one after the other, and then looks whether they made anything wait for
/// itself.
///
/// # Errors
/// When the snapshot does not allow it. The snapshot may then have changed in part and must be
/// thrown away: a transaction is applied whole or not at all.
pub fn apply_all(
    snapshot: &mut Snapshot,
    primitives: &[Primitive],
    author: &Author,
) -> Result<Vec<Change>, ApplyError> {
    let mut made = Vec::new();
    let mut suspects = Vec::new();
    let mut awake = Awake::default();
    for primitive in primitives {
        let mut changes = facts(snapshot, primitive, author)?;
        changes.extend(awake.woken(snapshot, primitive, author));
        changes.iter().for_each(|change| snapshot.fold(change, author.at));
        made.extend(changes);
        suspects.extend(waits_for_more(snapshot, primitive));
    }
    suspects.extend(snapshot.take_lost().into_iter().map(Event::Resolves));
    match Waits::of(snapshot.graph()).cycle_from(suspects) {
        Some(cycle) => Err(ApplyError::Deadlock(cycle)),
        None => Ok(made),
    }
}

/// Carries one primitive out.
///
/// # Errors
/// As for [`apply_all`].
pub fn apply(
    snapshot: &mut Snapshot,
    primitive: &Primitive,
    author: &Author,
) -> Result<Vec<Change>, ApplyError> {
    apply_all(snapshot, std::slice::from_ref(primitive), author)
}

/// The events that wait for more than before, beside those that stopped having happened. Only they can
/// lie on a new circle of waiting.
fn waits_for_more(snapshot: &Snapshot, primitive: &Primitive) -> Vec<Event> {
    let graph = snapshot.graph();
    match primitive {
        Primitive::Serial { blocker: from, .. } | Primitive::Supersede { new: from, .. } => {
            graph.ix(from).map(Event::Resolves).into_iter().collect()
        }
        // What lies below it starts later from now on, and waits for what takes the place of the new
        // ancestors; the new parent waits for it.
        Primitive::Reparent { id, .. } => {
            let Some(ix) = graph.ix(id) else { return Vec::new() };
            let below = graph.subtree(ix).into_iter();
            let moved = below.flat_map(|ix| [Event::Starts(ix), Event::Resolves(ix)]);
            moved.chain(graph.parent(ix).map(Event::Resolves)).collect()
        }
        _ => Vec::new(),
    }
}

/// The issues of which nothing at or above is final, as far as that was looked up while only issues came.
#[derive(Debug, Default)]
struct Awake(HashSet<Ix>);

impl Awake {
    /// What was final above goes on, once something below it does: a root, or what was one and lies below
    /// another now.
    fn woken(&mut self, snapshot: &Snapshot, primitive: &Primitive, author: &Author) -> Vec<Change> {
        if !matches!(primitive, Primitive::Create { .. }) {
            self.0.clear();
        }
        let graph = snapshot.graph();
        let mut woken = Vec::new();
        for ix in goes_on(snapshot, primitive).into_iter().flat_map(|ix| graph.self_and_ancestors(ix)) {
            if !self.0.insert(ix) {
                break;
            }
            if snapshot.root_finished(graph.id(ix)) {
                woken.extend(finish(snapshot, graph.id(ix), false, author));
            }
        }
        woken
    }
}

/// Below what something goes on that did not before.
fn goes_on(snapshot: &Snapshot, primitive: &Primitive) -> Option<Ix> {
    let graph = snapshot.graph();
    match primitive {
        Primitive::Open { id } => graph.ix(id),
        Primitive::Create { issue, parent: Some(parent) } if !issue.state.closed() => graph.ix(parent),
        Primitive::Reparent { id, parent: Some(parent) } => {
            let settled = |ix: Ix| graph.issue(ix).state.closed() && graph.standing(ix).resolved;
            graph.ix(parent).filter(|_| !graph.ix(id).is_some_and(settled))
        }
        _ => None,
    }
}

/// Puts a root away, or takes it up again, and with it what ticks it.
fn finish(snapshot: &Snapshot, root: &IssueId, finished: bool, author: &Author) -> Vec<Change> {
    let mut changes = vec![Change::RootFinished { id: root.clone(), finished }];
    changes.extend(heartbeats::follow_root(snapshot, root, finished, author));
    changes
}

fn facts(snapshot: &Snapshot, primitive: &Primitive, author: &Author) -> Result<Vec<Change>, ApplyError> {
    let one = |change: Change| Ok(vec![change]);
    match primitive {
        Primitive::Create { issue, parent } => {
            if snapshot.taken(&issue.id) {
                return Err(ApplyError::IdTaken(issue.id.clone()));
            }
            if let Some(parent) = parent {
                find(snapshot, parent)?;
            }
            one(Change::IssueCreated { issue: issue.clone(), parent: parent.clone() })
        }
        Primitive::Edit { id, fields } => edit(snapshot, id, fields.clone()),
        Primitive::Reparent { id, parent } => reparent(snapshot, id, parent.as_ref()),
        Primitive::Serial { blocker, blocked } => add_edge(snapshot, blocker, EdgeKind::Blocks, blocked),
        Primitive::Undep { blocker, blocked } => remove_edge(snapshot, blocker, EdgeKind::Blocks, blocked),
        Primitive::Supersede { new, old } => add_edge(snapshot, new, EdgeKind::Supersedes, old),
        Primitive::Unsupersede { new, old } => remove_edge(snapshot, new, EdgeKind::Supersedes, old),
        Primitive::Claim { id, claim } => take(snapshot, id, claim),
        Primitive::Release { id, lost } => release(snapshot, id, *lost),
        Primitive::Close { id, outcome, reason, by } => {
            close(snapshot, id, *outcome, reason.as_ref(), by.as_ref())
        }
        Primitive::Open { id } => {
            let issue = find(snapshot, id)?;
            if !issue.state.closed() {
                return Err(wrong_state(issue, "be reopened"));
            }
            edit(snapshot, id, vec![Field::State(State::Open), Field::FailedSteps(0)])
        }
        Primitive::Post { topic, body } => one(Change::Posted {
            post: Post {
                topic: topic.clone(),
                author: author.actor.clone(),
                body: body.clone(),
                at: author.at,
            },
        }),
        Primitive::SetScope { scope } => {
            find(snapshot, &scope.id)?;
            let before = snapshot.scope(&scope.id).cloned().map(Box::new);
            one(Change::ScopeSet { before, after: scope.clone() })
        }
        Primitive::SetRound { round } => {
            find(snapshot, &round.attempt)?;
            find(snapshot, &round.review)?;
            let before = snapshot.round(&round.scope, round.number).cloned().map(Box::new);
            one(Change::RoundSet { before, after: round.clone() })
        }
        Primitive::OpenAsk { ask } => {
            find(snapshot, &ask.id)?;
            one(Change::AskOpened { ask: ask.clone() })
        }
        Primitive::SetAnswer { id, answer } => {
            let ask = snapshot.ask(id).ok_or_else(|| ApplyError::NoAsk(id.clone()))?;
            let before = ask.answer.clone().map(Box::new);
            one(Change::AnswerSet { id: id.clone(), before, after: answer.clone() })
        }
        Primitive::SetDuty { id, duty } => {
            let ask = snapshot.ask(id).ok_or_else(|| ApplyError::NoAsk(id.clone()))?;
            let before = ask.duty.clone().map(Box::new);
            one(Change::DutySet { id: id.clone(), before, after: duty.clone() })
        }
        Primitive::Remind { id, reminder } => {
            let ask = snapshot.ask(id).ok_or_else(|| ApplyError::NoAsk(id.clone()))?;
            let duty = ask.duty.clone().unwrap_or_else(|| Duty::since(author.at));
            let duty = Box::new(Duty { reminder: Some(*reminder), ..duty });
            one(Change::AskReminded { id: id.clone(), duty })
        }
        Primitive::SetPlan { plan } => {
            find(snapshot, &plan.root)?;
            let before = snapshot.plan(&plan.root).cloned().map(Box::new);
            one(Change::PlanSet { before, after: plan.clone() })
        }
        Primitive::FinishRoot { id, finished } => {
            find(snapshot, id)?;
            Ok(finish(snapshot, id, *finished, author))
        }
        Primitive::SetHeartbeat { heartbeat } => {
            find(snapshot, &heartbeat.root)?;
            Ok(heartbeats::set(snapshot, heartbeat))
        }
        Primitive::RemoveHeartbeat { id } => heartbeats::remove(snapshot, id),
        Primitive::SetNotice { notice } => notices::set(snapshot, notice),
        Primitive::EndNotice { id, end } => notices::end(snapshot, id, *end),
        Primitive::Reserve { id } => {
            if snapshot.taken(id) {
                return Err(ApplyError::IdTaken(id.clone()));
            }
            one(Change::IdReserved { id: id.clone() })
        }
        Primitive::Annotate { annotation } => one(Change::Annotated { annotation: annotation.clone() }),
        Primitive::SetDocument { edit } => one(Change::DocumentSet { edit: edit.clone() }),
        Primitive::RemoveDocument { root, ui_id, hidden } => {
            one(Change::DocumentRemoved { root: root.clone(), ui_id: ui_id.clone(), hidden: *hidden })
        }
    }
}

fn find<'s>(snapshot: &'s Snapshot, id: &IssueId) -> Result<&'s Issue, ApplyError> {
    snapshot.graph().get(id).ok_or_else(|| ApplyError::NoIssue(id.clone()))
}

fn find_ix(snapshot: &Snapshot, id: &IssueId) -> Result<Ix, ApplyError> {
    snapshot.graph().ix(id).ok_or_else(|| ApplyError::NoIssue(id.clone()))
}

fn wrong_state(issue: &Issue, verb: &'static str) -> ApplyError {
    ApplyError::WrongState { id: issue.id.clone(), status: issue.state.status(), verb }
}

/// Only what differs is a fact; nothing that differs is no fact at all.
fn edit(snapshot: &Snapshot, id: &IssueId, fields: Vec<Field>) -> Result<Vec<Change>, ApplyError> {
    let issue = find(snapshot, id)?;
    let after: Vec<Field> = fields.into_iter().filter(|field| field.of(issue) != *field).collect();
    if after.is_empty() {
        return Ok(Vec::new());
    }
    let before = after.iter().map(|field| field.of(issue)).collect();
    Ok(vec![Change::IssueChanged { id: id.clone(), before, after }])
}

fn reparent(snapshot: &Snapshot, id: &IssueId, parent: Option<&IssueId>) -> Result<Vec<Change>, ApplyError> {
    let graph = snapshot.graph();
    let child = find_ix(snapshot, id)?;
    if let Some(parent) = parent
        && graph.at_or_below(find_ix(snapshot, parent)?, child)
    {
        return Err(ApplyError::ParentBelow { child: id.clone(), parent: parent.clone() });
    }
    if let Some(edge) = parent.and_then(|parent| edge_to_new_ancestor(graph, child, graph.ix(parent)?)) {
        return Err(ApplyError::OwnAncestor(edge));
    }
    let before = graph.parent(child);
    if before.map(|p| graph.id(p)) == parent {
        return Ok(Vec::new());
    }
    if let Some(old) = before {
        let expanded = graph.issue(old).state.outcome() == Some(Outcome::Expanded);
        if expanded && graph.children(old).len() == 1 {
            return Err(ApplyError::LastChild { child: id.clone(), parent: graph.id(old).clone() });
        }
    }
    let before = before.map(|p| graph.id(p).clone());
    Ok(vec![Change::ParentSet { id: id.clone(), before, after: parent.cloned() }])
}

/// A blocking edge between what lies at or below `child` and what it would come to lie below.
fn edge_to_new_ancestor(graph: &Graph, child: Ix, parent: Ix) -> Option<Edge> {
    let above: HashSet<Ix> = graph.self_and_ancestors(parent).collect();
    let already: HashSet<Ix> = graph.ancestors(child).collect();
    let new = |ix: &Ix| above.contains(ix) && !already.contains(ix);
    let blocks = |from: Ix, to: Ix| edge(graph.id(from), EdgeKind::Blocks, graph.id(to));
    graph.subtree(child).into_iter().find_map(|ix| {
        let node = graph.node(ix);
        let to = node.blocks.iter().copied().find(new).map(|to| blocks(ix, to));
        to.or_else(|| node.blockers.iter().copied().find(new).map(|from| blocks(from, ix)))
    })
}

fn edge(from: &IssueId, kind: EdgeKind, to: &IssueId) -> Edge {
    Edge { from: from.clone(), kind, to: to.clone() }
}

fn add_edge(
    snapshot: &Snapshot,
    from: &IssueId,
    kind: EdgeKind,
    to: &IssueId,
) -> Result<Vec<Change>, ApplyError> {
    let graph = snapshot.graph();
    let (a, b) = (find_ix(snapshot, from)?, find_ix(snapshot, to)?);
    let edge = edge(from, kind, to);
    if graph.has_edge(a, kind, b) {
        return Err(ApplyError::EdgeExists(edge));
    }
    let related = graph.at_or_below(a, b) || graph.at_or_below(b, a);
    if a == b || (kind == EdgeKind::Blocks && related) {
        return Err(ApplyError::OwnAncestor(edge));
    }
    Ok(vec![Change::EdgeAdded { edge }])
}

fn remove_edge(
    snapshot: &Snapshot,
    from: &IssueId,
    kind: EdgeKind,
    to: &IssueId,
) -> Result<Vec<Change>, ApplyError> {
    let (a, b) = (find_ix(snapshot, from)?, find_ix(snapshot, to)?);
    let edge = edge(from, kind, to);
    if !snapshot.graph().has_edge(a, kind, b) {
        return Err(ApplyError::NoEdge(edge));
    }
    Ok(vec![Change::EdgeRemoved { edge }])
}

fn take(snapshot: &Snapshot, id: &IssueId, claim: &Claim) -> Result<Vec<Change>, ApplyError> {
    let issue = find(snapshot, id)?;
    if issue.state.closed() {
        return Err(wrong_state(issue, "be claimed"));
    }
    let mut hands = issue.hands.clone();
    hands.insert(claim.actor.clone());
    let state = State::InProgress { claim: claim.clone() };
    edit(snapshot, id, vec![Field::State(state), Field::Epoch(claim.epoch), Field::Hands(hands)])
}

fn release(snapshot: &Snapshot, id: &IssueId, lost: bool) -> Result<Vec<Change>, ApplyError> {
    let issue = find(snapshot, id)?;
    if issue.state.claim().is_none() {
        return Err(wrong_state(issue, "be released"));
    }
    let steps = issue.failed_steps + u32::from(lost);
    edit(snapshot, id, vec![Field::State(State::Open), Field::FailedSteps(steps)])
}

fn close(
    snapshot: &Snapshot,
    id: &IssueId,
    outcome: Outcome,
    reason: Option<&String>,
    by: Option<&Actor>,
) -> Result<Vec<Change>, ApplyError> {
    let issue = find(snapshot, id)?;
    if issue.state.closed() {
        return Err(wrong_state(issue, "be closed"));
    }
    if outcome == Outcome::Expanded && snapshot.graph().children(find_ix(snapshot, id)?).is_empty() {
        return Err(ApplyError::NothingExpanded(id.clone()));
    }
    let mut hands = issue.hands.clone();
    hands.extend(by.cloned());
    let state = State::Closed { outcome, reason: reason.cloned() };
    edit(snapshot, id, vec![Field::State(state), Field::Hands(hands)])
}
