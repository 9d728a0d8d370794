//! Where a graph that is not all in memory gets the rest from, piece by piece.

use std::fmt::Debug;

use super::document::{Head, Part as DocumentPart, Prompt};
use super::frontier::{List, Lists};
use super::graph::{Edge, EdgeKind};
use super::id::IssueId;
use super::issue::{Issue, Millis, Priority};
use super::record::{Ask, Heartbeat, HeartbeatId, Notice, NoticeId, PlanRecord, Round, Scope};
use super::search::{Page, Query};
use super::snapshot::Tally;
use super::standing::Standing;

/// An issue as a store keeps it, with what is derived from it and its neighbours.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The issue.
    pub issue: Issue,
    /// Its parent.
    pub parent: Option<IssueId>,
    /// What is derived.
    pub derived: Derived,
}

/// What a store keeps of an issue that follows from everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// Its topmost ancestor, itself where it has no parent.
    pub root: IssueId,
    /// How many ancestors it has.
    pub depth: u32,
    /// How urgent it is: a part of its place in every list.
    pub priority: Priority,
    /// Its standing.
    pub standing: Standing,
    /// The lists it is on.
    pub lists: Lists,
    /// When its lease ends, where somebody holds it; when something is due of an open ask.
    pub due: Option<Millis>,
}

/// Which end of an edge is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The given issue blocks or supersedes those that are wanted.
    From,
    /// The given issue is blocked or superseded by those that are wanted.
    To,
}

/// The place of an issue in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Ancestors, in lists that go from the innermost outwards; 0 elsewhere.
    pub depth: std::cmp::Reverse<u32>,
    /// How urgent it is.
    pub priority: Priority,
    /// How old it is.
    pub created_at: Millis,
    /// Its id.
    pub id: IssueId,
}

/// Which part of a list is wanted, in the list's order.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// Only what lies at or below this root.
    pub root: Option<&'a IssueId>,
    /// Only what comes after this place.
    pub after: Option<&'a Place>,
    /// Only leases that end by then.
    pub due_by: Option<Millis>,
    /// No more than so many.
    pub limit: usize,
}

/// How much of something that has an order is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The first so many.
    First(usize),
    /// The last so many.
    Last(usize),
}

impl Take {
    /// All of it.
    pub const ALL: Take = Take::First(usize::MAX);

    /// So many more.
    pub fn and(self, more: usize) -> Take {
        match self {
            Take::First(most) => Take::First(most.saturating_add(more)),
            Take::Last(most) => Take::Last(most.saturating_add(more)),
        }
    }

    /// What is wanted of all there is, in the same order.
    pub fn of<T>(self, mut all: Vec<T>) -> Vec<T> {
        match self {
            Take::First(most) => all.truncate(most),
            Take::Last(most) => drop(all.drain(..all.len().saturating_sub(most))),
        }
        all
    }
}

/// An order of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbox {
    /// What may be sent earliest comes first.
    FirstDue,
    /// Only what failed; the latest failure comes first.
    LastFailed,
}

