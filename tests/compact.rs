//! `roundgate compact`: the bulk of old history goes to an archive; what is left can be proved, replayed
//! and worked with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]
#![expect(dead_code, reason = "each test uses a part of the fixture")]

mod cli_fixture;

use std::fs;

use cli_fixture::{Place, faults_of};
use serde_json::Value;

/// Ninety-one days after the fixture's moment.
const LATER: &str = "1807862400000";

/// A store with a root that is final, and one that is not; both have long posts.
fn aged() -> Place {
    let place = Place::worked();
    let root = created(&place, &["issues", "create", "Old root", "--tag", "kind:root"]);
    let child =
        created(&place, &["issues", "create", "Old child", "--parent", &root, "--body", "first words"]);
    place.ok(&["issues", "update", &child, "--body", "other words"]);
    place.ok(&["forum", "post", &format!("issue:{child}"), "--message", &"a long report ".repeat(40)]);
    place.ok(&["forum", "post", "team", "--message", &"words that belong to nobody ".repeat(40)]);
    place.ok(&["heartbeats", "create", "--root", &root]);
    place.ok(&["issues", "claim", &child]);
    place.ok(&["issues", "close", &child, "--reason", "done"]);
    while place.json(&["tick", "--root", &root])["applied"] == true {}
    place
}

fn created(place: &Place, arguments: &[&str]) -> String {
    place.json(arguments)["id"].as_str().unwrap().to_owned()
}

fn later(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut command = place.command(&[arguments, &["--json"]].concat());
    let output = command.env("ROUNDGATE_NOW", LATER).output().unwrap();
    let printed = if output.status.success() { &output.stdout } else { &output.stderr };
    (output.status.code(), serde_json::from_slice(printed).unwrap())
}

/// A compacted store, and what was moved.
fn compacted() -> (Place, Value) {
    let place = aged();
    let (code, view) = later(&place, &["compact", "--archive", "old.jsonl", "--yes"]);
    assert_eq!(code, Some(0), "{view}");
    (place, view)
}

fn list(place: &Place) -> String {
    place.ok(&["issues", "list", "--all", "--json"])
}

fn archive_check(place: &Place) -> (Vec<String>, Value) {
    let found = place.doctor(&["--archive", "old.jsonl"]).1;
    (faults_of(&found), found["checks"].as_array().unwrap().last().unwrap().clone())
}

#[test]
fn a_preview_says_what_would_be_moved_and_changes_nothing() {
    let place = aged();
    let before = fs::read(place.database()).unwrap();
    let young = place.json(&["compact"]);
    assert_eq!((young["roots"].as_u64(), young["events"].as_u64()), (Some(0), Some(0)));
    let (code, view) = later(&place, &["compact"]);
    assert_eq!((code, view["roots"].as_u64(), view["issues"].as_u64()), (Some(0), Some(1), Some(2)));
    assert!(view["events"].as_u64() > Some(1) && view["bytes"].as_u64() > Some(500), "{view}");
    assert_eq!((&view["changed"], &view["archive"]), (&Value::Bool(false), &Value::Null));
    assert!(fs::read(place.database()).unwrap() == before);
    assert!(place.ok(&["compact"]).contains("nothing to move"));
}

#[test]
fn what_is_left_is_proved_replayed_and_goes_on() {
    let sound = aged();
    let (place, view) = compacted();
    assert_eq!(view["changed"], true);
    assert_eq!(list(&place), list(&sound));
    assert_eq!(place.faults(), [""; 0]);
    let lines = fs::read_to_string(place.cwd().join("old.jsonl")).unwrap();
    assert_eq!(lines.lines().count() as u64, view["events"].as_u64().unwrap());
    assert!(lines.contains("a long report") && !lines.contains("belong to nobody"));

    let posts = place.ok(&["log", "--all", "--json"]);
    assert!(!posts.contains("a long report") && posts.contains("belong to nobody"));
    assert!(posts.contains("moved to an archive by roundgate compact"));
    // The tables can be made again without the archive.
    place.sql("UPDATE issues SET title = 'changed behind the back'");
    assert_eq!(place.doctor(&["--fix"]).0, 0);
    assert_eq!(list(&place), list(&sound));
    place.ok(&["issues", "create", "It goes on"]);
    assert_eq!(archive_check(&place).0, [""; 0]);
    // A backup has the digests, and its restore is as sound.
    place.ok(&["backup", "copy.db"]);
    place.ok(&["restore", "copy.db", "--force"]);
    assert_eq!(archive_check(&place).0, [""; 0]);
}

