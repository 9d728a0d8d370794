//! Due times: intervals, moments, zones whose clocks change, pauses, clocks set back, and ceilings.

use chrono::{DateTime, TimeZone, Utc};
use proptest::prelude::*;

use super::*;
use crate::model::issue::Millis;
use crate::model::record::{Ceiling, Gap, Heartbeat, HeartbeatKind, Overlap, Rhythm};

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;
const YEAR: Millis = 365 * DAY;

fn at(text: &str) -> Millis {
    DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
}

fn text(at: Millis) -> String {
    Utc.timestamp_millis_opt(at).unwrap().format("%Y-%m-%dT%H:%M").to_string()
}

fn heartbeat(rhythm: Rhythm, anchor: Millis) -> Heartbeat {
    Heartbeat {
        id: "hb-1".parse().unwrap(),
        kind: HeartbeatKind::Heartbeat,
        root: "rg-1".parse().unwrap(),
        title: String::new(),
        reason: String::new(),
        rhythm,
        ceiling: Ceiling { lasts: 10 * YEAR, ticks: None },
        overlap: Overlap::Skip,
        anchor,
        halted: None,
        last_run: None,
        skipped: 0,
        gap: None,
        trigger: None,
        created_by: "ann".parse().unwrap(),
        created_at: anchor,
    }
}

fn every(interval: Millis, anchor: Millis) -> Heartbeat {
    heartbeat(Rhythm::Every { interval }, anchor)
}

fn cron(expr: &str, zone: &str, anchor: &str) -> Heartbeat {
    heartbeat(Rhythm::Cron { expr: expr.to_owned(), zone: zone.to_owned() }, at(anchor))
}

/// Every due time until a moment, as somebody finds them who always looks in time.
fn times(heartbeat: &Heartbeat, until: &str) -> Vec<Millis> {
    let mut found = Vec::new();
    let mut now = heartbeat.anchor;
    let mut seen = None;
    while let Some(next) = due(heartbeat, seen, now, true).unwrap().next.filter(|&next| next <= at(until)) {
        let found_there = due(heartbeat, seen, next, true).unwrap();
        assert_eq!((found_there.at, found_there.skipped), (Some(next), None));
        found.push(next);
        (now, seen) = (next, Some(next));
    }
    found
}

fn shown(heartbeat: &Heartbeat, until: &str) -> Vec<String> {
    times(heartbeat, until).into_iter().map(text).collect()
}

#[test]
fn an_interval_is_due_at_the_anchor_plus_n_times_itself() {
    let beat = every(15 * SECOND, 100);
    assert_eq!(due(&beat, None, 100, false).unwrap().at, None);
    assert_eq!(due(&beat, None, 100, false).unwrap().next, Some(15_100));
    assert_eq!(due(&beat, None, 15_099, false).unwrap().at, None);
    assert_eq!(due(&beat, None, 15_100, false).unwrap().at, Some(15_100));
    // A late tick moves nothing.
    let late = due(&beat, None, 29_000, false).unwrap();
    assert_eq!((late.at, late.skipped, late.next), (Some(15_100), None, Some(30_100)));
    assert_eq!(due(&beat, Some(15_100), 29_000, false).unwrap().at, None);
}

#[test]
fn after_a_pause_there_is_one_tick_and_a_record_of_every_skipped_due_time() {
    let beat = every(15 * SECOND, 0);
    let found = due(&beat, Some(15_000), HOUR, false).unwrap();
    assert_eq!(found.at, Some(HOUR));
    assert_eq!(found.skipped, Some(Gap { count: 238, at_least: false, first: 30_000, last: HOUR - 15_000 }));
    assert_eq!(found.next, Some(HOUR + 15_000));
}

#[test]
fn what_queues_up_is_ticked_one_by_one_but_a_pause_is_not() {
    let beat = Heartbeat { overlap: Overlap::Queue, ..every(10 * SECOND, 0) };
    let found = due(&beat, Some(10_000), 45_000, true).unwrap();
    assert_eq!((found.at, found.skipped, found.next), (Some(20_000), None, Some(30_000)));
    let last = due(&beat, Some(30_000), 45_000, true).unwrap();
    assert_eq!((last.at, last.next), (Some(40_000), Some(50_000)));
    let paused = due(&beat, Some(10_000), 45_000, false).unwrap();
    assert_eq!((paused.at, paused.skipped.unwrap().count), (Some(40_000), 2));
}

