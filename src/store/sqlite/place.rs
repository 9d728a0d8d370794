//! The folder of a store and the file in it, looked at from outside. Nothing here opens the database
//! file: closing it again would drop the locks of every connection of this process (POSIX).

use std::fs::{self, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, StatVfsMountFlags};

use super::fault::explain_io;
use crate::store::StoreError;

/// The name of the database file in a store's folder.
const FILE: &str = "roundgate.db";

/// Where a store is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The folder, without symbolic links: SQLite is told to follow none, at no step of the path.
    pub folder: PathBuf,
    /// The database file.
    pub file: PathBuf,
}

impl Place {
    /// The place of a store in an existing folder.
    pub(super) fn in_folder(folder: &Path) -> Result<Place, StoreError> {
        let canonical = fs::canonicalize(folder).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { path: folder.to_owned() },
            io::ErrorKind::NotADirectory => not_a_folder(folder),
            _ => explain_io(folder, "look at", source),
        })?;
        let meta = fs::metadata(&canonical).map_err(|e| explain_io(folder, "look at", e))?;
        if !meta.is_dir() {
            return Err(not_a_folder(folder));
        }
        Ok(Place { file: canonical.join(FILE), folder: canonical })
    }

    /// A file that SQLite keeps beside the database, such as `-wal`.
    pub(super) fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.file.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    }

    /// Whether anything at all has the database's name.
    pub(super) fn taken(&self) -> Result<bool, StoreError> {
        Ok(kind_and_size(&self.file)?.is_some())
    }

    /// Refuses whatever should not be opened in the first place. A FIFO would hang, a link would lead
    /// elsewhere, an empty file would pass for an empty database, and a rollback journal, which a store
    /// never has, would be played back into the file before anything could be checked.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let foreign =
            |path: &Path, reason: String| Err(StoreError::Foreign { path: path.to_owned(), reason });
        match kind_and_size(&self.file)? {
            None => return Err(StoreError::Missing { path: self.folder.clone() }),
            Some((kind, _)) if !kind.is_file() => return foreign(&self.file, is_a(kind)),
            Some((_, 0)) => return foreign(&self.file, "it is empty".to_owned()),
            Some(_) => {}
        }
        for suffix in ["-wal", "-shm"] {
            let path = self.beside(suffix);
            if let Some((kind, _)) = kind_and_size(&path)?
                && !kind.is_file()
            {
                return foreign(&path, is_a(kind));
            }
        }
        if kind_and_size(&self.beside("-journal"))?.is_some() {
            return foreign(&self.file, "there is a rollback journal beside it".to_owned());
        }
        Ok(())
    }

    /// Whether nobody can change the database while it is read: its file system takes no writes, or the folder
    /// is this user's own and takes none, or the file is for nobody to write, and there is no log, so that
    /// nobody has it open. Only then it can be read without the files that SQLite keeps beside it; those of
    /// a file that nobody may write would be such files, too, and stay in the way when that is over.
    pub(super) fn frozen(&self) -> bool {
        let closed = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_err();
        let for_nobody = || fs::metadata(&self.file).is_ok_and(|meta| meta.mode() & 0o222 == 0);
        if !(closed(&self.folder) || closed(&self.file) && for_nobody()) {
            return false;
        }
        let read_only = || {
            let mounted = rustix::fs::statvfs(&self.folder);
            mounted.is_ok_and(|mounted| mounted.f_flag.contains(StatVfsMountFlags::RDONLY))
        };
        let own = || {
            let user = rustix::process::geteuid().as_raw();
            fs::metadata(&self.folder).is_ok_and(|meta| meta.uid() == user)
        };
        matches!(kind_and_size(&self.beside("-wal")), Ok(None)) && (read_only() || own())
    }

    /// The database as SQLite takes it when nobody can change it.
    pub(super) fn immutable(&self) -> String {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
        let bytes = self.file.as_os_str().as_bytes().iter();
        let path: String = bytes
            .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
            .collect();
        format!("file:{path}?immutable=1")
    }

    /// Whether a write-ahead log with something in it lies beside the database.
    pub(super) fn log_left(&self) -> bool {
        // When in doubt there is one: then it is left alone.
        !matches!(kind_and_size(&self.beside("-wal")), Ok(None | Some((_, 0))))
    }
}

fn not_a_folder(path: &Path) -> StoreError {
    StoreError::Foreign { path: path.to_owned(), reason: "it is not a folder".to_owned() }
}

fn kind_and_size(path: &Path) -> Result<Option<(FileType, u64)>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some((meta.file_type(), meta.len()))),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(explain_io(path, "look at", source)),
    }
}

fn is_a(kind: FileType) -> String {
    let word = if kind.is_symlink() {
        "symbolic link"
    } else if kind.is_dir() {
        "folder"
    } else if kind.is_fifo() {
        "named pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    };
    format!("it is a {word}, not a file")
}
