//! A store that fails while a worker is at work.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::issues::{self, Claiming, Filter};
use roundgate::app::run::{End, Progress, Supervisor, supervise};
use roundgate::app::tick::tick;
use roundgate::app::{AppError, Session, plan};
use roundgate::model::change::Event;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{Extent, Revision, Store, StoreError};

use crate::{steps, world};

/// A store that has no room for one write, once it is told so.
struct Failing {
    inner: Memory,
    full: Rc<Cell<bool>>,
    /// How many of the next writes others are in the way of.
    busy: Rc<Cell<u32>>,
    /// How often all of it was read, and how often it was looked at.
    read: Rc<Cell<u32>>,
    looked: Rc<Cell<u32>>,
}

impl Store for Failing {
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError> {
        self.read.set(self.read.get() + 1);
        self.inner.snapshot()
    }

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
        self.looked.set(self.looked.get() + 1);
        self.inner.look(read)
    }

    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        if let Some(left) = self.busy.get().checked_sub(1) {
            self.busy.set(left);
            return Err(StoreError::Busy { waited_ms: 10_000 });
        }
        if self.full.take() { Err(StoreError::Full) } else { self.inner.transact(extent, work) }
    }

    passes_on!(records);
}

/// What makes a store fail, and how often it was read.
#[derive(Default)]
struct Switches {
    full: Rc<Cell<bool>>,
    busy: Rc<Cell<u32>>,
    read: Rc<Cell<u32>>,
    looked: Rc<Cell<u32>>,
}

/// A session at such a store.
fn session(config: Config) -> (Session, Switches) {
    let switches = Switches::default();
    let Switches { full, busy, read, looked } = &switches;
    let store = Failing {
        inner: Memory::new(),
        full: Rc::clone(full),
        busy: Rc::clone(busy),
        read: Rc::clone(read),
        looked: Rc::clone(looked),
    };
    let session = Session {
        store: Box::new(store),
        clock: Clock::Machine,
        ids: Ids::new(Some(1)),
        actor: "ann".parse().unwrap(),
        config,
        operation: None,
    };
    (session, switches)
}

#[test]
fn a_store_that_fails_at_a_renewal_ends_the_run_with_its_error() {
    let world = world("sleep 30", "");
    let (mut session, switches) = session(Config { runner_lease: 600, ..Config::default() });
    let plan = plan::read(&world.path("plan.toml")).unwrap();
    let root = plan::apply(&mut session, &plan).unwrap().value.root.parse().unwrap();
    let (cwd, store) = (world.path("."), world.path("store"));
    std::fs::create_dir(&store).unwrap();
    let run = Supervisor { root, cwd, store, interrupted: &|| false };
    let ended = supervise(&mut session, &run, &mut |progress| {
        if let Progress::Working { .. } = progress {
            switches.full.set(true);
        }
    });
    assert!(matches!(ended, Err(AppError::Store(StoreError::Full))), "{ended:?}");
}

#[test]
fn a_store_that_is_busy_for_a_while_loses_no_answer_and_ends_no_run() {
    let world = world("[ $role = attempt ] && success kept\npass", "");
    let (mut session, switches) = session(Config::default());
    let plan = plan::read(&world.path("plan.toml")).unwrap();
    let root = plan::apply(&mut session, &plan).unwrap().value.root.parse().unwrap();
    let (cwd, store) = (world.path("."), world.path("store"));
    std::fs::create_dir(&store).unwrap();
    let run = Supervisor { root, cwd, store, interrupted: &|| false };
    let ended = supervise(&mut session, &run, &mut |progress| match progress {
        // Before a claim, before an answer is written down, and before a tick.
        Progress::Started { .. } | Progress::Working { .. } | Progress::Ended { .. } => switches.busy.set(2),
        _ => {}
    });
    assert_eq!(switches.read.get(), 0, "it never reads the whole store");
    let (end, _) = ended.unwrap();
    assert_eq!(end, End::Final);
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
    let snapshot = session.read().unwrap();
    assert!(snapshot.graph().issues().all(|issue| issue.failed_steps == 0));
    assert!(snapshot.graph().issues().any(|issue| issue.state.reason() == Some("kept")));
}

#[test]
fn a_run_that_waits_for_others_looks_again_when_somebody_has_written() {
    let world = world("[ $role = attempt ] && success\npass", "");
    let (mut session, switches) = session(Config::default());
    let plan = plan::read(&world.path("plan.toml")).unwrap();
    let root = plan::apply(&mut session, &plan).unwrap().value.root;
    while tick(&mut session, &root, false).unwrap().applied {}
    issues::claim_next(&mut session, &Filter::default(), &Claiming::default()).unwrap();
    let (cwd, store) = (world.path("."), world.path("store"));
    std::fs::create_dir(&store).unwrap();
    let started = Instant::now();
    let interrupted = || started.elapsed() > Duration::from_secs(2);
    let run = Supervisor { root: root.parse().unwrap(), cwd, store, interrupted: &interrupted };
    switches.looked.set(0);
    let (end, _) = supervise(&mut session, &run, &mut |_| {}).unwrap();
    assert_eq!(end, End::Interrupted);
    let looked = switches.looked.get();
    assert!(looked < 16, "in two seconds nothing happened, and it was looked at {looked} times");
}
