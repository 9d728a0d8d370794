//! Cron expressions in a zone. The expression is matched against local times as if the clocks never
//! changed; which moments those are is asked of [`super::local`]. So a local time runs exactly once at
//! both changes, whatever zone it is.

use chrono::{NaiveDateTime, Timelike};
use chrono_tz::Tz;
use croner::Cron;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};

use super::error::ScheduleError;
use super::local::{Fold, change_near, local, moments};
use crate::model::issue::Millis;

/// An expression in its zone.
#[derive(Debug, Clone)]
pub(super) struct ZonedCron {
    cron: Cron,
    zone: Tz,
    fold: Fold,
}

impl ZonedCron {
    /// Reads an expression of five fields, or a nickname such as `@daily`.
    pub(super) fn parse(expr: &str, zone: &str) -> Result<ZonedCron, ScheduleError> {
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let bad = |error: CronError| ScheduleError::BadExpression {
            expr: expr.chars().take(80).collect(),
            problem: error.to_string(),
        };
        let cron = parser.parse(expr).map_err(bad)?;
        Ok(ZonedCron { cron, zone: parse_zone(zone)?, fold: fold_of(expr) })
    }

    /// The first moment after another.
    pub(super) fn next(&self, after: Millis) -> Option<Millis> {
        let change = change_near(self.zone, after);
        // Where the clocks change, what comes next may be an hour that was there before.
        let mut time = local(self.zone, after)?.with_nanosecond(0)?.checked_sub_signed(change)?;
        let in_order = change.is_zero() || self.fold == Fold::Once;
        let mut best: Option<Millis> = None;
        loop {
            time = self.next_local(time)?;
            let meant = moments(self.zone, time, self.fold);
            // Moments of later local times come later, but for the second halves of repeated hours.
            if let (Some(best), Some(&first)) = (best, meant.first())
                && first >= best
            {
                return Some(best);
            }
            let nearest = meant.into_iter().filter(|&at| at > after).min();
            best = match (best, nearest) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
            if in_order && best.is_some() {
                return best;
            }
        }
    }

    fn next_local(&self, after: NaiveDateTime) -> Option<NaiveDateTime> {
        self.cron.find_next_occurrence(&after.and_utc(), false).ok().map(|found| found.naive_utc())
    }
}

/// What runs in each hour goes by elapsed time; what names its hours, or leaves some out, by the clock on the
/// wall.
fn fold_of(expr: &str) -> Fold {
    let hourly = match expr.split_whitespace().nth(1) {
        Some(hours) => matches!(hours, "*" | "?"),
        None => expr.trim().eq_ignore_ascii_case("@hourly"),
    };
    if hourly { Fold::Elapsed } else { Fold::Once }
}

/// Reads the name of a zone.
pub(super) fn parse_zone(name: &str) -> Result<Tz, ScheduleError> {
    name.parse().map_err(|_| ScheduleError::NoZone(name.chars().take(80).collect()))
}
