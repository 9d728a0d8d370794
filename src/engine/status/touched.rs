//! Which scopes and asks a change may have given another text. Never too few; what is named here and
//! says the same as before costs a look and no more.

use std::collections::BTreeSet;

use crate::engine::failures::scopes_of_failures;
use crate::model::change::{Change, Field};
use crate::model::frontier::List;
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::IssueId;
use crate::model::issue::Outcome;
use crate::model::snapshot::Snapshot;
use crate::model::tag::IMPORT_OPEN_BELOW_CLOSED;

/// What changes may have touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched {
    /// Scopes whose part may differ.
    pub scopes: BTreeSet<IssueId>,
    /// Asks whose prompt may differ.
    pub asks: BTreeSet<IssueId>,
    /// Roots whose documents may come, go, or get another name.
    pub roots: BTreeSet<IssueId>,
}

/// The rules that find it, beside the first one: what changed, and what lies above that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// What came to be resolved or let go with it, or ceased to be, wherever that is.
    Shifted,
    /// What lies below something that ended or came back.
    Below,
    /// Rounds that hold a failure: whether they failed for good depends on what lies beside them.
    Failing,
    /// Such rounds in other trees, where they look beyond their own.
    Abroad,
}

impl Rule {
    /// Every rule. A test leaves one out at a time, to show what it is for.
    pub const ALL: [Rule; 4] = [Rule::Shifted, Rule::Below, Rule::Failing, Rule::Abroad];
}

impl Touched {
    /// What these changes touched, on the snapshot they led to. `shifted` are the nodes that came to be
    /// resolved or let go with them, or ceased to be.
    pub fn by<'c>(
        snapshot: &Snapshot,
        changes: impl Iterator<Item = &'c Change>,
        shifted: &BTreeSet<Ix>,
        rules: &[Rule],
    ) -> Touched {
        let mut search = Search {
            snapshot,
            rules,
            found: Touched::default(),
            seen: BTreeSet::new(),
            tops: BTreeSet::new(),
        };
        changes.for_each(|change| search.take(change));
        if search.tops.is_empty() {
            return search.found;
        }
        if rules.contains(&Rule::Shifted) {
            shifted.iter().for_each(|&ix| search.up(ix));
        }
        if rules.contains(&Rule::Failing) {
            search.failing();
        }
        if rules.contains(&Rule::Abroad) {
            search.found.scopes.extend(snapshot.decided_abroad());
        }
        search.found
    }

    /// Everything at or below a root.
    pub fn root(snapshot: &Snapshot, root: &IssueId) -> Touched {
        let mut found = Touched::default();
        found.roots.insert(root.clone());
        let documents = snapshot.documents(root);
        found.scopes.extend(documents.parts.into_iter().map(|part| part.scope));
        found.asks.extend(documents.prompts.into_iter().map(|prompt| prompt.ask));
        if let Some(top) = snapshot.graph().ix(root) {
            let on = |list: List| snapshot.listed(list, Some(top)).all().into_iter();
            let id = |ix| snapshot.graph().id(ix).clone();
            found.scopes.extend(on(List::OpenScope).map(id));
            found.asks.extend(on(List::Asking).map(id));
        }
        found
    }
}

struct Search<'s> {
    snapshot: &'s Snapshot,
    rules: &'s [Rule],
    found: Touched,
    seen: BTreeSet<Ix>,
    /// The roots of the trees in which something changed.
    tops: BTreeSet<Ix>,
}

