//! A moment, with its offset, or as a local time in a zone; and a day, by whose end something is due.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};

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

/// Reads a moment until which there is time: as [`moment`], or a date, which means the last second of that
/// day in the zone.
///
/// # Errors
/// When the text is neither, or the zone is not known.
pub fn deadline(text: &str, zone: &str) -> Result<Millis, ScheduleError> {
    let refused = || ScheduleError::NoDeadline(text.chars().take(80).collect());
    let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") else {
        return moment(text, zone).map_err(|error| match error {
            ScheduleError::NoMoment(_) => refused(),
            other => other,
        });
    };
    let midnight = day.succ_opt().ok_or_else(refused)?.and_time(NaiveTime::MIN);
    let next = moments(parse_zone(zone)?, midnight, Fold::Once).first().copied();
    let at = next.map(|next| next - 1_000);
    at.filter(|&at| four_digits(at)).ok_or_else(refused)
}

fn four_digits(at: Millis) -> bool {
    DateTime::from_timestamp_millis(at).is_some_and(|at| (0..=9_999).contains(&at.year()))
}
