//! Everything the rules read: the graph and the policies' records. Changed by folding facts, and in
//! no other way.
//!
//! A snapshot is *whole*, or it is of the live frontier: then it loads from its source what it is asked
//! for, and only what is on a [list](super::frontier) is found without knowing its id.

mod documents;
mod heartbeats;
mod kept;
mod notices;
mod pieces;
mod restore;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::change::{Change, Field};
use super::duty::Duty;
use super::frontier::{List, Listed};
use super::graph::{Edge, Graph, Ix};
use super::id::IssueId;
use super::issue::{Issue, Millis};
use super::record::{Annotation, Ask, Heartbeat, HeartbeatId, Notice, NoticeId, PlanRecord, Round, Scope};
use super::relation::Relation;
use super::source::Source;
use documents::Described;
use kept::Kept;

pub use restore::{Parts, RestoreError};
pub use tally::Tally;

/// How many issues may be asked about one by one.
const FEW: usize = 16;

/// The state of a store at one revision.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    graph: Graph,
    scopes: Kept<Scope>,
    rounds: Kept<Vec<Round>>,
    round_of: Kept<(IssueId, u32)>,
    asks: Kept<Ask>,
    plans: Kept<PlanRecord>,
    heartbeats: Kept<Vec<Heartbeat>>,
    heartbeat_at: Kept<IssueId, HeartbeatId>,
    described: Described,
    notices: Kept<Option<Notice>, NoticeId>,
    finished_roots: Kept<bool>,
    reserved: Kept<()>,
    annotations: Vec<Annotation>,
    folded: usize,
}

/// Whole snapshots are equal when they say the same, whatever order the nodes came in.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        let issues = |s: &Snapshot| -> BTreeMap<IssueId, (Issue, Option<IssueId>)> {
            let each = s.graph.indices().map(|ix| {
                let parent = s.graph.parent(ix).map(|p| s.graph.id(p).clone());
                (s.graph.id(ix).clone(), (s.graph.issue(ix).clone(), parent))
            });
            each.collect()
        };
        issues(self) == issues(other)
            && self.graph.edges() == other.graph.edges()
            && self.scopes().eq(other.scopes())
            && self.all_rounds().eq(other.all_rounds())
            && self.asks().eq(other.asks())
            && self.plans().eq(other.plans())
            && self.heartbeats().eq(other.heartbeats())
            && self.same_documents(other)
            && self.notices().eq(other.notices())
            && self.finished_roots().eq(other.finished_roots())
            && self.reserved().eq(other.reserved())
            && self.annotations == other.annotations
    }
}

impl Snapshot {
    /// A snapshot that loads from a source what it is asked for.
    pub fn from_source(source: Rc<dyn Source>) -> Snapshot {
        Snapshot { graph: Graph::from_source(source), ..Snapshot::default() }
    }

