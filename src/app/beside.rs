//! The roots that a tick over the whole store has nothing to do for, and that are not final: who must move
//! there. Only an exit code that speaks for all of the store asks for them.

use std::collections::BTreeSet;

use super::tick::{TickView, tick};
use super::{AppError, Session};
use crate::model::frontier::List;
use crate::model::id::IssueId;

/// What a tick would say of each root that is not settled and was not ticked. Costs what is not settled.
///
/// # Errors
/// When the store cannot be read.
pub fn waiting(session: &mut Session, ticked: &[TickView]) -> Result<Vec<TickView>, AppError> {
    let ticked: BTreeSet<&str> = ticked.iter().map(|view| view.root.as_str()).collect();
    let unsettled: BTreeSet<IssueId> =
        session.look(|snapshot| Ok(snapshot.roots_on(List::Unsettled).into_iter().collect()))?;
    let others = unsettled.into_iter().filter(|root| !ticked.contains(root.as_str()));
    let mut views = Vec::new();
    for root in others {
        views.push(tick(session, root.as_str(), true)?);
    }
    if session.operation.is_some() {
        // A retry ends with the exit code of the first call, whatever has moved since.
        views = session.change("tick", |_| Ok(views))?.value;
    }
    Ok(views)
}
