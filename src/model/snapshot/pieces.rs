//! The pieces documents are made of: each is about one issue and in one root's documents. A change may set
//! some anew, remove them, or move them to another root; what a source has of the rest is asked for.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::Snapshot;
use super::documents::Described;
use super::kept::Kept;
use crate::model::document::{Part, Prompt};
use crate::model::graph::Graph;
use crate::model::id::IssueId;
use crate::model::source::{Source, Take};

/// A piece of a root's documents.
pub(super) trait Piece: Sized {
    /// The issue it tells of.
    fn about(&self) -> &IssueId;
    /// The root in whose documents it is.
    fn root(&self) -> &IssueId;
    /// The order in which a root's are given.
    fn order(&self, other: &Self) -> Ordering;
    /// Where they are kept.
    fn shelf(described: &Described) -> &Shelf<Self>;
    fn shelf_mut(described: &mut Described) -> &mut Shelf<Self>;
    /// What a source has about an issue.
    fn stored(source: &dyn Source, about: &IssueId) -> Option<Self>;
    /// What a source has in a root, in their order.
    fn stored_in(source: &dyn Source, root: &IssueId, take: Take) -> Vec<Self>;
}

impl Piece for Part {
    fn about(&self) -> &IssueId {
        &self.scope
    }

    fn root(&self) -> &IssueId {
        &self.root
    }

    fn order(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }

    fn shelf(described: &Described) -> &Shelf<Self> {
        &described.parts
    }

    fn shelf_mut(described: &mut Described) -> &mut Shelf<Self> {
        &mut described.parts
    }

    fn stored(source: &dyn Source, about: &IssueId) -> Option<Self> {
        source.part(about)
    }

    fn stored_in(source: &dyn Source, root: &IssueId, take: Take) -> Vec<Self> {
        source.parts_of(root, take)
    }
}

impl Piece for Prompt {
    fn about(&self) -> &IssueId {
        &self.ask
    }

    fn root(&self) -> &IssueId {
        &self.root
    }

    fn order(&self, other: &Self) -> Ordering {
        self.ui_id.cmp(&other.ui_id)
    }

    fn shelf(described: &Described) -> &Shelf<Self> {
        &described.prompts
    }

    fn shelf_mut(described: &mut Described) -> &mut Shelf<Self> {
        &mut described.prompts
    }

    fn stored(source: &dyn Source, about: &IssueId) -> Option<Self> {
        source.prompt(about)
    }

    fn stored_in(source: &dyn Source, root: &IssueId, take: Take) -> Vec<Self> {
        source.prompts_of(root, take)
    }
}

/// The pieces of one sort.
#[derive(Debug, Clone)]
pub(super) struct Shelf<P> {
    kept: Kept<Option<P>>,
    /// What each root's pieces set, removed or moved here are about: the root they came to, and the one they left.
    touched: BTreeMap<IssueId, BTreeSet<IssueId>>,
}

impl<P> Default for Shelf<P> {
    fn default() -> Self {
        Shelf { kept: Kept::default(), touched: BTreeMap::new() }
    }
}

impl<P: Piece> Shelf<P> {
    /// Pieces that are all there are.
    pub fn of(pieces: Vec<P>) -> Shelf<P> {
        let mut made = Shelf::default();
        for piece in pieces {
            made.touch(piece.root().clone(), piece.about().clone());
            made.kept.put(&piece.about().clone(), Some(piece));
        }
        made
    }

    /// The roots whose pieces may have changed here.
    pub fn roots(&self) -> impl Iterator<Item = &IssueId> {
        self.touched.keys()
    }

    /// What the pieces that were set or removed here are about.
    pub fn here(&self) -> impl Iterator<Item = &IssueId> {
        self.kept.here().map(|(about, _)| about)
    }

    /// Every piece of a whole snapshot, by what it is about.
    pub fn all<'s>(&'s self, graph: &'s Graph) -> impl Iterator<Item = &'s P> {
        self.kept.all(graph).flatten()
    }

    fn touch(&mut self, root: IssueId, about: IssueId) {
        self.touched.entry(root).or_default().insert(about);
    }

    fn touched_in(&self, root: &IssueId) -> impl Iterator<Item = &IssueId> {
        self.touched.get(root).into_iter().flatten()
    }
}

impl Snapshot {
    /// The piece about an issue.
    pub(super) fn piece<P: Piece>(&self, about: &IssueId) -> Option<&P> {
        let kept = &P::shelf(&self.described).kept;
        kept.get(about, &self.graph, |source| Some(P::stored(source, about))).and_then(Option::as_ref)
    }

    /// Some of the pieces in a root's documents, in their order.
    pub(super) fn pieces_of<P: Piece>(&self, root: &IssueId, take: Take) -> Vec<&P> {
        // As many of those the source gives may have gone from here, or to another place.
        let elsewhere = P::shelf(&self.described).touched_in(root).count();
        let stored = self.graph.source().map(|source| P::stored_in(source, root, take.and(elsewhere)));
        let mut found: Vec<&P> = self.pieces_among(root, stored.into_iter().flatten()).collect();
        found.sort_by(|one, other| one.order(other));
        take.of(found)
    }

    /// Of what a source gave and what was touched here, the pieces that are in a root's documents now.
    pub(super) fn pieces_among<'s, P: Piece + 's>(
        &'s self,
        root: &IssueId,
        stored: impl IntoIterator<Item = P>,
    ) -> impl Iterator<Item = &'s P> {
        let shelf = P::shelf(&self.described);
        let stored: Vec<(IssueId, Option<P>)> =
            stored.into_iter().map(|piece| (piece.about().clone(), Some(piece))).collect();
        let about: BTreeSet<IssueId> =
            shelf.touched_in(root).chain(stored.iter().map(|(about, _)| about)).cloned().collect();
        shelf.kept.fill(&[], stored);
        let found = about.into_iter().filter_map(|about| self.piece(&about));
        found.filter(move |piece: &&P| piece.root() == root)
    }

    pub(super) fn put_piece<P: Piece>(&mut self, piece: P) {
        let (root, about) = (piece.root().clone(), piece.about().clone());
        self.touch::<P>(&about);
        let shelf = P::shelf_mut(&mut self.described);
        shelf.touch(root, about.clone());
        shelf.kept.put(&about, Some(piece));
    }

    pub(super) fn remove_piece<P: Piece>(&mut self, about: &IssueId) {
        self.touch::<P>(about);
        P::shelf_mut(&mut self.described).kept.put(about, None);
    }

    /// Remembers that the piece about an issue leaves its place.
    fn touch<P: Piece>(&mut self, about: &IssueId) {
        let from = self.piece::<P>(about).map(|piece| piece.root().clone());
        from.into_iter().for_each(|root| P::shelf_mut(&mut self.described).touch(root, about.clone()));
    }
}
