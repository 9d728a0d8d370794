//! Ticks at a store that is busy, full or slow.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use roundgate::app::ambient::Clock;
use roundgate::app::heartbeats::{self, Beats, New, Pass, RETRY, When};
use roundgate::app::{Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Event;
use roundgate::model::issue::Millis;
use roundgate::model::record::{HeartbeatKind, Overlap, Post};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};

use crate::{HOUR, session};

/// What goes wrong with the next transactions, one after the other.
type Faults = Rc<RefCell<VecDeque<StoreError>>>;

/// A store in memory whose transactions fail as they are told to.
#[derive(Default)]
struct Moody {
    inner: Memory,
    faults: Faults,
}

impl Store for Moody {
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError> {
        self.inner.snapshot()
    }

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
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

    fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError> {
        self.inner.events(query)
    }

    fn posts(&self, query: &PostQuery) -> Result<Vec<Post>, StoreError> {
        self.inner.posts(query)
    }

    fn topics(&self, prefix: &str) -> Result<Vec<Topic>, StoreError> {
        self.inner.topics(prefix)
    }
}

/// Whoever ticks a root on which there is something to do with each of two ticks.
struct Ticker {
    session: Session,
    beats: Beats,
    faults: Faults,
}

impl Ticker {
    fn new(when: When, overlap: Overlap) -> Ticker {
        let store = Moody::default();
        let faults = store.faults.clone();
        let mut session = Session { store: Box::new(store), ..session(0) };
        let tags = ["kind:root", "proto:hierarchical-work-v1"].iter().map(|tag| tag.parse().unwrap());
        let new = NewIssue { title: "Root".to_owned(), tags: tags.collect(), ..NewIssue::default() };
        let root = issues::create(&mut session, new, None).unwrap().value.id;
        let new = NewIssue { title: "Done".to_owned(), ..NewIssue::default() };
        let work = issues::create(&mut session, new, Some(&root)).unwrap().value.id;
        let wish = issues::CloseWish { outcome: None, reason: None, cascade: false, epoch: None };
        issues::close(&mut session, &work, &wish).unwrap();
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
        Ticker { session, beats: Beats::default(), faults }
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
        let mut ticker = Ticker::new(when, Overlap::Skip);
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
