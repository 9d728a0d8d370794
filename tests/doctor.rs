//! `roundgate doctor`, end to end: what it finds, what it repairs, and what it leaves alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod cli_fixture;

use std::fs;

use cli_fixture::{Place, faults_of};
use roundgate::model::change::{Change, Event};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{Extent, Store};

#[test]
fn a_sound_store_passes_every_check_and_stays_as_it_is() {
    let place = Place::worked();
    let before = (fs::read(place.database()).unwrap(), fs::read(place.mark()).unwrap(), place.names());
    let (code, found) = place.doctor(&[]);
    assert_eq!((code, &found["sound"]), (0, &true.into()), "{found}");
    let names: Vec<&str> =
        found["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
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
        "waiting",
        "rounds",
        "asks",
        "reviews",
        "documents",
        "outbox",
        "configuration",
    ];
    assert_eq!(names, all);
    assert!(place.ok(&["doctor"]).contains("is sound"));
    let after = (fs::read(place.database()).unwrap(), fs::read(place.mark()).unwrap(), place.names());
    assert!(before == after);
}

#[test]
fn a_sound_store_has_nothing_to_repair() {
    let place = Place::worked();
    let before = place.names();
    assert!(place.ok(&["doctor", "--fix"]).contains("nothing to repair"));
    assert_eq!(place.names(), before);
}

#[test]
fn tables_are_made_again_from_the_events_and_the_old_ones_are_kept() {
    let place = Place::worked();
    let root = place.json(&["issues", "list", "--tag", "kind:root"])[0]["id"].as_str().unwrap().to_owned();
    place.ok(&["heartbeats", "create", "--root", &root]);
    place.ok(&["cron", "create", "--root", &root, "--expr", "@daily"]);
    let clock = || place.ok(&["heartbeats", "list", "--json"]) + &place.ok(&["cron", "list", "--json"]);
    let (issues, log) = (place.ok(&["issues", "list", "--json"]), place.ok(&["log", "--json"]));
    let beating = clock();
    for sql in [
        "UPDATE issues SET title = 'Other', revision = 9",
        "DELETE FROM posts",
        "PRAGMA foreign_keys = 0; DELETE FROM issues; DELETE FROM rounds",
        "UPDATE scopes SET max_rounds = 99; INSERT INTO reserved_ids VALUES ('rg-z')",
        "PRAGMA foreign_keys = 0; INSERT INTO finished_roots VALUES ('rg-gone')",
        "UPDATE standing SET resolved = 1, lists = 0",
        "DELETE FROM frontier",
        "INSERT INTO search(search) VALUES ('delete-all')",
        "INSERT INTO search(search, rowid, title, body) SELECT 'delete', seq, title, body FROM issues LIMIT 1",
        "INSERT INTO search(rowid, title, body) SELECT seq, 'nothing of it', body FROM issues LIMIT 1",
        "UPDATE heartbeats SET skipped = 9 WHERE kind = 'cron'",
        "UPDATE heartbeats SET root = (SELECT id FROM issues WHERE title = 'Two')",
        "DELETE FROM heartbeats",
    ] {
        place.sql(sql);
        let broken = fs::read(place.database()).unwrap();
        assert!(!place.faults().is_empty(), "{sql}");
        assert!(broken == fs::read(place.database()).unwrap(), "{sql}: doctor wrote");

        let (code, found) = place.doctor(&["--fix"]);
        assert_eq!(code, 0, "{sql}: {found}");
        assert_eq!(found["repaired"][0], "the tables were made again from the events");
        assert!(fs::metadata(found["backup"].as_str().unwrap()).unwrap().is_file());
        assert_eq!(place.ok(&["issues", "list", "--json"]), issues, "{sql}");
        assert_eq!(place.ok(&["log", "--json"]), log, "{sql}");
        assert_eq!(clock(), beating, "{sql}");
    }
    let kept = place.names().into_iter().filter(|name| name.starts_with("before-repair-")).count();
    assert_eq!(kept, 13, "one for each repair, none over another");
    place.ok(&["issues", "create", "And on it goes"]);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn what_follows_from_a_pause_is_looked_at_and_made_again() {
    let place = Place::worked();
    let listed = place.json(&["issues", "list", "--all"]);
    let root =
        listed.as_array().unwrap().iter().find(|issue| issue["title"] == "Root").unwrap()["id"].clone();
    let root = root.as_str().unwrap();
    place.ok(&["pause", root, "--reason", "no money"]);
    assert_eq!(place.json(&["issues", "ready"]), serde_json::json!([]));
    for (sql, fault) in [
        ("UPDATE issues SET paused = NULL", "tables"),
        ("UPDATE issues SET paused = json_set(paused, '$.reason', 'x') WHERE paused IS NOT NULL", "tables"),
        ("DELETE FROM frontier WHERE list = 19", "derived"),
        ("UPDATE standing SET lists = lists | 1 WHERE lists & 1 = 0", "derived"),
    ] {
        place.sql(sql);
        assert!(place.faults().iter().any(|found| found == fault), "{sql}: {:?}", place.faults());
        assert_eq!(place.doctor(&["--fix"]).0, 0, "{sql}");
        assert_eq!(place.faults(), [""; 0], "{sql}");
        assert_eq!(place.json(&["issues", "get", root])["paused"]["reason"], "no money");
        assert_eq!(place.json(&["issues", "ready"]), serde_json::json!([]), "{sql}");
    }
}

#[test]
fn nothing_is_repaired_from_events_that_are_not_sound() {
    let place = Place::worked();
    place.sql("UPDATE events SET actor = 'mallory' WHERE seq = 2; UPDATE issues SET title = 'Other'");
    let (before, names) = (fs::read(place.database()).unwrap(), place.names());
    assert_eq!(place.faults(), ["chain", "search", "documents"]);
    let refused = place.refused(&["doctor", "--fix"], 7);
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("chain: event 2 is not what was written"), "{message}");
    assert!(refused["hint"].as_str().unwrap().contains("restore"), "{refused}");
    assert!(before == fs::read(place.database()).unwrap());
    assert_eq!(place.names(), names);
}

