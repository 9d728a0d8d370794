//! Plans through the command line: checked, previewed, applied, applied again, changed, refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod desk;

use std::fs;

use desk::{Desk, Said};
use serde_json::{Value, json};

const PLAN: &str = r#"
[root]
key = "parser"
title = "Ship the parser"

[workers.attempt]
command = ["true"]
[workers.review]
command = ["true"]

[[goal]]
key = "lexer"
title = "Write the lexer"
accept = ["every fixture tokenises"]

[[goal]]
key = "tree"
title = "Build the tree"
accept = ["every fixture parses"]
after = ["lexer"]
"#;

/// A desk with this plan beside it.
fn planned(desk: Desk, plan: &str) -> Desk {
    desk.write("plan.toml", plan);
    desk
}

fn applied(desk: &Desk) -> Value {
    desk.say("plan apply plan.toml --json").exit(0).json()
}

fn id(report: &Value, key: &str) -> String {
    report["ids"][key].as_str().unwrap().to_owned()
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
fn a_good_plan_is_checked_without_a_store() {
    let desk = planned(Desk::bare(), PLAN);
    desk.say("plan check plan.toml").exit(0).shows(&["plan.toml: 2 goals, 2 workers, no faults"]);
    let checked = desk.say("plan check plan.toml --json").exit(0).json();
    assert_eq!(checked, json!({ "ok": true, "root": "parser", "goals": 2, "workers": 2 }));
    assert!(!desk.path(".roundgate").exists());
}

#[test]
fn applying_a_plan_makes_its_graph_and_applying_it_again_changes_nothing() {
    let desk = planned(Desk::new(), PLAN);
    let first = applied(&desk);
    assert_eq!((&first["changed"], &first["new_store"]), (&json!(true), &Value::Null));
    assert_eq!(first["created"], json!(["parser", "lexer", "tree"]));
    let tree = desk.say(&format!("issues get {} --json", id(&first, "tree"))).json();
    assert_eq!((&tree["parent"], &tree["blocked_by"]), (&first["root"], &json!([id(&first, "lexer")])));
    let before = desk.state();
    let again = applied(&desk);
    assert_eq!(desk.state(), before);
    assert_eq!((&again["changed"], &again["ids"]), (&json!(false), &first["ids"]));
    assert_eq!(again["unchanged"], json!(["lexer", "parser", "tree"]));
    desk.say("plan apply plan.toml").exit(0).shows(&["unchanged  ", "  lexer"]);
    assert_eq!(desk.state(), before);
}

#[test]
fn a_changed_plan_adds_new_goals_updates_unopened_ones_and_keeps_those_that_are_gone() {
    let desk = planned(Desk::new(), PLAN);
    let first = applied(&desk);
    let (begin, _) = PLAN.split_once("[[goal]]\nkey = \"tree\"").unwrap();
    let lexer = begin.replace("Write the lexer", "Write the whole lexer");
    let names =
        "[[goal]]\nkey = \"names\"\ntitle = \"Resolve names\"\naccept = [\"all\"]\nafter = [\"lexer\"]\n";
    desk.write("plan.toml", format!("{lexer}{names}"));
    let before = desk.state();
    let preview = desk.say("plan apply plan.toml --dry-run --json").exit(0).json();
    desk.say("plan apply plan.toml --dry-run").exit(0).shows(&[
        "would be updated",
        "would be created",
        "tree",
    ]);
    assert_eq!(desk.state(), before, "a preview writes nothing");
    let second = applied(&desk);
    for (field, wanted) in
        [("created", "names"), ("updated", "lexer"), ("gone", "tree"), ("unchanged", "parser")]
    {
        assert_eq!(second[field], json!([wanted]), "{field}");
        assert_eq!(preview[field], second[field], "{field}");
    }
    assert_eq!((&preview["changed"], &second["changed"]), (&json!(false), &json!(true)));
    let lexer = desk.say(&format!("issues get {} --json", id(&first, "lexer"))).json();
    assert_eq!(lexer["title"], "Write the whole lexer");
    let tree = desk.say(&format!("issues get {} --json", id(&first, "tree"))).json();
    assert_eq!((&tree["status"], &tree["parent"]), (&json!("open"), &first["root"]));
    desk.say("plan apply plan.toml").exit(0).shows(&["not in the plan any more, and kept: tree"]);
}

#[test]
fn a_scope_that_has_opened_is_not_changed_and_neither_is_anything_else() {
    let desk = planned(Desk::new(), PLAN);
    let first = applied(&desk);
    let opened = desk.say(&format!("tick --root {} --json", id(&first, "parser"))).exit(0).json();
    assert_eq!(opened["transition"]["kind"], "open_round");
    let changed = PLAN.replace("Write the lexer", "Another lexer").replace("Build the tree", "Another tree");
    desk.write("plan.toml", &changed);
    for line in ["plan apply plan.toml", "plan apply plan.toml --dry-run", "run plan.toml"] {
        let said = refused(&desk, 5, line);
        said.tells(&["goal \"lexer\"", &id(&first, "lexer"), "has opened its rounds", "hint: "]);
    }
    let tree = desk.say(&format!("issues get {} --json", id(&first, "tree"))).json();
    assert_eq!(tree["title"], "Build the tree", "the good half of a refused plan stays out, too");
    // With the opened scope as it was, the other goal may still change.
    desk.write("plan.toml", changed.replace("Another lexer", "Write the lexer"));
    assert_eq!(applied(&desk)["updated"], json!(["tree"]));
}

#[test]
fn a_fault_is_named_by_file_line_and_field_and_nothing_is_written() {
    let desk = planned(Desk::new(), &PLAN.replace("title = \"Build the tree\"", "title = 7"));
    for line in
        ["plan check plan.toml", "plan apply plan.toml", "plan apply plan.toml --dry-run", "run plan.toml"]
    {
        refused(&desk, 2, line).tells(&["plan.toml:18:", "goal \"tree\", field title"]);
    }
    let said = refused(&desk, 2, "plan check plan.toml --json");
    let error: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["code"], "plan");
}

