//! Local times and moments. Where the clocks change, a local time may be there twice, or not at all;
//! here it is said which moments it then means.

use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use crate::model::issue::Millis;

/// More than any zone ever moved its clocks at once: a whole day, at the date line.
const LARGEST_CHANGE: TimeDelta = TimeDelta::hours(26);

/// What a local time means where the clocks change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// It is there exactly once: the first of two, and the end of the gap when it is left out.
    Once,
    /// As often as it really is there: what runs each hour goes on by elapsed time.
    Elapsed,
}

/// The local time of a moment.
pub(super) fn local(zone: Tz, at: Millis) -> Option<NaiveDateTime> {
    Some(DateTime::<Utc>::from_timestamp_millis(at)?.with_timezone(&zone).naive_local())
}

/// The moments that a local time means, in order.
pub(super) fn moments(zone: Tz, time: NaiveDateTime, fold: Fold) -> Vec<Millis> {
    match (zone.from_local_datetime(&time), fold) {
        (LocalResult::Single(at), _) => vec![at.timestamp_millis()],
        (LocalResult::Ambiguous(a, b), Fold::Once) => vec![a.min(b).timestamp_millis()],
        (LocalResult::Ambiguous(a, b), Fold::Elapsed) => {
            vec![a.min(b).timestamp_millis(), a.max(b).timestamp_millis()]
        }
        (LocalResult::None, Fold::Once) => vec![end_of_gap(zone, time)],
        (LocalResult::None, Fold::Elapsed) => Vec::new(),
    }
}

/// The first moment whose local time is past one that the clocks leave out.
fn end_of_gap(zone: Tz, left_out: NaiveDateTime) -> Millis {
    let around = left_out.and_utc().timestamp();
    let (mut before, mut after) =
        (around - LARGEST_CHANGE.num_seconds(), around + LARGEST_CHANGE.num_seconds());
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if local(zone, middle * 1000).is_none_or(|time| time < left_out) {
            before = middle;
        } else {
            after = middle;
        }
    }
    after * 1000
}

/// By how much the clocks change near a moment; zero where they do not.
pub(super) fn change_near(zone: Tz, at: Millis) -> TimeDelta {
    let offset = |at: Millis| {
        let moment = DateTime::<Utc>::from_timestamp_millis(at)?;
        Some(i64::from(zone.offset_from_utc_datetime(&moment.naive_utc()).fix().local_minus_utc()))
    };
    let far = LARGEST_CHANGE.num_milliseconds();
    let offsets = [at.saturating_sub(far), at, at.saturating_add(far)].into_iter().filter_map(offset);
    let (least, most) = (offsets.clone().min(), offsets.max());
    TimeDelta::seconds(most.zip(least).map_or(0, |(most, least)| most - least))
}
