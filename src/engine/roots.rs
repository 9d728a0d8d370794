//! Which roots a tick over the whole store looks at.

use std::collections::BTreeSet;

use crate::model::frontier::List;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::snapshot::Snapshot;

/// The roots that a tick may have something to do for, by id: those with an open container, scope or
/// ask, a lease that ran out, or an end that is not put away yet. Not any closed container: whoever
/// imports a thousand closed epics does not want a thousand last words about them.
pub fn roots_to_move(snapshot: &Snapshot, now: Millis) -> BTreeSet<IssueId> {
    let graph = snapshot.graph();
    let mut roots: BTreeSet<IssueId> = snapshot.roots_on(List::Driven).into_iter().collect();
    roots.extend(snapshot.roots_on(List::ToFinish));
    let lapsed = snapshot.listed(List::Held, None).due_by(now).all().into_iter();
    roots.extend(lapsed.map(|ix| graph.id(graph.root(ix)).clone()));
    roots
}
