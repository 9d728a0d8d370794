//! A store of the first schema: whoever only reads refuses it and leaves it as it is, and the first
//! command that writes brings it up to date.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_fixture;
mod old_store;

use std::fs;

use cli_fixture::Place;
use old_store::{downgrade, version};

/// A worked store as the first release had it.
fn older() -> Place {
    let place = Place::worked();
    downgrade(place.database().parent().unwrap());
    assert_eq!(version(&place.database()), 1);
    place
}

#[test]
fn reading_an_older_store_names_the_way_out_and_changes_no_byte() {
    let place = older();
    let state = || (fs::read(place.database()).unwrap(), fs::read(place.mark()).unwrap(), place.names());
    let before = state();
    for command in [&["issues", "ready"][..], &["status"], &["log"], &["issues", "list"]] {
        let refused = place.refused(command, 7);
        assert_eq!(refused["code"], "older_store", "{refused}");
        assert!(refused["hint"].as_str().unwrap().contains("roundgate doctor --fix"), "{refused}");
    }
    assert!(before == state());
}

#[test]
fn the_first_command_that_writes_derives_what_there_was_not_and_keeps_the_old_store() {
    let ready = Place::worked().ok(&["issues", "ready", "--json"]);
    for command in [&["tick", "--all"][..], &["claim"], &["doctor", "--fix"]] {
        let place = older();
        match command {
            ["claim"] => place.ok(&["issues", "claim", "--next"]),
            command => place.ok(command),
        };
        assert_eq!(place.faults(), [""; 0], "{command:?}");
        let kept = place.names().into_iter().filter(|name| name.contains("before-")).count();
        assert_eq!(kept, 1, "{command:?}: {:?}", place.names());
        if command == ["doctor", "--fix"] {
            assert_eq!(place.ok(&["issues", "ready", "--json"]), ready);
        }
    }
}

#[test]
fn an_older_store_whose_schema_was_changed_is_foreign_to_readers_and_writers() {
    let place = older();
    place.sql("CREATE TRIGGER planted AFTER INSERT ON events BEGIN DELETE FROM posts; END;");
    let no_store = [&["issues", "ready"][..], &["tick", "--all"]].map(|command| (command, "not_a_store"));
    for (command, code) in no_store.into_iter().chain([(&["doctor", "--fix"][..], "damaged")]) {
        let refused = place.refused(command, 7);
        assert_eq!(refused["code"], code, "{command:?}: {refused}");
    }
    assert_eq!(version(&place.database()), 1);
}