#[test]
fn an_unknown_key_is_named_and_the_right_one_offered() {
    let misspelt = PLAN.replace("after = ", "afer = ");
    let desk = planned(Desk::new(), &misspelt);
    refused(&desk, 2, "plan apply plan.toml").tells(&[
        "plan.toml:20:1",
        "goal \"tree\", field afer: unknown field",
        "did you mean \"after\"?",
    ]);
    desk.write("plan.toml", PLAN.replace("after = [\"lexer\"]", "after = [\"lexr\"]"));
    refused(&desk, 2, "plan apply plan.toml").tells(&["plan.toml:20:", "field after", "lexr"]);
    desk.write("plan.toml", b"[root]\nkey = \"\xff\"\n");
    refused(&desk, 2, "plan apply plan.toml").tells(&["cannot read the plan plan.toml", "UTF-8"]);
    refused(&desk, 3, "plan apply other.toml").tells(&["cannot read the plan other.toml"]);
}

#[test]
fn with_no_store_in_reach_applying_makes_one_and_says_so() {
    let desk = planned(Desk::bare(), PLAN);
    desk.say("plan apply plan.toml").exit(0).tells(&["made a store in ", ".roundgate"]).shows(&["created  "]);
    assert!(desk.path(".roundgate").exists());
    assert_eq!(applied(&desk)["changed"], false);
    let other = planned(Desk::bare(), PLAN);
    let folder = fs::canonicalize(other.path(".")).unwrap().join(".roundgate");
    assert_eq!(applied(&other)["new_store"], folder.to_str().unwrap());
    other.say("--store elsewhere plan apply plan.toml").exit(0).tells(&["made a store in elsewhere"]);
    assert!(other.path("elsewhere/roundgate.db").exists());
}

