//! When something is due, as people say it: so long from now, or at a moment.

use super::AppError;
use crate::model::issue::Millis;
use crate::schedule::{self, ScheduleError};

/// When something is due, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// So many milliseconds from now.
    In(Millis),
    /// Once.
    At {
        /// The moment, a local time, or a day: by its end.
        text: String,
        /// The zone of a local time or a day; otherwise UTC.
        zone: Option<String>,
    },
}

impl Due {
    /// The moment it means.
    ///
    /// # Errors
    /// When it is no moment, the zone is not known, or it is over.
    pub fn at(&self, now: Millis) -> Result<Millis, AppError> {
        match self {
            Due::In(millis) => Ok(now.saturating_add(*millis)),
            Due::At { text, zone } => {
                still_to_come(schedule::deadline(text, zone.as_deref().unwrap_or("UTC"))?, text, now)
            }
        }
    }
}

/// A moment that is still to come.
///
/// # Errors
/// When the text is no moment, the zone is not known, or it is over.
pub(super) fn ahead(text: &str, zone: Option<&str>, now: Millis) -> Result<Millis, AppError> {
    still_to_come(schedule::moment(text, zone.unwrap_or("UTC"))?, text, now)
}

fn still_to_come(at: Millis, text: &str, now: Millis) -> Result<Millis, AppError> {
    if at <= now { Err(ScheduleError::Over(text.to_owned()).into()) } else { Ok(at) }
}
