//! `--operation`: a command that its caller gave an id is carried out once, and every call of it prints
//! what the first printed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]
#![expect(dead_code, reason = "each test uses a part of the fixture")]

mod cli_fixture;

use std::fs;
use std::process::{Output, Stdio};

use cli_fixture::Place;
use serde_json::Value;

/// Runs a command as an operation; its output, which must be a success.
fn once(place: &Place, id: &str, arguments: &[&str]) -> Output {
    let output = place.run(&[arguments, &["--operation", id]].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output
}

fn revision(place: &Place) -> u64 {
    place.doctor(&[]).1["revision"].as_u64().unwrap()
}

/// The only issue of a title.
fn titled(place: &Place, title: &str) -> String {
    let listed = place.json(&["issues", "list", "--all"]);
    let mut found = listed.as_array().unwrap().iter().filter(|issue| issue["title"] == title);
    let id = found.next().unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(found.next(), None, "{title}");
    id
}

/// A command with its output in both forms, then again, then in the other order; nothing may differ, and
/// the store changes once.
fn repeats(place: &Place, id: &str, arguments: &[&str]) {
    let before = revision(place);
    let json = [arguments, &["--json"]].concat();
    let first = once(place, id, &json);
    let after = revision(place);
    assert!(after > before, "{arguments:?}");
    let text = once(place, id, arguments);
    for _ in 0..2 {
        assert_eq!(once(place, id, &json).stdout, first.stdout, "{arguments:?}");
        assert_eq!(once(place, id, arguments).stdout, text.stdout, "{arguments:?}");
    }
    assert_eq!(revision(place), after, "{arguments:?}");
}

#[test]
fn every_kind_of_command_that_changes_something_is_carried_out_once() {
    let place = Place::worked();
    let (one, two) = (titled(&place, "One"), titled(&place, "Two"));
    let root = titled(&place, "Root");
    repeats(&place, "create", &["issues", "create", "Three", "--body", "Do it", "--parent", &root]);
    let three = titled(&place, "Three");
    repeats(&place, "update", &["issues", "update", &three, "--priority", "2"]);
    repeats(&place, "dep", &["issues", "dep", &three, "blocks", &two]);
    repeats(&place, "undep", &["issues", "undep", &three, "blocks", &two]);
    repeats(&place, "claim", &["issues", "claim", &three]);
    repeats(&place, "renew", &["issues", "renew", &three, "--lease", "2h"]);
    repeats(&place, "release", &["issues", "release", &three]);
    repeats(&place, "next", &["issues", "claim", "--next", "--root", &root]);
    repeats(&place, "close", &["issues", "close", &three, "--outcome", "failure", "--reason", "no"]);
    repeats(&place, "retry", &["issues", "retry", &three, "--note", "again"]);
    repeats(&place, "post", &["forum", "post", &format!("issue:{one}"), "--message", "a note"]);
    repeats(&place, "open", &["rounds", "open", &two]);
    let round = place.json(&["rounds", "show", &one])["rounds"][0].clone();
    let (attempt, review) = (round["attempt"].as_str().unwrap(), round["review"].as_str().unwrap());
    let attempt_state = place.json(&["issues", "get", attempt])["status"].clone();
    if attempt_state == "open" {
        place.ok(&["issues", "claim", attempt]);
    }
    repeats(&place, "done", &["issues", "close", attempt]);
    repeats(&place, "verdict", &["rounds", "verdict", review, "pass", "--note", "good", "--as", "bob"]);
    repeats(&place, "withdraw", &["rounds", "withdraw", review, "--as", "bob"]);
    repeats(&place, "again", &["rounds", "verdict", review, "pass", "--as", "bob", "--tick"]);
    repeats(&place, "tick", &["tick", "--root", &root]);
    repeats(&place, "beat", &["heartbeats", "create", "--root", &root, "--every", "0"]);
    repeats(&place, "slow", &["heartbeats", "update", &root, "--every", "6h"]);
    repeats(&place, "off", &["heartbeats", "disable", &root]);
    repeats(&place, "on", &["heartbeats", "enable", &root]);
    repeats(&place, "now", &["heartbeats", "trigger", &root, "--reason", "now"]);
    repeats(&place, "gone", &["heartbeats", "delete", &root]);
    repeats(&place, "cron", &["cron", "create", "--root", &root, "--expr", "@daily"]);
    repeats(&place, "all", &["tick", "--all"]);
    let made = |title: &str, parent: &str| {
        let made = place.json(&["issues", "create", title, "--parent", parent]);
        made["id"].as_str().unwrap().to_owned()
    };
    let above = made("Above", &root);
    made("Below", &above);
    place.ok(&["issues", "close", &above, "--outcome", "expanded"]);
    let skip = ["--outcome", "skipped", "--cascade", "--reason", "not wanted"];
    repeats(&place, "cascade", &[&["issues", "close", &above][..], &skip].concat());
    place.ok(&["issues", "create", "Reopened", "--parent", &root]);
    let reopened = titled(&place, "Reopened");
    place.ok(&["issues", "close", &reopened]);
    repeats(&place, "reopen", &["issues", "open", &reopened]);
    repeats(&place, "pause", &["pause", &root, "--reason", "wait"]);
    repeats(&place, "resume", &["resume", &root]);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_moment_that_is_over_by_now_was_not_when_the_first_call_was_made() {
    let place = Place::worked();
    let root = titled(&place, "Root");
    let create = ["cron", "create", "--root", &root, "--at", "2027-01-15T09:00", "--json"];
    let first = once(&place, "at", &create);
    let mut retry = place.command(&[&create[..], &["--operation", "at"]].concat());
    let retry = retry.env("ROUNDGATE_NOW", "1800090000000").output().unwrap();
    assert!(retry.status.success(), "{retry:?}");
    assert_eq!(retry.stdout, first.stdout);
}

#[test]
fn plans_imports_and_answers_are_carried_out_once() {
    let place = Place::empty();
    let plan =
        "[root]\nkey = \"r\"\ntitle = \"R\"\n\n[[goal]]\nkey = \"g\"\ntitle = \"G\"\nflow = \"none\"\n";
    fs::write(place.cwd().join("plan.toml"), plan).unwrap();
    let first = once(&place, "plan", &["plan", "apply", "plan.toml", "--json"]);
    // The store was made by the first call, and the second says so, too.
    assert!(serde_json::from_slice::<Value>(&first.stdout).unwrap()["new_store"].is_string());
    assert_eq!(once(&place, "plan", &["plan", "apply", "plan.toml", "--json"]).stdout, first.stdout);

    let line = r#"{"id":"bd-1","title":"Imported","status":"open","priority":1,"issue_type":"task"}"#;
    fs::write(place.cwd().join("in.jsonl"), line).unwrap();
    repeats(&place, "import", &["import", "--format", "beads", "in.jsonl"]);

    let created = place.json(&["issues", "create", "Which?", "--tag", "kind:ask", "--choice", "red"]);
    let ask = created["id"].as_str().unwrap();
    repeats(&place, "assign", &["asks", "assign", ask, "--to", "bob", "--due", "2d"]);
    repeats(&place, "answer", &["answer", ask, "red"]);
    repeats(&place, "back", &["answer", ask, "--withdraw"]);
}

#[test]
fn the_same_id_for_another_request_is_a_conflict_that_names_the_first() {
    let place = Place::worked();
    fs::write(place.cwd().join("body"), "one").unwrap();
    once(&place, "op-1", &["issues", "create", "New", "--body-file", "body"]);
    let before = revision(&place);
    let again = ["issues", "create", "New", "--body-file", "body", "--operation", "op-1"];
    fs::write(place.cwd().join("body"), "another").unwrap();
    for other in [
        &["issues", "create", "Another", "--operation", "op-1"][..],
        &[&again[..], &["--as", "bob"]].concat(),
        &again,
    ] {
        let error = place.refused(other, 4);
        assert_eq!(error["code"], "operation_used");
        let message = format!("operation op-1 is another request: issues create by ann, event {before}");
        assert_eq!(error["message"], message, "{other:?}");
    }
    assert_eq!(revision(&place), before);
    fs::write(place.cwd().join("body"), "one").unwrap();
    place.ok(&again);
}

#[test]
fn what_was_refused_is_not_recorded_and_may_be_tried_again() {
    let place = Place::worked();
    let (one, two) = (titled(&place, "One"), titled(&place, "Two"));
    place.refused(&["issues", "claim", &two, "--operation", "later"], 5);
    place.ok(&["issues", "undep", &one, "blocks", &two]);
    place.ok(&["issues", "claim", &two, "--operation", "later"]);
}

#[test]
fn what_found_nothing_to_do_is_recorded_too_and_does_nothing_later() {
    let place = Place::worked();
    let root = titled(&place, "Root");
    while place.json(&["tick", "--root", &root])["applied"] == true {}
    let tick = ["tick", "--root", &root, "--operation", "idle", "--exit-status", "--json"];
    let first = place.run(&tick);
    assert_eq!(first.status.code(), Some(10));
    let attempt = place.json(&["rounds", "show", &titled(&place, "One")])["rounds"][0]["attempt"].clone();
    let attempt = attempt.as_str().unwrap();
    place.ok(&["issues", "claim", attempt]);
    place.ok(&["issues", "close", attempt, "--outcome", "failure", "--reason", "no"]);
    let before = revision(&place);
    let again = place.run(&tick);
    assert_eq!((again.status.code(), again.stdout), (Some(10), first.stdout));
    assert_eq!(revision(&place), before);
    assert_eq!(place.json(&["tick", "--root", &root])["applied"], true, "there was something to do");
}

#[test]
fn two_hundred_calls_at_once_apply_once_and_print_the_same() {
    let place = Place::worked();
    let create = ["issues", "create", "Once", "--operation", "crowd", "--json"];
    let started: Vec<_> = (0..200)
        .map(|_| {
            let mut command = place.command(&create);
            // Ids of their own, so that nothing but the operation keeps them from being made.
            command.env_remove("ROUNDGATE_SEED").stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let outputs: Vec<Output> = started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{output:?}");
        assert_eq!(output.stdout, outputs[0].stdout);
    }
    titled(&place, "Once");
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn an_id_is_checked_and_stays_out_of_where_it_does_not_belong() {
    let place = Place::worked();
    for bad in ["", "two words", "\u{1b}[2J", &"x".repeat(129)] {
        place.refused(&["issues", "create", "New", "--operation", bad], 2);
    }
    place.refused(&["run", "--root", "rg-1", "--operation", "x"], 2);
    // Reading is no operation, and an id in the environment does not keep it from being done.
    let mut read = place.command(&["issues", "list"]);
    assert!(read.env("ROUNDGATE_OPERATION", "x").output().unwrap().status.success());
    assert!(!place.ok(&["log", "--json"]).contains("operation_done"));
}

#[test]
fn a_record_that_was_tampered_with_is_found_and_made_again() {
    let place = Place::worked();
    let first = once(&place, "kept", &["issues", "create", "New", "--json"]);
    place.sql("UPDATE operations SET seq = 1");
    assert_eq!(place.faults(), ["operations"]);
    assert_eq!(place.doctor(&["--fix"]).0, 0);
    assert_eq!(once(&place, "kept", &["issues", "create", "New", "--json"]).stdout, first.stdout);
}

#[test]
fn what_is_no_act_in_the_store_refuses_an_operation_and_does_nothing() {
    let place = Place::worked();
    for arguments in [
        &["config", "set", "lease", "2h"][..],
        &["backup", "copy.db"],
        &["restore", "copy.db"],
        &["init"],
        &["doctor", "--fix"],
        &["compact", "--older-than", "90d"],
        &["run", "--root", "rg-a"],
        &["heartbeats", "run", "--once"],
    ] {
        let refused = place.refused(&[arguments, &["--operation", "once"]].concat(), 2);
        assert!(refused["message"].as_str().unwrap().contains("--operation"), "{arguments:?}: {refused}");
    }
    assert!(!place.cwd().join("copy.db").exists() && !place.store().join("config.toml").exists());
}
