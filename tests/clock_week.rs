//! Weeks of the clock with a fake clock: ten roots at different rates, outages, and both changes of
//! daylight saving. No due time is missed without a record, none is ticked twice, and idle ticks are no
//! events.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

#[macro_use]
mod store_double;
#[path = "clock_week/failing.rs"]
mod failing;
#[path = "clock_week/reminded.rs"]
mod reminded;
#[path = "clock_week/told.rs"]
mod told;
#[path = "clock_week/waiting.rs"]
mod waiting;

use std::collections::{BTreeMap, BTreeSet};

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::heartbeats::{self, Beats, Happened, New, Pass, Seen, When};
use roundgate::app::{Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::issue::Millis;
use roundgate::model::record::{HeartbeatId, HeartbeatKind, Overlap};
use roundgate::store::EventQuery;
use roundgate::store::memory::Memory;

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// When somebody lets the clock run, and when nobody does, in minutes: on and off in turn.
const SHIFTS: [Millis; 12] = [300, 7, 1_000, 90, 55, 1_441, 600, 3, 2_000, 240, 61, 10_000];

/// Each root with the way it is ticked.
fn rates() -> Vec<(HeartbeatKind, When)> {
    let cron = |expr: &str, zone: &str| {
        (HeartbeatKind::Cron, When::Cron { expr: expr.to_owned(), zone: Some(zone.to_owned()) })
    };
    let every = |interval| (HeartbeatKind::Heartbeat, When::Every(interval));
    vec![
        every(15 * SECOND),
        every(MINUTE),
        every(7 * MINUTE),
        every(HOUR),
        every(25 * HOUR),
        every(0),
        cron("30 2 * * *", "Europe/Berlin"),
        cron("*/20 * * * *", "America/New_York"),
        cron("45 1 * * *", "Australia/Lord_Howe"),
        cron("0 0 * * SUN", "Europe/Berlin"),
    ]
}

fn session(start: Millis) -> Session {
    Session {
        store: Box::new(Memory::new()),
        clock: Clock::Frozen(start),
        ids: Ids::new(Some(7)),
        actor: "clock".parse().unwrap(),
        config: Config::default(),
        operation: None,
    }
}

struct World {
    session: Session,
    ids: Vec<HeartbeatId>,
    start: Millis,
}

impl World {
    fn new(start: Millis) -> Self {
        let mut session = session(start);
        let mut ids = Vec::new();
        for (n, (kind, when)) in rates().into_iter().enumerate() {
            let new = NewIssue { title: format!("Root {n}"), ..NewIssue::default() };
            let root = issues::create(&mut session, new, None).unwrap().value.id;
            let new = New {
                kind,
                root,
                title: None,
                reason: String::new(),
                when,
                lasts: None,
                max_ticks: None,
                overlap: Overlap::Skip,
            };
            ids.push(heartbeats::create(&mut session, new).unwrap().value.id.parse().unwrap());
        }
        World { session, ids, start }
    }

    fn now(&self) -> Millis {
        self.session.clock.now()
    }

    fn events(&self) -> usize {
        self.session.store.events(&EventQuery::default()).unwrap().len()
    }
}

/// What was ticked for and what was recorded as skipped, of each heartbeat.
#[derive(Default)]
struct Ledger {
    ticked: BTreeMap<HeartbeatId, BTreeSet<Millis>>,
    skipped: BTreeMap<HeartbeatId, Vec<(Millis, Millis, u64)>>,
}

impl Ledger {
    fn enter(&mut self, beats: &Beats, before: &Seen, pass: &Pass, ids: &[HeartbeatId]) {
        for id in ids {
            let (was, is) = (before.last(id), beats.seen.last(id));
            if let Some(at) = is.filter(|_| is != was) {
                assert!(self.ticked.entry(id.clone()).or_default().insert(at), "{id} twice at {at}");
            }
        }
        for view in &pass.happened {
            match &view.happened {
                Happened::Skipped { gap } => {
                    let gaps = self.skipped.entry(view.heartbeat.clone()).or_default();
                    gaps.push((gap.first, gap.last, gap.count));
                }
                other => panic!("{} {}", view.heartbeat, other.word()),
            }
        }
    }
}

/// Lets the clock run for a week with its shifts.
fn week(start: &str) -> (World, Ledger, usize) {
    let start = chrono::DateTime::parse_from_rfc3339(start).unwrap().timestamp_millis();
    let mut world = World::new(start);
    let (mut ledger, mut passes) = (Ledger::default(), 0);
    let mut remembered = Seen::default();
    let before = world.events();
    for (n, minutes) in SHIFTS.iter().enumerate() {
        let end = (world.now() + minutes * MINUTE).min(start + 7 * DAY);
        if n % 2 == 0 {
            let mut beats = Beats::new(remembered.clone());
            loop {
                let known = beats.seen.clone();
                let pass = beats.pass(&mut world.session).unwrap();
                passes += 1;
                ledger.enter(&beats, &known, &pass, &world.ids);
                match pass.next.filter(|&next| next <= end) {
                    // Nobody wakes to the millisecond.
                    Some(next) => world.session.clock = Clock::Frozen((next + 40).min(end)),
                    None => break,
                }
            }
            remembered = beats.seen;
        }
        world.session.clock = Clock::Frozen(end);
    }
    let mut beats = Beats::new(remembered);
    world.session.clock = Clock::Frozen(start + 7 * DAY);
    let known = beats.seen.clone();
    let pass = beats.pass(&mut world.session).unwrap();
    ledger.enter(&beats, &known, &pass, &world.ids);
    let gaps: usize = ledger.skipped.values().map(Vec::len).sum();
    assert_eq!(world.events() - before, gaps, "only gaps are events");
    (world, ledger, passes)
}

fn accounted(start: &str) -> BTreeMap<HeartbeatId, u64> {
    let (world, ledger, passes) = week(start);
    assert!(passes > 10_000, "{passes}");
    let mut totals = BTreeMap::new();
    for id in &world.ids {
        let empty = BTreeSet::new();
        let ticked = ledger.ticked.get(id).unwrap_or(&empty);
        let gaps = ledger.skipped.get(id).cloned().unwrap_or_default();
        for (first, last, _) in &gaps {
            assert!(ticked.range(first..=last).next().is_none(), "{id}: ticked for within its gap");
        }
        let skipped: u64 = gaps.iter().map(|(_, _, count)| count).sum();
        let shown = world.session.read().unwrap().heartbeat(id).unwrap().skipped;
        assert_eq!(shown, skipped, "{id}");
        totals.insert(id.clone(), ticked.len() as u64 + skipped);
    }
    let passed = |interval: Millis| u64::try_from(7 * DAY / interval).unwrap();
    let of = |n: usize| totals[&world.ids[n]];
    assert_eq!(
        (of(0), of(1), of(2), of(3), of(4), of(5)),
        (passed(15 * SECOND), passed(MINUTE), passed(7 * MINUTE), passed(HOUR), passed(25 * HOUR), 0,)
    );
    assert!(world.now() == world.start + 7 * DAY);
    world
        .ids
        .iter()
        .enumerate()
        .filter(|(n, _)| *n > 5)
        .map(|(n, id)| (format!("hb-{n}").parse().unwrap(), totals[id]))
        .collect()
}

fn crons(found: BTreeMap<HeartbeatId, u64>) -> Vec<u64> {
    found.into_values().collect()
}

#[test]
fn the_week_in_which_europe_and_lord_howe_change_their_clocks() {
    // Berlin forward on the 29th of March.
    assert_eq!(crons(accounted("2026-03-26T12:00:00Z")), [7, 7 * 72, 7, 1]);
    // Lord Howe back on the 5th of April.
    assert_eq!(crons(accounted("2026-04-02T12:00:00Z")), [7, 7 * 72, 7, 1]);
}

#[test]
fn the_weeks_in_which_the_clocks_go_back_in_europe_and_america() {
    assert_eq!(crons(accounted("2026-10-22T12:00:00Z")), [7, 7 * 72, 7, 1]);
    assert_eq!(crons(accounted("2026-10-29T12:00:00Z")), [7, 7 * 72, 7, 1]);
}

#[test]
fn two_who_tick_at_once_record_a_gap_once() {
    let mut world = World::new(0);
    world.session.clock = Clock::Frozen(3 * DAY);
    let before = world.events();
    let count = |pass: &Pass| pass.happened.len();
    let first = Beats::new(Seen::default()).pass(&mut world.session).unwrap();
    assert!(count(&first) > 5);
    assert_eq!(world.events() - before, count(&first));
    // The second one knows nothing of the first but what the store says.
    let second = Beats::new(Seen::default()).pass(&mut world.session).unwrap();
    assert!(second.happened.iter().all(|view| !matches!(view.happened, Happened::Ticked { .. })));
    let gaps =
        |pass: &Pass| pass.happened.iter().filter(|v| matches!(v.happened, Happened::Skipped { .. })).count();
    assert_eq!(gaps(&second), 0);
}

#[test]
fn a_clock_that_is_set_back_by_ten_years_keeps_nobody_from_ticking() {
    let start = chrono::DateTime::parse_from_rfc3339("2026-06-01T00:00:00Z").unwrap().timestamp_millis();
    let mut world = World::new(start);
    let mut beats = Beats::default();
    world.session.clock = Clock::Frozen(start + HOUR);
    beats.pass(&mut world.session).unwrap();
    let back = start - 3650 * DAY;
    world.session.clock = Clock::Frozen(back);
    let pass = beats.pass(&mut world.session).unwrap();
    assert!(pass.happened.iter().all(|view| matches!(view.happened, Happened::SetBack { .. })));
    assert_eq!(pass.ticks, 0);
    assert!(pass.next.is_some_and(|next| next <= back + 15 * SECOND), "{:?}", pass.next);
    world.session.clock = Clock::Frozen(back + MINUTE);
    let pass = beats.pass(&mut world.session).unwrap();
    assert!(pass.ticks >= 2, "{pass:?}");
}

#[test]
fn a_due_time_that_acted_acts_for_nobody_else() {
    let mut world = World::new(0);
    let tags = ["kind:root", "proto:hierarchical-work-v1"].iter().map(|tag| tag.parse().unwrap()).collect();
    let new = NewIssue { title: "Root".to_owned(), tags, ..NewIssue::default() };
    let root = issues::create(&mut world.session, new, None).unwrap().value.id;
    let new = NewIssue { title: "Done".to_owned(), ..NewIssue::default() };
    let work = issues::create(&mut world.session, new, Some(&root)).unwrap().value.id;
    let wish = issues::CloseWish { outcome: None, reason: None, cascade: false, epoch: None };
    issues::close(&mut world.session, &work, &wish).unwrap();
    let new = New {
        kind: HeartbeatKind::Heartbeat,
        root,
        title: None,
        reason: String::new(),
        when: When::Every(MINUTE),
        lasts: None,
        max_ticks: None,
        overlap: Overlap::Skip,
    };
    let id = heartbeats::create(&mut world.session, new).unwrap().value.id;
    world.session.clock = Clock::Frozen(MINUTE);
    let mut acted = Vec::new();
    // The second one remembers nothing: only the store tells it.
    for _ in 0..2 {
        let pass = Beats::new(Seen::default()).pass(&mut world.session).unwrap();
        let own = pass.happened.iter().filter(|view| view.heartbeat.as_str() == id);
        acted.push(own.filter(|view| matches!(view.happened, Happened::Ticked { .. })).count());
    }
    assert_eq!(acted, [1, 0]);
}