#[test]
fn a_preview_without_a_store_shows_the_same_as_with_an_empty_one_and_makes_none() {
    let desk = planned(Desk::bare(), PLAN);
    let said = desk.say("plan apply plan.toml --dry-run").exit(0);
    said.tells(&["would make a store in ", ".roundgate"]).shows(&[
        "would be created  ",
        "  parser",
        "  tree",
    ]);
    let preview = desk.say("plan apply plan.toml --dry-run --json").exit(0).json();
    assert!(!desk.path(".roundgate").exists());
    assert_eq!(fs::read_dir(desk.path(".")).unwrap().count(), 1, "only the plan is there");
    let done = applied(&desk);
    assert_eq!((&preview["changed"], &done["changed"]), (&json!(false), &json!(true)));
    for field in ["created", "ids", "root", "new_store"] {
        assert_eq!(preview[field], done[field], "{field}");
    }
}

#[test]
fn a_worker_that_is_not_there_stops_a_run_before_anything_is_written() {
    let missing =
        PLAN.replace("[workers.review]\ncommand = [\"true\"]", "[workers.review]\ncommand = [\"./gone.sh\"]");
    let bare = planned(Desk::bare(), &missing);
    bare.say("run plan.toml")
        .exit(2)
        .tells(&["the worker review cannot run \"./gone.sh\"", "there is no program at"]);
    assert!(!bare.path(".roundgate").exists());
    let desk = planned(Desk::new(), &missing);
    refused(&desk, 2, "run plan.toml").tells(&["the worker review"]);
    desk.write("plan.toml", missing.replace("./gone.sh", "no-such-program-anywhere"));
    refused(&desk, 2, "run plan.toml").tells(&["the worker review", "no-such-program-anywhere"]);
    // Applying is not running: the worker may come later.
    assert_eq!(applied(&desk)["changed"], true);
    let root = id(&applied(&desk), "parser");
    refused(&desk, 2, &format!("run --root {root}")).tells(&["the worker review"]);
}

#[test]
fn what_the_plan_says_again_leaves_what_was_changed_by_hand_before_and_after_the_first_round() {
    let desk = planned(Desk::new(), PLAN);
    let first = applied(&desk);
    let (root, lexer, tree) = (id(&first, "parser"), id(&first, "lexer"), id(&first, "tree"));
    desk.say(&format!("issues update {root} --priority 1")).exit(0);
    desk.say(&format!("issues update {tree} --priority 1")).exit(0);
    desk.say(&format!("tick --root {root}")).exit(0);
    desk.say(&format!("issues undep {lexer} blocks {tree}")).exit(0);
    desk.say(&format!("issues update {lexer} --priority 4")).exit(0);
    let before = desk.state();
    let again = applied(&desk);
    assert_eq!((&again["changed"], &again["updated"]), (&json!(false), &json!([])));
    assert_eq!(desk.state(), before);
    // What it says anew of a goal that has not begun is what that goal is from then on.
    desk.write("plan.toml", PLAN.replace("Build the tree", "Build the whole tree"));
    assert_eq!(applied(&desk)["updated"], json!(["tree"]));
    let now = desk.say(&format!("issues get {tree} --json")).json();
    assert_eq!(now["title"], "Build the whole tree");
    assert_eq!((&now["priority"], &now["blocked_by"]), (&json!(3), &json!([lexer])));
    // And of one that has begun nothing may be said anew.
    desk.write("plan.toml", PLAN.replace("Write the lexer", "Another lexer"));
    refused(&desk, 5, "plan apply plan.toml").tells(&["goal \"lexer\"", "has opened its rounds"]);
}

