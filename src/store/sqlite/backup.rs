//! Copies of a store, page by page through SQLite, and verified before they have a name. A copy is a
//! store's database in its own right: one file, in WAL mode, with no log beside it.
//!
//! Copying the open file with anything else would miss the log, and closing it again would drop the
//! locks of this process (POSIX).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags, ffi};
use tempfile::TempPath;

use super::chain::Head;
use super::check::{Examined, examine_open};
use super::fault::{Stopped, explain_io};
use super::open::{self, Access, Handle, Options};
use super::place::Place;
use super::{load, migrate, schema};
use crate::store::{Revision, StoreError};

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub file: PathBuf,
    /// The number of the last event in it.
    pub revision: Revision,
    /// Its size, in bytes.
    pub bytes: u64,
    /// What is wrong with it and can be made again, as it is in the store.
    pub stale: Option<String>,
}

/// What a copy must be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// For whatever a store is good for.
    Sound,
    /// For its events: the rest can be made again from them.
    Events,
}

/// Copies the store in a folder to a new file, as it is at one moment; others may go on writing.
///
/// # Errors
/// [`StoreError::Taken`] when the file is there already; [`StoreError::Damaged`] when the copy is not
/// sound, which the store then is not, either.
pub fn backup(folder: &Path, target: &Path, options: &Options) -> Result<Copied, StoreError> {
    let handle = open::open(Place::in_folder(folder)?, options)?;
    copy(&handle, target, Proof::Sound)
}

/// Copies an open store to a new file, and verifies the copy.
pub(super) fn copy(handle: &Handle, target: &Path, proof: Proof) -> Result<Copied, StoreError> {
    let target = new_file(target)?;
    let copy = temporary(&target.folder)?;
    let started = Instant::now();
    let read = || -> Result<Head, Stopped> {
        // One transaction: the head is that of the pages that are copied.
        let tx = handle.conn.unchecked_transaction()?;
        let head = load::head(&tx)?;
        write_pages(&tx, &copy)?;
        Ok(head)
    };
    let head = read().map_err(|stopped| stopped.explain(&handle.place.file, "copy the store", started))?;

    let (verified, examined) = verify(&target.folder, &copy)?;
    let faulty = match proof {
        Proof::Sound => examined.first_loss(),
        Proof::Events => examined.revision.is_none().then(|| "its events are not sound".to_owned()),
    };
    if let Some(what) = faulty {
        return Err(StoreError::Damaged {
            what: format!("no backup was made, for it would be damaged: {what}"),
        });
    }
    if head_of(&verified)? != head {
        let what = "no backup was made, for it did not get all events".to_owned();
        return Err(StoreError::Damaged { what });
    }
    drop(verified);
    give_name(copy, &target)?;
    let bytes = fs::metadata(&target.file).map_err(|e| explain_io(&target.file, "look at", e))?.len();
    Ok(Copied { file: target.file, revision: head.seq, bytes, stale: examined.first_fault() })
}

/// The place of a file that must not be there yet.
pub(super) fn new_file(target: &Path) -> Result<Place, StoreError> {
    let above = target.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(above).map_err(|e| explain_io(above, "look at", e))?;
    let Some(name) = target.file_name() else {
        return Err(StoreError::Taken { path: target.to_owned() });
    };
    let place = Place { file: folder.join(name), folder };
    if place.taken()? { Err(StoreError::Taken { path: place.file }) } else { Ok(place) }
}

/// An empty file in a folder, mode 0600, that goes away unless it gets a name.
pub(super) fn temporary(folder: &Path) -> Result<TempPath, StoreError> {
    let made = tempfile::Builder::new().prefix(".copy-").tempfile_in(folder);
    Ok(made.map_err(|e| explain_io(folder, "create a file in", e))?.into_temp_path())
}

/// Gives a finished file its name, and takes none away.
pub(super) fn give_name(finished: TempPath, place: &Place) -> Result<(), StoreError> {
    finished.persist_noclobber(&place.file).map_err(|e| match e.error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Taken { path: place.file.clone() },
        _ => explain_io(&place.file, "move a file to", e.error),
    })?;
    sync(&place.folder)
}

/// Names must survive a power cut as well as bytes.
pub(super) fn sync(folder: &Path) -> Result<(), StoreError> {
    let synced = File::open(folder).and_then(|open| open.sync_all());
    synced.map_err(|e| explain_io(folder, "sync", e))
}

/// Copies every page of a database into an empty file.
pub(super) fn write_pages(source: &Connection, path: &Path) -> Result<(), Stopped> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut target = Connection::open_with_flags(path, flags)?;
    overwrite(source, &mut target)?;
    target.close().map_err(|(_, source)| source.into())
}

/// Puts every page of one database in the place of those of another, in one transaction.
pub(super) fn overwrite(source: &Connection, target: &mut Connection) -> Result<(), Stopped> {
    match Backup::new(source, target)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into()),
    }
}

/// Opens a copy, where nobody else does, and examines it. It stays open, and in the schema it has: a
/// copy of an older store is examined in a copy of its own, which is brought up to date.
pub(super) fn verify(folder: &Path, copy: &Path) -> Result<(Handle, Examined), StoreError> {
    let handle = open_copy(folder, copy)?;
    let started = Instant::now();
    let explained = |stopped: Stopped| stopped.explain(&handle.place.file, "read the copy", started);
    let examined = match schema::current(&handle.conn, copy) {
        Ok(()) => examine_open(&handle, None, Examined::default())?,
        Err(Stopped::Store(StoreError::Older { .. })) => {
            let rehearsal = temporary(folder)?;
            write_pages(&handle.conn, &rehearsal).map_err(explained)?;
            verify_up_to_date(folder, &rehearsal)?.1
        }
        Err(stopped) => return Err(explained(stopped)),
    };
    Ok((handle, examined))
}

/// The same, but the copy itself is brought up to date.
pub(super) fn verify_up_to_date(folder: &Path, copy: &Path) -> Result<(Handle, Examined), StoreError> {
    let mut handle = open_copy(folder, copy)?;
    migrate::migrate_copy(&mut handle)?;
    let examined = examine_open(&handle, None, Examined::default())?;
    Ok((handle, examined))
}

fn open_copy(folder: &Path, copy: &Path) -> Result<Handle, StoreError> {
    let place = Place { folder: folder.to_owned(), file: copy.to_owned() };
    // Alone, no memory is shared and no lock matters: a copy may lie on any file system.
    let options = Options { network: true, ..Options::default() };
    open::open_for(place, &options, Access::Alone)
}

/// The last event of an open store.
pub(super) fn head_of(handle: &Handle) -> Result<Head, StoreError> {
    let started = Instant::now();
    load::head(&handle.conn).map_err(|stopped| stopped.explain(&handle.place.file, "read the store", started))
}
