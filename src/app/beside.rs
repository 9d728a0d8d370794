//! The roots that a tick over the whole store has nothing to do for, and that are not final: who must move
//! there. Only an exit code that speaks for all of the store asks for them.

use std::collections::BTreeSet;

use super::tick::{RootFailure, TickView, tick};
use super::{AppError, Session};
use crate::model::frontier::List;
use crate::model::id::IssueId;

/// What a tick would say of each root that is not settled and is none of those that were ticked. Costs
/// what is not settled. A root that fails is reported and does not stop the others.
///
/// # Errors
/// When the store cannot be read at all.
pub fn waiting(
    session: &mut Session,
    ticked: &BTreeSet<String>,
) -> Result<(Vec<TickView>, Vec<RootFailure>), AppError> {
    let unsettled: BTreeSet<IssueId> =
        session.look(|snapshot| Ok(snapshot.roots_on(List::Unsettled).into_iter().collect()))?;
    let others = unsettled.into_iter().filter(|root| !ticked.contains(root.as_str()));
    let (mut views, mut failures) = (Vec::new(), Vec::new());
    for root in others {
        match tick(session, root.as_str(), true) {
            Ok(view) => views.push(view),
            Err(error) => failures.push(RootFailure { root, error }),
        }
    }
    if session.operation.is_some() {
        // A retry ends with the exit code of the first call, whatever has moved since.
        views = session.change("tick", |_| Ok(views))?.value;
    }
    Ok((views, failures))
}
