//! Everything the rules read: the graph and the policies' records. Changed by folding facts, and in
//! no other way.

mod restore;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::change::Change;
use super::document::Documents;
use super::graph::{Edge, Graph, Ix};
use super::id::IssueId;
use super::issue::{Issue, Millis};
use super::record::{Annotation, Ask, PlanRecord, Round, Scope};
use super::relation::Relation;

pub use restore::{Parts, RestoreError};

/// The state of a store at one revision.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    graph: Graph,
    scopes: BTreeMap<IssueId, Scope>,
    rounds: BTreeMap<(IssueId, u32), Round>,
    round_of: HashMap<IssueId, (IssueId, u32)>,
    asks: BTreeMap<IssueId, Ask>,
    plans: BTreeMap<IssueId, PlanRecord>,
    finished_roots: BTreeSet<IssueId>,
    reserved: BTreeSet<IssueId>,
    annotations: Vec<Annotation>,
    documents: Documents,
    relation: OnceCell<Relation>,
}

/// Equal when they say the same, whatever order the nodes came in.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        let issues = |s: &Snapshot| -> BTreeMap<IssueId, (Issue, Option<IssueId>)> {
            let each = s.graph.indices().map(|ix| {
                let parent = s.graph.node(ix).parent.map(|p| s.graph.id(p).clone());
                (s.graph.id(ix).clone(), (s.graph.issue(ix).clone(), parent))
            });
            each.collect()
        };
        issues(self) == issues(other)
            && self.graph.edges() == other.graph.edges()
            && self.scopes == other.scopes
            && self.rounds == other.rounds
            && self.asks == other.asks
            && self.plans == other.plans
            && self.finished_roots == other.finished_roots
            && self.reserved == other.reserved
            && self.annotations == other.annotations
            && self.documents == other.documents
    }
}

impl Snapshot {
    /// The issues and edges.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What section 3 says of this graph.
    pub fn relation(&self) -> &Relation {
        self.relation.get_or_init(|| Relation::of(&self.graph))
    }

    /// Every opened scope.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.values()
    }

    /// The record of an opened scope.
    pub fn scope(&self, id: &IssueId) -> Option<&Scope> {
        self.scopes.get(id)
    }

    /// The rounds of a scope, in order.
    pub fn rounds(&self, scope: &IssueId) -> impl Iterator<Item = &Round> {
        self.rounds.range((scope.clone(), 0)..=(scope.clone(), u32::MAX)).map(|(_, round)| round)
    }

    /// Every round of every scope.
    pub fn all_rounds(&self) -> impl Iterator<Item = &Round> {
        self.rounds.values()
    }

    /// The latest round of a scope.
    pub fn last_round(&self, scope: &IssueId) -> Option<&Round> {
        self.rounds.range((scope.clone(), 0)..=(scope.clone(), u32::MAX)).next_back().map(|(_, round)| round)
    }

    /// One round.
    pub fn round(&self, scope: &IssueId, number: u32) -> Option<&Round> {
        self.rounds.get(&(scope.clone(), number))
    }

    /// The round whose attempt or review this issue is.
    pub fn round_of(&self, id: &IssueId) -> Option<&Round> {
        self.round_of.get(id).and_then(|key| self.rounds.get(key))
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
        self.asks.values()
    }

    /// The ask an issue carries.
    pub fn ask(&self, id: &IssueId) -> Option<&Ask> {
        self.asks.get(id)
    }

    /// The plan applied to a root.
    pub fn plan(&self, root: &IssueId) -> Option<&PlanRecord> {
        self.plans.get(root)
    }

    /// Every applied plan.
    pub fn plans(&self) -> impl Iterator<Item = &PlanRecord> {
        self.plans.values()
    }

    /// Whether a tick has found this root final.
    pub fn root_finished(&self, root: &IssueId) -> bool {
        self.finished_roots.contains(root)
    }

    /// The roots that a tick has found final.
    pub fn finished_roots(&self) -> impl Iterator<Item = &IssueId> {
        self.finished_roots.iter()
    }

    /// Whether an id may not be given to a new issue.
    pub fn taken(&self, id: &IssueId) -> bool {
        self.graph.ix(id).is_some() || self.reserved.contains(id)
    }

    /// The ids of imported tombstones.
    pub fn reserved(&self) -> impl Iterator<Item = &IssueId> {
        self.reserved.iter()
    }

    /// What imports could not express.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// The status documents and prompts.
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    /// Takes a fact in. The fact must be about this snapshot: what it names is there.
    pub fn fold(&mut self, change: &Change, at: Millis) {
        let beside = matches!(
            change,
            Change::Posted { .. } | Change::DocumentSet { .. } | Change::DocumentRemoved { .. }
        );
        if !beside {
            self.relation.take();
        }
        match change {
            Change::IssueCreated { issue, parent } => {
                let ix = self.graph.insert(issue.as_ref().clone());
                let parent = parent.as_ref().and_then(|p| self.graph.ix(p));
                self.graph.set_parent(ix, parent);
            }
            Change::IssueChanged { id, after, .. } => {
                if let Some(issue) = self.touched(id, at) {
                    after.iter().for_each(|field| field.put(issue));
                }
            }
            Change::ParentSet { id, after, .. } => {
                self.touched(id, at);
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
            Change::Posted { .. } => {}
            Change::ScopeSet { after, .. } => {
                self.scopes.insert(after.id.clone(), after.as_ref().clone());
            }
            Change::RoundSet { after, .. } => {
                let key = (after.scope.clone(), after.number);
                self.round_of.insert(after.attempt.clone(), key.clone());
                self.round_of.insert(after.review.clone(), key.clone());
                self.rounds.insert(key, after.as_ref().clone());
            }
            Change::AskOpened { ask } => {
                self.asks.insert(ask.id.clone(), ask.as_ref().clone());
            }
            Change::AnswerSet { id, after, .. } => {
                if let Some(ask) = self.asks.get_mut(id) {
                    ask.answer = after.as_deref().cloned();
                }
            }
            Change::PlanSet { after, .. } => {
                self.plans.insert(after.root.clone(), after.as_ref().clone());
            }
            Change::RootFinished { id, finished: true } => {
                self.finished_roots.insert(id.clone());
            }
            Change::RootFinished { id, finished: false } => {
                self.finished_roots.remove(id);
            }
            Change::IdReserved { id } => {
                self.reserved.insert(id.clone());
            }
            Change::Annotated { annotation } => self.annotations.push(annotation.clone()),
            Change::DocumentSet { edit } => self.documents.set(edit),
            Change::DocumentRemoved { root, ui_id, hidden } => self.documents.remove(root, ui_id, *hidden),
        }
    }

    fn touched(&mut self, id: &IssueId, at: Millis) -> Option<&mut Issue> {
        let ix = self.graph.ix(id)?;
        let issue = self.graph.issue_mut(ix);
        issue.updated_at = at;
        issue.revision += 1;
        Some(issue)
    }

    fn ends(&self, edge: &Edge) -> Option<(Ix, Ix)> {
        Some((self.graph.ix(&edge.from)?, self.graph.ix(&edge.to)?))
    }
}
