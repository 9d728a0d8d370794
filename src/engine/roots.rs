//! Which roots a tick over the whole store looks at.

use std::collections::BTreeSet;

use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::snapshot::Snapshot;
use crate::model::tag::Kind;

/// The roots that a tick may have something to do for, by id: those with an open container, scope or
/// ask, a lease that ran out, or an end that is not put away yet.
pub fn roots_to_move(snapshot: &Snapshot, now: Millis) -> BTreeSet<IssueId> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let moving = graph.indices().filter(|&ix| {
        let issue = graph.issue(ix);
        let open = !issue.state.closed();
        let policy = issue.tags.container() || issue.tags.review_gated() || issue.tags.ask();
        (open && policy && !relation.let_go(ix))
            || to_be_finished(snapshot, ix)
            || issue.state.claim().is_some_and(|claim| claim.expired(now))
    });
    moving.map(|ix| graph.id(graph.root(ix)).clone()).collect()
}

/// Whether this is what makes its root one that a tick finishes: a scope, or the root itself. Not any
/// container: whoever imports a thousand closed epics does not want a thousand last words about them.
fn to_be_finished(snapshot: &Snapshot, ix: Ix) -> bool {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let root = graph.root(ix);
    let closed_root = || ix == root && graph.issue(ix).tags.has(Kind::Root.tag());
    if snapshot.root_finished(graph.id(root)) {
        return false;
    }
    snapshot.scope(graph.id(ix)).is_some() || (closed_root() && relation.is_final(ix))
}