impl Search<'_> {
    fn take(&mut self, change: &Change) {
        match change {
            Change::Posted { .. }
            | Change::OperationDone { .. }
            | Change::Compacted { .. }
            | Change::PlanSet { .. }
            | Change::HeartbeatSet { .. }
            | Change::HeartbeatRemoved { .. }
            | Change::IdReserved { .. }
            | Change::Annotated { .. }
            | Change::DutySet { .. }
            | Change::AskReminded { .. }
            | Change::NoticeSet { .. }
            | Change::NoticeEnded { .. }
            | Change::DocumentSet { .. }
            | Change::DocumentRemoved { .. } => {}
            Change::IssueCreated { issue, .. } => self.touch(&issue.id),
            Change::IssueChanged { id, before, after } => {
                self.touch(id);
                self.fields(id, before, after);
            }
            Change::ParentSet { id, before, after } => {
                [Some(id), before.as_ref(), after.as_ref()]
                    .into_iter()
                    .flatten()
                    .for_each(|id| self.touch(id));
                // The documents of what was a root itself go with it.
                self.found.roots.insert(id.clone());
                self.below(id);
            }
            Change::EdgeAdded { edge } | Change::EdgeRemoved { edge } => {
                self.touch(&edge.from);
                self.touch(&edge.to);
                if edge.kind == EdgeKind::Supersedes {
                    self.below(&edge.to);
                }
            }
            Change::ScopeSet { after, .. } => self.touch(&after.id),
            Change::RoundSet { after, .. } => {
                self.touch(&after.scope);
                self.touch(&after.attempt);
            }
            Change::AskOpened { ask } => self.touch(&ask.id),
            Change::AnswerSet { id, .. } => self.touch(id),
            Change::RootFinished { id, .. } => {
                self.touch(id);
                self.found.roots.insert(id.clone());
            }
        }
    }

    fn fields(&mut self, id: &IssueId, before: &[Field], after: &[Field]) {
        let pairs = || before.iter().zip(after);
        if pairs().any(|(before, after)| ends_what_is_below(before) != ends_what_is_below(after)) {
            self.below(id);
        }
        if self.snapshot.graph().ix(id).is_some_and(|ix| self.tops.contains(&ix)) {
            self.found.roots.insert(id.clone());
        }
    }

    /// A change of this node itself, and of what it is a part of.
    fn touch(&mut self, id: &IssueId) {
        if let Some(ix) = self.snapshot.graph().ix(id) {
            self.up(ix);
        }
    }

    /// The scopes and asks that a node and those above it are, or belong to, and the root of its tree.
    fn up(&mut self, from: Ix) {
        let graph = self.snapshot.graph();
        for ix in graph.self_and_ancestors(from) {
            if !self.seen.insert(ix) {
                break;
            }
            if graph.parent(ix).is_none() {
                self.tops.insert(ix);
            }
            let id = graph.id(ix);
            if self.snapshot.scope(id).is_some() {
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

    /// What lies below may live or have ended from now on, or have come from another tree.
    fn below(&mut self, id: &IssueId) {
        let graph = self.snapshot.graph();
        let top = graph.ix(id).filter(|&ix| graph.standing(ix).children > 0);
        let Some(top) = top.filter(|_| self.rules.contains(&Rule::Below)) else { return };
        for id in graph.touched_below(top).into_iter().map(|ix| graph.id(ix)) {
            if self.snapshot.scope(id).is_some() {
                self.found.scopes.insert(id.clone());
            }
            if self.snapshot.ask(id).is_some() {
                self.found.asks.insert(id.clone());
            }
        }
    }

    fn failing(&mut self) {
        let graph = self.snapshot.graph();
        for &top in &self.tops {
            let failing = scopes_of_failures(self.snapshot, top).into_iter();
            self.found.scopes.extend(failing.map(|scope| graph.id(scope).clone()));
        }
    }
}

/// Whether a field says something about what is below: below some nodes nothing goes on, for good or until
/// they are resumed, save what was imported so.
fn ends_what_is_below(field: &Field) -> bool {
    match field {
        Field::State(state) => state.outcome().is_some_and(|outcome| outcome != Outcome::Expanded),
        Field::Pause(pause) => pause.is_some(),
        Field::Tags(tags) => !tags.has(IMPORT_OPEN_BELOW_CLOSED),
        _ => false,
    }
}
