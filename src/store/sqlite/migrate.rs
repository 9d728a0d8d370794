//! Brings a store that an older program wrote to the schema of this one: in one transaction, after a
//! verified backup beside it. Only what writes does so; a reader refuses the older store.
//!
//! The backup is made while nobody else can write, so that it is the store as it was migrated, and is
//! rehearsed: a copy of it is migrated first and examined in full.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::{Transaction, TransactionBehavior};

use super::backup::{self, Copied, Proof};
use super::fault::Stopped;
use super::load;
use super::open::{self, Access, Handle, Options};
use super::place::Place;
use super::schema::{self, MIGRATIONS, Migration};
use crate::store::StoreError;

/// What bringing a store up to date did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgraded {
    /// The schema it had.
    pub from: usize,
    /// The schema it has.
    pub to: usize,
    /// The store as it was.
    pub backup: PathBuf,
}

/// Brings the store in a folder up to date, whatever its mark and its tables say, as long as its events
/// are sound. `None` when there was nothing to do.
///
/// # Errors
/// When it cannot be opened, copied or migrated; then it is as it was.
pub fn upgrade(folder: &Path, options: &Options) -> Result<Option<Upgraded>, StoreError> {
    let mut handle = open::open_for(Place::in_folder(folder)?, options, Access::Unmarked)?;
    climb(&mut handle, Proof::Events, MIGRATIONS)
}

/// The same for an open store, which must be sound in all that it says.
pub(super) fn bring_up_to_date(handle: &mut Handle) -> Result<Option<Upgraded>, StoreError> {
    climb(handle, Proof::Sound, MIGRATIONS)
}

/// Migrates a copy, which has nobody else at it and needs no backup.
pub(super) fn migrate_copy(copy: &mut Handle) -> Result<(), StoreError> {
    let started = Instant::now();
    let migrate = || -> Result<(), Stopped> {
        let tx = Transaction::new_unchecked(&copy.conn, TransactionBehavior::Immediate)?;
        let from = schema::check_against(&tx, &copy.place.file, MIGRATIONS)?;
        schema::apply(&tx, MIGRATIONS, from)?;
        Ok(tx.commit()?)
    };
    let migrated = migrate();
    copy.wrote = true;
    migrated.map_err(|stopped| stopped.explain(&copy.place.file, "migrate a copy", started))
}

fn climb(
    handle: &mut Handle,
    proof: Proof,
    migrations: &[Migration],
) -> Result<Option<Upgraded>, StoreError> {
    let started = Instant::now();
    let Handle { conn, place, wrote } = handle;
    let explained = |stopped: Stopped| stopped.explain(&place.file, "bring the store up to date", started);
    let to = migrations.len();
    if schema::version(conn).map_err(|e| explained(e.into()))? == to as i64 {
        return Ok(None);
    }
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate);
    let tx = tx.map_err(|e| explained(e.into()))?;
    // Again, now that nobody else writes: of two that want to, the second finds it done.
    let from = schema::check_against(&tx, &place.file, migrations).map_err(explained)?;
    if from == to {
        return Ok(None);
    }
    let kept = keep(&tx, place, from, proof)?;
    if let Err(stopped) = schema::apply(&tx, migrations, from) {
        // Nothing was changed, so nothing needs to be kept; the next try makes another.
        fs::remove_file(&kept.file).ok();
        return Err(explained(stopped));
    }
    // From here on the backup stays: a commit that reports an error may have happened.
    tx.commit().map_err(|e| explained(e.into()))?;
    *wrote = true;
    Ok(Some(Upgraded { from, to, backup: kept.file }))
}