#[test]
fn lost_events_are_damage_until_somebody_says_to_go_on_without_them() {
    let place = Place::worked();
    let old = fs::read(place.database()).unwrap();
    place.ok(&["issues", "create", "The latest"]);
    fs::write(place.database(), old).unwrap();

    let refused = place.refused(&["issues", "list"], 7);
    assert!(refused["message"].as_str().unwrap().contains("the latest are lost"), "{refused}");
    assert_eq!(place.faults(), ["mark"]);
    let (code, found) = place.doctor(&["--fix"]);
    assert_eq!(code, 0, "{found}");
    assert!(found["repaired"][0].as_str().unwrap().starts_with("the mark was set"), "{found}");
    place.ok(&["issues", "list"]);
}

#[test]
fn a_mark_that_is_gone_is_reported_and_written_again() {
    let place = Place::worked();
    let mark = fs::read(place.mark()).unwrap();
    fs::remove_file(place.mark()).unwrap();
    assert!(place.ok(&["doctor"]).contains("there is none; the next commit writes it"));
    assert!(!place.mark().exists());
    assert_eq!(place.doctor(&["--fix"]).1["repaired"][0], "the mark was written");
    assert!(fs::read(place.mark()).unwrap() == mark);
}

#[test]
fn what_is_no_store_at_all_is_a_finding_too() {
    let place = Place::worked();
    fs::write(place.database(), [7; 5_000]).unwrap();
    let (code, found) = place.doctor(&[]);
    assert_eq!((code, faults_of(&found)), (7, vec!["schema".to_owned()]));
    assert_eq!(place.refused(&["doctor", "--fix"], 7)["code"], "damaged");
    assert!(fs::read(place.database()).unwrap() == [7; 5_000]);
}

#[test]
fn a_flipped_byte_never_changes_what_is_printed_without_being_found() {
    let place = Place::worked();
    let whole = fs::read(place.database()).unwrap();
    let print = || {
        [["issues", "list", "--all", "--json"].as_slice(), &["log", "--json"]].map(|command| {
            let output = place.run(command);
            assert!(matches!(output.status.code(), Some(0 | 7)), "{output:?}");
            (output.status.code(), output.stdout)
        })
    };
    let sound = print();
    let full: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] != 0).collect();
    for &at in full.iter().step_by(full.len() / 60) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(place.database(), &flipped).unwrap();
        let changed = print() != sound;
        let (code, found) = place.doctor(&[]);
        assert!(code == 7 || (code == 0 && !changed), "byte {at}: {code} {found}");
        assert!(fs::read(place.database()).unwrap() == flipped, "byte {at}: somebody wrote");
    }
}

#[test]
fn where_there_is_no_store_there_is_nothing_to_look_at() {
    let place = Place::empty();
    assert_eq!(place.refused(&["doctor"], 3)["code"], "no_store");
}

#[test]
fn a_configuration_that_cannot_be_read_does_not_stop_doctor() {
    let place = Place::worked();
    fs::write(place.store().join("config.toml"), "synchronous = 'sometimes'").unwrap();
    assert_eq!(place.refused(&["issues", "list"], 2)["code"], "config");
    let (code, found) = place.doctor(&[]);
    assert_eq!((code, faults_of(&found)), (2, vec!["configuration".to_owned()]), "{found}");
    fs::remove_file(place.store().join("config.toml")).unwrap();
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn commits_that_are_not_synced_are_a_choice() {
    let place = Place::worked();
    place.ok(&["config", "set", "synchronous", "normal"]);
    assert_eq!(place.ok(&["config", "get", "synchronous"]), "normal\n");
    place.ok(&["issues", "create", "Quick"]);
    assert_eq!(place.faults(), [""; 0]);
    assert_eq!(place.refused(&["config", "set", "synchronous", "off"], 2)["code"], "usage");
}

#[test]
fn documents_that_were_never_written_are_made_by_a_repair() {
    let place = Place::worked();
    let asked = place.ok(&["issues", "create", "Which one?", "--tag", "kind:ask", "--json"]);
    let ask: serde_json::Value = serde_json::from_str(&asked).unwrap();
    // As it was before there were documents: the ask is there, and nobody wrote of it.
    let mut store = Sqlite::open(&place.store()).unwrap();
    let root: IssueId = ask["id"].as_str().unwrap().parse().unwrap();
    let mut forget = |_: &mut Snapshot, revision: u64| {
        let change = Change::DocumentRemoved {
            root: root.clone(),
            ui_id: "ui:control-flow:escalation".to_owned(),
            hidden: false,
        };
        let (actor, cause) = (Actor::engine(), "test".to_owned());
        Some(vec![Event { seq: revision + 1, at: 1, actor, cause, tick: None, change }])
    };
    store.transact(Extent::Frontier, &mut forget).unwrap();
    drop(store);

    assert_eq!(place.faults(), ["documents"]);
    let (code, found) = place.doctor(&["--fix"]);
    assert_eq!(code, 0, "{found}");
    assert_eq!(found["repaired"][0], "the status documents were brought up to date");
    assert!(place.ok(&["ui", "list"]).contains("ui:control-flow:escalation"));
    assert_eq!(place.faults(), [""; 0]);
}
