//! Brings a store into being: built beside its place, complete, and then moved there at once.
//! Whoever opens it meanwhile finds either nothing or all of it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, OpenFlags};

use super::fault::{Stopped, explain_io};
use super::open::{Options, check_sqlite};
use super::place::Place;
use super::{filesystem, mark, schema};
use crate::store::StoreError;

/// Makes the database in a folder, and the folder if it is not there.
pub(super) fn init(folder: &Path, options: &Options) -> Result<Place, StoreError> {
    check_sqlite()?;
    filesystem::check(folder, options.network)?;
    make_folder(folder)?;
    let place = Place::in_folder(folder)?;
    if place.taken()? {
        return Err(StoreError::Exists { path: place.folder });
    }
    mark::refuse_lost(&place)?;
    if place.log_left() && !place.taken()? {
        // SQLite would take it for the new database's own, and play it back into it.
        let reason = "there is a write-ahead log beside it, and not the database it belongs to".to_owned();
        return Err(StoreError::Foreign { path: place.file, reason });
    }
    // Mode 0600 from the first byte on. The file is closed here and only SQLite opens it again.
    let unfinished = tempfile::Builder::new()
        .prefix(".init-")
        .tempfile_in(&place.folder)
        .map_err(|e| explain_io(&place.folder, "create a file in", e))?
        .into_temp_path();
    let started = Instant::now();
    build(&unfinished).map_err(|stopped| stopped.explain(&place.folder, "create the database", started))?;

    // One that nobody can read says nothing, and is not this database's.
    mark::remove(&place)?;
    // Without replacing: of two that do this at once, one is told that the store exists.
    unfinished.persist_noclobber(&place.file).map_err(|e| match e.error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { path: place.folder.clone() },
        _ => explain_io(&place.file, "move the database to", e.error),
    })?;
    // The name must survive a power cut as well as the bytes.
    File::open(&place.folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| explain_io(&place.folder, "sync", e))?;
    Ok(place)
}

/// The folder is its owner's alone. Folders above it, and one that is there already, are not touched.
pub(super) fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = above {
        fs::create_dir_all(above).map_err(|e| explain_io(above, "create", e))?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            Err(explain_io(folder, "create", source))
        }
        _ => Ok(()),
    }
}

/// Fills an empty file. The journal mode is set here, where nobody else can be in the way, and is a
/// property of the file from then on. Closing folds the log in: one file is left, and that one moves.
fn build(path: &Path) -> Result<(), Stopped> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    schema::create(&mut conn)?;
    conn.close().map_err(|(_, source)| source.into())
}