#[test]
fn what_is_triggered_only_is_never_due_and_never_over() {
    let found = due(&heartbeat(Rhythm::Triggered, 0), None, 100 * YEAR, false).unwrap();
    assert_eq!((found.at, found.next, found.over), (None, None, None));
}

#[test]
fn a_moment_is_due_once_also_when_everybody_slept() {
    let beat = heartbeat(Rhythm::At { at: HOUR }, 0);
    assert_eq!(due(&beat, None, HOUR - 1, false).unwrap().next, Some(HOUR));
    let late = due(&beat, None, 3 * DAY, false).unwrap();
    assert_eq!((late.at, late.skipped, late.over), (Some(HOUR), None, Some(Reached::Once)));
    assert_eq!(due(&beat, Some(HOUR), 3 * DAY, false).unwrap().at, None);
}

#[test]
fn berlin_runs_half_past_two_once_on_both_sundays() {
    let spring = cron("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z");
    // On the 29th half past two is left out: it runs when the gap ends, at three.
    assert_eq!(
        shown(&spring, "2026-03-30T12:00:00Z"),
        ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"]
    );
    let autumn = cron("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00Z");
    // On the 25th it is there twice: the first one runs.
    assert_eq!(
        shown(&autumn, "2026-10-26T12:00:00Z"),
        ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"]
    );
}

#[test]
fn several_times_in_the_hour_that_is_there_twice_run_once_each() {
    let beat = cron("0,20,40 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z");
    let beat = Heartbeat { anchor: beat.anchor - MINUTE, ..beat };
    assert_eq!(
        shown(&beat, "2026-10-25T23:00:00Z"),
        ["2026-10-25T00:00", "2026-10-25T00:20", "2026-10-25T00:40"]
    );
    // Somebody who looks first in the second half finds the last of the first half, and no other.
    let found = due(&beat, None, at("2026-10-25T01:25:00Z"), false).unwrap();
    assert_eq!(found.at, Some(at("2026-10-25T00:40:00Z")));
    assert_eq!(found.next, Some(at("2026-10-26T01:00:00Z")));
}

#[test]
fn several_times_in_the_hour_that_is_left_out_become_one() {
    let beat = cron("0,20,40 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z");
    assert_eq!(
        shown(&beat, "2026-03-29T12:00:00Z"),
        ["2026-03-29T01:00", "2026-03-29T01:20", "2026-03-29T01:40"]
    );
}

#[test]
fn new_york_runs_half_past_one_once_and_half_past_two_once() {
    let beat = cron("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z");
    assert_eq!(shown(&beat, "2026-11-02T12:00:00Z"), ["2026-11-01T05:30", "2026-11-02T06:30"]);
    let beat = cron("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z");
    assert_eq!(shown(&beat, "2026-03-09T12:00:00Z"), ["2026-03-08T07:00", "2026-03-09T06:30"]);
}

#[test]
fn lord_howe_moves_its_clocks_by_half_an_hour_and_still_runs_each_time_once() {
    // On the 5th of April at 02:00 the clocks go back to 01:30, on the 4th of October to 02:30.
    let autumn = cron("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z");
    assert_eq!(shown(&autumn, "2026-04-06T00:00:00Z"), ["2026-04-04T14:45", "2026-04-05T15:15"]);
    let spring = cron("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T20:00:00Z");
    assert_eq!(shown(&spring, "2026-10-05T00:00:00Z"), ["2026-10-03T15:30", "2026-10-04T15:15"]);
}

#[test]
fn what_runs_every_few_minutes_goes_by_elapsed_time() {
    for (zone, from) in [
        ("Europe/Berlin", "2026-03-28T23:30:00Z"),
        ("Europe/Berlin", "2026-10-24T23:30:00Z"),
        ("America/New_York", "2026-11-01T04:30:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T13:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T13:00:00Z"),
    ] {
        let beat = cron("*/10 * * * *", zone, from);
        let until = Utc.timestamp_millis_opt(beat.anchor + 4 * HOUR).unwrap().to_rfc3339();
        let found = times(&beat, &until);
        let wanted: Vec<Millis> = (1..=24).map(|n| beat.anchor + n * 10 * MINUTE).collect();
        assert_eq!(found, wanted, "{zone} from {from}");
    }
}

