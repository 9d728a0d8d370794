//! The numbers of events, the same for every backend.

use super::{Revision, StoreError};
use crate::model::change::Event;

/// Checks that events follow a revision without gaps.
///
/// # Errors
/// [`StoreError::Unfit`] otherwise.
pub(super) fn check(events: &[Event], revision: Revision) -> Result<(), StoreError> {
    for (event, due) in events.iter().zip(revision + 1..) {
        if event.seq != due {
            let what = format!("an event is numbered {} where {due} is due", event.seq);
            return Err(StoreError::Unfit { what });
        }
    }
    Ok(())
}
