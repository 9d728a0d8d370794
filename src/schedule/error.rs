//! Why something cannot be a schedule.

use thiserror::Error;

use crate::model::issue::Millis;

/// Why something cannot be a schedule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScheduleError {
    /// The expression does not parse.
    #[error("{expr:?} is not a cron expression: {problem}")]
    BadExpression {
        /// What was given.
        expr: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No day will ever fit the expression.
    #[error("{0:?} never comes: no day of the calendar fits it")]
    NeverComes(String),
    /// It is over before it is due.
    #[error("it would never come: it is over before it is due for the first time")]
    OverBefore,
    /// Nobody knows the zone.
    #[error("{0:?} is not a time zone; zones have names such as Europe/Berlin or UTC")]
    NoZone(String),
    /// A text is not a moment.
    #[error(
        "{0:?} is not a moment; write it like 2026-10-25T02:30 (with --tz ZONE) or 2026-10-25T02:30:00+01:00"
    )]
    NoMoment(String),
    /// A text is neither a moment nor a date.
    #[error(
        "{0:?} is not a moment; write it like 2026-10-25T02:30 (with --tz ZONE) or 2026-10-25T02:30:00+01:00, \
         or 2026-10-25 for the end of that day"
    )]
    NoDeadline(String),
    /// The moment is over.
    #[error("{0} is over")]
    Over(String),
    /// An interval nobody can keep.
    #[error("an interval is more than 0, not {0} ms")]
    NoInterval(Millis),
    /// An interval that would keep a machine busy with ticking.
    #[error("an interval is at least 1s, not {0}ms")]
    TooShort(Millis),
    /// More ticks than are counted for a cron expression.
    #[error("a cron expression has at most {most} ticks before it wants to be enabled again, not {given}")]
    TooManyTicks {
        /// How many are counted.
        most: u32,
        /// How many were wished for.
        given: u32,
    },
}
