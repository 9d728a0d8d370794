//! Which scopes and asks a change may have given another text. Never too few; what is named here and
//! says the same as before costs a look and no more.

use std::collections::BTreeSet;

use crate::model::change::{Change, Field};
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::IssueId;
use crate::model::issue::Outcome;
use crate::model::snapshot::Snapshot;

/// What some changes may have touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Scopes whose part may differ.
    pub scopes: BTreeSet<IssueId>,
    /// Asks whose prompt may differ.
    pub asks: BTreeSet<IssueId>,
    /// Roots of which everything may differ.
    pub roots: BTreeSet<IssueId>,
}

impl Touched {
    /// What these changes touched, on the snapshot they led to.
    pub fn of<'c>(snapshot: &Snapshot, changes: impl Iterator<Item = &'c Change>) -> Touched {
        let mut search = Search {
            snapshot,
            found: Touched::default(),
            seen: BTreeSet::new(),
            loosened: false,
            any: false,
        };
        let mut changed = Vec::new();
        for change in changes {
            search.take(change, &mut changed);
        }
        changed.into_iter().for_each(|id| search.up(&id));
        if search.any {
            search.found.scopes.extend(snapshot.documents().failing().cloned());
        }
        search.found.complete(snapshot)
    }

    /// Everything at or below a root.
    pub fn root(snapshot: &Snapshot, root: &IssueId) -> Touched {
        Touched { roots: BTreeSet::from([root.clone()]), ..Touched::default() }.complete(snapshot)
    }

    /// Names the scopes and asks of the roots of which everything may differ.
    fn complete(mut self, snapshot: &Snapshot) -> Touched {
        let graph = snapshot.graph();
        for root in &self.roots {
            self.scopes
                .extend(snapshot.documents().parts_of(root).into_iter().map(|part| part.scope.clone()));
            let prompts = snapshot.documents().prompts_of(root).into_iter();
            self.asks.extend(prompts.map(|prompt| prompt.ask.clone()));
            for ix in graph.ix(root).map(|ix| graph.subtree(ix)).unwrap_or_default() {
                let id = graph.id(ix);
                if snapshot.scope(id).is_some_and(|scope| scope.end.is_none()) {
                    self.scopes.insert(id.clone());
                }
                if snapshot.ask(id).is_some() && !graph.issue(ix).state.closed() {
                    self.asks.insert(id.clone());
                }
            }
        }
        self
    }
}

struct Search<'s> {
    snapshot: &'s Snapshot,
    found: Touched,
    seen: BTreeSet<Ix>,
    /// Whether something may count as unresolved that was resolved before.
    loosened: bool,
    any: bool,
}

