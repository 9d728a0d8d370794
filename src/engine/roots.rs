//! Which roots a tick over the whole store looks at.

use std::collections::BTreeSet;

use super::decide::is_final;
use super::failures::uncovered;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;

/// The roots that a tick may have something to do for, by id: those with an open container, scope or
/// ask, a question that went away, a lease that ran out, a failure or lost steps that a human is to be
/// asked about, or an end that is not put away yet.
pub fn roots_to_move(snapshot: &Snapshot, now: Millis, defaults: &Bounds) -> BTreeSet<IssueId> {
    let graph = snapshot.graph();
    let mut roots: BTreeSet<IssueId> = snapshot.roots_on(List::Driven).into_iter().collect();
    let lapsed = snapshot.listed(List::Held, None).due_by(now).all().into_iter();
    roots.extend(lapsed.map(|ix| graph.id(graph.root(ix)).clone()));
    roots.extend(snapshot.roots_on(List::Moot));
    let troubled = [List::Failed, List::StepsLost].into_iter().flat_map(|list| snapshot.roots_on(list));
    let troubled = troubled.filter(|id| !roots.contains(id));
    let asks = |id: &IssueId| graph.ix(id).is_some_and(|root| uncovered(snapshot, root, defaults).is_some());
    let troubled: Vec<IssueId> = troubled.filter(asks).collect();
    roots.extend(troubled);
    let ended = snapshot.roots_on(List::ToFinish).into_iter().filter(|id| !roots.contains(id));
    let ended: Vec<IssueId> =
        ended.filter(|id| graph.ix(id).is_some_and(|root| to_be_finished(snapshot, root))).collect();
    roots.extend(ended);
    roots
}

/// Whether a tick finishes a root: it is final, or has a scope. Not any closed root: one that failed is
/// its owner's, and nothing is left to do for it.
fn to_be_finished(snapshot: &Snapshot, root: Ix) -> bool {
    let scope = |ix: Ix| snapshot.scope(snapshot.graph().id(ix)).is_some();
    is_final(snapshot, root) || snapshot.listed(List::ToFinish, Some(root)).first(scope).is_some()
}