#[test]
fn what_leaves_hours_out_runs_at_each_of_the_others_once() {
    for expr in ["0 */2 * * *", "0 0-22/2 * * *", "0 0,2,4,6,8,10,12,14,16,18,20,22 * * *"] {
        let autumn = cron(expr, "Europe/Berlin", "2026-10-24T22:30:00Z");
        assert_eq!(
            shown(&autumn, "2026-10-25T03:30:00Z"),
            ["2026-10-25T00:00", "2026-10-25T03:00"],
            "{expr}"
        );
        let spring = cron(expr, "Europe/Berlin", "2026-03-28T23:30:00Z");
        assert_eq!(
            shown(&spring, "2026-03-29T02:30:00Z"),
            ["2026-03-29T01:00", "2026-03-29T02:00"],
            "{expr}"
        );
    }
}

#[test]
fn a_whole_day_that_is_left_out_runs_when_the_next_one_begins() {
    // Samoa went over the date line at the end of the 29th of December 2011.
    let beat = cron("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z");
    assert_eq!(shown(&beat, "2012-01-10T00:00:00Z"), ["2011-12-30T10:00"]);
}

#[test]
fn nicknames_names_and_leap_days_are_understood() {
    let beat = cron("@daily", "UTC", "2026-01-01T00:00:00Z");
    assert_eq!(shown(&beat, "2026-01-03T00:00:00Z"), ["2026-01-02T00:00", "2026-01-03T00:00"]);
    let beat = cron("0 9 * * MON-FRI", "UTC", "2026-01-02T10:00:00Z");
    assert_eq!(shown(&beat, "2026-01-06T10:00:00Z"), ["2026-01-05T09:00", "2026-01-06T09:00"]);
    let beat = cron("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z");
    assert_eq!(shown(&beat, "2033-01-01T00:00:00Z"), ["2028-02-29T00:00", "2032-02-29T00:00"]);
    let found = due(&beat, None, at("2031-06-01T00:00:00Z"), false).unwrap();
    assert_eq!(found.at, Some(at("2028-02-29T00:00:00Z")));
}

#[test]
fn what_is_no_schedule_is_refused_with_its_reason() {
    let refused = |beat: Heartbeat| check(&beat, beat.anchor).unwrap_err();
    let start = "2026-01-01T00:00:00Z";
    assert!(matches!(refused(cron("61 * * * *", "UTC", start)), ScheduleError::BadExpression { .. }));
    assert!(matches!(refused(cron("* * * * * *", "UTC", start)), ScheduleError::BadExpression { .. }));
    assert!(matches!(refused(cron("", "UTC", start)), ScheduleError::BadExpression { .. }));
    assert_eq!(refused(cron("0 0 30 2 *", "UTC", start)), ScheduleError::NeverComes("0 0 30 2 *".to_owned()));
    assert_eq!(
        refused(cron("@daily", "Mars/Olympus", start)),
        ScheduleError::NoZone("Mars/Olympus".to_owned())
    );
    assert_eq!(refused(every(0, 0)), ScheduleError::NoInterval(0));
    let mut many = cron("@daily", "UTC", start);
    many.ceiling.ticks = Some(MAX_CRON_TICKS + 1);
    assert!(matches!(refused(many), ScheduleError::TooManyTicks { .. }));
}

#[test]
fn moments_are_read_with_an_offset_or_in_a_zone() {
    assert_eq!(moment("2026-10-25T02:30:00+01:00", "UTC"), Ok(at("2026-10-25T01:30:00Z")));
    assert_eq!(moment("2026-10-25T02:30", "Europe/Berlin"), Ok(at("2026-10-25T00:30:00Z")));
    assert_eq!(moment("2026-03-29 02:30", "Europe/Berlin"), Ok(at("2026-03-29T01:00:00Z")));
    assert!(moment("tomorrow", "UTC").is_err());
    for year in ["-026-12-24T18:00", "+12026-12-24T18:00", "9999-12-31T23:30:00-01:00"] {
        assert!(moment(year, "UTC").is_err(), "{year}");
    }
    assert!(moment("2026-10-25T02:30", "Nowhere").is_err());
}

