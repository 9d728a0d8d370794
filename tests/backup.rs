//! `roundgate backup` and `roundgate restore`, end to end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]
#![expect(dead_code, reason = "each test uses a part of the fixture")]

mod cli_fixture;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

use cli_fixture::Place;
use rusqlite::Connection;

fn list(place: &Place) -> (String, String) {
    (place.ok(&["issues", "list", "--all", "--json"]), place.ok(&["log", "--json"]))
}

#[test]
fn a_backup_is_one_file_that_a_store_can_use_as_it_is() {
    let place = Place::worked();
    let made = place.json(&["backup", "copy.db"]);
    let file = place.cwd().join("copy.db");
    let meta = fs::metadata(&file).unwrap();
    assert_eq!(made["bytes"], meta.len());
    assert_eq!(made["revision"], place.doctor(&[]).1["revision"]);
    assert_eq!(meta.permissions().mode() & 0o777, 0o600);
    let beside: Vec<_> = fs::read_dir(place.cwd()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 2, "{beside:?}");

    let other = Place::empty();
    fs::create_dir(other.store()).unwrap();
    fs::copy(&file, other.database()).unwrap();
    assert_eq!(list(&other), list(&place));
    other.ok(&["issues", "create", "It goes on"]);
    assert_eq!(other.faults(), [""; 0]);
}

#[test]
fn a_backup_is_made_of_what_is_committed_while_others_have_the_store_open() {
    let place = Place::worked();
    // A connection that keeps the log from being folded in.
    let reader = Connection::open(place.database()).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM events").unwrap();
    place.ok(&["issues", "create", "In the log only"]);
    assert!(fs::metadata(place.store().join("roundgate.db-wal")).unwrap().len() > 0);
    place.ok(&["backup", "copy.db"]);
    drop(reader);
    let other = Place::empty();
    other.ok(&["restore", place.cwd().join("copy.db").to_str().unwrap()]);
    assert_eq!(list(&other), list(&place));
}

#[test]
fn nothing_is_ever_written_over() {
    let place = Place::worked();
    fs::write(place.cwd().join("there"), "mine").unwrap();
    assert_eq!(place.refused(&["backup", "there"], 4)["code"], "file_exists");
    assert_eq!(fs::read(place.cwd().join("there")).unwrap(), b"mine");
    std::os::unix::fs::symlink("nowhere", place.cwd().join("link")).unwrap();
    assert_eq!(place.refused(&["backup", "link"], 4)["code"], "file_exists");
    assert_eq!(place.refused(&["backup", ".roundgate/roundgate.db-wal"], 2)["code"], "usage");
    place.refused(&["backup", "no/such/folder/copy"], 3);
}

#[test]
fn no_backup_is_made_of_a_store_that_is_not_sound() {
    let place = Place::worked();
    place.sql("UPDATE events SET cause = 'other' WHERE seq = 1");
    let refused = place.refused(&["backup", "copy.db"], 7);
    assert!(refused["message"].as_str().unwrap().contains("chain: event 1"), "{refused}");
    assert_eq!(fs::read_dir(place.cwd()).unwrap().count(), 1, "nothing is left");
}

#[test]
fn what_only_follows_keeps_nobody_from_a_backup() {
    let place = Place::worked();
    place.sql("DELETE FROM frontier WHERE list = 12");
    assert_eq!(place.faults(), ["derived"]);
    let made = place.json(&["backup", "copy.db"]);
    assert!(made["stale"].as_str().unwrap().starts_with("derived: "), "{made}");
    place.ok(&["restore", "copy.db", "--force"]);
    assert_eq!(place.doctor(&["--fix"]).0, 0);
    assert_eq!(place.faults(), [""; 0]);
    assert_eq!(place.json(&["backup", "again.db"])["stale"], serde_json::Value::Null);
}

#[test]
fn a_backup_is_restored_where_there_is_no_store() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    let before = list(&place);
    fs::remove_file(place.database()).unwrap();
    let done = place.json(&["restore", "copy.db"]);
    assert_eq!((&done["kept"], list(&place)), (&serde_json::Value::Null, before));
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_store_in_place_is_left_alone_without_force_and_kept_aside_with_it() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    let old = list(&place);
    place.ok(&["issues", "create", "Later"]);
    let later = list(&place);

    let refused = place.refused(&["restore", "copy.db"], 4);
    assert!(refused["hint"].as_str().unwrap().contains("--force"), "{refused}");
    assert_eq!(list(&place), later);

    let done = place.json(&["restore", "copy.db", "--force"]);
    assert_eq!(list(&place), old);
    assert_eq!(place.faults(), [""; 0]);
    let kept = done["kept"].as_str().unwrap().to_owned();
    assert!(kept.ends_with("before-restore-20270115T080000Z.db"), "{kept}");
    // What was kept can be put back in the same way.
    place.ok(&["restore", &kept, "--force"]);
    assert_eq!(list(&place), later);
    place.ok(&["issues", "create", "And on it goes"]);
    assert_eq!(place.faults(), [""; 0]);
    assert_eq!(place.names().len(), 4, "database, mark, and two that were kept: {:?}", place.names());
}

