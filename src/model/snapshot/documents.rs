//! What a snapshot knows of documents: a head for each root, a part for each scope, a prompt for each ask.
//! Each is found on its own, so that a change costs what it touched, however much its root's document says.

use std::collections::BTreeSet;

use super::Snapshot;
use super::kept::Kept;
use super::pieces::Shelf;
use crate::model::document::{DocumentEdit, Documents, Head, Part, Prompt};
use crate::model::id::IssueId;
use crate::model::source::Take;

/// The documents of a snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct Described {
    heads: Kept<Option<Head>>,
    pub(super) parts: Shelf<Part>,
    pub(super) prompts: Shelf<Prompt>,
}

impl Described {
    /// Documents that are all there are.
    pub fn of(heads: Vec<Head>, parts: Vec<Part>, prompts: Vec<Prompt>) -> Described {
        let heads = heads.into_iter().map(|head| (head.root.clone(), Some(head)));
        Described { heads: Kept::of(heads.collect()), parts: Shelf::of(parts), prompts: Shelf::of(prompts) }
    }
}

impl Snapshot {
    /// The head of a root's status document.
    pub fn head(&self, root: &IssueId) -> Option<&Head> {
        let found = self.described.heads.get(root, &self.graph, |source| Some(source.head(root)));
        found.and_then(Option::as_ref)
    }

    /// What is said of a scope.
    pub fn part(&self, scope: &IssueId) -> Option<&Part> {
        self.piece(scope)
    }

    /// What is shown of an ask.
    pub fn prompt(&self, ask: &IssueId) -> Option<&Prompt> {
        self.piece(ask)
    }

    /// Some of the parts of a root's status document, in its order.
    pub fn parts_of(&self, root: &IssueId, take: Take) -> Vec<&Part> {
        self.pieces_of(root, take)
    }

    /// Some of the prompts of a root, by name.
    pub fn prompts_of(&self, root: &IssueId, take: Take) -> Vec<&Prompt> {
        self.pieces_of(root, take)
    }

    /// The prompt of a root with a name.
    pub fn prompt_named(&self, root: &IssueId, ui_id: &str) -> Option<&Prompt> {
        let stored = self.graph.source().and_then(|source| source.prompt_named(root, ui_id));
        self.pieces_among(root, stored).find(|prompt: &&Prompt| prompt.ui_id == ui_id)
    }

    /// All documents of a root.
    pub fn documents(&self, root: &IssueId) -> Documents {
        Documents {
            head: self.head(root).cloned(),
            parts: self.parts_of(root, Take::ALL).into_iter().cloned().collect(),
            prompts: self.prompts_of(root, Take::ALL).into_iter().cloned().collect(),
        }
    }

    /// The roots that have documents, by id.
    pub fn described_roots(&self) -> BTreeSet<IssueId> {
        let described = |root: &IssueId| {
            let first = Take::First(1);
            self.head(root).is_some()
                || !self.parts_of(root, first).is_empty()
                || !self.prompts_of(root, first).is_empty()
        };
        let heads = self.described.heads.here().map(|(root, _)| root);
        let (parts, prompts) = (self.described.parts.roots(), self.described.prompts.roots());
        let here: BTreeSet<&IssueId> = heads.chain(parts).chain(prompts).collect();
        let mut roots: BTreeSet<IssueId> =
            self.graph.source().map(|source| source.described_roots()).into_iter().flatten().collect();
        roots.retain(|root| !here.contains(root));
        roots.extend(here.into_iter().filter(|root| described(root)).cloned());
        roots
    }

    /// The scopes over whose state other trees decide, by id.
    pub fn decided_abroad(&self) -> BTreeSet<IssueId> {
        let stored = self.graph.source().map(|source| source.decided_abroad()).into_iter().flatten();
        let here = self.described.parts.here().cloned();
        let known: BTreeSet<IssueId> = stored.chain(here).collect();
        known.into_iter().filter(|scope| self.part(scope).is_some_and(|part| part.abroad)).collect()
    }

    /// Whether two whole snapshots have the same documents.
    pub fn same_documents(&self, other: &Snapshot) -> bool {
        let (mine, others) = (&self.described, &other.described);
        let (graph, of_other) = (&self.graph, &other.graph);
        mine.heads.all(graph).flatten().eq(others.heads.all(of_other).flatten())
            && mine.parts.all(graph).eq(others.parts.all(of_other))
            && mine.prompts.all(graph).eq(others.prompts.all(of_other))
    }

    pub(super) fn set_document(&mut self, edit: &DocumentEdit) {
        match edit {
            DocumentEdit::Status { after, parts, .. } => {
                self.described.heads.put(&after.root, Some(after.as_ref().clone()));
                for edit in parts {
                    match (&edit.before, &edit.after) {
                        (_, Some(part)) => self.put_piece(part.as_ref().clone()),
                        (Some(part), None) => self.remove_part(&after.root, &part.scope),
                        (None, None) => {}
                    }
                }
            }
            DocumentEdit::Prompt { after, .. } => self.put_piece(after.as_ref().clone()),
        }
    }

    /// A part may be in another document by now, where it stays.
    fn remove_part(&mut self, root: &IssueId, scope: &IssueId) {
        if self.part(scope).is_some_and(|part| part.root == *root) {
            self.remove_piece::<Part>(scope);
        }
    }

    pub(super) fn remove_document(&mut self, root: &IssueId, ui_id: &str, hidden: bool) {
        let head = self.head(root).filter(|head| head.ui_id == ui_id).cloned();
        let prompt = self.prompt_named(root, ui_id).cloned();
        if hidden {
            let head = head.map(|head| Head { shown: false, ..head });
            head.into_iter().for_each(|head| self.described.heads.put(root, Some(head)));
            let prompt = prompt.map(|prompt| Prompt { shown: false, ..prompt });
            prompt.into_iter().for_each(|prompt| self.put_piece(prompt));
            return;
        }
        if head.is_some() {
            self.described.heads.put(root, None);
            let parts = self.parts_of(root, Take::ALL).into_iter();
            let scopes: Vec<IssueId> = parts.map(|part| part.scope.clone()).collect();
            scopes.iter().for_each(|scope| self.remove_piece::<Part>(scope));
        }
        prompt.into_iter().for_each(|prompt| self.remove_piece::<Prompt>(&prompt.ask));
    }
}
