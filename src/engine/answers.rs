//! What a human's answer becomes (section 5), as a decision and as primitives.

use std::collections::HashSet;

use super::asks::{self, AskNode};
use super::decision::Transition;
use super::forge::Forge;
use super::review_gated;
use crate::model::act::answer::{ABANDON, EXTRA_ROUND};
use crate::model::act::close::skip_below;
use crate::model::act::retry::succession;
use crate::model::act::verdict::topic;
use crate::model::change::Field;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Outcome;
use crate::model::primitive::Primitive;
use crate::model::record::{Answer, Ask, AskKind, Scope, ScopeEnd};
use crate::model::snapshot::Snapshot;

/// The transition an answered ask wants; `None` while it is unanswered.
pub fn transition(ask: &Ask) -> Option<Transition> {
    let id = ask.id.clone();
    let choice = ask.answer.as_ref()?.choice.as_str();
    Some(match (ask.kind, choice) {
        (AskKind::Rounds, EXTRA_ROUND) => Transition::GrantRounds { ask: id },
        (AskKind::Rounds, "stop-and-handoff") => Transition::HandOff { ask: id },
        (AskKind::Rounds, "accept") | (AskKind::Handoff, "done") => Transition::Waive { ask: id },
        (AskKind::Rounds | AskKind::Handoff | AskKind::Steps, ABANDON) => Transition::Abandon { ask: id },
        (AskKind::Failure | AskKind::Steps, "retry") => Transition::Retry { ask: id },
        (_, "skip") => Transition::Skip { ask: id },
        _ => Transition::Settle { ask: id },
    })
}

/// An answered ask with everything its effect needs.
struct Answered<'s> {
    snapshot: &'s Snapshot,
    ask: &'s Ask,
    answer: &'s Answer,
    ix: Ix,
}

impl<'s> Answered<'s> {
    fn find(snapshot: &'s Snapshot, id: &IssueId) -> Option<Self> {
        let ask = snapshot.ask(id)?;
        Some(Answered { snapshot, ask, answer: ask.answer.as_ref()?, ix: snapshot.graph().ix(id)? })
    }

    fn close(&self, outcome: Outcome) -> Primitive {
        let answer = self.answer;
        let note = if answer.note.is_empty() { String::new() } else { format!(": {}", answer.note) };
        let reason = format!("{} answered {}{note}", answer.by, answer.choice);
        Primitive::Close { id: self.ask.id.clone(), outcome, reason: Some(reason), by: None }
    }

    fn superseded(&self) -> Vec<IssueId> {
        let graph = self.snapshot.graph();
        graph.supersedes(self.ix).iter().map(|&old| graph.id(old).clone()).collect()
    }

    fn end_scope(&self, end: ScopeEnd) -> Option<Primitive> {
        let scope = self.snapshot.scope(self.ask.scope.as_ref()?)?;
        let ended = Scope { end: Some(end), ..scope.clone() };
        Some(Primitive::SetScope { scope: Box::new(ended) })
    }

    /// Says in a topic what a human decided.
    fn post(&self, about: &IssueId, word: &str) -> Primitive {
        let body = format!("{word} by {} ({}): {}", self.answer.by, self.ask.id, self.answer.note);
        Primitive::Post { topic: topic(about), body }
    }
}

/// `open-extra-round`: the bound becomes k + N, and round k+1 opens.
pub fn grant(snapshot: &Snapshot, ask: &IssueId, forge: &mut Forge<'_>) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let scope = snapshot.scope(answered.ask.scope.as_ref()?)?;
    let failed = snapshot.round(&scope.id, answered.ask.round?)?;
    let mut granted = scope.clone();
    granted.bounds.max_rounds = failed.number.saturating_add(answered.answer.rounds.unwrap_or(1));
    let superseded = answered.superseded();
    let take_out = |old: &IssueId| Primitive::Unsupersede { new: ask.clone(), old: old.clone() };
    let mut primitives: Vec<Primitive> = superseded.iter().map(take_out).collect();
    primitives.push(Primitive::SetScope { scope: Box::new(granted) });
    let note = Some(answered.answer.note.clone()).filter(|note| !note.is_empty());
    primitives.extend(review_gated::grant(snapshot, scope, failed, &superseded, note, forge)?);
    primitives.push(answered.close(Outcome::Success));
    Some(primitives)
}

