//! Backups: a verified copy of the store, and one put back in its place.

use std::path::{Path, PathBuf};

use chrono::DateTime;
use serde::Serialize;

use super::heartbeats::runner_of;
use super::{AppError, config, place};
use crate::model::issue::Millis;
use crate::store::{StoreError, sqlite};

/// What `backup` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupView {
    /// The new file.
    pub file: PathBuf,
    /// The number of the last event in it.
    pub revision: u64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// What `doctor --fix` has to make again, in the store and in the copy.
    pub stale: Option<String>,
}

/// What `restore` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreView {
    /// The store's folder.
    pub store: PathBuf,
    /// The number of the last event, now.
    pub revision: u64,
    /// Where the database that was there is kept.
    pub kept: Option<PathBuf>,
}

/// Copies a store to a new file. The copy is verified, and can be used as a store's database as it is.
///
/// # Errors
/// When the file is there already, or has a name that belongs to a store's own files.
pub fn backup(folder: &Path, file: &Path) -> Result<BackupView, AppError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if name.starts_with(place::DATABASE) {
        let own = format!("{name} is what a store calls its own files; give the backup another name");
        return Err(AppError::Usage(own));
    }
    let above = file.parent().filter(|above| !above.as_os_str().is_empty());
    above.map_or(Ok(()), there)?;
    let copied = sqlite::backup(folder, file, &place::options(&config::load(folder)?))?;
    Ok(BackupView { file: copied.file, revision: copied.revision, bytes: copied.bytes, stale: copied.stale })
}

/// Puts a backup in the place of a store; with `force` also where there is one, which is then kept
/// under another name.
///
/// # Errors
/// When the backup is not sound, there is a store and no `force`, or others have it open.
pub fn restore(folder: &Path, file: &Path, force: bool, now: Millis) -> Result<RestoreView, AppError> {
    if !force && place::is_store(folder) {
        return Err(AppError::StoreInPlace(folder.to_owned()));
    }
    there(file)?;
    let aside = force.then(|| free_name(folder, "before-restore", now));
    // The store may be in any state, and so may its configuration.
    let options = place::options(&config::load(folder).unwrap_or_default());
    let done = sqlite::restore(folder, file, aside.as_deref(), &options).map_err(|error| match error {
        StoreError::Busy { waited_ms } => AppError::InUse { waited_ms, clock: runner_of(folder) },
        other => other.into(),
    })?;
    Ok(RestoreView { store: folder.to_owned(), revision: done.revision, kept: done.aside })
}

/// A mistyped path is not found, and no fault of the store.
fn there(path: &Path) -> Result<(), AppError> {
    let what = || format!("look at {}", path.display());
    path.metadata().map(drop).map_err(|source| AppError::File { what: what(), source })
}

/// A file name in a folder that says why and when, and is not taken.
pub(super) fn free_name(folder: &Path, why: &str, now: Millis) -> String {
    let moment = DateTime::from_timestamp_millis(now).unwrap_or_default().format("%Y%m%dT%H%M%SZ");
    let first = format!("{why}-{moment}.db");
    let names = (2..).map(|n| format!("{why}-{moment}-{n}.db"));
    let free = |name: &String| folder.join(name).symlink_metadata().is_err();
    std::iter::once(first.clone()).chain(names).find(free).unwrap_or(first)
}
