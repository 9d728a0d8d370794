//! Puts a backup in the place of a store. The backup is verified first, on a copy, and what was there
//! is kept aside. One that an older program made is brought up to date on the way; it stays as it was.
//!
//! A store that can be opened is overwritten through SQLite, while nobody else has it open: renaming
//! its file would leave whoever waits for it writing into the old one. Only what SQLite will not open
//! is moved by its name.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::backup::{give_name, head_of, overwrite, sync, temporary, verify_up_to_date, write_pages};
use super::chain::Head;
use super::fault::explain_io;
use super::open::{self, Access, Handle, Options};
use super::place::Place;
use super::{filesystem, init, mark};
use crate::store::{Revision, StoreError};

/// How long to wait for others to close the store.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The number of the last event, now.
    pub revision: Revision,
    /// Where the database that was there is now.
    pub aside: Option<PathBuf>,
}

/// Puts a backup in place. What was there is kept under `aside`, a file name that is not taken; without
/// one, nothing may be there.
///
/// # Errors
/// [`StoreError::Exists`] when there is a store and no name to keep it under; [`StoreError::Busy`] when
/// others have it open; what is wrong with the backup. Then the store is as it was.
pub fn restore(
    folder: &Path,
    backup: &Path,
    aside: Option<&str>,
    options: &Options,
) -> Result<Restored, StoreError> {
    filesystem::check(folder, options.network)?;
    init::make_folder(folder)?;
    let place = Place::in_folder(folder)?;
    let taken = place.taken()?;
    let kept = aside.map(|name| Place { folder: place.folder.clone(), file: place.folder.join(name) });
    if taken && kept.is_none() {
        return Err(StoreError::Exists { path: place.folder });
    }
    let copy = copy_file(backup, &place)?;
    let named = |error| about(backup, error);
    let (verified, examined) = verify_up_to_date(&place.folder, &copy).map_err(named)?;
    if let Some(what) = examined.first_loss() {
        return Err(StoreError::Damaged { what: format!("{} is not sound: {what}", backup.display()) });
    }
    let head = head_of(&verified)?;
    let done = |aside| Ok(Restored { revision: head.seq, aside });

    if taken && let Some(kept) = &kept {
        let alone = Options { deadline: PATIENCE, ..options.clone() };
        match open::open_for(place.clone(), &alone, Access::Alone) {
            Ok(live) => {
                replace(live, &verified, head, kept)?;
                return done(Some(kept.file.clone()));
            }
            Err(
                StoreError::Foreign { .. }
                | StoreError::Newer { .. }
                | StoreError::Damaged { .. }
                | StoreError::Sqlite { .. },
            ) => {}
            Err(other) => return Err(other),
        }
    }
    drop(verified);
    let moved =
        kept.filter(|_| taken || place.log_left()).map(|kept| move_aside(&place, &kept)).transpose()?;
    if moved.is_none() && place.log_left() {
        // SQLite would take it for the backup's own, and play it back into it.
        let reason = "there is a write-ahead log beside it, and not the database it belongs to".to_owned();
        return Err(StoreError::Foreign { path: place.file, reason });
    }
    mark::remove(&place)?;
    give_name(copy, &place)?;
    mark::write(&place, head).ok();
    done(moved)
}

/// Copies the bytes of a backup beside the store. Nobody has it open; looking at it with SQLite where
/// it lies could leave files there.
fn copy_file(backup: &Path, place: &Place) -> Result<tempfile::TempPath, StoreError> {
    let foreign =
        |reason: &str| Err(StoreError::Foreign { path: backup.to_owned(), reason: reason.to_owned() });
    let file = fs::canonicalize(backup).map_err(|e| explain_io(backup, "read", e))?;
    if file == place.file {
        return foreign("it is the store's own database");
    }
    let meta = fs::metadata(&file).map_err(|e| explain_io(backup, "read", e))?;
    if !meta.is_file() {
        return foreign("it is not a file");
    }
    let from = Place { folder: place.folder.clone(), file: file.clone() };
    if from.log_left() {
        return foreign("there is a write-ahead log beside it: it is in use, and no backup of it");
    }
    let copy = temporary(&place.folder)?;
    let write = || -> io::Result<()> {
        let mut target = File::options().write(true).open(&copy)?;
        io::copy(&mut File::open(&file)?, &mut target)?;
        target.sync_all()
    };
    write().map_err(|e| explain_io(backup, "copy", e))?;
    Ok(copy)
}

/// The same error, said of the backup and not of the copy that was looked at.
fn about(backup: &Path, error: StoreError) -> StoreError {
    let path = backup.to_owned();
    match error {
        StoreError::Foreign { reason, .. } => StoreError::Foreign { path, reason },
        StoreError::Newer { found, known, .. } => StoreError::Newer { path, found, known },
        StoreError::Damaged { what } => {
            StoreError::Damaged { what: format!("{} is not sound: {what}", path.display()) }
        }
        other => other,
    }
}

/// Keeps a store under another name and overwrites it, while nobody else has it open.
fn replace(mut live: Handle, verified: &Handle, head: Head, kept: &Place) -> Result<(), StoreError> {
    let started = Instant::now();
    let path = live.place.file.clone();
    let old = temporary(&kept.folder)?;
    write_pages(&live.conn, &old).map_err(|e| e.explain(&path, "copy the store", started))?;
    give_name(old, kept)?;

    // Between the two there is no mark, which is fine; the old one would contradict the new store.
    mark::remove(&live.place)?;
    let shared = || StoreError::Unfit { what: "the connection is in use".to_owned() };
    let conn = Rc::get_mut(&mut live.conn).ok_or_else(shared)?;
    overwrite(&verified.conn, conn).map_err(|e| e.explain(&path, "write the store", started))?;
    live.wrote = true;
    mark::write(&live.place, head).ok();
    Ok(())
}

/// Gives a database that SQLite will not open another name, with whatever lies beside it. The log goes
/// first: if this stops half way, no log is left to be played into another database.
fn move_aside(place: &Place, kept: &Place) -> Result<PathBuf, StoreError> {
    for suffix in ["-wal", "-journal", ""] {
        let (from, to) = (place.beside(suffix), kept.beside(suffix));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(explain_io(&from, "move aside", error));
            }
            _ => {}
        }
    }
    // Only memory that its users shared, and worth nothing without them.
    fs::remove_file(place.beside("-shm")).ok();
    sync(&place.folder)?;
    Ok(kept.file.clone())
}