#[test]
fn a_plan_says_what_becomes_of_the_asks_in_its_goals_and_leaves_alone_what_it_does_not_say() {
    let with = |defaults: &str| {
        PLAN.replace("[workers.attempt]", &format!("[defaults]\n{defaults}\n[workers.attempt]"))
    };
    let duties =
        "ask_assignee = \"hugh\"\nask_remind = \"1d\"\nask_timeout = \"7d\"\nask_default = \"accept\"";
    let desk = planned(Desk::new(), PLAN);
    let lexer = id(&applied(&desk), "lexer");
    let asks = || desk.say(&format!("issues get {lexer} --json")).json()["policy"]["ask"].clone();
    assert_eq!(asks(), Value::Null);
    desk.say(&format!("issues update {lexer} --ask-due 2d --ask-assignee ann")).exit(0);
    desk.write("plan.toml", with(duties));
    assert_eq!(applied(&desk)["updated"], json!(["lexer", "tree"]));
    let day = 86_400_000;
    let timeout = json!({ "after": 7 * day, "choice": "accept" });
    assert_eq!(asks(), json!({ "assignee": "hugh", "due": 2 * day, "remind": day, "timeout": timeout }));
    assert_eq!(applied(&desk)["changed"], false);
    // Once its rounds have opened the plan may not change it, and a human still may.
    desk.say(&format!("rounds open {lexer}")).exit(0);
    desk.write("plan.toml", with(&duties.replace("1d", "2d")));
    refused(&desk, 5, "plan apply plan.toml").tells(&["has opened its rounds"]);
    desk.say(&format!("issues update {lexer} --ask-remind 2d")).exit(0);
    assert_eq!(applied(&desk)["updated"], json!(["tree"]));
    desk.write("plan.toml", with(&duties.replace("accept", "retry")));
    refused(&desk, 2, "plan apply plan.toml")
        .tells(&["field ask_default: \"retry\" is never chosen by itself"]);
}

#[test]
fn a_preview_waits_for_no_writer() {
    let desk = planned(Desk::new(), PLAN);
    let writer = rusqlite::Connection::open(desk.path(".roundgate/roundgate.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let preview = desk.say("plan apply plan.toml --dry-run --json").exit(0).json();
    assert_eq!(preview["created"], json!(["parser", "lexer", "tree"]));
    writer.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn goals_of_the_same_priority_are_taken_in_the_order_of_the_plan() {
    let goals: Vec<String> = (0..12)
        .map(|n| format!("[[goal]]\nkey = \"g{n}\"\ntitle = \"Goal {n}\"\nflow = \"none\"\n"))
        .collect();
    let head = "[root]\nkey = \"r\"\ntitle = \"R\"\n";
    let desk = planned(Desk::new(), &format!("{head}{}", goals.concat()));
    let report = applied(&desk);
    let ready = desk.say("issues ready --json").json();
    let found: Vec<&str> = ready.as_array().unwrap().iter().map(|i| i["id"].as_str().unwrap()).collect();
    let wanted: Vec<String> = (0..12).map(|n| id(&report, &format!("g{n}"))).collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_run_without_the_worker_that_a_goal_wants_writes_nothing() {
    let bare = PLAN.replace("[workers.attempt]\ncommand = [\"true\"]\n", "");
    for plan in [bare.replace("[workers.review]\ncommand = [\"true\"]\n", ""), bare] {
        let desk = planned(Desk::bare(), &plan);
        desk.say("run plan.toml").exit(2).tells(&["goal \"lexer\"", "no [workers.attempt]"]);
        assert!(!desk.path(".roundgate").exists());
    }
}

#[test]
fn another_command_of_a_worker_is_told_though_no_issue_changes() {
    let desk = planned(Desk::new(), PLAN);
    assert_eq!(applied(&desk)["workers_updated"], false);
    let desk = planned(desk, &PLAN.replacen(r#"["true"]"#, r#"["false"]"#, 1));
    let would = desk.say("plan apply plan.toml --dry-run").exit(0);
    would.shows(&["would be updated  the workers of rg-"]);
    desk.say("plan apply plan.toml").exit(0).shows(&["\nupdated  the workers of rg-"]);
    assert!(!desk.say("plan apply plan.toml").exit(0).out.contains("workers"));
}
