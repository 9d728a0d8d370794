//! Imports through the command line: once, again, older than the store, broken in one line, as a preview;
//! and that what came in can be worked with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod desk;

use std::fs;
use std::path::{Path, PathBuf};

use desk::{Desk, Said};
use serde_json::{Value, json};

const SLICES: [&str; 3] = ["beads-small-slice.jsonl", "beads-large-slice.jsonl", "beads-odd.jsonl"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/import").join(name)
}

/// A desk with a new store and this export beside it.
fn with_export(name: &str) -> Desk {
    let desk = Desk::new();
    fs::copy(fixture(name), desk.path("export.jsonl")).unwrap();
    desk
}

fn import(desk: &Desk) -> Value {
    desk.say("import --format beads export.jsonl --json").exit(0).json()
}

/// Calls the program and expects a refusal without a trace.
#[track_caller]
fn refused(desk: &Desk, code: i32, line: &str) -> Said {
    let before = desk.state();
    let said = desk.say(line).exit(code);
    assert_eq!(desk.state(), before, "it left a trace: {said:?}");
    assert_eq!(said.out, "");
    said
}

#[test]
fn an_export_comes_in_once_and_the_second_time_changes_nothing() {
    for name in SLICES {
        let desk = with_export(name);
        let first = import(&desk);
        assert_eq!(first["changed"], true, "{name}");
        let listed = desk.say("issues list --all --json").exit(0).json();
        assert_eq!(json!(listed.as_array().unwrap().len()), first["created"], "{name}");
        let before = desk.state();
        let again = import(&desk);
        let facts = ["changed", "created", "stale", "edges", "annotations"].map(|field| again[field].clone());
        assert_eq!(facts, [json!(false), json!(0), json!(0), json!(0), json!(0)], "{name}");
        let twice = again["odd"]["duplicate_line"]["count"].as_u64().unwrap_or(0);
        assert_eq!(json!(again["unchanged"].as_u64().unwrap() + twice), first["lines"], "{name}");
        desk.say("import --format beads export.jsonl").exit(0).shows(&["nothing changed"]);
        assert_eq!(desk.state(), before, "{name}");
    }
}

#[test]
fn a_preview_reports_what_an_import_does_and_writes_nothing() {
    for name in SLICES {
        let desk = with_export(name);
        let before = desk.state();
        let mut preview = desk.say("import --format beads export.jsonl --dry-run --json").exit(0).json();
        desk.say("import --format beads export.jsonl --dry-run").exit(0).shows(&["would import "]);
        assert_eq!(desk.state(), before, "{name}");
        assert_eq!(preview["changed"], false);
        preview["changed"] = json!(true);
        assert_eq!(import(&desk), preview, "{name}");
    }
}

#[test]
fn what_was_closed_since_the_export_stays_closed_and_the_old_row_is_reported() {
    let desk = with_export("beads-small-slice.jsonl");
    import(&desk);
    desk.say("issues close beads_rust-1yr0 --outcome success").exit(0);
    let before = desk.state();
    let again = import(&desk);
    assert_eq!((&again["changed"], &again["stale"]), (&json!(false), &json!(1)));
    assert_eq!(again["odd"]["stale_row"]["examples"], json!(["beads_rust-1yr0: status"]));
    desk.say("import --format beads export.jsonl").exit(0).shows(&[
        "1 stale",
        "stale_row",
        "beads_rust-1yr0: status",
    ]);
    assert_eq!(desk.state(), before);
    let issue = desk.say("issues get beads_rust-1yr0 --json").json();
    assert_eq!((&issue["status"], &issue["outcome"]), (&json!("closed"), &json!("success")));
}

#[test]
fn one_bad_line_keeps_the_whole_file_out_and_is_named() {
    let good = fs::read_to_string(fixture("beads-small-slice.jsonl")).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    for (bad, why) in [
        ("{\"id\": \"x\", \"title\": ", "not a JSON object"),
        ("[1, 2]", "not a JSON object"),
        ("{\"id\": \"two words\", \"title\": \"T\"}", "'.', '_' and '-'"),
        ("{\"title\": \"T\"}", "id"),
        ("{\"id\": \"beads_rust-14hs\", \"title\": \"other\"}", "line 1"),
    ] {
        let desk = Desk::new();
        let text = [&lines[..9], &[bad], &lines[9..]].concat().join("\n");
        desk.write("export.jsonl", text);
        for line in ["import --format beads export.jsonl", "import --format beads export.jsonl --dry-run"] {
            refused(&desk, 2, line).tells(&["export.jsonl: line 10: ", why, "hint: nothing was imported"]);
        }
        assert_eq!(desk.say("issues list --all --json").json(), json!([]));
    }
    let desk = Desk::new();
    desk.write("export.jsonl", b"{\"id\": \"a\", \"title\": \"A\"}\n{\"id\": \"b\", \"title\": \"\xff\"}\n");
    refused(&desk, 2, "import --format beads export.jsonl").tells(&["export.jsonl: line 2: ", "UTF-8"]);
    refused(&desk, 3, "import --format beads nothing.jsonl").tells(&["cannot read nothing.jsonl"]);
    refused(&desk, 2, "import --format other export.jsonl").tells(&["--format", "beads"]);
}