#[test]
fn a_gap_of_a_cron_expression_is_counted_to_a_bound() {
    let beat = cron("0 3 * * *", "Europe/Berlin", "2026-01-01T12:00:00Z");
    let found = due(&beat, None, at("2026-02-01T12:00:00Z"), false).unwrap();
    assert_eq!(found.at, Some(at("2026-02-01T02:00:00Z")));
    let gap = found.skipped.unwrap();
    assert_eq!((gap.count, gap.at_least), (30, false));
    assert_eq!((gap.first, gap.last), (at("2026-01-02T02:00:00Z"), at("2026-01-31T02:00:00Z")));
    let busy = cron("* * * * *", "Europe/Berlin", "2026-01-01T12:00:00Z");
    let found = due(&busy, None, at("2026-12-01T12:00:30Z"), false).unwrap();
    assert_eq!(found.at, Some(at("2026-12-01T12:00:00Z")));
    let gap = found.skipped.unwrap();
    assert!(gap.at_least && gap.count == 20_000, "{gap:?}");
    assert_eq!(gap.last, at("2026-12-01T11:59:00Z"));
}

#[test]
fn a_clock_set_back_a_little_is_waited_for() {
    let beat = every(MINUTE, 0);
    let noon = 12 * HOUR;
    let found = due(&beat, Some(noon), noon - HOUR, true).unwrap();
    assert_eq!((found.at, found.next, found.restarted), (None, Some(noon + MINUTE), None));
}

#[test]
fn a_clock_set_back_by_ten_years_starts_due_times_anew_at_once() {
    let long_ago = at("2016-06-01T00:00:30Z");
    for beat in [every(MINUTE, at("2026-06-01T00:00:00Z")), cron("* * * * *", "UTC", "2026-06-01T00:00:00Z")]
    {
        for seen in [None, Some(at("2026-06-02T00:00:00Z"))] {
            let found = due(&beat, seen, long_ago, true).unwrap();
            assert_eq!((found.at, found.restarted), (None, Some(long_ago)));
            assert_eq!(found.next, Some(at("2016-06-01T00:01:00Z")));
            let then = due(&beat, found.restarted, long_ago + MINUTE, true).unwrap();
            assert_eq!((then.at, then.skipped), (Some(at("2016-06-01T00:01:00Z")), None));
        }
        // A record from the wrong years keeps nobody from ticking now.
        let stale = Heartbeat { last_run: Some(at("2026-06-02T00:00:00Z")), ..beat };
        assert!(!caught_up(&stale, at("2016-06-01T00:01:00Z"), long_ago + MINUTE));
        assert!(caught_up(&stale, at("2026-06-02T00:00:00Z"), at("2026-06-02T00:00:01Z")));
    }
}

#[test]
fn everything_ends_by_its_time_or_by_its_ticks() {
    let beat = Heartbeat { ceiling: Ceiling { lasts: HOUR, ticks: None }, ..every(10 * MINUTE, 0) };
    assert_eq!(due(&beat, None, 50 * MINUTE, true).unwrap().over, None);
    let last = due(&beat, Some(50 * MINUTE), HOUR, true).unwrap();
    assert_eq!((last.at, last.next, last.over), (Some(HOUR), None, Some(Reached::Time)));
    let slept = due(&beat, Some(20 * MINUTE), 5 * DAY, false).unwrap();
    assert_eq!((slept.at, slept.skipped.unwrap().count), (Some(HOUR), 3));
    let beat = Heartbeat { ceiling: Ceiling { lasts: HOUR, ticks: Some(3) }, ..beat };
    let last = due(&beat, Some(20 * MINUTE), 31 * MINUTE, true).unwrap();
    assert_eq!((last.at, last.over), (Some(30 * MINUTE), Some(Reached::Ticks)));
    let mut nightly = cron("0 3 * * *", "UTC", "2026-01-01T12:00:00Z");
    nightly.ceiling.ticks = Some(2);
    assert_eq!(shown(&nightly, "2027-01-01T00:00:00Z"), ["2026-01-02T03:00", "2026-01-03T03:00"]);
}

#[test]
fn enabling_again_counts_from_then_on() {
    let mut beat = Heartbeat { last_run: Some(5 * HOUR), ..every(HOUR, 0) };
    beat.start(30 * HOUR + MINUTE);
    let found = due(&beat, Some(5 * HOUR), 31 * HOUR + MINUTE, false).unwrap();
    assert_eq!((found.at, found.skipped), (Some(31 * HOUR + MINUTE), None));
    assert!(caught_up(&beat, 6 * HOUR, 40 * HOUR));
}

