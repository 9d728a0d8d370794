//! What became of a commit that reported an error. It may have happened: SQLite writes a commit into the
//! log, and then something behind that can fail, such as the sync. It may also happen later: what lies
//! whole in the log is taken for committed by whoever opens the store after a crash.

use rusqlite::{Connection, TransactionBehavior};

use super::chain::Head;
use super::fault::Stopped;
use super::{load, schema};

/// Finds out whether the commit that ends with this event happened, and sees to it that the answer
/// stays true. An error means that there is no telling now.
pub(super) fn settle(conn: &mut Connection, due: Head) -> Result<bool, Stopped> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
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
    use crate::store::Store;
    use crate::store::sqlite::Sqlite;

    /// A folder with a store that has one event.
    fn stored() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Sqlite::init(folder.path()).unwrap();
        let change = Change::IdReserved { id: "rg-gone".parse().unwrap() };
        let actor = "ann".parse().unwrap();
        let event = Event { seq: 1, at: 5, actor, cause: "test".to_owned(), tick: None, change };
        store.transact(&mut |_, _| Some(vec![event.clone()])).unwrap();
        folder
    }

    fn connected(folder: &std::path::Path, options: &Options) -> open::Handle {
        open::open(Place::in_folder(folder).unwrap(), options).unwrap()
    }

    #[test]
    fn a_commit_that_is_there_happened() {
        let folder = stored();
        let mut handle = connected(folder.path(), &Options::default());
        let head = load::head(&handle.conn).unwrap();
        assert!(settle(&mut handle.conn, head).unwrap());
    }

    #[test]
    fn one_that_is_not_there_or_is_anothers_did_not() {
        let folder = stored();
        let mut handle = connected(folder.path(), &Options::default());
        for seq in [1, 2] {
            assert!(!settle(&mut handle.conn, Head { seq, hash: Hash::START }).unwrap(), "{seq}");
        }
        assert_eq!(load::head(&handle.conn).unwrap().seq, 1);
    }

    #[test]
    fn the_answer_no_is_a_commit_of_its_own_in_the_log() {
        let folder = stored();
        let log = folder.path().join("roundgate.db-wal");
        let mut handle = connected(folder.path(), &Options::default());
        let length = || std::fs::metadata(&log).map_or(0, |meta| meta.len());
        let before = length();
        settle(&mut handle.conn, Head { seq: 2, hash: Hash::START }).unwrap();
        assert!(length() > before);
    }

    #[test]
    fn while_others_write_there_is_no_telling() {
        let folder = stored();
        let impatient = Options { deadline: std::time::Duration::ZERO, ..Options::default() };
        let mut handle = connected(folder.path(), &impatient);
        let other = connected(folder.path(), &impatient);
        other.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(settle(&mut handle.conn, Head { seq: 2, hash: Hash::START }).is_err());
    }
}