/// `accept` of exhausted rounds and `done` of a hand-off: the work behind is released.
pub fn waive(snapshot: &Snapshot, ask: &IssueId) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let scope = answered.ask.scope.as_ref()?;
    let word = if answered.ask.kind == AskKind::Handoff { "DONE by hand" } else { "WAIVED" };
    let close = answered.close(Outcome::Success);
    Some(vec![answered.post(scope, word), answered.end_scope(ScopeEnd::Waived)?, close])
}

/// `stop-and-handoff`: a second ask takes the place of the rounds and of the first ask's edges.
pub fn hand_off(snapshot: &Snapshot, ask: &IssueId, forge: &mut Forge<'_>) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let graph = snapshot.graph();
    let node = graph.node(answered.ix);
    let (issue, record) = asks::handoff(snapshot, answered.ask, answered.answer, forge)?;
    let second = issue.id.clone();
    let parent = node.parent.map(|p| graph.id(p).clone());
    let mut primitives = AskNode { issue, record, parent }.primitives();
    for old in answered.superseded() {
        primitives.push(Primitive::Unsupersede { new: ask.clone(), old: old.clone() });
        primitives.push(Primitive::Supersede { new: second.clone(), old });
    }
    for &waiting in &node.blocks {
        let blocked = graph.id(waiting).clone();
        primitives.push(Primitive::Undep { blocker: ask.clone(), blocked: blocked.clone() });
        primitives.push(Primitive::Serial { blocker: second.clone(), blocked });
    }
    primitives.push(answered.close(Outcome::Success));
    Some(primitives)
}

/// `abandon`: the ask supersedes the scope, and what is open at or below the scope is skipped.
pub fn abandon(snapshot: &Snapshot, ask: &IssueId) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let graph = snapshot.graph();
    let scope = answered.ask.scope.as_ref()?;
    let scope_ix = graph.ix(scope)?;
    let why = format!("{scope} was abandoned by {}: {}", answered.answer.by, answered.answer.note);
    let mut primitives = vec![answered.post(scope, "ABANDONED"), answered.close(Outcome::Skipped)];
    let mut done = primitives.clone();
    let mut skip = |primitives: &mut Vec<Primitive>, top: Ix| {
        let id = graph.id(top);
        let own = (!graph.issue(top).state.closed()).then(|| Primitive::Close {
            id: id.clone(),
            outcome: Outcome::Skipped,
            reason: Some(why.clone()),
            by: None,
        });
        for primitive in own.into_iter().chain(skip_below(snapshot, top, &why)) {
            let asked = matches!(&primitive, Primitive::Close { id, .. } if id == ask);
            if !asked && !done.contains(&primitive) {
                done.push(primitive.clone());
                primitives.push(primitive);
            }
        }
    };
    skip(&mut primitives, scope_ix);
    if answered.answer.with_dependents {
        for dependent in dependents(snapshot, scope_ix) {
            skip(&mut primitives, dependent);
        }
    }
    primitives.push(Primitive::Supersede { new: ask.clone(), old: scope.clone() });
    Some(primitives)
}