/// Looks at random moments; every due time is either ticked for or in exactly one gap.
fn accounted(beat: &Heartbeat, looks: &[Millis], continuing: bool) -> (u64, u64, Option<Millis>) {
    let (mut ticked, mut skipped, mut seen, mut now) = (0, 0, None, beat.anchor);
    for step in looks {
        now += step;
        let found = due(beat, seen, now, continuing).unwrap();
        assert!(found.next.is_none_or(|next| next > seen.unwrap_or(beat.anchor)));
        if let Some(gap) = &found.skipped {
            assert!(!gap.at_least && Some(gap.last) < found.at && gap.first > seen.unwrap_or(beat.anchor));
            skipped += gap.count;
        }
        if let Some(at) = found.at {
            assert!(at <= now && Some(at) > seen, "{at} twice or early");
            ticked += 1;
            seen = Some(at);
        }
    }
    (ticked, skipped, seen)
}

proptest! {
    #[test]
    fn no_due_time_of_an_interval_is_missed_or_doubled(
        interval in 1..100_000i64,
        anchor in -1_000_000_000i64..1_000_000_000,
        looks in proptest::collection::vec(0..400_000i64, 1..40),
    ) {
        let beat = every(interval, anchor);
        let (ticked, skipped, seen) = accounted(&beat, &looks, false);
        let passed = seen.map_or(0, |seen| (seen - anchor) / interval);
        prop_assert_eq!(i64::try_from(ticked + skipped).unwrap(), passed);
        let late: Millis = looks.iter().sum();
        prop_assert_eq!(passed, late / interval);
    }

    #[test]
    fn no_local_time_is_missed_or_doubled_while_the_clocks_change(
        zone in proptest::sample::select(vec!["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham"]),
        expr in proptest::sample::select(vec!["30 2 * * *", "15,45 1-3 * * *", "*/20 * * * *", "0 */2 * * *", "10 2 * * SUN"]),
        start in proptest::sample::select(vec!["2026-03-05T00:00:00Z", "2026-03-26T00:00:00Z", "2026-04-02T00:00:00Z",
            "2026-09-24T00:00:00Z", "2026-10-01T00:00:00Z", "2026-10-22T00:00:00Z", "2026-10-29T00:00:00Z"]),
        looks in proptest::collection::vec(0..9 * HOUR, 1..30),
    ) {
        let beat = cron(expr, zone, start);
        let (ticked, skipped, seen) = accounted(&beat, &looks, false);
        let until = Utc.timestamp_millis_opt(beat.anchor + looks.iter().sum::<Millis>()).unwrap().to_rfc3339();
        let all = times(&beat, &until);
        prop_assert_eq!(usize::try_from(ticked + skipped).unwrap(), all.len());
        prop_assert_eq!(seen, all.last().copied());
        // Once a day, whatever the clocks do.
        if expr == "30 2 * * *" {
            let zone: chrono_tz::Tz = zone.parse().unwrap();
            let day = |at: &Millis| zone.timestamp_millis_opt(*at).unwrap().date_naive();
            let days: std::collections::BTreeSet<_> = all.iter().map(day).collect();
            prop_assert_eq!(days.len(), all.len());
            if let (Some(first), Some(last)) = (all.first(), all.last()) {
                prop_assert_eq!((day(last) - day(first)).num_days() + 1, i64::try_from(all.len()).unwrap());
            }
        }
    }

    #[test]
    fn any_expression_is_read_or_refused(expr in "[0-9*/,LW#?A-Z@ -]{0,24}", zone in "[A-Za-z/_]{0,12}") {
        let beat = cron(&expr, "UTC", "2026-01-01T00:00:00Z");
        if check(&beat, beat.anchor).is_ok() {
            let found = due(&beat, None, beat.anchor, false).unwrap();
            prop_assert!(found.next.is_none_or(|next| next > beat.anchor));
        }
        let elsewhere = check(&cron("@daily", &zone, "2026-01-01T00:00:00Z"), 0);
        prop_assert!(matches!(elsewhere, Ok(()) | Err(ScheduleError::NoZone(_))));
    }
}
