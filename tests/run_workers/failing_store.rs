//! A store that fails while a worker is at work.

use std::cell::Cell;
use std::rc::Rc;

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::run::{End, Progress, Supervisor, supervise};
use roundgate::app::{AppError, Session, plan};
use roundgate::model::change::Event;
use roundgate::model::record::Post;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};

use crate::{steps, world};

/// A store that has no room for one write, once it is told so.
struct Failing {
    inner: Memory,
    full: Rc<Cell<bool>>,
    /// How many of the next writes others are in the way of.
    busy: Rc<Cell<u32>>,
}

impl Store for Failing {
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
        if let Some(left) = self.busy.get().checked_sub(1) {
            self.busy.set(left);
            return Err(StoreError::Busy { waited_ms: 10_000 });
        }
        if self.full.take() { Err(StoreError::Full) } else { self.inner.transact(extent, work) }
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

type Switch<T> = Rc<Cell<T>>;

/// A session at such a store, and what makes it fail.
fn session(config: Config) -> (Session, Switch<bool>, Switch<u32>) {
    let (full, busy) = (Switch::<bool>::default(), Switch::<u32>::default());
    let store = Failing { inner: Memory::new(), full: Rc::clone(&full), busy: Rc::clone(&busy) };
    let session = Session {
        store: Box::new(store),
        clock: Clock::Machine,
        ids: Ids::new(Some(1)),
        actor: "ann".parse().unwrap(),
        config,
        operation: None,
    };
    (session, full, busy)
}

#[test]
fn a_store_that_fails_at_a_renewal_ends_the_run_with_its_error() {
    let world = world("sleep 30", "");
    let (mut session, full, _) = session(Config { runner_lease: 600, ..Config::default() });
    let plan = plan::read(&world.path("plan.toml")).unwrap();
    let root = plan::apply(&mut session, &plan).unwrap().value.root.parse().unwrap();
    let (cwd, store) = (world.path("."), world.path("store"));
    let run = Supervisor { root, cwd, store, interrupted: &|| false };
    let ended = supervise(&mut session, &run, &mut |progress| {
        if let Progress::Working { .. } = progress {
            full.set(true);
        }
    });
    assert!(matches!(ended, Err(AppError::Store(StoreError::Full))), "{ended:?}");
}

#[test]
fn a_store_that_is_busy_for_a_while_loses_no_answer_and_ends_no_run() {
    let world = world("[ $role = attempt ] && success kept\npass", "");
    let (mut session, _, busy) = session(Config::default());
    let plan = plan::read(&world.path("plan.toml")).unwrap();
    let root = plan::apply(&mut session, &plan).unwrap().value.root.parse().unwrap();
    let (cwd, store) = (world.path("."), world.path("store"));
    let run = Supervisor { root, cwd, store, interrupted: &|| false };
    let ended = supervise(&mut session, &run, &mut |progress| match progress {
        // Before a claim, before an answer is written down, and before a tick.
        Progress::Started { .. } | Progress::Working { .. } | Progress::Ended { .. } => busy.set(2),
        _ => {}
    });
    let (end, _) = ended.unwrap();
    assert_eq!(end, End::Final);
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
    let snapshot = session.read().unwrap();
    assert!(snapshot.graph().issues().all(|issue| issue.failed_steps == 0));
    assert!(snapshot.graph().issues().any(|issue| issue.state.reason() == Some("kept")));
}
