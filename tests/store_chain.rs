//! The chain through the events and the mark beside them: what was changed behind the store's back is
//! found.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::fs;
use std::path::{Path, PathBuf};

use roundgate::store::sqlite::{Examined, Finding, Options, Sqlite, examine};
use roundgate::store::{Revision, Store, StoreError};
use rusqlite::Connection;
use store_fixture::{commit, created, plain, post};
use story::story;
use tempfile::TempDir;

const FILE: &str = "roundgate.db";
const MARK: &str = "roundgate.mark";

/// A closed store in which a whole story happened, and its last revision.
fn told() -> (TempDir, PathBuf, Revision) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    let mut last = 0;
    for bundle in story() {
        last = commit(&mut store, bundle).unwrap();
    }
    (above, folder, last)
}

fn small() -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    commit(&mut store, vec![created(plain("rg-a", 1), None), post("t", "one", 1)]).unwrap();
    commit(&mut store, vec![post("t", "two", 2)]).unwrap();
    (above, folder)
}

fn look(folder: &Path) -> Examined {
    examine(folder, &Options::default()).unwrap()
}

fn finding(examined: &Examined, name: &str) -> Finding {
    examined.checks.iter().find(|check| check.name == name).unwrap().finding.clone()
}

fn fault(examined: &Examined, name: &str) -> String {
    match finding(examined, name) {
        Finding::Fault(what) => what,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_store_that_was_only_written_by_the_program_is_sound() {
    let (_above, folder, last) = told();
    let examined = look(&folder);
    assert!(examined.sound(), "{:?}", examined.first_fault());
    assert_eq!(examined.revision, Some(last));
    let names: Vec<&str> = examined.checks.iter().map(|check| check.name).collect();
    let all = [
        "schema",
        "integrity",
        "references",
        "events",
        "chain",
        "mark",
        "tables",
        "derived",
        "search",
        "posts",
        "operations",
        "archives",
    ];
    assert_eq!(names, all);
}

#[test]
fn a_changed_column_of_any_event_breaks_the_chain_there() {
    let (_above, folder, last) = told();
    let conn = Connection::open(folder.join(FILE)).unwrap();
    // Each keeps the row readable: only the chain can tell.
    let changes = [
        ("actor", "'mallory'"),
        ("cause", "cause || 'x'"),
        ("at", "at + 1"),
        ("tick", "CASE WHEN tick IS NULL THEN 1 ELSE NULL END"),
        ("subject", "coalesce(subject, '') || 'x'"),
        ("change", "change || ' '"),
        ("hash", "zeroblob(32)"),
    ];
    for seq in 1..=last {
        for (column, value) in changes {
            conn.execute_batch("BEGIN; CREATE TEMP TABLE was AS SELECT * FROM events").unwrap();
            conn.execute(&format!("UPDATE events SET {column} = {value} WHERE seq = ?1"), [seq as i64])
                .unwrap();
            conn.execute_batch("COMMIT").unwrap();
            let found = fault(&look(&folder), "chain");
            assert!(found.starts_with(&format!("event {seq} is not")), "{seq}, {column}: {found}");
            conn.execute_batch(&format!(
                "UPDATE events SET {column} = (SELECT {column} FROM was WHERE was.seq = events.seq)
                 WHERE seq = {seq}; DROP TABLE temp.was"
            ))
            .unwrap();
        }
    }
    drop(conn);
    assert!(look(&folder).sound());
}

#[test]
fn a_changed_last_event_is_noticed_at_opening_and_the_store_left_as_it_is() {
    for (column, value) in [("actor", "'mallory'"), ("change", "change || ' '"), ("seq", "seq + 1")] {
        let (_above, folder, last) = told();
        let conn = Connection::open(folder.join(FILE)).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = 0").unwrap();
        conn.execute(&format!("UPDATE events SET {column} = {value} WHERE seq = ?1"), [last as i64]).unwrap();
        conn.close().unwrap();
        // The mark knows the hash, and not what it is over; without it the row still has to fit.
        for marked in [true, false] {
            if !marked {
                fs::remove_file(folder.join(MARK)).unwrap();
            }
            let before = fs::read(folder.join(FILE)).unwrap();
            let opened = Sqlite::open(&folder);
            assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{column}, {marked}: {opened:?}");
            assert!(fs::read(folder.join(FILE)).unwrap() == before);
        }
    }
}

#[test]
fn a_missing_event_is_a_gap_and_one_at_the_end_is_missed_by_the_mark() {
    let (_above, folder, last) = told();
    let delete = |seq: Revision| {
        let conn = Connection::open(folder.join(FILE)).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = 0").unwrap();
        conn.execute("DELETE FROM events WHERE seq = ?1", [seq as i64]).unwrap();
    };
    delete(last);
    let found = fault(&look(&folder), "mark");
    assert!(found.contains(&format!("is {}, and {last} were", last - 1)), "{found}");
    delete(3);
    assert_eq!(fault(&look(&folder), "events"), "event 3 is missing; the next is 4");
}

#[test]
fn a_log_that_lost_its_tail_is_damage_and_named() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    let reader = Sqlite::open(&folder).unwrap();
    let log = folder.join("roundgate.db-wal");
    commit(&mut store, vec![created(plain("rg-a", 1), None)]).unwrap();
    let one = fs::metadata(&log).unwrap().len();
    commit(&mut store, vec![post("t", "two", 1)]).unwrap();
    drop(store);
    // The last to close is a reader, and leaves the log as a crash would.
    drop(reader);
    let whole = fs::read(&log).unwrap();
    assert_eq!(Sqlite::open(&folder).unwrap().snapshot().unwrap().1, 2);

    let mut flipped = whole.clone();
    let at = usize::try_from(one).unwrap() + 100;
    flipped[at] ^= 1;
    for (damaged, last) in [(&whole[..usize::try_from(one).unwrap()], 1), (&flipped[..], 1), (&[], 0)] {
        fs::write(&log, damaged).unwrap();
        match Sqlite::open(&folder) {
            Err(StoreError::Damaged { what }) => {
                let said = format!("its last event is {last}, and 2 were committed");
                assert!(what.contains(&said) && what.contains("doctor --fix"), "{what}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&log).unwrap_or_default(), damaged, "opening changed the log");
        fault(&look(&folder), "mark");
    }
    fs::write(&log, &whole).unwrap();
    assert!(look(&folder).sound());
}

#[test]
fn another_history_of_the_same_length_is_damage() {
    let (_above, folder) = small();
    let (_other_above, other) = small();
    let mut store = Sqlite::open(&other).unwrap();
    commit(&mut store, vec![post("t", "three", 3)]).unwrap();
    drop(store);
    // The other store is as long as the mark says and longer, but went another way.
    let mut store = Sqlite::open(&folder).unwrap();
    commit(&mut store, vec![post("t", "another three", 3)]).unwrap();
    drop(store);
    fs::copy(other.join(FILE), folder.join(FILE)).unwrap();
    let opened = Sqlite::open(&folder);
    let said = "event 4 is not the one that was committed";
    assert!(matches!(&opened, Err(StoreError::Damaged { what }) if what.contains(said)), "{opened:?}");
}

#[test]
fn a_mark_that_is_behind_missing_or_garbled_is_fine_and_comes_right_with_the_next_commit() {
    let (_above, folder) = small();
    let first = fs::read(folder.join(MARK)).unwrap();
    commit(&mut Sqlite::open(&folder).unwrap(), vec![post("t", "three", 3)]).unwrap();
    let marks: [(&[u8], &str); 5] = [
        (&first, "at event 3 of 4"),
        (b"", "cannot be read"),
        (b"roundgate 1 what", "cannot be read"),
        (&[0xff; 300], "cannot be read"),
        (&first[..50], "cannot be read"),
    ];
    for (mark, said) in marks {
        fs::write(folder.join(MARK), mark).unwrap();
        let found = finding(&look(&folder), "mark");
        assert!(matches!(&found, Finding::Sound(what) if what.contains(said)), "{found:?}");
    }
    fs::remove_file(folder.join(MARK)).unwrap();
    assert!(matches!(finding(&look(&folder), "mark"), Finding::Sound(what) if what.contains("none")));
    let last = commit(&mut Sqlite::open(&folder).unwrap(), vec![post("t", "four", 4)]).unwrap();
    let found = finding(&look(&folder), "mark");
    assert_eq!(found, Finding::Sound(format!("at the last event, {last}")));
}

#[test]
fn a_mark_that_cannot_be_written_does_not_stop_a_commit() {
    let (_above, folder) = small();
    fs::remove_file(folder.join(MARK)).unwrap();
    fs::create_dir(folder.join(MARK)).unwrap();
    assert_eq!(commit(&mut Sqlite::open(&folder).unwrap(), vec![post("t", "x", 3)]).unwrap(), 4);
    assert!(look(&folder).sound());
}

#[test]
fn a_store_whose_database_is_gone_is_not_begun_anew_while_its_mark_is_there() {
    let (_above, folder) = small();
    fs::remove_file(folder.join(FILE)).unwrap();
    let mark = fs::read(folder.join(MARK)).unwrap();
    for refused in [Sqlite::init(&folder), Sqlite::open(&folder)] {
        assert!(matches!(refused, Err(StoreError::Lost { revision: 3, .. })), "{refused:?}");
    }
    assert!(fs::read(folder.join(MARK)).unwrap() == mark);
    fs::remove_file(folder.join(MARK)).unwrap();
    assert!(Sqlite::init(&folder).is_ok());
}

#[test]
fn a_new_store_has_nothing_to_do_with_a_mark_that_says_nothing() {
    let (_above, folder) = small();
    fs::remove_file(folder.join(FILE)).unwrap();
    fs::write(folder.join(MARK), "roundgate").unwrap();
    let mut store = Sqlite::init(&folder).unwrap();
    assert!(!folder.join(MARK).exists());
    assert_eq!(commit(&mut store, vec![post("t", "x", 3)]).unwrap(), 1);
    drop(store);
    assert!(Sqlite::open(&folder).is_ok());
}

#[test]
fn no_store_is_made_beside_a_log_that_is_not_its_own() {
    let (_above, folder) = small();
    fs::remove_file(folder.join(FILE)).unwrap();
    fs::remove_file(folder.join(MARK)).unwrap();
    fs::write(folder.join("roundgate.db-wal"), [1; 100]).unwrap();
    assert!(matches!(Sqlite::init(&folder), Err(StoreError::Foreign { .. })));
}

#[test]
fn tables_that_are_not_what_the_events_come_to_are_found() {
    for (sql, name) in [
        ("UPDATE issues SET title = 'Other'", "tables"),
        ("UPDATE issues SET updated_at = updated_at + 1", "tables"),
        ("UPDATE issues SET parent_seq = 2 WHERE parent_seq = 1", "sound"),
        ("PRAGMA foreign_keys = 0; DELETE FROM issues", "tables"),
        ("INSERT INTO reserved_ids VALUES ('rg-x')", "tables"),
        ("INSERT INTO finished_roots VALUES ('rg-a')", "tables"),
        ("UPDATE posts SET body = 'other' WHERE seq = 2", "posts"),
        ("UPDATE posts SET author = 'bob' WHERE seq = 3", "posts"),
        ("DELETE FROM posts WHERE seq = 3", "posts"),
        ("DELETE FROM posts WHERE seq = 2", "posts"),
        ("INSERT INTO posts VALUES (1, 't', 'bob', 'more', 1)", "posts"),
        ("PRAGMA foreign_keys = 0; INSERT INTO finished_roots VALUES ('rg-z')", "references"),
        ("UPDATE standing SET resolved = 1 - resolved", "derived"),
        ("UPDATE standing SET open_blockers = open_blockers + 1", "derived"),
        ("UPDATE standing SET root = 'rg-z'", "derived"),
        ("UPDATE standing SET lists = lists + 1048576", "derived"),
        ("DELETE FROM standing", "derived"),
        ("DELETE FROM frontier", "derived"),
        ("UPDATE frontier SET priority = 1", "derived"),
        ("INSERT INTO frontier SELECT 99, root, 0, priority, 0, id FROM standing", "derived"),
    ] {
        let (_above, folder) = small();
        Connection::open(folder.join(FILE)).unwrap().execute_batch(sql).unwrap();
        let examined = look(&folder);
        assert_eq!(examined.faulty(name), name != "sound", "{sql}: {:?}", examined.checks);
    }
}