impl Search<'_> {
    fn take(&mut self, change: &Change, changed: &mut Vec<IssueId>) {
        let mut touch = |id: &IssueId| changed.push(id.clone());
        match change {
            Change::Posted { .. }
            | Change::PlanSet { .. }
            | Change::IdReserved { .. }
            | Change::Annotated { .. }
            | Change::DocumentSet { .. }
            | Change::DocumentRemoved { .. } => return,
            Change::IssueCreated { issue, .. } => touch(&issue.id),
            Change::IssueChanged { id, before, after } => {
                touch(id);
                self.field_changes(id, before, after);
            }
            Change::ParentSet { id, before, after } => {
                self.loosened = true;
                touch(id);
                before.iter().chain(after).for_each(&mut touch);
                before.iter().chain([id]).for_each(|id| self.whole_root(id));
            }
            Change::EdgeAdded { edge } | Change::EdgeRemoved { edge } => {
                self.loosened |= matches!(change, Change::EdgeRemoved { .. });
                touch(&edge.from);
                touch(&edge.to);
                if edge.kind == EdgeKind::Supersedes {
                    self.below(&edge.to);
                }
            }
            Change::ScopeSet { after, .. } => touch(&after.id),
            Change::RoundSet { after, .. } => [&after.scope, &after.attempt].into_iter().for_each(touch),
            Change::AskOpened { ask } => touch(&ask.id),
            Change::AnswerSet { id, .. } => touch(id),
            Change::RootFinished { id, .. } => self.whole_root(id),
        }
        self.any = true;
    }

    fn field_changes(&mut self, id: &IssueId, before: &[Field], after: &[Field]) {
        let state = |fields: &[Field]| {
            fields.iter().find_map(|field| match field {
                Field::State(state) => Some(state.clone()),
                _ => None,
            })
        };
        if let (Some(before), Some(after)) = (state(before), state(after)) {
            let quiet = |outcome: Option<Outcome>| {
                matches!(outcome, None | Some(Outcome::Expanded | Outcome::Success))
            };
            let reopened = before.closed() && !after.closed();
            self.loosened |= reopened;
            let ends_what_is_below = !quiet(before.outcome()) || !quiet(after.outcome());
            if reopened || ends_what_is_below || self.has_open_children(id) {
                self.below(id);
            }
        }
        if after.iter().any(|field| matches!(field, Field::Tags(_))) && self.is_root(id) {
            self.whole_root(id);
        }
    }

    /// A node that ends for its own reasons may end what is open below it.
    fn has_open_children(&self, id: &IssueId) -> bool {
        let graph = self.snapshot.graph();
        let Some(ix) = graph.ix(id).filter(|&ix| graph.issue(ix).state.outcome() == Some(Outcome::Success))
        else {
            return false;
        };
        graph.node(ix).children.iter().any(|&child| !graph.issue(child).state.closed())
    }

    fn is_root(&self, id: &IssueId) -> bool {
        let graph = self.snapshot.graph();
        graph.ix(id).is_some_and(|ix| graph.root(ix) == ix)
    }

    /// What lies below may live or have ended from now on.
    fn below(&mut self, id: &IssueId) {
        let graph = self.snapshot.graph();
        let children = graph.ix(id).is_some_and(|ix| !graph.node(ix).children.is_empty());
        if children || self.is_root(id) {
            self.whole_root(id);
        }
    }

    fn whole_root(&mut self, id: &IssueId) {
        let graph = self.snapshot.graph();
        if let Some(ix) = graph.ix(id) {
            self.found.roots.insert(graph.id(graph.root(ix)).clone());
        }
        // What was there before may have moved elsewhere.
        if self.snapshot.documents().head(id).is_some() {
            self.found.roots.insert(id.clone());
        }
    }

    /// What a node's being resolved or not decides: its scopes and asks, those above it, and what it or
    /// anything above it took the place of.
    fn up(&mut self, id: &IssueId) {
        let graph = self.snapshot.graph();
        let mut next: Vec<Ix> = graph.ix(id).into_iter().collect();
        while let Some(start) = next.pop() {
            for ix in graph.self_and_ancestors(start) {
                if !self.seen.insert(ix) {
                    break;
                }
                self.name(ix);
                if self.loosened || self.snapshot.relation().resolved(ix) {
                    for &old in &graph.node(ix).supersedes {
                        next.push(old);
                        graph.subtree(old).into_iter().for_each(|ix| self.name(ix));
                    }
                }
            }
        }
    }

    /// The scopes and asks that a node itself is, or is a part of.
    fn name(&mut self, ix: Ix) {
        let id = self.snapshot.graph().id(ix);
        if self.snapshot.scope(id).is_some() || self.snapshot.documents().part(id).is_some() {
            self.found.scopes.insert(id.clone());
        }
        if let Some(round) = self.snapshot.round_of(id) {
            self.found.scopes.insert(round.scope.clone());
        }
        if let Some(ask) = self.snapshot.ask(id) {
            self.found.asks.insert(id.clone());
            self.found.scopes.extend(ask.scope.iter().cloned());
        }
    }
}
