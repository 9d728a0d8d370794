//! A flag that says when something is due: a duration, or a moment.

use crate::app::AppError;
use crate::app::due::Due;
use crate::interop::duration::{names_a_moment, parse_duration, parse_interval};
use crate::model::issue::Millis;
use crate::model::quote::quoted;

/// When something is due, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueArg {
    /// So many milliseconds from now.
    In(Millis),
    /// At a moment, which is read once its zone is known.
    At(String),
}

impl DueArg {
    /// With the zone of a local time.
    pub fn due(self, zone: Option<String>) -> Result<Due, AppError> {
        match (self, zone) {
            (DueArg::In(_), Some(_)) => Err(no_zone()),
            (DueArg::In(millis), None) => Ok(Due::In(millis)),
            (DueArg::At(text), zone) => Ok(Due::At { text, zone }),
        }
    }

    /// How long it is, where it counts from each ask anew.
    pub fn length(&self) -> Result<Millis, AppError> {
        match self {
            DueArg::In(millis) => Ok(*millis),
            DueArg::At(text) => Err(AppError::Usage(format!(
                "{} is a moment, and an issue with many asks gives each a duration such as 2d; \
                 a moment is for one ask",
                quoted(text)
            ))),
        }
    }
}

/// What to say to a zone where no local time is.
pub fn no_zone() -> AppError {
    AppError::Usage("--tz goes with a moment: a duration has no zone".to_owned())
}

/// The same, or 0.
pub fn when_if_ever(text: &str) -> Result<DueArg, String> {
    if parse_interval(text) == Ok(0) { Ok(DueArg::In(0)) } else { when(text) }
}

/// What is no duration and has a date or a time of day in it is meant as a moment.
pub fn when(text: &str) -> Result<DueArg, String> {
    match parse_duration(text) {
        Ok(millis) => Ok(DueArg::In(millis)),
        Err(_) if names_a_moment(text) => Ok(DueArg::At(text.to_owned())),
        Err(error) => Err(format!(
            "{error}; a moment is written like 2026-12-05T09:00:00Z, or 2026-12-05 for the end of that day"
        )),
    }
}