    /// The issues and edges.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What section 3 says of this graph.
    pub fn relation(&self) -> Relation<'_> {
        Relation::of(&self.graph)
    }

    /// A list of what can move, or the part of it below a root.
    pub fn listed(&self, list: List, root: Option<Ix>) -> Listed<'_> {
        Listed::of(self, list, root)
    }

    /// Loads many issues with what the rules ask of each, in a few questions, not some for each issue.
    pub fn gather(&self, ids: &[IssueId]) {
        self.graph.load_all(ids);
        let Some(source) = self.graph.source().filter(|_| ids.len() > FEW) else { return };
        let gated = ids.iter().filter(|id| self.graph.get(id).is_some_and(|issue| issue.tags.review_gated()));
        let gated: Vec<IssueId> = gated.cloned().collect();
        if !gated.is_empty() {
            let found = source.scopes(&gated).into_iter().map(|scope| (scope.id.clone(), scope));
            self.scopes.fill(&gated, found);
        }
        let mut rounds: BTreeMap<IssueId, Vec<Round>> = BTreeMap::new();
        for round in source.rounds_about(ids) {
            rounds.entry(round.scope.clone()).or_default().push(round);
        }
        let of = |round: &Round| {
            let place = (round.scope.clone(), round.number);
            [(round.attempt.clone(), place.clone()), (round.review.clone(), place)]
        };
        self.round_of.fill(ids, rounds.values().flatten().flat_map(of).collect::<Vec<_>>());
        self.rounds.fill(&[], rounds);
    }

    /// The roots of all that is on a list, in no order. To be asked before anything is folded.
    pub fn roots_on(&self, list: List) -> Vec<IssueId> {
        if let Some(source) = self.graph.source() {
            return source.roots_of(list);
        }
        let on = self.graph.indices().filter(|&ix| list.has(self, ix));
        on.map(|ix| self.graph.id(self.graph.root(ix)).clone()).collect()
    }

    /// The roots with a key, in the order in which they came. To be asked before anything is folded.
    pub fn roots_keyed(&self, key: &str) -> Vec<IssueId> {
        if let Some(source) = self.graph.source() {
            return source.roots_keyed(key);
        }
        let keyed =
            |ix: &Ix| self.graph.parent(*ix).is_none() && self.graph.issue(*ix).key.as_deref() == Some(key);
        self.graph.indices().filter(keyed).map(|ix| self.graph.id(ix).clone()).collect()
    }

    /// How many issues there are, and how many of them are not closed, as the store knows them.
    pub fn counts(&self) -> (usize, usize) {
        let counted = || {
            let open = self.graph.issues().filter(|issue| !issue.state.closed()).count();
            (self.graph.len(), open)
        };
        self.graph.source().map_or_else(counted, |source| source.counts())
    }

    /// How many facts were folded since the snapshot was made.
    pub fn folded(&self) -> usize {
        self.folded
    }

    /// From here on the graph knows which derived values a store has to be given.
    pub fn track(&mut self, stored: Vec<super::source::Derived>) {
        self.graph.track(stored);
        self.folded = 0;
    }

    /// The nodes that were resolved and are not any more, since this was last asked.
    pub fn take_lost(&mut self) -> Vec<Ix> {
        self.graph.take_lost()
    }

    /// The nodes that came to be resolved or let go, or ceased to be, since this was last asked.
    pub fn take_shifted(&mut self) -> BTreeSet<Ix> {
        self.graph.take_shifted()
    }

    /// Every opened scope.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.all(&self.graph)
    }

    /// The record of an opened scope.
    pub fn scope(&self, id: &IssueId) -> Option<&Scope> {
        self.scopes.get(id, &self.graph, |source| source.scope(id))
    }

    fn rounds_of(&self, scope: &IssueId) -> &[Round] {
        let found = self
            .rounds
            .get(scope, &self.graph, |source| Some(source.rounds(scope)).filter(|rounds| !rounds.is_empty()));
        found.map_or(&[], Vec::as_slice)
    }

    /// The rounds of a scope, in order.
    pub fn rounds(&self, scope: &IssueId) -> impl DoubleEndedIterator<Item = &Round> {
        self.rounds_of(scope).iter()
    }

    /// Every round of every scope.
    pub fn all_rounds(&self) -> impl Iterator<Item = &Round> {
        self.rounds.all(&self.graph).flatten()
    }

    /// The latest round of a scope.
    pub fn last_round(&self, scope: &IssueId) -> Option<&Round> {
        self.rounds_of(scope).last()
    }

    /// One round.
    pub fn round(&self, scope: &IssueId, number: u32) -> Option<&Round> {
        self.rounds_of(scope).iter().find(|round| round.number == number)
    }

    /// The round whose attempt or review this issue is.
    pub fn round_of(&self, id: &IssueId) -> Option<&Round> {
        let found = self.round_of.get(id, &self.graph, |source| source.round_of(id));
        found.and_then(|(scope, number)| self.round(scope, *number))
    }

    /// The round whose attempt this issue is.
    pub fn attempt_round(&self, id: &IssueId) -> Option<&Round> {
        self.round_of(id).filter(|round| round.attempt == *id)
    }

    /// The round whose review this issue is.
    pub fn review_round(&self, id: &IssueId) -> Option<&Round> {
        self.round_of(id).filter(|round| round.review == *id)
    }

    /// Every ask, open or settled, by id.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.asks.all(&self.graph)
    }

    /// Every ask with its issue, as the store has them. To be asked before anything is folded.
    pub fn every_ask(&self) -> Vec<&Ask> {
        let Some(source) = self.graph.source() else { return self.asks().collect() };
        let stored: Vec<(IssueId, Ask)> =
            source.asks().into_iter().map(|ask| (ask.id.clone(), ask)).collect();
        let ids: Vec<IssueId> = stored.iter().map(|(id, _)| id.clone()).collect();
        self.graph.load_all(&ids);
        self.asks.fill(&[], stored);
        ids.iter().filter_map(|id| self.ask(id)).collect()
    }

    /// The ask an issue carries.
    pub fn ask(&self, id: &IssueId) -> Option<&Ask> {
        self.asks.get(id, &self.graph, |source| source.ask(id))
    }

    /// The plan applied to a root.
    pub fn plan(&self, root: &IssueId) -> Option<&PlanRecord> {
        self.plans.get(root, &self.graph, |source| source.plan(root))
    }

    /// Every applied plan.
    pub fn plans(&self) -> impl Iterator<Item = &PlanRecord> {
        self.plans.all(&self.graph)
    }

    /// Whether a tick has found this root final.
    pub fn root_finished(&self, root: &IssueId) -> bool {
        let found = self.finished_roots.get(root, &self.graph, |source| Some(source.root_finished(root)));
        found.is_some_and(|finished| *finished)
    }

    /// The roots that a tick has found final.
    pub fn finished_roots(&self) -> impl Iterator<Item = &IssueId> {
        self.finished_roots.entries(&self.graph).filter(|(_, finished)| **finished).map(|(id, _)| id)
    }

    /// Whether an id may not be given to a new issue.
    pub fn taken(&self, id: &IssueId) -> bool {
        let reserved = || self.reserved.get(id, &self.graph, |source| source.reserved(id).then_some(()));
        self.graph.ix(id).is_some() || reserved().is_some()
    }

    /// The ids of imported tombstones.
    pub fn reserved(&self) -> impl Iterator<Item = &IssueId> {
        self.reserved.entries(&self.graph).map(|(id, ())| id)
    }

    /// What imports could not express.
    pub fn annotations(&self) -> &[Annotation] {
        if let Some(source) = self.graph.source() {
            source.wants_whole("the annotations");
        }
        &self.annotations
    }

    /// Takes a fact in. The fact must be about this snapshot: what it names is there.
    pub fn fold(&mut self, change: &Change, at: Millis) {
        self.folded += 1;
        match change {
            Change::IssueCreated { issue, parent } => {
                let parent = parent.as_ref().and_then(|p| self.graph.ix(p));
                let ix = self.graph.insert(issue.as_ref().clone());
                if parent.is_some() {
                    self.graph.set_parent(ix, parent);
                }
            }
            Change::IssueChanged { id, after, .. } => {
                let gated = |snapshot: &Self| snapshot.graph.get(id).is_some_and(|it| it.tags.review_gated());
                let was_gated = gated(self);
                self.edited(id, at, |issue| after.iter().for_each(|field| field.put(issue)));
                if was_gated != gated(self) {
                    self.touch_children(id);
                }
                if after.iter().any(|field| matches!(field, Field::Pause(_))) {
                    self.graph.touch_unsettled(id);
                }
            }
            Change::ParentSet { id, after, .. } => {
                self.edited(id, at, |_| ());
                let parent = after.as_ref().and_then(|p| self.graph.ix(p));
                if let Some(ix) = self.graph.ix(id) {
                    self.graph.set_parent(ix, parent);
                }
            }
            Change::EdgeAdded { edge } => {
                if let Some((from, to)) = self.ends(edge) {
                    self.graph.add_edge(from, edge.kind, to);
                }
            }
            Change::EdgeRemoved { edge } => {
                if let Some((from, to)) = self.ends(edge) {
                    self.graph.remove_edge(from, edge.kind, to);
                }
            }
            Change::Posted { .. } | Change::OperationDone { .. } | Change::Compacted { .. } => {}
            Change::ScopeSet { after, .. } => self.set_scope(after),
            Change::RoundSet { after, .. } => self.set_round(after),
            Change::AskOpened { ask } => {
                self.asks.put(&ask.id, ask.as_ref().clone());
                self.graph.touch_id(&ask.id);
            }
            Change::AnswerSet { id, after, .. } => {
                if let Some(ask) = self.ask(id).cloned() {
                    self.asks.put(id, Ask { answer: after.as_deref().cloned(), ..ask });
                }
                self.graph.touch_id(id);
            }
            Change::DutySet { id, after, .. } => self.set_duty(id, after.as_deref().cloned()),
            Change::AskReminded { id, duty } => self.set_duty(id, Some(duty.as_ref().clone())),
            Change::PlanSet { after, .. } => {
                self.plans.put(&after.root, after.as_ref().clone());
            }
            Change::HeartbeatSet { after, .. } => self.set_heartbeat(after),
            Change::HeartbeatRemoved { heartbeat } => self.remove_heartbeat(&heartbeat.id),
            Change::RootFinished { id, finished } => self.set_finished(id, *finished),
            Change::NoticeSet { after, .. } => self.set_notice(after),
            Change::NoticeEnded { notice, .. } => self.remove_notice(&notice.id),
            Change::IdReserved { id } => self.reserved.put(id, ()),
            Change::Annotated { annotation } => self.annotations.push(annotation.clone()),
            Change::DocumentSet { edit } => self.set_document(edit),
            Change::DocumentRemoved { root, ui_id, hidden } => self.remove_document(root, ui_id, *hidden),
        }
    }

    fn set_duty(&mut self, id: &IssueId, duty: Option<Duty>) {
        if let Some(ask) = self.ask(id).cloned() {
            self.asks.put(id, Ask { duty, ..ask });
        }
        self.graph.touch_id(id);
    }

    fn set_scope(&mut self, scope: &Scope) {
        let opened = self.scope(&scope.id).is_none();
        self.scopes.put(&scope.id, scope.clone());
        self.graph.touch_id(&scope.id);
        if opened {
            self.touch_children(&scope.id);
        }
    }

    /// A review made by hand waits for its scope to be opened, as long as that is one.
    fn touch_children(&self, id: &IssueId) {
        if let Some(ix) = self.graph.ix(id) {
            self.graph.children(ix).iter().for_each(|&child| self.graph.touch_id(self.graph.id(child)));
        }
    }

    fn set_round(&mut self, round: &Round) {
        let mut rounds = self.rounds_of(&round.scope).to_vec();
        rounds.retain(|other| other.number != round.number);
        rounds.push(round.clone());
        rounds.sort_by_key(|round| round.number);
        self.rounds.put(&round.scope, rounds);
        for id in [&round.attempt, &round.review] {
            self.round_of.put(id, (round.scope.clone(), round.number));
        }
        [&round.scope, &round.attempt, &round.review].into_iter().for_each(|id| self.graph.touch_id(id));
    }

    /// Whether a root was put away decides for its scopes whether they are still to be finished.
    fn set_finished(&mut self, root: &IssueId, finished: bool) {
        if let Some(source) = self.graph.source() {
            source.scopes_in(root).iter().for_each(|scope| self.graph.touch_id(scope));
        } else if let Some(ix) = self.graph.ix(root) {
            let below = self.graph.subtree(ix).into_iter();
            below.for_each(|ix| self.graph.touch_id(self.graph.id(ix)));
        }
        self.graph.touch_id(root);
        self.finished_roots.put(root, finished);
    }

    /// Edits an issue; that counts as one change of it.
    fn edited(&mut self, id: &IssueId, at: Millis, edit: impl FnOnce(&mut Issue)) {
        if let Some(ix) = self.graph.ix(id) {
            self.graph.edit(ix, |issue| {
                edit(issue);
                issue.updated_at = at;
                issue.revision += 1;
            });
        }
    }

    fn ends(&self, edge: &Edge) -> Option<(Ix, Ix)> {
        Some((self.graph.ix(&edge.from)?, self.graph.ix(&edge.to)?))
    }
}
