//! Where the store is: given, or found upwards from a folder, as git does. A folder without a database
//! is not a store, unless its mark says that it was one.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
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

/// The store that is meant: the one that is named, or the nearest one at or above `start`. Where there is
/// none and `start` lies in a further worktree of a git repository, it is that of the main worktree.
///
/// # Errors
/// [`AppError::NoStore`] when there is none.
pub fn find(start: &Path, named: Option<&Path>) -> Result<PathBuf, AppError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let above = start.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| is_or_was_store(folder));
    above
        .or_else(|| main_worktree(start).map(|folder| folder.join(FOLDER)).filter(|it| is_or_was_store(it)))
        .ok_or_else(|| AppError::NoStore(start.to_owned()))
}

/// The folder of git's main worktree, where a folder lies in another of the same repository: there `.git`
/// is a file that names git's folder of that worktree, and in it `commondir` the one they have in common.
fn main_worktree(start: &Path) -> Option<PathBuf> {
    let git =
        start.ancestors().map(|folder| folder.join(".git")).find(|git| git.symlink_metadata().is_ok())?;
    let own = git.parent()?.join(named_in(&git, "gitdir: ")?);
    let common = own.join(named_in(&own.join("commondir"), "")?);
    // With links and `..` resolved, its parent is a folder and not a way there.
    Some(common.canonicalize().ok()?.parent()?.to_owned())
}

/// The path that a small file of git's names in its one line.
fn named_in(file: &Path, before: &str) -> Option<PathBuf> {
    let small = std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.len() <= 8192);
    let bytes = small.then(|| std::fs::read(file).ok()).flatten()?;
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes).strip_prefix(before.as_bytes())?;
    Some(OsStr::from_bytes(line).into())
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
