//! Records by the issue they belong to, or by an id of their own: those that are known, and those a source was asked for.

use std::collections::BTreeMap;
use std::fmt;

use elsa::FrozenBTreeMap;

use crate::model::graph::Graph;
use crate::model::id::IssueId;
use crate::model::source::Source;

/// Records of one sort. What is known goes before what the source said.
#[derive(Clone)]
pub(super) struct Kept<V, K = IssueId> {
    known: BTreeMap<K, V>,
    asked: FrozenBTreeMap<K, Box<Option<V>>>,
}

impl<V: fmt::Debug, K: fmt::Debug> fmt::Debug for Kept<V, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.known.fmt(f)
    }
}

impl<V, K: Clone + Ord> Default for Kept<V, K> {
    fn default() -> Self {
        Kept { known: BTreeMap::new(), asked: FrozenBTreeMap::default() }
    }
}

impl<V, K: Clone + Ord> Kept<V, K> {
    /// Records that are all there are.
    pub fn of(known: BTreeMap<K, V>) -> Self {
        Kept { known, ..Kept::default() }
    }

    /// One record; `load` asks the graph's source for it, once.
    pub fn get(&self, id: &K, graph: &Graph, load: impl FnOnce(&dyn Source) -> Option<V>) -> Option<&V> {
        if let Some(known) = self.known.get(id) {
            return Some(known);
        }
        let source = graph.source()?;
        match self.asked.get(id) {
            Some(asked) => asked.as_ref(),
            None => self.asked.insert(id.clone(), Box::new(load(source))).as_ref(),
        }
    }

    /// Takes in what the source said when it was asked about many issues at once.
    pub fn fill(&self, asked: &[K], found: impl IntoIterator<Item = (K, V)>) {
        for (id, record) in found {
            self.asked.insert(id, Box::new(Some(record)));
        }
        for id in asked {
            self.asked.insert(id.clone(), Box::new(None));
        }
    }

    /// Puts a record in the place of what was there.
    pub fn put(&mut self, id: &K, record: V) {
        self.known.insert(id.clone(), record);
    }

    /// The records that are known without asking, by id: in a part of a graph, those that changed.
    pub fn here(&self) -> impl Iterator<Item = (&K, &V)> {
        self.known.iter()
    }

    /// Every record of a whole snapshot, by id.
    pub fn entries(&self, graph: &Graph) -> impl Iterator<Item = (&K, &V)> {
        if let Some(source) = graph.source() {
            source.wants_whole("all records");
        }
        self.known.iter()
    }

    /// The same without the ids.
    pub fn all(&self, graph: &Graph) -> impl Iterator<Item = &V> {
        self.entries(graph).map(|(_, record)| record)
    }
}
