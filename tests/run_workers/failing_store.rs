//! A store that fails while a worker is at work.

use std::cell::Cell;
use std::rc::Rc;

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::run::{Progress, Supervisor, supervise};
use roundgate::app::{AppError, Session, plan};
use roundgate::model::change::Event;
use roundgate::model::record::Post;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};

use crate::world;

/// A store that has no room for one write, once it is told so.
struct Failing {
    inner: Memory,
    full: Rc<Cell<bool>>,
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

#[test]
fn a_store_that_fails_at_a_renewal_ends_the_run_with_its_error() {
    let world = world("sleep 30", "");
    let full = Rc::new(Cell::new(false));
    let mut session = Session {
        store: Box::new(Failing { inner: Memory::new(), full: Rc::clone(&full) }),
        clock: Clock::Machine,
        ids: Ids::new(Some(1)),
        actor: "ann".parse().unwrap(),
        config: Config { runner_lease: 600, ..Config::default() },
        operation: None,
    };
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