#[test]
fn an_imported_epic_takes_rounds_and_ticks() {
    let desk = with_export("beads-small-slice.jsonl");
    import(&desk);
    let rounds = desk.say("rounds open beads_rust-220r --json").exit(0).json();
    assert_eq!(rounds["state"], "attempt_pending");
    let attempt = rounds["rounds"][0]["attempt"].as_str().unwrap();
    let review = rounds["rounds"][0]["review"].as_str().unwrap();
    let tick = || desk.say("tick --root beads_rust-220r --json").exit(0).json();
    assert_eq!(tick()["waiting_on"], json!({ "actor": "worker", "issue": attempt }));
    desk.say(&format!("issues close {attempt} --outcome success --as ada")).exit(0);
    assert_eq!(tick()["waiting_on"], json!({ "actor": "reviewer", "issue": review }));
    desk.say(&format!("rounds verdict {review} pass --as bob")).exit(0);
    assert_eq!(tick()["transition"]["kind"], "accept_round");
    let mut last = tick();
    while last["applied"] == true {
        last = tick();
    }
    assert_eq!((&last["decision"], &last["final"]), (&json!("done"), &json!(true)));
    assert_eq!(desk.say("issues validate beads_rust-220r --json").json()["is_final"], true);
}

#[test]
fn what_came_in_is_listed_ready_validated_and_ticked() {
    let desk = with_export("beads-small-slice.jsonl");
    import(&desk);
    let ready = desk.say("issues ready --json").exit(0).json();
    let ids: Vec<&str> =
        ready.as_array().unwrap().iter().map(|issue| issue["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["beads_rust-1yr0", "beads_rust-35kz"], "not the held, the blocked, or the containers");
    let found = desk.say("issues validate beads_rust-lr74 --json").exit(0).json();
    assert_eq!((&found["is_final"], &found["stuck"]), (&json!(false), &json!([])));
    desk.say("issues explain beads_rust-lr74.3").exit(0).shows(&["is not ready", "beads_rust-lr74.2"]);
    desk.say("tick --all").exit(0);
    desk.say("tick --all").exit(0);
    let before = desk.state();
    let views = desk.say("tick --all --json").exit(0).json();
    assert!(views.as_array().unwrap().iter().all(|view| view["applied"] == false), "{views}");
    assert_eq!(desk.state(), before, "with nothing to do, a tick writes nothing");
}

#[test]
fn two_that_block_each_other_are_reported_and_the_others_go_on() {
    let desk = Desk::new();
    let line = |id: &str, kind: &str, deps: Value| {
        let line = json!({
            "id": id, "title": id, "status": "open", "priority": 2, "issue_type": kind,
            "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "dependencies": deps,
        });
        format!("{line}\n")
    };
    let on =
        |id: &str, other: &str, kind: &str| json!({ "issue_id": id, "depends_on_id": other, "type": kind });
    let export = [
        line("e", "epic", json!([])),
        line("a", "task", json!([on("a", "b", "blocks"), on("a", "e", "parent-child")])),
        line("b", "task", json!([on("b", "a", "blocks"), on("b", "e", "parent-child")])),
        line("other", "epic", json!([])),
        line("c", "task", json!([on("c", "other", "parent-child")])),
    ];
    desk.write("export.jsonl", export.concat());
    let report = import(&desk);
    assert_eq!((&report["created"], &report["edges"]), (&json!(5), &json!(1)));
    assert_eq!(report["odd"]["cyclic_dependency"]["count"], 1);
    assert_eq!(report["odd"]["cyclic_dependency"]["examples"], json!(["b blocks a"]));
    assert_eq!(report["annotations"], 1);
    desk.say("import --format beads export.jsonl").exit(0).shows(&["nothing changed"]);

    desk.say("issues close c --outcome success").exit(0);
    let views = desk.say("tick --all --json").exit(0).json();
    let of = |root: &str| views.as_array().unwrap().iter().find(|view| view["root"] == root).unwrap().clone();
    assert_eq!((&of("other")["applied"], &of("e")["applied"]), (&json!(true), &json!(false)));
    assert_eq!(of("e")["decision"], "wait");
    // One edge of the circle was kept, so one of the two comes first.
    desk.say("issues close b --outcome success").exit(0);
    desk.say("issues close a --outcome success").exit(0);
    (0..3).for_each(|_| drop(desk.say("tick --all").exit(0)));
    for root in ["e", "other"] {
        assert_eq!(desk.say(&format!("issues validate {root} --json")).json()["is_final"], true, "{root}");
    }
}
