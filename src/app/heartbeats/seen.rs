//! What idle ticks leave behind: nothing in the store, and one line a heartbeat in a small file beside it,
//! so that a pause is told from idleness. Like the mark it is never synced; where it is missing or cannot
//! be read, due times since the latest recorded tick count as skipped.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::app::AppError;
use crate::model::issue::{Millis, Process};
use crate::model::record::HeartbeatId;
use crate::runner::{self, Liveness};

/// The file's name inside the store's folder.
const FILE: &str = "heartbeats.seen";
/// The lock's name inside the store's folder.
const LOCK: &str = "heartbeats.lock";

/// The latest due time that was ticked for, of each heartbeat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    last: BTreeMap<HeartbeatId, Millis>,
}

impl Seen {
    /// Reads what a store's folder has; nothing where nothing can be read.
    pub fn load(folder: &Path) -> Seen {
        let text = fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Writes it into a store's folder, whole or not at all.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), AppError> {
        let write = || -> std::io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&mut file, self)?;
            file.write_all(b"\n")?;
            file.persist(folder.join(FILE)).map_err(|error| error.error)?;
            Ok(())
        };
        let what = format!("write {}", folder.join(FILE).display());
        write().map_err(|source| AppError::File { what, source })
    }

    /// The latest due time that was ticked for, as a reader of a view names it.
    pub fn ticked(&self, id: &str) -> Option<Millis> {
        id.parse().ok().and_then(|id| self.last(&id))
    }

    /// The latest due time that was ticked for, if anybody remembers.
    pub fn last(&self, id: &HeartbeatId) -> Option<Millis> {
        self.last.get(id).copied()
    }

    /// Remembers one.
    pub(super) fn note(&mut self, id: &HeartbeatId, at: Millis) {
        self.last.insert(id.clone(), at);
    }

    /// Forgets those that are gone.
    pub(super) fn keep(&mut self, known: impl Fn(&HeartbeatId) -> bool) {
        self.last.retain(|id, _| known(id));
    }
}

/// The right to tick what is due at a store. One process has it; it ends with the process.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes it.
    ///
    /// # Errors
    /// [`AppError::ClockRuns`] when another process has it, [`AppError::ClockLocked`] when something else has.
    pub fn take(folder: &Path) -> Result<Lock, AppError> {
        let path: PathBuf = folder.join(LOCK);
        let failed = |source| AppError::File { what: format!("lock {}", path.display()), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                name_holder(&file).map_err(failed)?;
                Ok(Lock { _file: file })
            }
            Err(error) => {
                let source = std::io::Error::from(error);
                if source.kind() == ErrorKind::WouldBlock {
                    return Err(match runner_of(folder) {
                        Some(_) => AppError::ClockRuns(folder.to_owned()),
                        None => AppError::ClockLocked(path),
                    });
                }
                Err(failed(source))
            }
        }
    }
}

/// Writes down who has the lock, for whoever only wants to know: asking for the lock itself, even for a
/// moment, could keep it from one who starts just then.
fn name_holder(file: &File) -> std::io::Result<()> {
    let line = serde_json::to_string(&runner::this_process())?;
    file.set_len(0)?;
    file.write_all_at(line.as_bytes(), 0)
}

/// The number of the process that ticks what is due at a store, if one does.
pub fn runner_of(folder: &Path) -> Option<u32> {
    let text = fs::read_to_string(folder.join(LOCK)).ok()?;
    let process: Process = serde_json::from_str(&text).ok()?;
    (runner::liveness(&process) == Liveness::Alive).then_some(process.pid)
}
