//! A week of asks, by people and by ticks, with due times, reminders and time-outs, and a notifier that is down
//! for a day of it: everything is told, nothing is lost, and nothing is told twice but where a sender died in
//! between. With planted bugs that show.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fastrand::Rng;
use roundgate::app::ambient::Clock;
use roundgate::app::config::{Config, Notify};
use roundgate::app::heartbeats::{self, Beats, Happened, New, Pass, Seen, When};
use roundgate::app::notify::{self, Delivery, Packet, send_due};
use roundgate::app::{AppError, Session, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::{Change, Event};
use roundgate::model::id::Actor;
use roundgate::model::issue::{Millis, Outcome, Policy};
use roundgate::model::record::{HeartbeatId, NoticeEnd, Overlap};
use roundgate::model::snapshot::Snapshot;
use roundgate::model::source::Outbox;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, Revision, Store, StoreError};

use crate::reminded::{Followed, Tick, Wish, follow};
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
    /// Some reminders are not written.
    ReminderLost,
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
    passes_on!(snapshot);

    passes_on!(look);

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
                    Change::AskReminded { .. } if bug == Bug::ReminderLost && strikes => return None,
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

    passes_on!(records);
}

struct Week {
    session: Session,
    roots: Vec<String>,
    /// What ticks each of them.
    beats: Vec<HeartbeatId>,
    /// The root of each issue that is an ask or comes to one, and what is wished for it.
    wishes: BTreeMap<String, (String, Wish)>,
    ticks: Vec<Tick>,
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
        let (mut roots, mut beats) = (Vec::new(), Vec::new());
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
            beats.push(heartbeats::create(&mut session, new).unwrap().value.id.parse().unwrap());
            // The root does not come to its end when all questions in it are settled.
            let new = NewIssue { title: "Go on".to_owned(), ..NewIssue::default() };
            issues::create(&mut session, new, Some(&root)).unwrap();
            roots.push(root);
        }
        assert_eq!(roots.len(), 10);
        let (died, in_vain) = (BTreeMap::new(), 0);
        let (wishes, ticks) = (BTreeMap::new(), Vec::new());
        Week {
            session,
            roots,
            beats,
            wishes,
            ticks,
            rng: Rng::with_seed(seed),
            start,
            full,
            told,
            died,
            in_vain,
        }
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
        let wish = Wish::of(self.rng.u8(0..27));
        let policy = Policy { ask: wish.policy(), ..Policy::default() };
        let new = NewIssue { title, tags, policy, ..NewIssue::default() };
        self.full.set(self.rng.u8(0..6) == 0);
        let made = issues::create(&mut self.session, new, Some(&root));
        self.full.set(false);
        let Ok(made) = made else { return };
        self.wishes.insert(made.value.id.clone(), (root, wish));
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
        let known = beats.seen.clone();
        let pass = beats.pass(&mut self.session).unwrap();
        self.full.set(false);
        self.note(&known, beats, &pass);
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

    /// Notes which roots were ticked, and what came of it.
    fn note(&mut self, known: &Seen, beats: &Beats, pass: &Pass) {
        let at = self.now();
        for (id, root) in self.beats.iter().zip(&self.roots) {
            if beats.seen.last(id) == known.last(id) {
                continue;
            }
            let happened: Vec<_> = pass.happened.iter().filter(|view| view.heartbeat == *id).collect();
            // A disk that was full at the moment: nothing came of it, and nothing can be told from it.
            if happened.iter().any(|view| matches!(view.happened, Happened::Failed { .. })) {
                continue;
            }
            let did = happened.iter().find_map(|view| match &view.happened {
                Happened::Ticked { tick } => tick.transition.as_ref(),
                _ => None,
            });
            let did = did.map(|transition| (transition.kind.to_string(), transition.issue.clone()));
            self.ticks.push(Tick { at, root: root.clone(), did });
        }
    }

    /// What is left in the outbox is sent.
    fn send_the_rest(&mut self) {
        for _ in 0..30 {
            self.session.clock = Clock::Frozen(self.now() + 10 * MINUTE);
            let told = Rc::clone(&self.told);
            send_due(&mut self.session, &mut |packet: &Packet| {
                *told.borrow_mut().entry(packet.id.clone()).or_default() += 1;
                Delivery::Delivered
            })
            .unwrap();
        }
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

    fn followed(&self) -> Followed {
        let events = self.session.store.events(&EventQuery::default()).unwrap();
        follow(&events, &self.ticks, &self.wishes)
    }

    /// What is wrong at the end of the week.
    fn complaints(&self) -> Vec<String> {
        let (told, followed) = (self.told.borrow(), self.followed());
        let wanted: BTreeSet<&String> = followed.told.iter().collect();
        assert!(followed.told.len() > 300, "{}", followed.told.len());
        let mut found = followed.complaints;
        if wanted.len() != followed.told.len() {
            found.push("two notifications are one".to_owned());
        }
        found.extend(wanted.iter().filter(|id| !told.contains_key(**id)).map(|id| format!("lost {id}")));
        for (id, &times) in told.iter() {
            if !wanted.contains(id) {
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
    week.send_the_rest();
    week
}

#[test]
fn with_a_notifier_that_is_down_for_a_day_everything_is_told_once_and_reminders_are_counted_right() {
    for seed in 1..=2 {
        let week = week(seed, Bug::None);
        assert_eq!(week.complaints(), [""; 0]);
        assert!(week.died.len() > 5, "{:?}", week.died);
        // The first four retries of each wait less than the five minutes for which all wait.
        let events = week.session.store.events(&EventQuery::default()).unwrap();
        let new = |event: &&Event| matches!(event.change, Change::NoticeSet { before: None, .. });
        let on_the_day = events.iter().filter(new).filter(|event| (event.at - week.start) / DAY == 2).count();
        let tries = 100..24 * 12 + 4 * on_the_day;
        assert!(tries.contains(&week.in_vain), "{} tries in the day, not {tries:?}", week.in_vain);
        assert!(notify::list(&week.session, None).unwrap().is_empty(), "the outbox is empty");
        let by_ticks = events.iter().filter(new).filter(|event| event.tick.is_some());
        assert!(by_ticks.count() > 30, "ticks ask, too");
        let followed = week.followed();
        let counts = (followed.reminders, followed.skipped, followed.timeouts);
        assert!(counts.0 > 150 && counts.1 > 3 && counts.2 > 40, "{counts:?}");
    }
}

#[test]
fn each_planted_bug_is_noticed() {
    for (bug, complaints) in [
        (Bug::SentBeforeCommit, &["nobody asked", "told 2 times"][..]),
        (Bug::MarkLost, &["told 2 times"]),
        (Bug::QueuedApart, &["lost"]),
        (Bug::ReminderLost, &["no reason for"]),
    ] {
        let found = week(4, bug).complaints();
        for complaint in complaints {
            assert!(found.iter().any(|found| found.starts_with(complaint)), "{bug:?}: {found:?}");
        }
    }
}