/// Everything that waits, directly or not, for something at or below a node: the transitive `blocks`
/// closure, without the node itself, oldest first. Reviews and asks of other scopes that wait for
/// it are not among them: they end through their rounds and answers, or their scopes would be stuck, or
/// released with nobody asked.
pub fn dependents(snapshot: &Snapshot, top: Ix) -> Vec<Ix> {
    let graph = snapshot.graph();
    let own = graph.subtree(top);
    let mut seen: HashSet<Ix> = own.iter().copied().collect();
    let mut next = own;
    let mut found = Vec::new();
    while let Some(ix) = next.pop() {
        let waiting = graph.blocks(ix).iter().copied();
        for waiting in waiting.filter(|&waiting| !engines(snapshot, graph.id(waiting))) {
            if seen.insert(waiting) {
                found.push(waiting);
                for below in graph.subtree(waiting) {
                    seen.insert(below);
                    next.push(below);
                }
            }
        }
    }
    found.retain(|&ix| !snapshot.relation().resolved(ix));
    found.sort_by_cached_key(|&ix| (graph.issue(ix).created_at, graph.id(ix).clone()));
    found
}

/// Whether a node is part of a round, or an ask that the engine put to a human.
fn engines(snapshot: &Snapshot, id: &IssueId) -> bool {
    let asked = snapshot.ask(id).is_some_and(|ask| ask.scope.is_some() || ask.about.is_some());
    asked || snapshot.round_of(id).is_some()
}

/// `retry` of a failure: a successor takes over. Of lost steps: the count starts again, and the next step
/// is told what the human noted.
pub fn retry(snapshot: &Snapshot, ask: &IssueId, forge: &mut Forge<'_>) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let about = answered.ask.about.as_ref()?;
    let close = answered.close(Outcome::Success);
    let note = Some(answered.answer.note.clone()).filter(|note| !note.is_empty());
    if answered.ask.kind == AskKind::Steps {
        let mut fields = vec![Field::FailedSteps(0)];
        if let Some(note) = note {
            let mut work = snapshot.graph().get(about)?.work.clone();
            work.notes.push(note);
            fields.push(Field::Work(work));
        }
        return Some(vec![Primitive::Edit { id: about.clone(), fields }, close]);
    }
    let failed = snapshot.graph().ix(about)?;
    let successor = forge.id();
    let mut primitives = vec![Primitive::Unsupersede { new: ask.clone(), old: about.clone() }];
    primitives.extend(skip_below(snapshot, failed, &format!("{about} failed and is tried again")));
    primitives.extend(succession(snapshot, failed, &successor, note, forge.now));
    primitives.push(close);
    Some(primitives)
}

/// `skip`: the ask closes as skipped, and what it superseded goes with it, with all that is open below:
/// nobody could close it later. A step ask takes the issue
/// that could not be done along.
pub fn skip(snapshot: &Snapshot, ask: &IssueId) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let mut primitives = vec![answered.close(Outcome::Skipped)];
    if answered.ask.kind == AskKind::Failure {
        let graph = snapshot.graph();
        let about = graph.ix(answered.ask.about.as_ref()?)?;
        let why = format!("{} was skipped by {}", graph.id(about), answered.answer.by);
        primitives.extend(skip_below(snapshot, about, &why));
    }
    if answered.ask.kind == AskKind::Steps {
        let graph = snapshot.graph();
        let about = graph.ix(answered.ask.about.as_ref()?)?;
        let why = format!("{} was skipped by {}", graph.id(about), answered.answer.by);
        let below = skip_below(snapshot, about, &why).into_iter();
        primitives.extend(below.filter(|p| !matches!(p, Primitive::Close { id, .. } if id == ask)));
        // Somebody may have expanded it since it was asked about.
        if !graph.issue(about).state.closed() {
            primitives.push(Primitive::Close {
                id: graph.id(about).clone(),
                outcome: Outcome::Skipped,
                reason: Some(why),
                by: None,
            });
        }
    }
    Some(primitives)
}

/// A plain question is settled: the answer is posted, and what waits goes on.
pub fn settle(snapshot: &Snapshot, ask: &IssueId) -> Option<Vec<Primitive>> {
    let answered = Answered::find(snapshot, ask)?;
    let body = format!("ANSWER: {}\n{}", answered.answer.choice, answered.answer.note);
    let post = Primitive::Post { topic: topic(ask), body: body.trim_end().to_owned() };
    Some(vec![post, answered.close(Outcome::Success)])
}