#[test]
fn a_damaged_store_is_moved_aside_to_the_byte() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    let before = list(&place);
    fs::write(place.database(), [7; 5_000]).unwrap();
    fs::write(place.store().join("roundgate.db-wal"), [8; 100]).unwrap();
    let done = place.json(&["restore", "copy.db", "--force"]);
    let kept = done["kept"].as_str().unwrap();
    assert!(fs::read(kept).unwrap() == [7; 5_000]);
    assert!(fs::read(format!("{kept}-wal")).unwrap() == [8; 100]);
    assert_eq!(list(&place), before);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_store_with_broken_events_is_overwritten_and_kept() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    let before = list(&place);
    place.sql("DELETE FROM posts; UPDATE events SET actor = 'mallory'");
    place.ok(&["restore", "copy.db", "--force"]);
    assert_eq!(list(&place), before);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_log_without_its_database_is_never_played_into_a_backup() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    fs::remove_file(place.database()).unwrap();
    fs::write(place.store().join("roundgate.db-wal"), [8; 100]).unwrap();
    assert_eq!(place.refused(&["restore", "copy.db"], 7)["code"], "not_a_store");
    let done = place.json(&["restore", "copy.db", "--force"]);
    assert!(fs::read(format!("{}-wal", done["kept"].as_str().unwrap())).unwrap() == [8; 100]);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_backup_that_is_not_sound_is_not_restored() {
    let place = Place::worked();
    let copy = place.cwd().join("copy.db");
    place.ok(&["backup", "copy.db"]);
    let sound = fs::read(&copy).unwrap();
    let before = (fs::read(place.database()).unwrap(), place.names());

    let conn = Connection::open(&copy).unwrap();
    conn.execute_batch("UPDATE events SET cause = 'other' WHERE seq = 2").unwrap();
    conn.close().unwrap();
    let refused = place.refused(&["restore", "copy.db", "--force"], 7);
    assert!(refused["message"].as_str().unwrap().contains("copy.db is not sound: chain"), "{refused}");

    for len in [0, 100, sound.len() / 2, sound.len() - 4_096] {
        fs::write(&copy, &sound[..len]).unwrap();
        let refused = place.refused(&["restore", "copy.db", "--force"], 7);
        assert!(refused["message"].as_str().unwrap().contains("copy.db"), "{refused}");
    }
    place.refused(&["restore", ".roundgate/roundgate.db", "--force"], 7);
    place.refused(&["restore", "nowhere.db", "--force"], 3);
    place.refused(&["restore", ".", "--force"], 7);
    assert!(before == (fs::read(place.database()).unwrap(), place.names()));
}

#[test]
fn a_store_that_others_have_open_is_not_replaced() {
    let place = Place::worked();
    place.ok(&["backup", "copy.db"]);
    place.ok(&["issues", "create", "Later"]);
    let later = list(&place);
    let other = Connection::open(place.database()).unwrap();
    for hold in ["SELECT count(*) FROM events", "BEGIN IMMEDIATE; SELECT 1"] {
        other.execute_batch(hold).unwrap();
        assert_eq!(place.refused(&["restore", "copy.db", "--force"], 6)["code"], "busy");
    }
    drop(other);
    assert_eq!(list(&place), later);
    place.ok(&["restore", "copy.db", "--force"]);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_store_in_use_is_not_taken_for_a_backup() {
    let place = Place::worked();
    let reader = Connection::open(place.database()).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM events").unwrap();
    place.ok(&["issues", "create", "In the log only"]);
    let other = Place::empty();
    let refused = other.refused(&["restore", place.database().to_str().unwrap()], 7);
    assert!(refused["message"].as_str().unwrap().contains("in use"), "{refused}");
}

/// Starts a command and kills it after a while; the longer ones get to their end.
fn killed(place: &Place, arguments: &[&str], after: Duration) {
    let mut command = place.command(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_restore_that_is_killed_leaves_the_old_store_or_the_new_one() {
    let place = Place::worked();
    place.ok(&["backup", "old.db"]);
    let old = list(&place);
    place.ok(&["issues", "create", "Later"]);
    place.ok(&["backup", "new.db"]);
    let new = list(&place);
    let (mut before, mut after) = (0, 0);
    for n in 0..40 {
        place.ok(&["restore", "new.db", "--force"]);
        killed(&place, &["restore", "old.db", "--force"], Duration::from_micros(n * 1_000));
        let found = list(&place);
        assert!(found == old || found == new, "killed after {n} ms");
        if found == old {
            after += 1
        } else {
            before += 1
        }
        assert_eq!(place.faults(), [""; 0], "killed after {n} ms");
    }
    eprintln!("{before} found the store before, {after} after");
    assert!(before > 0);
}

#[test]
fn a_repair_that_is_killed_leaves_the_tables_as_they_were_or_sound() {
    let place = Place::worked();
    let sound = list(&place);
    for n in 0..25 {
        place.sql("DELETE FROM posts; UPDATE issues SET title = 'Other'");
        let broken = list(&place);
        killed(&place, &["doctor", "--fix"], Duration::from_micros(n * 1_000));
        let found = list(&place);
        assert!(found == sound || found == broken, "killed after {n} ms");
        assert_eq!(place.faults().is_empty(), found == sound, "killed after {n} ms");
        place.ok(&["doctor", "--fix"]);
        assert_eq!(list(&place), sound);
    }
}

#[test]
fn a_backup_that_is_killed_never_has_its_name_before_it_is_whole() {
    let place = Place::worked();
    for n in 0..25 {
        let name = format!("copy-{n}.db");
        killed(&place, &["backup", &name], Duration::from_micros(n * 1_000));
        if place.cwd().join(&name).exists() {
            place.ok(&["restore", &name, "--force"]);
        }
        assert_eq!(place.faults(), [""; 0]);
    }
}
