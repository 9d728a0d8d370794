//! What a snapshot knows of documents: a head for each root, a part for each scope, a prompt for each ask.
//! Each is found on its own, so that a change costs what it touched, however much its root's document says.

use std::collections::{BTreeMap, BTreeSet};

use super::Snapshot;
use super::kept::Kept;
use crate::model::document::{DocumentEdit, Documents, Head, Part, Prompt};
use crate::model::id::IssueId;
use crate::model::source::{Source, Take};

/// The documents of a snapshot.
#[derive(Debug, Clone, Default)]
pub(super) struct Described {
    heads: Kept<Option<Head>>,
    parts: Kept<Option<Part>>,
    prompts: Kept<Option<Prompt>>,
    /// The scopes and asks whose part or prompt was set here, by the root it was set in.
    set: BTreeMap<IssueId, BTreeSet<IssueId>>,
}

impl Described {
    /// Documents that are all there are.
    pub fn of(heads: Vec<Head>, parts: Vec<Part>, prompts: Vec<Prompt>) -> Described {
        let mut made = Described::default();
        heads.into_iter().for_each(|head| made.heads.put(&head.root.clone(), Some(head)));
        parts.into_iter().for_each(|part| made.put_part(part));
        prompts.into_iter().for_each(|prompt| made.put_prompt(prompt));
        made
    }

    fn put_part(&mut self, part: Part) {
        self.set.entry(part.root.clone()).or_default().insert(part.scope.clone());
        self.parts.put(&part.scope.clone(), Some(part));
    }

    fn put_prompt(&mut self, prompt: Prompt) {
        self.set.entry(prompt.root.clone()).or_default().insert(prompt.ask.clone());
        self.prompts.put(&prompt.ask.clone(), Some(prompt));
    }

    /// The scopes and asks that may have been described in a root's documents here.
    fn set_in(&self, root: &IssueId) -> impl Iterator<Item = &IssueId> {
        self.set.get(root).into_iter().flatten()
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
        let found = self.described.parts.get(scope, &self.graph, |source| Some(source.part(scope)));
        found.and_then(Option::as_ref)
    }

    /// What is shown of an ask.
    pub fn prompt(&self, ask: &IssueId) -> Option<&Prompt> {
        let found = self.described.prompts.get(ask, &self.graph, |source| Some(source.prompt(ask)));
        found.and_then(Option::as_ref)
    }

    /// Some of the parts of a root's status document, in its order.
    pub fn parts_of(&self, root: &IssueId, take: Take) -> Vec<&Part> {
        let of = |source: &dyn Source, take| source.parts_of(root, take);
        let stored = self.stored_in(root, take, of).into_iter();
        let stored: Vec<(IssueId, Option<Part>)> =
            stored.map(|part| (part.scope.clone(), Some(part))).collect();
        let scopes = self.named(root, stored.iter().map(|(scope, _)| scope));
        self.described.parts.fill(&[], stored);
        let mut found: Vec<&Part> = scopes.iter().filter_map(|scope| self.part(scope)).collect();
        found.retain(|part| part.root == *root);
        found.sort_by_key(|part| part.place);
        take.of(found)
    }

    /// Some of the prompts of a root, by name.
    pub fn prompts_of(&self, root: &IssueId, take: Take) -> Vec<&Prompt> {
        let of = |source: &dyn Source, take| source.prompts_of(root, take);
        let stored = self.stored_in(root, take, of).into_iter();
        let stored: Vec<(IssueId, Option<Prompt>)> =
            stored.map(|prompt| (prompt.ask.clone(), Some(prompt))).collect();
        let asks = self.named(root, stored.iter().map(|(ask, _)| ask));
        self.described.prompts.fill(&[], stored);
        let mut found: Vec<&Prompt> = asks.iter().filter_map(|ask| self.prompt(ask)).collect();
        found.retain(|prompt| prompt.root == *root);
        found.sort_by(|a, b| a.ui_id.cmp(&b.ui_id));
        take.of(found)
    }

