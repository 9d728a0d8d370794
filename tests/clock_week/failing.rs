//! Ticks at a store that is busy, full or slow.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use roundgate::app::ambient::Clock;
use roundgate::app::heartbeats::{self, Beats, Happened, New, Pass, RETRY, When};
use roundgate::app::{Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Event;
use roundgate::model::issue::Millis;
use roundgate::model::record::{HeartbeatKind, Overlap};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{Extent, Revision, Store, StoreError};

use crate::{HOUR, MINUTE, SECOND, session};

/// How long a slow look takes.
const SLOW: Duration = Duration::from_millis(3_300);

/// What goes wrong with the next transactions, one after the other.
type Faults = Rc<RefCell<VecDeque<StoreError>>>;

/// A store in memory whose transactions fail when they are told to, and of which one look takes long.
#[derive(Default)]
struct Moody {
    inner: Memory,
    faults: Faults,
    slow: Rc<Cell<u32>>,
}

impl Store for Moody {
    passes_on!(snapshot);

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
        if self.slow.replace(self.slow.get().saturating_sub(1)) == 1 {
            std::thread::sleep(SLOW);
        }
        self.inner.look(read)
    }

    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        match self.faults.borrow_mut().pop_front() {
            Some(fault) => Err(fault),
            None => self.inner.transact(extent, work),
        }
    }

    passes_on!(records);
}

/// Whoever ticks a root on which there is something to do with each of two ticks.
struct Ticker {
    session: Session,
    beats: Beats,
    work: String,
    faults: Faults,
    slow: Rc<Cell<u32>>,
}

impl Ticker {
    fn new(when: When) -> Ticker {
        let mut ticker = Ticker::idle(Clock::Frozen(0), when, Overlap::Skip);
        let wish = issues::CloseWish { outcome: None, reason: None, cascade: false, epoch: None };
        issues::close(&mut ticker.session, &ticker.work, &wish).unwrap();
        ticker
    }

    /// The same, but what is to be done waits for a worker.
    fn idle(clock: Clock, when: When, overlap: Overlap) -> Ticker {
        let store = Moody::default();
        let (faults, slow) = (store.faults.clone(), store.slow.clone());
        let mut session = Session { store: Box::new(store), clock, ..session(0) };
        let tags = ["kind:root", "proto:hierarchical-work-v1"].iter().map(|tag| tag.parse().unwrap());
        let new = NewIssue { title: "Root".to_owned(), tags: tags.collect(), ..NewIssue::default() };
        let root = issues::create(&mut session, new, None).unwrap().value.id;
        let new = NewIssue { title: "Work".to_owned(), ..NewIssue::default() };
        let work = issues::create(&mut session, new, Some(&root)).unwrap().value.id;
        let new = New {
            kind: HeartbeatKind::Cron,
            root,
            title: None,
            reason: String::new(),
            when,
            lasts: None,
            max_ticks: None,
            overlap,
        };
        heartbeats::create(&mut session, new).unwrap();
        Ticker { session, beats: Beats::default(), work, faults, slow }
    }

    fn pass(&mut self, at: Millis) -> Pass {
        self.session.clock = Clock::Frozen(at);
        self.beats.pass(&mut self.session).unwrap()
    }

    fn fails(&self, faults: impl IntoIterator<Item = StoreError>) {
        self.faults.borrow_mut().extend(faults);
    }
}

/// What happened, each as its word.
fn words(pass: &Pass) -> Vec<&'static str> {
    pass.happened.iter().map(|view| view.happened.word()).collect()
}

#[test]
fn what_met_a_busy_store_is_tried_again_soon_and_not_at_the_next_due_time() {
    let once = When::At { text: "1970-01-01T01:00:00Z".to_owned(), zone: None };
    for when in [once, When::Every(HOUR)] {
        let last = matches!(when, When::At { .. });
        let mut ticker = Ticker::new(when);
        assert_eq!(ticker.pass(0).next, Some(HOUR));
        ticker.fails([StoreError::Busy { waited_ms: 10_000 }]);
        let busy = ticker.pass(HOUR);
        assert_eq!((words(&busy), busy.next), (vec!["failed"], Some(HOUR + RETRY)));
        let again = ticker.pass(HOUR + RETRY);
        assert_eq!(words(&again), if last { vec!["ticked", "over"] } else { vec!["ticked"] });
        assert_eq!(again.next, (!last).then_some(2 * HOUR));
        assert!(ticker.pass(HOUR + 2 * RETRY).happened.is_empty(), "ticked twice");
    }
}

/// The number of due times that a pass recorded as skipped.
fn skipped(pass: &Pass) -> u64 {
    let counts = pass.happened.iter().filter_map(|view| match &view.happened {
        Happened::Skipped { gap } => Some(gap.count),
        _ => None,
    });
    counts.sum()
}

#[test]
fn where_due_times_queue_up_a_pause_of_the_machine_still_costs_one_tick() {
    let mut ticker = Ticker::idle(Clock::Frozen(0), When::Every(MINUTE), Overlap::Queue);
    assert_eq!(ticker.pass(MINUTE).ticks, 1);
    // Late by a slice, as ever: nothing is skipped.
    assert_eq!(skipped(&ticker.pass(2 * MINUTE + 40)), 0);
    let back = ticker.pass(8 * HOUR);
    assert_eq!((back.ticks, skipped(&back), back.next), (1, 8 * 60 - 3, Some(8 * HOUR + MINUTE)));
    assert_eq!(ticker.pass(8 * HOUR + SECOND).ticks, 0);
}

#[test]
fn due_times_that_come_while_a_tick_is_at_work_queue_up_also_before_a_pause() {
    let mut ticker = Ticker::idle(Clock::Machine, When::Every(SECOND), Overlap::Queue);
    ticker.beats.pass(&mut ticker.session).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    // Three due times come while the first one's tick looks at the store.
    ticker.slow.set(2);
    assert_eq!(ticker.beats.pass(&mut ticker.session).unwrap().ticks, 1);
    // Then nobody is there for a minute: those of before have a tick each, and those of the minute one.
    let later = Clock::Machine.now() + MINUTE;
    let (mut ticks, mut gap) = (Vec::new(), 0);
    for _ in 0..8 {
        let pass = ticker.pass(later);
        ticks.push(pass.ticks);
        gap += skipped(&pass);
    }
    let each = ticks.iter().filter(|&&ticks| ticks == 1).count();
    assert!((4..=6).contains(&each) && (57..=60).contains(&gap), "{ticks:?} {gap}");
    assert_eq!(ticks.last(), Some(&0));
}

#[test]
fn due_times_whose_record_could_not_be_written_are_recorded_by_the_next_tick() {
    let mut ticker = Ticker::new(When::Every(MINUTE));
    ticker.pass(0);
    // Nine were skipped, the tenth fails, and so does what is to be written about the nine.
    ticker.fails([StoreError::Full, StoreError::Full]);
    let full = ticker.pass(10 * MINUTE);
    assert_eq!((words(&full), full.next), (vec!["failed", "failed"], Some(11 * MINUTE)));
    let next = ticker.pass(11 * MINUTE);
    assert_eq!((words(&next), skipped(&next)), (vec!["ticked", "skipped"], 10));
    // A tick that fails alone is one that was there.
    ticker.fails([StoreError::Full]);
    assert_eq!(words(&ticker.pass(15 * MINUTE)), ["failed", "skipped"]);
    assert_eq!(skipped(&ticker.pass(16 * MINUTE)), 0);
}
