//! `--at`: a moment, with its offset, or as a local time in a zone.

use chrono::{DateTime, Datelike, NaiveDateTime};

use super::cron::parse_zone;
use super::error::ScheduleError;
use super::local::{Fold, moments};
use crate::model::issue::Millis;

/// Reads a moment. A local time that the clocks leave out means the end of the gap, and one that is there
/// twice the first of the two. Years have four digits, so that every moment can be written down again.
///
/// # Errors
/// When the text is no moment, or the zone is not known.
pub fn moment(text: &str, zone: &str) -> Result<Millis, ScheduleError> {
    let refused = || ScheduleError::NoMoment(text.chars().take(80).collect());
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.timestamp_millis()).filter(|&at| four_digits(at)).ok_or_else(refused);
    }
    let zone = parse_zone(zone)?;
    let formats = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"];
    let time = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let at = time.and_then(|time| moments(zone, time, Fold::Once).first().copied());
    at.filter(|&at| four_digits(at)).ok_or_else(refused)
}

fn four_digits(at: Millis) -> bool {
    DateTime::from_timestamp_millis(at).is_some_and(|at| (0..=9_999).contains(&at.year()))
}
