//! A store of the first schema: whoever only reads refuses it and leaves it as it is, and the first
//! command that writes brings it up to date.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cli_fixture;

use std::fs;

use cli_fixture::Place;

/// A worked store as the first schema has it: without what is derived.
fn older() -> Place {
    let place = Place::worked();
    place.sql("DROP TABLE heartbeats; DROP TABLE frontier; DROP TABLE standing; PRAGMA user_version = 1;");
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
        let kept = place.names().into_iter().filter(|name| name.contains("before-0002")).count();
        assert_eq!(kept, 1, "{command:?}: {:?}", place.names());
        if command == ["doctor", "--fix"] {
            assert_eq!(place.ok(&["issues", "ready", "--json"]), ready);
        }
    }
}
