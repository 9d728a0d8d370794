//! What a snapshot knows of documents. They are kept by root, and found by the scope or ask that they
//! speak of as well.

use std::collections::BTreeSet;

use super::Snapshot;
use crate::model::document::{DocumentEdit, Documents, Part, Prompt};
use crate::model::id::IssueId;

impl Snapshot {
    /// The documents of a root.
    pub fn documents(&self, root: &IssueId) -> &Documents {
        let found = self.documents.get(root, &self.graph, |source| source.documents(root));
        found.unwrap_or(Documents::NONE)
    }

    /// What is said of a scope.
    pub fn part(&self, scope: &IssueId) -> Option<&Part> {
        self.documents(self.described_in(scope)?).part(scope)
    }

    /// What is shown of an ask.
    pub fn prompt(&self, ask: &IssueId) -> Option<&Prompt> {
        self.documents(self.described_in(ask)?).prompt(ask)
    }

    /// The root whose documents speak of a scope or an ask, or did so before a change.
    fn described_in(&self, id: &IssueId) -> Option<&IssueId> {
        self.described_in.get(id, &self.graph, |source| source.described_in(id))
    }

    /// The roots that have documents, by id.
    pub fn described_roots(&self) -> BTreeSet<IssueId> {
        let mut roots: BTreeSet<IssueId> =
            self.graph.source().map(|source| source.described_roots()).into_iter().flatten().collect();
        for (root, documents) in self.documents.here() {
            if documents.is_empty() {
                roots.remove(root);
            } else {
                roots.insert(root.clone());
            }
        }
        roots
    }

    /// The scopes over whose state other trees decide, by id.
    pub fn decided_abroad(&self) -> BTreeSet<IssueId> {
        let stored = self.graph.source().map(|source| source.decided_abroad()).into_iter().flatten();
        let here = self.documents.here().flat_map(|(_, documents)| &documents.parts);
        let known: BTreeSet<IssueId> = stored.chain(here.map(|part| part.scope.clone())).collect();
        known.into_iter().filter(|scope| self.part(scope).is_some_and(|part| part.abroad)).collect()
    }

    /// The documents of every root of a whole snapshot that has some.
    pub fn all_documents(&self) -> impl Iterator<Item = &Documents> {
        self.documents.all(&self.graph).filter(|documents| !documents.is_empty())
    }

    pub(super) fn set_document(&mut self, edit: &DocumentEdit) {
        let root = edit.document().0;
        let mut documents = self.documents(root).clone();
        documents.set(edit);
        match edit {
            DocumentEdit::Status { parts, .. } => {
                let here = parts.iter().filter_map(|edit| edit.after.as_ref());
                here.for_each(|part| self.described_in.put(&part.scope, root.clone()));
            }
            DocumentEdit::Prompt { after, .. } => self.described_in.put(&after.ask, root.clone()),
        }
        self.documents.put(root, documents);
    }

    pub(super) fn remove_document(&mut self, root: &IssueId, ui_id: &str, hidden: bool) {
        let mut documents = self.documents(root).clone();
        documents.remove(ui_id, hidden);
        self.documents.put(root, documents);
    }
}
