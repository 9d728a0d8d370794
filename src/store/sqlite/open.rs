//! The recipe of a connection. Each line is there because somebody lost data, or could have, without
//! it; the order matters.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::fault::Stopped;
use super::place::Place;
use super::{filesystem, load, mark, patience, schema};
use crate::store::StoreError;

/// SQLite 3.7.0 to 3.51.2 can lose committed data when a write and a checkpoint overlap.
const FIRST_SAFE_SQLITE: i32 = 3_051_003;

/// How many prepared statements a connection keeps: more than this backend has.
const STATEMENTS: usize = 64;

/// What a caller may choose about a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long to wait for others before giving up. The default is 10 seconds.
    pub deadline: Duration,
    /// When the log is synced. The default is [`Synchronous::Full`].
    pub synchronous: Synchronous,
    /// Whether a file system is accepted on which locks cannot be relied on. The default is not.
    pub network: bool,
}

/// When a commit is on the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// Before it is acknowledged: it survives a power cut.
    #[default]
    Full,
    /// Some time later: a power cut may take the latest commits back, all or none of each. What is
    /// lost that way is noticed at the next opening.
    Normal,
}

impl Synchronous {
    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Synchronous::Full => "full",
            Synchronous::Normal => "normal",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { deadline: Duration::from_secs(10), synchronous: Synchronous::Full, network: false }
    }
}

/// How far a connection trusts and shares the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// As every command does: with others, and not past the mark.
    Shared,
    /// Whatever the mark says: for whoever looks at damage, or at a copy.
    Unmarked,
    /// The same, and nobody else may have it open until this connection is closed.
    Alone,
}

/// An open database, and what has to be done before it is closed.
#[derive(Debug)]
pub(super) struct Handle {
    pub conn: Rc<Connection>,
    pub place: Place,
    /// Whether this connection has committed anything.
    pub wrote: bool,
}

impl Drop for Handle {
    /// The last connection to close folds the log into the database and removes it. A reader leaves
    /// that to writers, and so does whoever found the file to be none of its business; an empty log,
    /// which reading alone brings about, may go.
    fn drop(&mut self) {
        if self.wrote || !self.place.log_left() {
            // If this fails, two files stay that the next writer clears away.
            self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).ok();
        }
    }
}

/// Refuses a SQLite that is known to lose data. Bundled is newer; a system library may not be.
pub(super) fn check_sqlite() -> Result<(), StoreError> {
    if rusqlite::version_number() < FIRST_SAFE_SQLITE {
        return Err(StoreError::OldSqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// Opens the store at a place, and makes sure that it is one, and all of it, before anything is
/// written.
pub(super) fn open(place: Place, options: &Options) -> Result<Handle, StoreError> {
    open_for(place, options, Access::Shared)
}

/// The same, for a purpose.
pub(super) fn open_for(place: Place, options: &Options, access: Access) -> Result<Handle, StoreError> {
    check_sqlite()?;
    place.check().or_else(|error| match error {
        StoreError::Missing { .. } => mark::refuse_lost(&place).and(Err(error)),
        other => Err(other),
    })?;
    filesystem::check(&place.folder, options.network)?;
    let (path, started) = (place.file.clone(), Instant::now());
    connect(place, options, access).map_err(|stopped| stopped.explain(&path, "open the store", started))
}

fn connect(place: Place, options: &Options, access: Access) -> Result<Handle, Stopped> {
    // Before the database is read: a commit comes before its mark, so that what is read now can only
    // be behind what is there then.
    let mark = mark::read(&place);

    let flags =
        OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let frozen = access != Access::Alone && place.frozen();
    let mut conn = if frozen {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(place.immutable(), flags)?
    } else {
        // No CREATE: a store that was moved away must not come back empty. No URI: a path is a path.
        Connection::open_with_flags(&place.file, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)?
    };

    // First of all: anything below may meet a lock, and would fail at once without it.
    conn.busy_handler(Some(patience::until(options.deadline)))?;
    // Next, so that no later refusal changes a foreign file: merely closing can checkpoint.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let handle = Handle { conn: Rc::new(conn), place, wrote: false };

    harden(&handle.conn, options.synchronous)?;
    if access == Access::Alone {
        // Before the first read: from then on a lock on the file itself is held, which nobody gets
        // while others have it open, idle or not.
        handle.conn.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    }
    schema::check(&handle.conn, &handle.place.file, frozen)?;
    if access == Access::Shared {
        mark::check(&handle.conn, &mark)?;
        load::check_last(&handle.conn)?;
    }
    Ok(handle)
}

/// Switches of one connection. None of them touches the file; `journal_mode` is not among them,
/// because setting it skips the busy handler and fails under a crowd. `init` sets it once.
fn harden(conn: &Connection, synchronous: Synchronous) -> rusqlite::Result<()> {
    let switches = [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        // No SQL may corrupt the file, not even SQL that is already in its schema.
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        // The schema has neither; one that somebody adds must not run while it is being refused.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        // A misspelt column is an error, not a text.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        // A statement is planned once, whatever is bound to it: otherwise each use of a kept statement
        // that has a bound LIMIT plans it anew, which was half of what a tick costs.
        (DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true),
    ];
    for (switch, on) in switches {
        conn.set_db_config(switch, on)?;
    }
    // Full: an acknowledged change survives a power cut, because the log is synced at every commit.
    conn.pragma_update(None, "synchronous", synchronous.as_str())?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::store::sqlite::init;

    #[test]
    fn a_kept_statement_is_planned_once_whatever_is_bound_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let place = init::init(folder.path(), &Options::default()).unwrap();
        let handle = open(place, &Options::default()).unwrap();
        let planned_anew = |limit: i64| {
            let sql = "SELECT id FROM frontier WHERE list = ?1 ORDER BY id LIMIT ?2";
            let mut statement = handle.conn.prepare_cached(sql).unwrap();
            assert!(statement.query((0, limit)).unwrap().next().unwrap().is_none());
            statement.get_status(StatementStatus::RePrepare)
        };
        assert_eq!([1, 2, 3].map(planned_anew), [0, 0, 0]);
    }
}
