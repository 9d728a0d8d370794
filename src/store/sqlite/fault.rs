//! What an error of SQLite means to a caller.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{ErrorCode, ffi};
use rustix::fs::Access;
use rustix::io::Errno;

use crate::store::StoreError;

/// Why something stopped: SQLite, or what the store found. Only whoever knows what was tried, and
/// since when, can explain the first.
#[derive(Debug)]
pub(super) enum Stopped {
    Sqlite(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for Stopped {
    fn from(source: rusqlite::Error) -> Self {
        Stopped::Sqlite(source)
    }
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Stopped::Store(error)
    }
}

impl Stopped {
    /// The error of the store: what was tried, on which file, since when.
    pub(super) fn explain(self, path: &Path, what: &'static str, started: Instant) -> StoreError {
        let source = match self {
            Stopped::Store(error) => return error,
            Stopped::Sqlite(source) => source,
        };
        let Some(error) = source.sqlite_error().copied() else {
            return StoreError::Sqlite { what, source };
        };
        match error.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                let waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                StoreError::Busy { waited_ms }
            }
            ErrorCode::DiskFull => StoreError::Full,
            ErrorCode::SystemIoFailure => match (limit(), error.extended_code) {
                (Some(limit), _) => limit,
                // The memory that users share is a file as well, and there was no room for it.
                (None, ffi::SQLITE_IOERR_SHMSIZE) => StoreError::Full,
                (None, _) => StoreError::Sqlite { what, source },
            },
            ErrorCode::NotADatabase => {
                let reason = "it is not an SQLite database".to_owned();
                StoreError::Foreign { path: path.to_owned(), reason }
            }
            ErrorCode::DatabaseCorrupt => {
                StoreError::Damaged { what: format!("SQLite could not {what}: {source}") }
            }
            ErrorCode::CannotOpen => {
                let reason = "SQLite needs to create a -wal and a -shm file beside it, even to read; a copy of the whole folder can be read";
                StoreError::ReadOnly { path: path.to_owned(), reason: reason.to_owned() }
            }
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                let path = in_the_way(path).unwrap_or_else(|| path.to_owned());
                StoreError::ReadOnly { path, reason: source.to_string() }
            }
            ErrorCode::ConstraintViolation => StoreError::Unfit { what: source.to_string() },
            _ => StoreError::Sqlite { what, source },
        }
    }
}

/// The file beside a database that this user may not write, where that is what is in the way.
fn in_the_way(database: &Path) -> Option<PathBuf> {
    let closed = |path: &Path| rustix::fs::access(path, Access::WRITE_OK) == Err(Errno::ACCESS);
    let beside = ["-wal", "-shm"].map(|suffix| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    });
    beside.into_iter().find(|path| !closed(database) && closed(path))
}

/// What an error of the file system means.
pub(super) fn explain_io(path: &Path, what: &str, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path: path.to_owned(), reason: source.to_string() }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        io::ErrorKind::FileTooLarge if let Some(limit) = limit() => limit,
        _ => StoreError::Io { what: format!("{what} {}", path.display()), source },
    }
}

/// The limit to the size of files, should there be one. SQLite does not say which error of the system
/// it met.
fn limit() -> Option<StoreError> {
    let bytes = rustix::process::getrlimit(rustix::process::Resource::Fsize).current?;
    Some(StoreError::Limit { bytes })
}
