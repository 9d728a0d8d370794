//! A week of asks, by people and by ticks, and a notifier that is down for a day of it: every ask is told,
//! none is lost, and none is told twice but where a sender died in between. With a planted bug that shows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fastrand::Rng;
use roundgate::app::ambient::Clock;
use roundgate::app::config::{Config, Notify};
use roundgate::app::heartbeats::{self, Beats, New, When};
use roundgate::app::notify::{self, Delivery, Packet, send_due};
use roundgate::app::{AppError, Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::{Change, Event};
use roundgate::model::id::Actor;
use roundgate::model::issue::{Millis, Outcome};
use roundgate::model::record::{NoticeEnd, NoticeKind, Overlap, Post};
use roundgate::model::snapshot::Snapshot;
use roundgate::model::source::Outbox;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};

use crate::{DAY, HOUR, MINUTE, SECOND, rates, session};

/// What goes wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// The notifier is told while the transaction is still open.
    SentBeforeCommit,
    /// Some marks of what was delivered are not written.
    MarkLost,
    /// Some asks are not in the outbox, as if that were written apart and the program died before.
    QueuedApart,
}

/// What the notifier was told, by the notification's id.
type Told = Rc<RefCell<BTreeMap<String, usize>>>;

/// A store in which transactions fail when told to, and the bug is.
struct Planted {
    inner: Memory,
    bug: Bug,
    full: Rc<Cell<bool>>,
    told: Told,
    transactions: usize,
}

impl Planted {
    /// Every so manieth transaction has the bug.
    fn strikes(&self) -> bool {
        self.transactions.is_multiple_of(3)
    }

    fn forget(&mut self) -> Result<(), StoreError> {
        let forgotten = self.inner.snapshot()?.0.outbox(Outbox::FirstDue, 1).pop();
        self.inner.transact(Extent::Whole, &mut |_, revision| {
            let notice = Box::new(forgotten.clone()?);
            let (seq, at, actor) = (revision + 1, notice.created_at, Actor::engine());
            let change = Change::NoticeEnded { notice, end: NoticeEnd::Dropped };
            Some(vec![Event { seq, at, actor, cause: "a bug".to_owned(), tick: None, change }])
        })?;
        Ok(())
    }
}

impl Store for Planted {
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
        self.transactions += 1;
        let (bug, strikes, full) = (self.bug, self.strikes(), self.full.take());
        let (told, mut asked) = (Rc::clone(&self.told), false);
        let revision = self.inner.transact(extent, &mut |snapshot, revision| {
            let events = work(snapshot, revision)?;
            for event in &events {
                match &event.change {
                    Change::AskOpened { ask } => {
                        asked = true;
                        if bug == Bug::SentBeforeCommit {
                            *told.borrow_mut().entry(format!("{}:asked:1", ask.id)).or_default() += 1;
                        }
                    }
                    Change::NoticeEnded { .. } if bug == Bug::MarkLost && strikes => return None,
                    _ => {}
                }
            }
            Some(events).filter(|_| !full)
        })?;
        if bug == Bug::QueuedApart && asked && strikes && !full {
            self.forget()?;
        }
        if full { Err(StoreError::Full) } else { Ok(revision) }
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

struct Week {
    session: Session,
    roots: Vec<String>,
    rng: Rng,
    start: Millis,
    /// What the next transactions are to fail at.
    full: Rc<Cell<bool>>,
    told: Told,
    /// Senders that died after the notifier was told, and before they wrote it down.
    died: BTreeMap<String, usize>,
    /// How many times the notifier was called while it was down.
    in_vain: usize,
}

impl Week {
    fn new(seed: u64, bug: Bug) -> Self {
        let start = chrono::DateTime::parse_from_rfc3339("2026-10-22T12:00:00Z").unwrap().timestamp_millis();
        let (full, told) = (Rc::new(Cell::new(false)), Told::default());
        let (inner, in_store) = (Memory::new(), Rc::clone(&full));
        let store = Planted { inner, bug, full: in_store, told: Rc::clone(&told), transactions: 0 };
        let notify = Notify { command: vec!["notifier".to_owned()], ..Notify::default() };
        let config = Config { notify, ..Config::default() };
        let mut session = Session { store: Box::new(store), config, ..session(start) };
        let mut roots = Vec::new();
        for (n, (kind, when)) in rates().into_iter().enumerate() {
            let tags = ["kind:root", "proto:hierarchical-work-v1"].map(|tag| tag.parse().unwrap());
            let title = format!("Root {n}");
            let new = NewIssue { title, tags: tags.into_iter().collect(), ..NewIssue::default() };
            let root = issues::create(&mut session, new, None).unwrap().value.id;
            // The fastest would make the test long, and show nothing that the others do not.
            let when = match when {
                When::Every(interval) if interval > 0 => When::Every(interval.max(10 * MINUTE)),
                other => other,
            };
            let new = New {
                kind,
                root: root.clone(),
                title: None,
                reason: String::new(),
                when,
                lasts: None,
                max_ticks: None,
                overlap: Overlap::Skip,
            };
            heartbeats::create(&mut session, new).unwrap();
            roots.push(root);
        }
        assert_eq!(roots.len(), 10);
        let (died, in_vain) = (BTreeMap::new(), 0);
        Week { session, roots, rng: Rng::with_seed(seed), start, full, told, died, in_vain }
    }

    fn now(&self) -> Millis {
        self.session.clock.now()
    }

    /// Whether anybody lets the clock run.
    fn runs(&self) -> bool {
        let hour = (self.now() - self.start) / HOUR;
        !(30..37).contains(&hour) && !(110..111).contains(&hour)
    }

