//! The store as its callers see it.

use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::chain::Head;
use super::fault::Stopped;
use super::open::{self, Handle, Options};
use super::place::Place;
use super::source::Rows;
use super::{derived, init, load, mark, migrate, operation, persist, schema, settle};
use crate::model::change::Event;
use crate::model::operation::{Operation, OperationId};
use crate::model::record::Post;
use crate::model::snapshot::Snapshot;
use crate::model::source::Source;
use crate::store::numbering;
use crate::store::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic, recorded};

/// A store in a folder: one SQLite file in WAL mode. Any number of processes may have it open; each
/// thread wants its own.
///
/// While one of these lives, its process must not open the database file in any other way: closing
/// that again would drop the locks of this one.
#[derive(Debug)]
pub struct Sqlite {
    handle: Handle,
}

impl Sqlite {
    /// Makes a store in a folder, and the folder (mode 0700) if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when the folder has one; [`StoreError::ReadOnly`] where none can be made.
    pub fn init(folder: &Path) -> Result<Sqlite, StoreError> {
        Sqlite::init_with(folder, &Options::default())
    }

    /// The same, with choices.
    ///
    /// # Errors
    /// As for [`Sqlite::init`].
    pub fn init_with(folder: &Path, options: &Options) -> Result<Sqlite, StoreError> {
        let place = init::init(folder, options)?;
        Ok(Sqlite { handle: open::open(place, options)? })
    }

    /// Opens the store in a folder.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, [`StoreError::Foreign`] and [`StoreError::Newer`]
    /// when there is something else; that is left as it is, to the byte. One that an older program
    /// wrote is opened, and brought up to date by the first transaction that writes; until then it
    /// cannot be read ([`StoreError::Older`]).
    pub fn open(folder: &Path) -> Result<Sqlite, StoreError> {
        Sqlite::open_with(folder, &Options::default())
    }

    /// The same, with choices.
    ///
    /// # Errors
    /// As for [`Sqlite::open`].
    pub fn open_with(folder: &Path, options: &Options) -> Result<Sqlite, StoreError> {
        Ok(Sqlite { handle: open::open(Place::in_folder(folder)?, options)? })
    }

    /// The folder, without symbolic links.
    pub fn folder(&self) -> &Path {
        &self.handle.place.folder
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.handle.place.file
    }

    /// Reads at one moment in time, whatever others commit meanwhile.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, Stopped>) -> Result<T, StoreError> {
        let started = Instant::now();
        let conn = &self.handle.conn;
        let read = || {
            let tx = conn.unchecked_transaction()?;
            schema::current(&tx, self.file())?;
            read(&tx)
        };
        read().map_err(|stopped| stopped.explain(self.file(), "read the store", started))
    }
}

/// One write transaction. Whatever goes wrong in it, dropping it takes everything back.
fn write(
    conn: &Rc<Connection>,
    path: &Path,
    extent: Extent,
    work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
) -> Result<(Revision, Option<Head>), Stopped> {
    // IMMEDIATE: a transaction that reads first and then wants to write ignores the busy handler, and
    // loses against everyone who wrote meanwhile.
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    schema::current(&tx, path)?;
    let mut head = load::head(&tx)?;
    let rows = Rows::over(conn);
    let mut snapshot = match extent {
        Extent::Frontier => Snapshot::from_source(Rc::clone(&rows) as Rc<dyn Source>),
        Extent::Whole => {
            let mut snapshot = load::snapshot(&tx)?;
            snapshot.track(derived::of_whole(&tx, &snapshot)?);
            snapshot
        }
    };
    let events = work(&mut snapshot, head.seq).unwrap_or_default();
    numbering::check(&events, head.seq)?;
    if events.is_empty() {
        rows.end()?;
        return Ok((head.seq, None));
    }
    let folded = snapshot.folded();
    events.iter().skip(folded).for_each(|event| snapshot.fold(&event.change, event.at));
    // The lists are read from rows as they were before this transaction, so that goes first.
    let changed = derived::changed(&snapshot);
    rows.end()?;
    for event in &events {
        head = Head { seq: event.seq, hash: persist::event(&tx, event, head.hash)? };
    }
    derived::write(&tx, &snapshot, &changed)?;
    settle::commit(conn, tx, head)?;
    Ok((head.seq, Some(head)))
}

impl Store for Sqlite {
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError> {
        self.read(|conn| Ok((load::snapshot(conn)?, load::revision(conn)?)))
    }

    fn bring_up_to_date(&mut self) -> Result<bool, StoreError> {
        let Handle { conn, place, .. } = &self.handle;
        let started = Instant::now();
        let explained = |e| Stopped::Sqlite(e).explain(&place.file, "write the store", started);
        // A file that can only be read would let the work begin and fail at its first change.
        if conn.is_readonly("main").map_err(explained)? {
            let reason = "the file or its file system is read-only".to_owned();
            return Err(StoreError::ReadOnly { path: place.file.clone(), reason });
        }
        Ok(migrate::bring_up_to_date(&mut self.handle)?.is_some())
    }

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
        self.read(|conn| {
            let rows = Rows::over(&self.handle.conn);
            let snapshot = Snapshot::from_source(Rc::clone(&rows) as Rc<dyn Source>);
            read(&snapshot, load::revision(conn)?);
            rows.end()
        })
    }

    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        self.bring_up_to_date()?;
        let path = self.file().to_owned();
        let started = Instant::now();
        let Handle { conn, wrote, place } = &mut self.handle;
        let explained = |stopped: Stopped| stopped.explain(&path, "write the store", started);

        let (revision, committed) = write(conn, &path, extent, work).map_err(explained)?;
        if let Some(head) = committed {
            *wrote = true;
            // The change is made, whatever becomes of the mark.
            mark::write(place, head).ok();
        }
        Ok(revision)
    }

    fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError> {
        self.read(|conn| load::events(conn, query))
    }

    fn posts(&self, query: &PostQuery) -> Result<Vec<Post>, StoreError> {
        self.read(|conn| load::posts(conn, query))
    }

    fn operation(&self, id: &OperationId, step: u32) -> Result<Option<(Event, Operation)>, StoreError> {
        let found = self.read(|conn| operation::find(conn, id, step))?;
        Ok(found.and_then(recorded))
    }

    fn topics(&self, prefix: &str) -> Result<Vec<Topic>, StoreError> {
        self.read(|conn| load::topics(conn, prefix))
    }
}