#[test]
fn compacting_again_moves_what_was_not_moved_yet() {
    let (place, _) = compacted();
    let (_, again) = later(&place, &["compact", "--archive", "more.jsonl", "--yes"]);
    assert_eq!((&again["events"], &again["changed"]), (&0.into(), &Value::Bool(false)));
    assert!(!place.cwd().join("more.jsonl").exists());
    let root = created(&place, &["issues", "create", "Another", "--tag", "kind:root"]);
    place.ok(&["forum", "post", &format!("issue:{root}"), "--message", &"another report ".repeat(40)]);
    place.ok(&["issues", "close", &root, "--outcome", "skipped", "--reason", "no"]);
    let (_, again) = later(&place, &["compact", "--archive", "more.jsonl", "--yes"]);
    assert_eq!(again["changed"], true, "{again}");
    let (code, found) = place.doctor(&["--archive", "old.jsonl", "--archive", "more.jsonl"]);
    assert_eq!(code, 0, "{found}");
}

#[test]
fn what_lies_beside_the_store_keeps_nobody_from_checking_an_archive() {
    let (place, _) = compacted();
    std::fs::write(place.store().join("config.toml"), "nonsense = 1\n").unwrap();
    std::fs::write(place.cwd().join("bad.jsonl"), "not an archive\n").unwrap();
    let (code, found) = place.doctor(&["--archive", "bad.jsonl", "--archive", "old.jsonl"]);
    let checks = found["checks"].as_array().unwrap();
    let archives = checks.iter().filter(|check| check["name"] == "archive");
    let health: Vec<&str> = archives.map(|check| check["health"].as_str().unwrap()).collect();
    assert_eq!((code, health), (7, vec!["fault", "ok"]), "{found}");
}

#[test]
fn an_archive_that_is_there_is_never_written_over() {
    let place = aged();
    fs::write(place.cwd().join("old.jsonl"), "mine").unwrap();
    let (code, error) = later(&place, &["compact", "--archive", "old.jsonl", "--yes"]);
    assert_eq!((code, &error["code"]), (Some(4), &"file_exists".into()));
    assert_eq!(fs::read(place.cwd().join("old.jsonl")).unwrap(), b"mine");
    assert!(place.refused(&["compact", "--yes"], 2)["message"].as_str().unwrap().contains("--archive"));
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn whatever_is_changed_of_what_is_left_is_found() {
    for (sql, check) in [
        ("UPDATE events SET actor = 'mallory' WHERE seq = (SELECT min(seq) FROM compacted)", "chain"),
        ("UPDATE events SET hash = zeroblob(32) WHERE seq = (SELECT max(seq) FROM compacted)", "chain"),
        ("UPDATE compacted SET digest = zeroblob(32) WHERE seq = (SELECT min(seq) FROM compacted)", "chain"),
        ("DELETE FROM compacted WHERE seq = (SELECT min(seq) FROM compacted)", "chain"),
        ("UPDATE compacted SET compaction = compaction + 1", "archives"),
    ] {
        let (place, _) = compacted();
        // An event behind the compaction, so that every number in the table can be one.
        place.ok(&["issues", "create", "It goes on"]);
        place.sql(sql);
        let faults = place.faults();
        assert_eq!(faults, [check], "{sql}");
    }
}

#[test]
fn whatever_is_changed_in_the_archive_is_found() {
    let (place, _) = compacted();
    let file = place.cwd().join("old.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let first_line = whole.lines().next().unwrap();
    for changed in [
        whole.replace("a long report", "a wrong report"),
        whole.replace(&format!("{first_line}\n"), ""),
        format!("{whole}{first_line}\n"),
        String::new(),
        "not an archive".to_owned(),
    ] {
        fs::write(&file, changed).unwrap();
        let (faults, last) = archive_check(&place);
        assert_eq!(faults, ["archive"], "{last}");
    }
    fs::write(&file, whole).unwrap();
    let (faults, last) = archive_check(&place);
    assert_eq!(faults, [""; 0]);
    assert!(last["detail"].as_str().unwrap().contains("proves"), "{last}");
    assert_eq!(place.run(&["doctor", "--archive", "none"]).status.code(), Some(3));
}