    /// The prompt of a root with a name.
    pub fn prompt_named(&self, root: &IssueId, ui_id: &str) -> Option<&Prompt> {
        let stored = self.graph.source().and_then(|source| source.prompt_named(root, ui_id));
        let asks = self.named(root, stored.iter().map(|prompt| &prompt.ask));
        self.described.prompts.fill(&[], stored.map(|prompt| (prompt.ask.clone(), Some(prompt))));
        let mut found = asks.iter().filter_map(|ask| self.prompt(ask));
        found.find(|prompt| prompt.root == *root && prompt.ui_id == ui_id)
    }

    /// What a source has in a root: enough of it for so many that were not set anew here.
    fn stored_in<T>(
        &self,
        root: &IssueId,
        take: Take,
        of: impl FnOnce(&dyn Source, Take) -> Vec<T>,
    ) -> Vec<T> {
        let more = self.described.set_in(root).count();
        self.graph.source().map_or_else(Vec::new, |source| of(source, take.and(more)))
    }

    /// What is named, and what may have been described in a root's documents here.
    fn named<'s>(&'s self, root: &IssueId, named: impl Iterator<Item = &'s IssueId>) -> BTreeSet<IssueId> {
        named.chain(self.described.set_in(root)).cloned().collect()
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
        let here: BTreeSet<&IssueId> = heads.chain(self.described.set.keys()).collect();
        let mut roots: BTreeSet<IssueId> =
            self.graph.source().map(|source| source.described_roots()).into_iter().flatten().collect();
        roots.retain(|root| !here.contains(root));
        roots.extend(here.into_iter().filter(|root| described(root)).cloned());
        roots
    }

    /// The scopes over whose state other trees decide, by id.
    pub fn decided_abroad(&self) -> BTreeSet<IssueId> {
        let stored = self.graph.source().map(|source| source.decided_abroad()).into_iter().flatten();
        let here = self.described.parts.here().map(|(scope, _)| scope.clone());
        let known: BTreeSet<IssueId> = stored.chain(here).collect();
        known.into_iter().filter(|scope| self.part(scope).is_some_and(|part| part.abroad)).collect()
    }

    /// Whether two whole snapshots have the same documents.
    pub fn same_documents(&self, other: &Snapshot) -> bool {
        let (mine, others) = (&self.described, &other.described);
        let (graph, of_other) = (&self.graph, &other.graph);
        mine.heads.all(graph).flatten().eq(others.heads.all(of_other).flatten())
            && mine.parts.all(graph).flatten().eq(others.parts.all(of_other).flatten())
            && mine.prompts.all(graph).flatten().eq(others.prompts.all(of_other).flatten())
    }

    pub(super) fn set_document(&mut self, edit: &DocumentEdit) {
        match edit {
            DocumentEdit::Status { after, parts, .. } => {
                self.described.heads.put(&after.root, Some(after.as_ref().clone()));
                for edit in parts {
                    match (&edit.before, &edit.after) {
                        (_, Some(part)) => self.described.put_part(part.as_ref().clone()),
                        (Some(part), None) => self.remove_part(&after.root, &part.scope),
                        (None, None) => {}
                    }
                }
            }
            DocumentEdit::Prompt { after, .. } => self.described.put_prompt(after.as_ref().clone()),
        }
    }

    /// A part may be in another document by now, where it stays.
    fn remove_part(&mut self, root: &IssueId, scope: &IssueId) {
        if self.part(scope).is_some_and(|part| part.root == *root) {
            self.described.parts.put(scope, None);
        }
    }

    pub(super) fn remove_document(&mut self, root: &IssueId, ui_id: &str, hidden: bool) {
        let head = self.head(root).filter(|head| head.ui_id == ui_id).cloned();
        let prompt = self.prompt_named(root, ui_id).cloned();
        if hidden {
            let head = head.map(|head| Head { shown: false, ..head });
            head.into_iter().for_each(|head| self.described.heads.put(root, Some(head)));
            let prompt = prompt.map(|prompt| Prompt { shown: false, ..prompt });
            prompt.into_iter().for_each(|prompt| self.described.put_prompt(prompt));
            return;
        }
        if head.is_some() {
            self.described.heads.put(root, None);
            let parts = self.parts_of(root, Take::ALL).into_iter();
            let scopes: Vec<IssueId> = parts.map(|part| part.scope.clone()).collect();
            scopes.iter().for_each(|scope| self.described.parts.put(scope, None));
        }
        if let Some(prompt) = prompt {
            self.described.prompts.put(&prompt.ask, None);
        }
    }
}
