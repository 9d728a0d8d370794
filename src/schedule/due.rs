//! The one question of the clock: is it due, what was skipped, when is it due next, and is it over.

use super::error::ScheduleError;
use super::timetable::Timetable;
use crate::model::issue::Millis;
use crate::model::record::{Gap, Heartbeat, Overlap, Rhythm};

/// How far a clock may be set back and still be waited for. What was set back further was wrong before,
/// and due times count from the new time on.
pub const CLOCK_TOLERANCE: Millis = 3 * 60 * 60 * 1000;

/// Which bound ends a heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {
    /// Its time.
    Time,
    /// Its number of ticks.
    Ticks,
    /// It was due once only.
    Once,
}

/// What is due at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The due time that has come, and that nobody has ticked for yet.
    pub at: Option<Millis>,
    /// The due times before it that nobody ticked for, and nobody will.
    pub skipped: Option<Gap>,
    /// The next due time; it may have come already where due times queue up.
    pub next: Option<Millis>,
    /// What ends it, when there is no next due time after this one.
    pub over: Option<Reached>,
    /// From where on due times count, when the clock was set back.
    pub restarted: Option<Millis>,
}

/// What is due at `now`. `seen` is the latest due time that was ticked for as far as anybody remembers
/// beside the record; `continuing` says that the first due time since then came while whoever asks was at
/// work, so that nothing was paused.
///
/// # Errors
/// When the stored rhythm makes no sense to this program.
pub fn due(
    heartbeat: &Heartbeat,
    seen: Option<Millis>,
    now: Millis,
    continuing: bool,
) -> Result<Due, ScheduleError> {
    let timetable = Timetable::of(heartbeat)?;
    let (from, restarted) = starting_point(heartbeat, seen, now);
    let end = End::of(heartbeat, &timetable);
    let horizon = now.min(end.at);
    let first = timetable.next(from).filter(|&first| first <= horizon);
    let queued = heartbeat.overlap == Overlap::Queue && continuing;
    let at = if queued { first } else { timetable.latest(from, horizon) };
    let skipped = match (first, at) {
        (Some(first), Some(at)) if first < at => timetable.latest(first - 1, at - 1).map(|last| {
            let between = timetable.count(from, last);
            Gap { count: between.count, at_least: between.at_least, first, last }
        }),
        _ => None,
    };
    let reference = if queued { at.unwrap_or(from.max(now)) } else { from.max(now) };
    let next = timetable.next(reference).filter(|&next| next <= end.at);
    let repeats = !matches!(heartbeat.rhythm, Rhythm::Triggered);
    let over = (next.is_none() && repeats).then_some(end.bound);
    Ok(Due { at, skipped, next, over, restarted })
}

/// Whether a due time was ticked for already, or lies before the heartbeat's beginning, as far as the
/// record says.
pub fn caught_up(heartbeat: &Heartbeat, at: Millis, now: Millis) -> bool {
    let passed = |moment: Millis| moment >= at && in_reach(moment, now);
    passed(heartbeat.anchor) || heartbeat.last_run.is_some_and(passed)
}

/// Whether a remembered moment can be true: it is not far in the future.
fn in_reach(moment: Millis, now: Millis) -> bool {
    moment <= now.saturating_add(CLOCK_TOLERANCE)
}

/// After which moment due times count, and whether that is because the clock was set back.
fn starting_point(heartbeat: &Heartbeat, seen: Option<Millis>, now: Millis) -> (Millis, Option<Millis>) {
    let freshest = seen.or(heartbeat.last_run).unwrap_or(heartbeat.anchor);
    if !in_reach(freshest, now) {
        return (now, Some(now));
    }
    let remembered = [Some(heartbeat.anchor), heartbeat.last_run, seen];
    let believed = remembered.into_iter().flatten().filter(|&moment| in_reach(moment, now));
    (believed.max().unwrap_or(freshest), None)
}

/// The last moment at which it may be due, and why then.
struct End {
    at: Millis,
    bound: Reached,
}

impl End {
    fn of(heartbeat: &Heartbeat, timetable: &Timetable) -> End {
        if let Rhythm::At { at } = heartbeat.rhythm {
            return End { at, bound: Reached::Once };
        }
        let at = heartbeat.anchor.saturating_add(heartbeat.ceiling.lasts);
        let last = heartbeat.ceiling.ticks.and_then(|ticks| timetable.numbered(ticks, heartbeat.anchor, at));
        last.map_or(End { at, bound: Reached::Time }, |at| End { at, bound: Reached::Ticks })
    }
}