    /// Whether the notifier is down: all of the third day.
    fn down(&self) -> bool {
        (self.now() - self.start) / DAY == 2
    }

    /// Somebody asks, or something fails that the next tick asks about. Now and then the disk is full.
    fn somebody_asks(&mut self) {
        let root = self.rng.choice(self.roots.clone()).unwrap();
        let asks = self.rng.bool();
        let tags = if asks { vec!["kind:ask", "proto:hierarchical-work-v1"] } else { vec![] };
        let title = format!("At {}", self.now());
        let tags = tags.into_iter().map(|tag| tag.parse().unwrap()).collect();
        let new = NewIssue { title, tags, ..NewIssue::default() };
        self.full.set(self.rng.u8(0..6) == 0);
        let made = issues::create(&mut self.session, new, Some(&root));
        self.full.set(false);
        let Ok(made) = made else { return };
        if !asks {
            let failed = Some(Outcome::Failure);
            let wish =
                issues::CloseWish { outcome: failed, reason: Some("no".to_owned()), ..Default::default() };
            issues::close(&mut self.session, &made.value.id, &wish).unwrap();
        }
    }

    /// Ticks what is due and sends what is to be told, as the daemon does; says when to do so again.
    fn pass(&mut self, beats: &mut Beats) -> Option<Millis> {
        self.full.set(self.rng.u8(0..40) == 0);
        let pass = beats.pass(&mut self.session).unwrap();
        self.full.set(false);
        let (down, mut vain) = (self.down(), 0);
        let (rng, full) = (&mut self.rng, Rc::clone(&self.full));
        let (told, died) = (Rc::clone(&self.told), &mut self.died);
        let sent = send_due(&mut self.session, &mut |packet: &Packet| {
            if down {
                vain += 1;
                return Delivery::Failed("it is down".to_owned());
            }
            *told.borrow_mut().entry(packet.id.clone()).or_default() += 1;
            if rng.u8(0..8) == 0 {
                *died.entry(packet.id.clone()).or_default() += 1;
                full.set(true);
            }
            Delivery::Delivered
        });
        self.in_vain += vain;
        let again = match sent {
            Ok(sent) => sent.next_at,
            // The sender died; another looks in a moment.
            Err(AppError::Store(StoreError::Full)) => Some(self.now() + SECOND),
            Err(error) => panic!("{error}"),
        };
        [pass.next, again].into_iter().flatten().min()
    }

    fn go_by(&mut self) {
        let end = self.start + 7 * DAY;
        let mut beats = Beats::default();
        let mut next_ask = self.start;
        while self.now() < end {
            let wake = if self.runs() { self.pass(&mut beats) } else { None };
            let until = wake.unwrap_or(end).min(next_ask).min(self.now() + HOUR);
            self.session.clock = Clock::Frozen(until.max(self.now() + SECOND));
            if self.now() >= next_ask {
                // The last day is for what is still to be told.
                if self.now() < end - DAY {
                    self.somebody_asks();
                }
                next_ask = self.now() + self.rng.i64(1..80 * MINUTE);
            }
        }
    }

    /// What is wrong at the end of the week.
    fn complaints(&self) -> Vec<String> {
        let told = self.told.borrow();
        let events = self.session.store.events(&EventQuery::default()).unwrap();
        let asked: BTreeSet<String> = events
            .iter()
            .filter_map(|event| match &event.change {
                Change::AskOpened { ask } => Some(format!("{}:{}:1", ask.id, NoticeKind::Asked.as_str())),
                _ => None,
            })
            .collect();
        assert!(asked.len() > 100, "{}", asked.len());
        let mut found: Vec<String> =
            asked.iter().filter(|id| !told.contains_key(*id)).map(|id| format!("lost {id}")).collect();
        for (id, &times) in told.iter() {
            if !asked.contains(id) {
                found.push(format!("nobody asked {id}"));
            } else if times != 1 + self.died.get(id).copied().unwrap_or(0) {
                found.push(format!("told {times} times {id}"));
            }
        }
        found
    }
}

fn week(seed: u64, bug: Bug) -> Week {
    let mut week = Week::new(seed, bug);
    week.go_by();
    week
}

#[test]
fn with_a_notifier_that_is_down_for_a_day_every_ask_is_told_once() {
    for seed in 1..=2 {
        let week = week(seed, Bug::None);
        assert_eq!(week.complaints(), [""; 0]);
        assert!(week.died.len() > 5, "{:?}", week.died);
        assert!((100..24 * 12 + 100).contains(&week.in_vain), "{} tries in the day", week.in_vain);
        assert!(notify::list(&week.session, None).unwrap().is_empty(), "the outbox is empty");
        let by_ticks = week.session.store.events(&EventQuery::default()).unwrap();
        let by_ticks = by_ticks.iter().filter(|event| {
            event.tick.is_some() && matches!(event.change, Change::NoticeSet { before: None, .. })
        });
        assert!(by_ticks.count() > 30, "ticks ask, too");
    }
}

#[test]
fn each_planted_bug_is_noticed() {
    for (bug, complaint) in [
        (Bug::SentBeforeCommit, "nobody asked"),
        (Bug::SentBeforeCommit, "told 2 times"),
        (Bug::MarkLost, "told 2 times"),
        (Bug::QueuedApart, "lost"),
    ] {
        let found = week(4, bug).complaints();
        assert!(found.iter().any(|found| found.starts_with(complaint)), "{bug:?}: {found:?}");
    }
}
