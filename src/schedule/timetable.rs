//! The due times of a rhythm: the next one, the latest one, and how many lie between two moments.

use super::cron::ZonedCron;
use super::error::ScheduleError;
use crate::model::issue::Millis;
use crate::model::record::{Heartbeat, Rhythm};

/// How many due times of a cron expression are counted one by one; beyond that it is "at least".
const MOST_COUNTED: u64 = 20_000;
/// The most ticks a cron entry may be bounded to: its due times can only be found one after the other.
pub const MAX_CRON_TICKS: u32 = 10_000;

/// Windows in which the latest due time of a cron expression is looked for, in milliseconds: an hour, a
/// day, a month, a year, and what a 29th of February may need.
const WINDOWS: [Millis; 5] = [3_600_000, 86_400_000, 32 * 86_400_000, 367 * 86_400_000, 3_000 * 86_400_000];

/// A rhythm from its anchor on.
#[derive(Debug, Clone)]
pub(super) enum Timetable {
    Never,
    Every { anchor: Millis, interval: Millis },
    At(Millis),
    Cron(Box<ZonedCron>),
}

/// How many due times there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub count: u64,
    pub at_least: bool,
}

/// Whether the rhythm of a heartbeat makes sense, looked at from a moment.
///
/// # Errors
/// When it does not parse, never comes, or is bounded to more ticks than can be counted.
pub fn check(heartbeat: &Heartbeat, now: Millis) -> Result<(), ScheduleError> {
    let timetable = Timetable::of(heartbeat)?;
    match &heartbeat.rhythm {
        Rhythm::Cron { expr, .. } if timetable.next(now).is_none() => {
            return Err(ScheduleError::NeverComes(expr.clone()));
        }
        Rhythm::Cron { .. } => {}
        _ => return Ok(()),
    }
    match heartbeat.ceiling.ticks {
        Some(given) if given > MAX_CRON_TICKS => {
            Err(ScheduleError::TooManyTicks { most: MAX_CRON_TICKS, given })
        }
        _ => Ok(()),
    }
}

impl Timetable {
    pub(super) fn of(heartbeat: &Heartbeat) -> Result<Timetable, ScheduleError> {
        Ok(match &heartbeat.rhythm {
            Rhythm::Triggered => Timetable::Never,
            Rhythm::Every { interval } if *interval <= 0 => {
                return Err(ScheduleError::NoInterval(*interval));
            }
            Rhythm::Every { interval } => Timetable::Every { anchor: heartbeat.anchor, interval: *interval },
            Rhythm::At { at } => Timetable::At(*at),
            Rhythm::Cron { expr, zone } => Timetable::Cron(Box::new(ZonedCron::parse(expr, zone)?)),
        })
    }

    /// The first due time after a moment.
    pub(super) fn next(&self, after: Millis) -> Option<Millis> {
        match self {
            Timetable::Never => None,
            Timetable::Every { anchor, interval } => {
                let passed = after.checked_sub(*anchor)?.div_euclid(*interval);
                passed.checked_add(1)?.checked_mul(*interval)?.checked_add(*anchor)
            }
            Timetable::At(at) => Some(*at).filter(|&at| at > after),
            Timetable::Cron(cron) => cron.next(after),
        }
    }

    /// The latest due time after one moment and not after another.
    pub(super) fn latest(&self, after: Millis, upto: Millis) -> Option<Millis> {
        match self {
            Timetable::Cron(_) => self.latest_by_search(after, upto),
            Timetable::Every { interval, .. } => self.next(upto).map(|next| next - interval),
            _ => self.next(after),
        }
        .filter(|&at| after < at && at <= upto)
    }

    fn latest_by_search(&self, after: Millis, upto: Millis) -> Option<Millis> {
        let within = |from: Millis| {
            let mut found = None;
            let mut next = self.next(from);
            while let Some(at) = next.filter(|&at| at <= upto) {
                found = Some(at);
                next = self.next(at);
            }
            found
        };
        let windows = WINDOWS.iter().map(|window| upto.saturating_sub(*window));
        let windows = windows.take_while(|&from| from > after).chain([after]);
        windows.into_iter().find_map(within)
    }

    /// How many due times there are after one moment and not after another.
    pub(super) fn count(&self, after: Millis, upto: Millis) -> Count {
        if upto <= after {
            return Count { count: 0, at_least: false };
        }
        if let Timetable::Every { anchor, interval } = self {
            let upto_there = upto.saturating_sub(*anchor).div_euclid(*interval);
            let passed = upto_there - after.saturating_sub(*anchor).div_euclid(*interval);
            return Count { count: u64::try_from(passed).unwrap_or(0), at_least: false };
        }
        let (mut count, mut next) = (0, self.next(after));
        while let Some(at) = next.filter(|&at| at <= upto) {
            if count == MOST_COUNTED {
                return Count { count, at_least: true };
            }
            count += 1;
            next = self.next(at);
        }
        Count { count, at_least: false }
    }

    /// The due time with a number, counted from 1 after a moment, unless it lies past another.
    pub(super) fn numbered(&self, number: u32, after: Millis, upto: Millis) -> Option<Millis> {
        if let Timetable::Every { anchor, interval } = self {
            let due = interval.checked_mul(number.into())?.checked_add(*anchor)?;
            return Some(due).filter(|&due| due <= upto);
        }
        let mut at = after;
        for _ in 0..number {
            at = self.next(at).filter(|&at| at <= upto)?;
        }
        Some(at)
    }
}