/// Copies the store as it is before the migration behind `from`, to a name that nothing has. Another
/// connection reads it: SQLite copies nothing through one that may write.
fn keep(tx: &Transaction<'_>, place: &Place, from: usize, proof: Proof) -> Result<Copied, StoreError> {
    let started = Instant::now();
    let head = load::head(tx).map_err(|stopped| stopped.explain(&place.file, "copy the store", started))?;
    let first = format!(".before-{:04}-{}", from + 1, head.seq);
    let names = (2..).map(|n| format!("{first}-{n}.backup"));
    let reader = Options { network: true, ..Options::default() };
    let reader = open::open_for(place.clone(), &reader, Access::Unmarked)?;
    for name in std::iter::once(format!("{first}.backup")).chain(names) {
        let file = place.beside(&name);
        if !(Place { folder: place.folder.clone(), file: file.clone() }).taken()? {
            return backup::copy(&reader, &file, proof);
        }
    }
    Err(StoreError::Taken { path: place.file.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::{Change, Event};
    use crate::model::record::Post;
    use crate::model::snapshot::Snapshot;
    use crate::store::sqlite::{Sqlite, backup as make_backup};
    use crate::store::{Extent, PostQuery, Store};

    /// A migration that no release has: a column, and values for it that SQL did not compute.
    fn next(step: schema::Step) -> Vec<Migration> {
        let sql = "ALTER TABLE posts ADD COLUMN length INTEGER;";
        [MIGRATIONS, &[Migration { sql, step: Some(step), fingerprint: "" }]].concat()
    }

    fn count_letters(tx: &Transaction<'_>) -> Result<(), Stopped> {
        for (seq, body) in bodies(tx) {
            tx.execute("UPDATE posts SET length = ?1 WHERE seq = ?2", (body.len() as i64, seq))?;
        }
        Ok(())
    }

    fn fail_half_way(tx: &Transaction<'_>) -> Result<(), Stopped> {
        tx.execute("UPDATE posts SET length = 1 WHERE seq = 1", ())?;
        Err(StoreError::Unfit { what: "stopped half way".to_owned() }.into())
    }

    fn bodies(conn: &rusqlite::Connection) -> Vec<(i64, String)> {
        let mut rows = conn.prepare("SELECT seq, body FROM posts ORDER BY seq").unwrap();
        let rows = rows.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    }

    /// A folder with a store that has two posts.
    fn stored() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Sqlite::init(folder.path()).unwrap();
        let post = |seq: u64, body: &str| {
            let author = "ann".parse().unwrap();
            let post = Post { topic: "t".to_owned(), author, body: body.to_owned(), at: 5 };
            let actor = post.author.clone();
            Event { seq, at: 5, actor, cause: "test".to_owned(), tick: None, change: Change::Posted { post } }
        };
        store.transact(Extent::Frontier, &mut |_, _| Some(vec![post(1, "one"), post(2, "three")])).unwrap();
        folder
    }

    fn opened(folder: &Path) -> Handle {
        open::open(Place::in_folder(folder).unwrap(), &Options::default()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn rows_are_computed_and_the_store_as_it_was_is_kept() {
        let folder = stored();
        let mut handle = opened(folder.path());
        let from = MIGRATIONS.len();
        let done = climb(&mut handle, Proof::Sound, &next(count_letters)).unwrap().unwrap();
        assert_eq!((done.from, done.to), (from, from + 1));
        let name = format!("roundgate.db.before-{:04}-2.backup", from + 1);
        assert_eq!(done.backup, Place::in_folder(folder.path()).unwrap().folder.join(name));

        let lengths = "SELECT group_concat(length, ' ') FROM (SELECT length FROM posts ORDER BY seq)";
        assert_eq!(handle.conn.query_row(lengths, (), |row| row.get::<_, String>(0)).unwrap(), "3 5");
        assert_eq!(load::snapshot(&handle.conn).unwrap(), Snapshot::default());
        assert_eq!(climb(&mut handle, Proof::Sound, &next(count_letters)).unwrap(), None);

        let again = tempfile::tempdir().unwrap();
        fs::copy(&done.backup, again.path().join("roundgate.db")).unwrap();
        let posts = Sqlite::open(again.path()).unwrap().posts(&PostQuery::default()).unwrap();
        assert_eq!(posts.into_iter().map(|post| post.body).collect::<Vec<_>>(), ["one", "three"]);
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_wholly_old() {
        let folder = stored();
        let before = names(folder.path());
        let mut handle = opened(folder.path());
        let failed = climb(&mut handle, Proof::Sound, &next(fail_half_way));
        assert!(matches!(failed, Err(StoreError::Unfit { .. })), "{failed:?}");
        drop(handle);
        assert_eq!(names(folder.path()), before, "nothing was changed, so nothing is kept");
        make_backup(folder.path(), &folder.path().join("copy"), &Options::default()).unwrap();
    }

    #[test]
    fn a_connection_that_ends_half_way_leaves_the_store_wholly_old() {
        let folder = stored();
        let handle = opened(folder.path());
        let tx = Transaction::new_unchecked(&handle.conn, TransactionBehavior::Immediate).unwrap();
        schema::apply(&tx, &next(count_letters), MIGRATIONS.len()).unwrap();
        std::mem::forget(tx);
        drop(handle);
        make_backup(folder.path(), &folder.path().join("copy"), &Options::default()).unwrap();
        let mut handle = opened(folder.path());
        assert!(climb(&mut handle, Proof::Sound, &next(count_letters)).unwrap().is_some());
    }

    #[test]
    fn no_backup_is_written_over() {
        let folder = stored();
        let place = Place::in_folder(folder.path()).unwrap();
        let first = place.beside(&format!(".before-{:04}-2.backup", MIGRATIONS.len() + 1));
        fs::write(&first, "something else").unwrap();
        let done = climb(&mut opened(folder.path()), Proof::Sound, &next(count_letters)).unwrap().unwrap();
        assert!(done.backup.to_str().unwrap().ends_with("-2-2.backup"), "{done:?}");
        assert_eq!(fs::read_to_string(first).unwrap(), "something else");
    }

    #[test]
    fn of_many_that_migrate_at_once_one_does_and_the_others_see_it_done() {
        let folder = stored();
        let migrate = || {
            let mut handle = open::open(Place::in_folder(folder.path())?, &Options::default())?;
            climb(&mut handle, Proof::Sound, &next(count_letters))
        };
        let done = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(migrate)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        // Who opens it late finds a newer store than this program's.
        let known = |found: &Result<_, StoreError>| matches!(found, Ok(_) | Err(StoreError::Newer { .. }));
        assert!(done.iter().all(known), "{done:?}");
        assert_eq!(done.iter().filter(|found| matches!(found, Ok(Some(_)))).count(), 1);
        assert_eq!(names(folder.path()).iter().filter(|name| name.contains("before")).count(), 1);
    }

    #[test]
    fn a_store_that_is_not_sound_is_not_migrated() {
        let folder = stored();
        let conn = rusqlite::Connection::open(folder.path().join("roundgate.db")).unwrap();
        conn.execute_batch("UPDATE posts SET body = 'changed' WHERE seq = 1").unwrap();
        conn.close().unwrap();
        let mut handle = opened(folder.path());
        let refused = climb(&mut handle, Proof::Sound, &next(count_letters));
        assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
        // Its events are, and that is enough for whoever repairs it.
        assert!(climb(&mut handle, Proof::Events, &next(count_letters)).unwrap().is_some());
    }
}
