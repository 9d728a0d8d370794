//! What else may lie where a store should be. Each is refused for the right reason, and left as it
//! was, to the byte.

mod store_fixture;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use roundgate::store::sqlite::Sqlite;
use roundgate::store::{Store, StoreError};
use rusqlite::Connection;
use store_fixture::{commit, created, plain, post};
use tempfile::TempDir;

const FILE: &str = "roundgate.db";

/// An empty folder for a store.
fn folder() -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().expect("a folder");
    let folder = above.path().join("store");
    fs::create_dir(&folder).expect("a folder");
    (above, folder)
}

/// A folder with a closed store that has one issue.
fn stored() -> (TempDir, PathBuf) {
    let (above, folder) = folder();
    let mut store = Sqlite::init(&folder).expect("a store");
    commit(&mut store, vec![created(plain("rg-a", 1), None)]).expect("a commit");
    (above, folder)
}

/// A folder with a closed store that somebody did something to.
fn tampered(sql: &str) -> (TempDir, PathBuf) {
    let (above, folder) = stored();
    let conn = Connection::open(folder.join(FILE)).expect("a connection");
    conn.execute_batch(sql).expect("SQL");
    conn.close().expect("to close");
    (above, folder)
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.filter(|path| path.symlink_metadata().expect("metadata").is_file());
    files.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

/// Opens what is there, which must fail and change nothing, and returns why.
fn refused(folder: &Path) -> StoreError {
    let before = bytes(folder);
    let refused = Sqlite::open(folder).expect_err("it should be refused");
    assert_eq!(bytes(folder), before, "{refused}");
    let exists = Sqlite::init(folder);
    assert!(matches!(exists, Err(StoreError::Exists { .. })), "{exists:?}");
    assert_eq!(bytes(folder), before);
    refused
}

/// The same for something foreign; returns the reason.
fn foreign(folder: &Path) -> String {
    match refused(folder) {
        StoreError::Foreign { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").permissions().mode() & 0o777
}

#[test]
fn a_new_store_is_one_file_that_only_its_owner_can_read() {
    let (above, _) = folder();
    let folder = above.path().join("new");
    drop(Sqlite::init(&folder).unwrap());
    assert_eq!(bytes(&folder).into_keys().collect::<Vec<_>>(), [folder.join(FILE)]);
    assert_eq!((mode(&folder), mode(&folder.join(FILE))), (0o700, 0o600));
}

#[test]
fn a_folder_without_a_database_is_completed() {
    let (_above, folder) = folder();
    fs::write(folder.join("config.toml"), "x = 1").unwrap();
    drop(Sqlite::init(&folder).unwrap());
    assert_eq!(fs::read(folder.join("config.toml")).unwrap(), b"x = 1");
    assert_eq!(Sqlite::open(&folder).unwrap().snapshot().unwrap().1, 0);
}

#[test]
fn a_store_is_never_made_over_another() {
    let (_above, folder) = stored();
    let before = bytes(&folder);
    assert!(matches!(Sqlite::init(&folder), Err(StoreError::Exists { .. })));
    assert_eq!(bytes(&folder), before);
}

#[test]
fn of_eight_that_make_a_store_at_once_one_succeeds() {
    let (_above, folder) = folder();
    let made = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Sqlite::init(&folder).map(drop))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1, "{made:?}");
    let late = |made: &Result<(), StoreError>| matches!(made, Ok(()) | Err(StoreError::Exists { .. }));
    assert!(made.iter().all(late), "{made:?}");
    assert_eq!(bytes(&folder).len(), 1);
}

#[test]
fn a_folder_that_is_not_there_is_missing() {
    let (above, _) = folder();
    let folder = above.path().join("nowhere");
    assert!(matches!(Sqlite::open(&folder), Err(StoreError::Missing { .. })));
    assert!(!folder.exists());
}

#[test]
fn a_folder_without_a_database_is_missing_and_stays_empty() {
    let (_above, folder) = folder();
    assert!(matches!(Sqlite::open(&folder), Err(StoreError::Missing { .. })));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_file_in_place_of_the_folder_is_foreign() {
    let (above, _) = folder();
    let file = above.path().join("file");
    fs::write(&file, "text").unwrap();
    for path in [file.clone(), file.join("below")] {
        let opened = Sqlite::open(&path);
        assert!(matches!(opened, Err(StoreError::Foreign { .. })), "{opened:?}");
        assert!(Sqlite::init(&path).is_err());
    }
    assert_eq!(fs::read(&file).unwrap(), b"text");
}

#[test]
fn a_picture_is_foreign() {
    let (_above, folder) = folder();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.resize(5_000, 7);
    fs::write(folder.join(FILE), png).unwrap();
    assert_eq!(foreign(&folder), "it is not an SQLite database");
}

#[test]
fn an_empty_file_is_foreign() {
    let (_above, folder) = folder();
    fs::write(folder.join(FILE), "").unwrap();
    assert_eq!(foreign(&folder), "it is empty");
}

#[test]
fn the_database_of_another_program_is_foreign() {
    for journal in ["DELETE", "WAL"] {
        let (_above, folder) = folder();
        let conn = Connection::open(folder.join(FILE)).unwrap();
        conn.execute_batch(&format!("PRAGMA journal_mode = {journal}; CREATE TABLE t(x);")).unwrap();
        drop(conn);
        assert_eq!(foreign(&folder), "it is the SQLite database of another program");
    }
}

#[test]
fn the_log_of_another_program_is_not_folded_in() {
    let (above, folder) = folder();
    let conn = Connection::open(above.path().join("other")).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t(x);").unwrap();
    fs::copy(above.path().join("other"), folder.join(FILE)).unwrap();
    fs::copy(above.path().join("other-wal"), folder.join("roundgate.db-wal")).unwrap();
    let before = bytes(&folder);
    assert!(matches!(Sqlite::open(&folder), Err(StoreError::Foreign { .. })));
    let mut after = bytes(&folder);
    after.remove(&folder.join("roundgate.db-shm"));
    assert_eq!(after, before);
}

#[test]
fn a_rollback_journal_beside_it_is_not_played_back() {
    let (_above, folder) = stored();
    fs::write(folder.join("roundgate.db-journal"), [7; 2_000]).unwrap();
    assert_eq!(foreign(&folder), "there is a rollback journal beside it");
}

#[test]
fn a_newer_store_is_refused_by_its_number() {
    let (_above, folder) = tampered("PRAGMA user_version = 99");
    let newer = refused(&folder);
    assert!(matches!(newer, StoreError::Newer { found: 99, known: 2, .. }), "{newer:?}");
}

#[test]
fn a_store_of_no_known_version_is_foreign() {
    let (_above, folder) = tampered("PRAGMA user_version = 0");
    assert_eq!(foreign(&folder), "there is no schema 0");
}

#[test]
fn a_changed_schema_is_foreign() {
    for sql in [
        "CREATE TRIGGER t AFTER INSERT ON posts BEGIN DELETE FROM posts; END",
        "CREATE VIEW v AS SELECT * FROM events",
        "CREATE TABLE t(x)",
        "DROP INDEX posts_by_topic",
        "ALTER TABLE posts ADD COLUMN more TEXT",
        "DROP TABLE annotations; CREATE TABLE annotations(seq, issue, kind, text)",
    ] {
        let (_above, folder) = tampered(sql);
        assert_eq!(foreign(&folder), "its schema was changed", "{sql}");
    }
}

#[test]
fn a_store_in_another_journal_mode_is_foreign() {
    let (_above, folder) = tampered("PRAGMA journal_mode = DELETE");
    assert_eq!(foreign(&folder), "its journal mode is delete, not wal");
}

#[test]
fn a_symbolic_link_to_a_store_is_not_followed() {
    let (above, folder) = stored();
    let other = above.path().join("other");
    fs::create_dir(&other).unwrap();
    symlink(folder.join(FILE), other.join(FILE)).unwrap();
    let before = bytes(&folder);
    assert_eq!(foreign(&other), "it is a symbolic link, not a file");
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_symbolic_link_on_the_way_to_the_folder_is_followed() {
    let (above, folder) = stored();
    let link = above.path().join("link");
    symlink(&folder, &link).unwrap();
    let mut store = Sqlite::open(&link).unwrap();
    assert_eq!(commit(&mut store, vec![post("t", "x", 1)]).unwrap(), 2);
    assert_eq!(store.folder(), fs::canonicalize(&folder).unwrap());
}

#[test]
fn a_named_pipe_is_refused_without_waiting_for_its_other_end() {
    let (_above, folder) = folder();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join(FILE), mode).unwrap();
    assert_eq!(foreign(&folder), "it is a named pipe, not a file");
}

#[test]
fn a_folder_in_place_of_the_file_is_foreign() {
    let (_above, folder) = folder();
    fs::create_dir(folder.join(FILE)).unwrap();
    assert_eq!(foreign(&folder), "it is a folder, not a file");
}

#[test]
fn a_truncated_store_is_not_opened_as_a_smaller_one() {
    let (_above, folder) = stored();
    let whole = fs::read(folder.join(FILE)).unwrap();
    for len in [1, 99, 100, 4_096, whole.len() / 2, whole.len() - 4_096] {
        fs::write(folder.join(FILE), &whole[..len]).unwrap();
        let before = bytes(&folder);
        let read = Sqlite::open(&folder).and_then(|store| store.snapshot());
        assert!(read.is_err(), "{len} of {} bytes: {read:?}", whole.len());
        assert_eq!(bytes(&folder), before);
    }
}

#[test]
fn a_row_that_makes_no_sense_is_damage_and_named() {
    for (sql, row, why) in [
        ("UPDATE issues SET tags = '[\"a b\"]'", "issues row \"rg-a\", column tags", "white space"),
        ("UPDATE issues SET id = '../x'", "issues row \"../x\", column id", "found '.'"),
        ("UPDATE issues SET policy = '{\"x\": 1}'", "issues row \"rg-a\", column policy", "unknown field"),
        ("UPDATE issues SET failed_steps = 5000000000", "column failed_steps", "out of range"),
        ("PRAGMA ignore_check_constraints = 1; UPDATE issues SET status = 'closed'", "", "contradict"),
        ("PRAGMA foreign_keys = 0; UPDATE issues SET parent = 'rg-gone'", "rg-gone", "no such issue"),
        ("PRAGMA ignore_check_constraints = 1; UPDATE issues SET parent = id", "rg-a", "below itself"),
    ] {
        let (_above, folder) = tampered(sql);
        match Sqlite::open(&folder).unwrap().snapshot() {
            Err(StoreError::Damaged { what }) => {
                assert!(what.contains(row) && what.contains(why), "{sql}: {what}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
}

/// Modes mean nothing to root; what they cannot stop cannot be tested.
fn modes_apply(folder: &Path) -> bool {
    fs::write(folder.join("probe"), "").is_err()
}

#[test]
fn a_store_in_a_read_only_folder_is_not_written() {
    let (_above, folder) = stored();
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    if modes_apply(&folder) {
        let before = bytes(&folder);
        let opened = Sqlite::open(&folder);
        assert!(matches!(opened, Err(StoreError::ReadOnly { .. })), "{opened:?}");
        assert_eq!(bytes(&folder), before);
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_read_only_file_can_be_read_and_not_written() {
    let (_above, folder) = stored();
    fs::set_permissions(folder.join(FILE), Permissions::from_mode(0o400)).unwrap();
    let mut store = Sqlite::open(&folder).unwrap();
    assert_eq!(store.snapshot().unwrap().1, 1);
    if fs::File::options().append(true).open(folder.join(FILE)).is_err() {
        let written = commit(&mut store, vec![post("t", "x", 1)]);
        assert!(matches!(written, Err(StoreError::ReadOnly { .. })), "{written:?}");
    }
}

#[test]
fn no_store_is_made_in_a_read_only_folder() {
    let (_above, folder) = folder();
    fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
    if modes_apply(&folder) {
        for path in [folder.clone(), folder.join("below")] {
            let made = Sqlite::init(&path);
            assert!(matches!(made, Err(StoreError::ReadOnly { .. })), "{made:?}");
        }
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
}
