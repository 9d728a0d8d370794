//! Where the store is: given, or found upwards from a folder, as git does. A folder without a database
//! is not a store, unless its mark says that it was one.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::AppError;
use super::config::Config;
use crate::store::sqlite::{self, Options, Sqlite};

/// The name of a store's folder.
pub const FOLDER: &str = ".roundgate";
/// The name of the database inside it.
pub const DATABASE: &str = "roundgate.db";

/// Set to 1, it lets a store live on a network file system.
pub const ALLOW_NETWORK: &str = "ROUNDGATE_ALLOW_NETWORK_FS";

/// The store that is meant: the one that is named, or the nearest one at or above `start`.
///
/// # Errors
/// [`AppError::NoStore`] when there is none.
pub fn find(start: &Path, named: Option<&Path>) -> Result<PathBuf, AppError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    start
        .ancestors()
        .map(|folder| folder.join(FOLDER))
        .find(|folder| is_or_was_store(folder))
        .ok_or_else(|| AppError::NoStore(start.to_owned()))
}

/// Whether a folder has a database, of whatever sort: what it is worth is asked when it is opened. So is a
/// folder that this user may not look into: it may be somebody else's store, and is not passed over.
pub fn is_store(folder: &Path) -> bool {
    match folder.join(DATABASE).symlink_metadata() {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}

/// Whether a folder has a database, or had one that is gone: then opening it says so, and nothing may
/// take its place unasked.
pub fn is_or_was_store(folder: &Path) -> bool {
    is_store(folder) || sqlite::lost(folder)
}

/// Makes a store, or completes a folder that has no database yet.
///
/// # Errors
/// When there is one already, or the folder cannot be written.
pub fn init(folder: &Path) -> Result<Sqlite, AppError> {
    Ok(Sqlite::init_with(folder, &options(&Config::default()))?)
}

/// Opens a store as its configuration says.
///
/// # Errors
/// When there is none, or something else.
pub fn open(folder: &Path, config: &Config) -> Result<Sqlite, AppError> {
    Ok(Sqlite::open_with(folder, &options(config))?)
}

/// Which file a store's database is, as its file system numbers it; nothing where there is none. Only looked
/// at: opening it here would drop the locks of this process.
pub fn database_number(folder: &Path) -> Option<(u64, u64)> {
    let meta = folder.join(DATABASE).symlink_metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

/// How a store is opened: as the configuration says, and on a network file system only where
/// `ROUNDGATE_ALLOW_NETWORK_FS=1` takes the risk.
pub fn options(config: &Config) -> Options {
    let network = std::env::var_os(ALLOW_NETWORK).is_some_and(|value| value == "1");
    Options { synchronous: config.synchronous, network, ..Options::default() }
}
