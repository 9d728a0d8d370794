//! A store in memory that several sessions have open at once, and that fails when it is told to.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use roundgate::model::change::Event;
use roundgate::model::record::Post;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};

/// The store, for one of those who have it open.
#[derive(Clone, Default)]
pub struct Shared {
    inner: Rc<RefCell<Memory>>,
    fails: Rc<Cell<bool>>,
    transactions: Rc<Cell<usize>>,
}

impl Shared {
    /// The next transaction finds no room, and is dropped.
    pub fn fails_next(&self) {
        self.fails.set(true);
    }

    /// How many transactions wrote something.
    pub fn transactions(&self) -> usize {
        self.transactions.get()
    }
}

impl Store for Shared {
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError> {
        self.inner.borrow().snapshot()
    }

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
        self.inner.borrow().look(read)
    }

    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        let (fails, mut wrote) = (self.fails.take(), false);
        let revision = self.inner.borrow_mut().transact(extent, &mut |snapshot, revision| {
            let events = work(snapshot, revision).filter(|_| !fails);
            wrote = events.as_ref().is_some_and(|events| !events.is_empty());
            events
        })?;
        self.transactions.set(self.transactions.get() + usize::from(wrote));
        if fails { Err(StoreError::Full) } else { Ok(revision) }
    }

    fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError> {
        self.inner.borrow().events(query)
    }

    fn posts(&self, query: &PostQuery) -> Result<Vec<Post>, StoreError> {
        self.inner.borrow().posts(query)
    }

    fn topics(&self, prefix: &str) -> Result<Vec<Topic>, StoreError> {
        self.inner.borrow().topics(prefix)
    }
}
