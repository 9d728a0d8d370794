//! When something is due: intervals, moments, and cron expressions in a zone. Pure: the moment comes in,
//! and the same record, last due time and moment give the same answer. Knows no store and no clock.

mod cron;
mod due;
mod error;
mod local;
mod moment;
mod timetable;

pub use due::{CLOCK_TOLERANCE, Due, Reached, caught_up, due};
pub use error::ScheduleError;
pub use moment::{deadline, moment};
pub use timetable::{MAX_CRON_TICKS, check};

#[cfg(test)]
mod tests;
