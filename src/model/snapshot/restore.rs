//! A snapshot from its parts, for stores that keep more than events. Says the same as folding the
//! events one by one, without reading them.

use std::collections::{BTreeMap, HashSet};

use thiserror::Error;

use super::Snapshot;
use super::documents::Described;
use super::kept::Kept;
use crate::model::document::{Head, Part, Prompt};
use crate::model::graph::{Edge, Ix};
use crate::model::id::IssueId;
use crate::model::issue::Issue;
use crate::model::record::{Annotation, Ask, Heartbeat, Notice, PlanRecord, Round, Scope};

/// What a snapshot is made of. Lists that grew in an order are given in that order.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Every issue, in order of arrival.
    pub issues: Vec<Issue>,
    /// A child and its parent, in the order in which the children came to their parents.
    pub parents: Vec<(IssueId, IssueId)>,
    /// Every edge, in the order in which they were added.
    pub edges: Vec<Edge>,
    /// Every opened scope.
    pub scopes: Vec<Scope>,
    /// Every round.
    pub rounds: Vec<Round>,
    /// Every ask.
    pub asks: Vec<Ask>,
    /// Every applied plan.
    pub plans: Vec<PlanRecord>,
    /// Every heartbeat and cron entry.
    pub heartbeats: Vec<Heartbeat>,
    /// The heads of status documents.
    pub heads: Vec<Head>,
    /// The parts of status documents.
    pub parts: Vec<Part>,
    /// Every prompt.
    pub prompts: Vec<Prompt>,
    /// Everything in the outbox.
    pub notices: Vec<Notice>,
    /// The roots that a tick has found final.
    pub finished_roots: Vec<IssueId>,
    /// Ids that may not be given to anything.
    pub reserved: Vec<IssueId>,
    /// What imports could not express, in the order in which it came.
    pub annotations: Vec<Annotation>,
}

/// Why parts do not make a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RestoreError {
    /// Two issues have the same id.
    #[error("{0} is there twice")]
    Twice(IssueId),
    /// A parent or an edge names an issue that is not there.
    #[error("{0} is named, and there is no such issue")]
    NoIssue(IssueId),
    /// An issue lies below itself: whoever walked up from it would never arrive.
    #[error("{0} lies below itself")]
    OwnAncestor(IssueId),
}

impl Snapshot {
    /// Puts a snapshot together.
    ///
    /// # Errors
    /// When the parts contradict each other, which only a damaged store can bring about.
    pub fn restore(parts: Parts) -> Result<Snapshot, RestoreError> {
        let mut made = Snapshot::default();
        made.graph.defer();
        for issue in parts.issues {
            if made.graph.ix(&issue.id).is_some() {
                return Err(RestoreError::Twice(issue.id));
            }
            made.graph.insert(issue);
        }
        for (child, parent) in &parts.parents {
            let (child, parent) = (made.known(child)?, made.known(parent)?);
            made.graph.set_parent(child, Some(parent));
        }
        made.check_ancestry()?;
        for edge in &parts.edges {
            let (from, to) = (made.known(&edge.from)?, made.known(&edge.to)?);
            made.graph.add_edge(from, edge.kind, to);
        }
        made.graph.settle_all();
        let mut rounds: BTreeMap<IssueId, Vec<Round>> = BTreeMap::new();
        let mut round_of = BTreeMap::new();
        for round in parts.rounds {
            let key = (round.scope.clone(), round.number);
            round_of.insert(round.attempt.clone(), key.clone());
            round_of.insert(round.review.clone(), key);
            rounds.entry(round.scope.clone()).or_default().push(round);
        }
        rounds.values_mut().for_each(|rounds| rounds.sort_by_key(|round| round.number));
        made.rounds = Kept::of(rounds);
        made.round_of = Kept::of(round_of);
        let mut heartbeats: BTreeMap<IssueId, Vec<Heartbeat>> = BTreeMap::new();
        let mut heartbeat_at = BTreeMap::new();
        for heartbeat in parts.heartbeats {
            heartbeat_at.insert(heartbeat.id.clone(), heartbeat.root.clone());
            heartbeats.entry(heartbeat.root.clone()).or_default().push(heartbeat);
        }
        heartbeats.values_mut().for_each(|here| here.sort_by(|a, b| a.id.cmp(&b.id)));
        made.heartbeats = Kept::of(heartbeats);
        made.heartbeat_at = Kept::of(heartbeat_at);
        made.described = Described::of(parts.heads, parts.parts, parts.prompts);
        made.notices = Kept::of(parts.notices.into_iter().map(|n| (n.id.clone(), Some(n))).collect());
        made.scopes = Kept::of(parts.scopes.into_iter().map(|scope| (scope.id.clone(), scope)).collect());
        made.asks = Kept::of(parts.asks.into_iter().map(|ask| (ask.id.clone(), ask)).collect());
        made.plans = Kept::of(parts.plans.into_iter().map(|plan| (plan.root.clone(), plan)).collect());
        made.finished_roots = Kept::of(parts.finished_roots.into_iter().map(|id| (id, true)).collect());
        made.reserved = Kept::of(parts.reserved.into_iter().map(|id| (id, ())).collect());
        made.annotations = parts.annotations;
        Ok(made)
    }

    fn known(&self, id: &IssueId) -> Result<Ix, RestoreError> {
        self.graph.ix(id).ok_or_else(|| RestoreError::NoIssue(id.clone()))
    }

    /// Walks up from every node, and stops where an earlier walk has been.
    fn check_ancestry(&self) -> Result<(), RestoreError> {
        let mut rooted = vec![false; self.graph.len()];
        for start in self.graph.indices() {
            let mut path = HashSet::new();
            for ix in self.graph.self_and_ancestors(start) {
                if rooted[ix] {
                    break;
                }
                if !path.insert(ix) {
                    return Err(RestoreError::OwnAncestor(self.graph.id(ix).clone()));
                }
            }
            path.into_iter().for_each(|ix| rooted[ix] = true);
        }
        Ok(())
    }
}
