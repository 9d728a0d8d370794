//! Makes again what follows from the events: the tables beside them, the indexes, and the mark. The
//! events themselves are never touched; where they are not sound, nothing is.

use std::path::Path;
use std::time::Instant;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::backup::{self, Copied, Proof, head_of};
use super::chain::Head;
use super::check::{Finding, integrity, references};
use super::fault::Stopped;
use super::mark::{self, Mark};
use super::open::{self, Access, Options};
use super::place::Place;
use super::replay::{difference, replay};
use super::{derived, load, persist, row, search};
use crate::store::StoreError;

/// What to make again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// The tables and the indexes.
    pub tables: bool,
    /// The mark.
    pub mark: bool,
}

/// Copies the store to a new file, verifies the copy's events, and makes again what was asked for.
///
/// # Errors
/// [`StoreError::Damaged`] when the events are not sound, or the file is too damaged to be written;
/// then the store is as it was.
pub fn repair(folder: &Path, kept: &Path, what: Repair, options: &Options) -> Result<Copied, StoreError> {
    let place = Place::in_folder(folder)?;
    let mut handle = open::open_for(place, options, Access::Unmarked)?;
    let copied = backup::copy(&handle, kept, Proof::Events)?;
    let mut head = head_of(&handle)?;
    if what.tables {
        let started = Instant::now();
        head = rebuild(&handle.conn)
            .map_err(|stopped| stopped.explain(&handle.place.file, "rebuild the tables", started))?;
        handle.wrote = true;
    }
    if what.mark || what.tables {
        mark::write(&handle.place, head).ok();
    }
    Ok(copied)
}

/// Writes the mark of a store that has none, or one that cannot be read. Says whether it did.
///
/// # Errors
/// When the store cannot be opened.
pub fn refresh_mark(folder: &Path, options: &Options) -> Result<bool, StoreError> {
    let handle = open::open(Place::in_folder(folder)?, options)?;
    let before = mark::read(&handle.place);
    let head = head_of(&handle)?;
    if head == Head::NONE || before == Mark::At(head) {
        return Ok(false);
    }
    Ok(mark::write(&handle.place, head).is_ok())
}

/// In one transaction: empties the tables, replays the events into them, and looks at the result.
fn rebuild(conn: &Connection) -> Result<Head, Stopped> {
    // What is deleted may dangle; what is made is looked at before it is committed.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)?;
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    for table in [&row::FRONTIER, &row::STANDING].into_iter().chain(row::PROJECTED) {
        tx.execute(&format!("DELETE FROM {}", table.name), ())?;
    }
    search::empty(&tx)?;
    tx.execute_batch("REINDEX")?;
    let damaged = |what: String| Stopped::from(StoreError::Damaged { what });
    let made = replay(&tx, |event| persist::project(&tx, event))?.map_err(|b| damaged(b.describe()))?;
    derived::rebuild(&tx)?;
    for finding in [integrity(&tx)?, references(&tx)?] {
        if let Finding::Fault(what) = finding {
            return Err(damaged(format!("the tables cannot be made again in this file: {what}")));
        }
    }
    if let Some(what) = difference(&load::snapshot(&tx)?, &made.snapshot) {
        return Err(damaged(what));
    }
    tx.commit()?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    Ok(made.head)
}