/// A store, as a graph asks it for what it does not have yet. Everything it says is of one moment.
///
/// A source that fails gives nothing from then on and remembers why; whoever owns it asks it before
/// anything that was computed is believed.
pub trait Source: Debug {
    /// One issue.
    fn issue(&self, id: &IssueId) -> Option<Stored>;
    /// Many issues, in no order, without those that are not there.
    fn issues(&self, ids: &[IssueId]) -> Vec<Stored>;
    /// The children of an issue, in the order in which they came to it.
    fn children(&self, id: &IssueId) -> Vec<Stored>;
    /// The other ends of an issue's edges, in the order in which they were added.
    fn neighbours(&self, id: &IssueId, kind: EdgeKind, end: End) -> Vec<IssueId>;
    /// The same of many issues, each with its neighbour.
    fn neighbours_of_each(&self, ids: &[IssueId], kind: EdgeKind, end: End) -> Vec<(IssueId, IssueId)>;
    /// Whether an edge is there.
    fn has_edge(&self, edge: &Edge) -> bool;
    /// The first ids, in their order, that start with a text.
    fn starting_with(&self, prefix: &str, limit: usize) -> Vec<IssueId>;
    /// A part of a list: the places that are taken in it.
    fn listed(&self, list: List, part: &Part<'_>) -> Vec<Place>;
    /// The ids of a page of all issues, or of those at or below one, in the total order.
    fn ranked(&self, below: Option<&IssueId>, page: &Page<'_>) -> Vec<IssueId>;
    /// The ids of a page of those that a search finds, the latest first.
    fn found(&self, query: &Query, page: &Page<'_>) -> Vec<IssueId>;
    /// How many issues there are, and how many of them are not closed.
    fn counts(&self) -> (usize, usize);
    /// The roots of all that is on a list.
    fn roots_of(&self, list: List) -> Vec<IssueId>;
    /// The roots with a key, in the order in which they came.
    fn roots_keyed(&self, key: &str) -> Vec<IssueId>;
    /// Whether an id may not be given to anything.
    fn reserved(&self, id: &IssueId) -> bool;
    /// The record of an opened scope.
    fn scope(&self, id: &IssueId) -> Option<Scope>;
    /// The records of those issues that are opened scopes, in no order.
    fn scopes(&self, ids: &[IssueId]) -> Vec<Scope>;
    /// The tally of an issue and everything below it.
    fn tally(&self, id: &IssueId) -> Tally;
    /// What may have a policy's tag at or below an issue, in no order.
    fn gated_in(&self, id: &IssueId) -> Vec<IssueId>;
    /// The opened scopes at or below a root.
    fn scopes_in(&self, root: &IssueId) -> Vec<IssueId>;
    /// The rounds of a scope, in order.
    fn rounds(&self, scope: &IssueId) -> Vec<Round>;
    /// The scope whose round has this issue as its attempt or review, and the round's number.
    fn round_of(&self, id: &IssueId) -> Option<(IssueId, u32)>;
    /// All rounds, in order, of every scope that has one of these issues as an attempt or a review.
    fn rounds_about(&self, ids: &[IssueId]) -> Vec<Round>;
    /// Every ask, by the id of its issue.
    fn asks(&self) -> Vec<Ask>;
    /// The ask an issue carries.
    fn ask(&self, id: &IssueId) -> Option<Ask>;
    /// The plan applied to a root.
    fn plan(&self, root: &IssueId) -> Option<PlanRecord>;
    /// The heartbeats and cron entries that were made for an issue, by id.
    fn heartbeats(&self, issue: &IssueId) -> Vec<Heartbeat>;
    /// The issue that a heartbeat was made for.
    fn heartbeat_at(&self, id: &HeartbeatId) -> Option<IssueId>;
    /// The head of a root's status document.
    fn head(&self, root: &IssueId) -> Option<Head>;
    /// What is said of a scope.
    fn part(&self, scope: &IssueId) -> Option<DocumentPart>;
    /// What is shown of an ask.
    fn prompt(&self, ask: &IssueId) -> Option<Prompt>;
    /// Some of the parts of a root's status document, by place.
    fn parts_of(&self, root: &IssueId, take: Take) -> Vec<DocumentPart>;
    /// Some of the prompts of a root, by name.
    fn prompts_of(&self, root: &IssueId, take: Take) -> Vec<Prompt>;
    /// The prompt of a root with a name.
    fn prompt_named(&self, root: &IssueId, ui_id: &str) -> Option<Prompt>;
    /// The roots that have documents.
    fn described_roots(&self) -> Vec<IssueId>;
    /// The scopes over whose state other trees decide.
    fn decided_abroad(&self) -> Vec<IssueId>;
    /// A notice, while it is in the outbox.
    fn notice(&self, id: &NoticeId) -> Option<Notice>;
    /// The first so many of the outbox in an order.
    fn outbox(&self, order: Outbox, limit: usize) -> Vec<Notice>;
    /// Whether a tick has found a root final.
    fn root_finished(&self, id: &IssueId) -> bool;
    /// Says that what this source gave contradicts itself.
    fn damaged(&self, what: &str);
    /// Says that something was wanted that only a whole graph has: a fault of the program.
    fn wants_whole(&self, what: &str);
}
