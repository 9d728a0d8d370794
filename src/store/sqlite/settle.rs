//! What became of a commit that reported an error. It may have happened: SQLite writes a commit into the
//! log, and then something behind that can fail, such as the sync. It may also happen later: what lies
//! whole in the log is taken for committed by whoever opens the store after a crash.

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::chain::Head;
use super::fault::Stopped;
use super::{load, schema};
use crate::store::StoreError;

/// Commits what ends with the event `due`. An error means that it did not happen and will not; but for
/// [`StoreError::Unsettled`], which means that there is no telling.
pub(super) fn commit(conn: &Connection, tx: Transaction<'_>, due: Head) -> Result<(), Stopped> {
    let Err(source) = tx.commit() else { return Ok(()) };
    // What a constraint stopped at the last moment was not written at all.
    if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) {
        return Err(source.into());
    }
    match settle(conn, due) {
        Ok(true) => Ok(()),
        Ok(false) => Err(source.into()),
        Err(_) => Err(StoreError::Unsettled { seq: due.seq, source }.into()),
    }
}

/// Finds out whether the commit that ends with this event happened, and sees to it that the answer
/// stays true. An error means that there is no telling now.
pub(super) fn settle(conn: &Connection, due: Head) -> Result<bool, Stopped> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    if load::link(&tx, due.seq)? == Some(due) {
        return Ok(true);
    }
    // What was written of it lies behind the last commit. Another commit, which changes nothing, is
    // written over it; then nobody will find it there.
    let version = schema::version(&tx)?;
    tx.pragma_update(None, "user_version", version)?;
    tx.commit()?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::chain::Hash;
    use super::super::open::{self, Options};
    use super::super::place::Place;
    use super::*;
    use crate::model::change::{Change, Event};
    use crate::store::sqlite::Sqlite;
    use crate::store::{Extent, Store};

    /// A folder with a store that has one event.
    fn stored() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        reserve(&mut Sqlite::init(folder.path()).unwrap(), 1);
        folder
    }

    /// Commits one event with this number.
    fn reserve(store: &mut Sqlite, seq: u64) {
        let change = Change::IdReserved { id: format!("rg-gone{seq}").parse().unwrap() };
        let actor = "ann".parse().unwrap();
        let event = Event { seq, at: 5, actor, cause: "test".to_owned(), tick: None, change };
        store.transact(Extent::Frontier, &mut |_, _| Some(vec![event.clone()])).unwrap();
    }

    fn connected(folder: &std::path::Path, options: &Options) -> open::Handle {
        open::open(Place::in_folder(folder).unwrap(), options).unwrap()
    }

    #[test]
    fn a_commit_that_is_there_happened() {
        let folder = stored();
        let handle = connected(folder.path(), &Options::default());
        let head = load::head(&handle.conn).unwrap();
        assert!(settle(&handle.conn, head).unwrap());
    }

    #[test]
    fn one_that_is_not_there_or_is_anothers_did_not() {
        let folder = stored();
        let handle = connected(folder.path(), &Options::default());
        for seq in [1, 2] {
            assert!(!settle(&handle.conn, Head { seq, hash: Hash::START }).unwrap(), "{seq}");
        }
        assert_eq!(load::head(&handle.conn).unwrap().seq, 1);
    }

    /// An open store in whose log, behind the last commit, lies another one that nobody knows of: what
    /// is left when all of it was written and the sync failed. And the last event of that.
    fn with_an_unseen_commit() -> (tempfile::TempDir, open::Handle, Head) {
        let source = stored();
        let open_source = connected(source.path(), &Options::default());
        // One commit that stays in the log, so that the log has a beginning.
        settle(&open_source.conn, Head { seq: 2, hash: Hash::START }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["roundgate.db", "roundgate.db-wal"] {
            std::fs::copy(source.path().join(name), folder.path().join(name)).unwrap();
        }
        let seen = std::fs::metadata(folder.path().join("roundgate.db-wal")).unwrap().len();
        reserve(&mut Sqlite::open(source.path()).unwrap(), 2);
        let head = load::head(&open_source.conn).unwrap();

        let handle = connected(folder.path(), &Options::default());
        assert_eq!(load::head(&handle.conn).unwrap().seq, 1);
        let whole = std::fs::read(source.path().join("roundgate.db-wal")).unwrap();
        let unseen = &whole[usize::try_from(seen).unwrap()..];
        let log = std::fs::File::options().write(true).open(folder.path().join("roundgate.db-wal")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&log, unseen, seen).unwrap();
        (folder, handle, head)
    }

    #[test]
    fn a_commit_whose_sync_failed_comes_back_unless_it_was_settled() {
        let last = |folder: &tempfile::TempDir| {
            load::head(&connected(folder.path(), &Options::default()).conn).unwrap().seq
        };
        let (folder, handle, _) = with_an_unseen_commit();
        assert_eq!(load::head(&handle.conn).unwrap().seq, 1);
        drop(handle);
        assert_eq!(last(&folder), 2, "whoever opens it next takes it for committed");

        let (folder, handle, head) = with_an_unseen_commit();
        assert!(!settle(&handle.conn, head).unwrap());
        drop(handle);
        assert_eq!(last(&folder), 1, "what was said stays true");
        reserve(&mut Sqlite::open(folder.path()).unwrap(), 2);
        assert!(crate::store::sqlite::examine(folder.path(), &Options::default()).unwrap().sound());
    }

    #[test]
    fn while_others_write_there_is_no_telling() {
        let folder = stored();
        let impatient = Options { deadline: std::time::Duration::ZERO, ..Options::default() };
        let handle = connected(folder.path(), &impatient);
        let other = connected(folder.path(), &impatient);
        other.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(settle(&handle.conn, Head { seq: 2, hash: Hash::START }).is_err());
    }
}
