//! Status documents, prompts and ORCH_PASS posts, by command line: what S3 shows, and how they come and go.

use roundgate::model::change::{Change, Event, Field};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{Extent, Store};
use serde_json::{Value, json};

use crate::gated::Gated;
use crate::stage::Stage;

const POLICY: &str = "flow:review-gated-v1";

/// A scope that is its own root, in the second of three rounds, with the review pending: S3's example.
fn second_review() -> (Stage, String, String, String) {
    let stage = Stage::new();
    let tags = format!("--tag kind:root --tag {POLICY}");
    let root = stage.id(&format!("issues create 'Ship it' {tags}"));
    stage.ok("tick --all");
    round_fails(&stage, "one");
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
    let review = stage.ready("review");
    (stage, root, attempt, review)
}

/// A scope with an attempt and a review in the shape of a first round: its root.
fn pair_by_hand(stage: &Stage) -> String {
    let root = stage.id("issues create Work --tag kind:root");
    let goal = stage.id(&format!("issues create Lexer --parent {root} --tag {POLICY}"));
    let part = |what: &str, tags: &str| stage.id(&format!("issues create {what} --parent {goal} {tags}"));
    let attempt = part("Go", "--tag kind:spawn --tag ctx:clean --tag flow:attempt");
    let review = part("Look", "--tag kind:fork --tag ctx:inherit --tag flow:review");
    stage.ok(&format!("issues dep {attempt} blocks {review}"));
    root
}

/// Writes a fact behind the back of all rules: an issue loses a tag.
fn takes_off(stage: &Stage, id: &str, tag: &str) {
    let mut store = Sqlite::open(&stage.path(".roundgate")).unwrap();
    let id: IssueId = id.parse().unwrap();
    let mut work = |snapshot: &mut Snapshot, revision: u64| {
        let tags = snapshot.graph().get(&id).unwrap().tags.clone();
        let fewer = tags.iter().filter(|known| known.as_str() != tag).cloned().collect();
        let (before, after) = (vec![Field::Tags(tags)], vec![Field::Tags(fewer)]);
        let change = Change::IssueChanged { id: id.clone(), before, after };
        let (actor, cause) = (Actor::engine(), "test".to_owned());
        Some(vec![Event { seq: revision + 1, at: 1, actor, cause, tick: None, change }])
    };
    store.transact(Extent::Frontier, &mut work).unwrap();
}

fn round_fails(stage: &Stage, note: &str) {
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
    let review = stage.ready("review");
    stage.cmd(&format!("rounds verdict {review} needs_work --note {note} --tick")).by("reviewer").ok();
}

fn names(stage: &Stage) -> Vec<String> {
    let found = stage.json("ui list");
    let each = found.as_array().unwrap().iter();
    each.map(|doc| doc["ui_id"].as_str().unwrap().to_owned()).collect()
}

fn version(stage: &Stage, ui_id: &str) -> u64 {
    stage.json(&format!("ui get {ui_id}"))["revision"]["version"].as_u64().unwrap()
}

/// Every ORCH_PASS of a root.
fn passes(stage: &Stage, root: &str) -> Vec<String> {
    let posts = stage.json(&format!("forum read issue:{root}"));
    let bodies = posts.as_array().unwrap().iter().map(|post| post["body"].as_str().unwrap().to_owned());
    bodies.filter(|body| body.starts_with("ORCH_PASS: ")).collect()
}

fn envelope(stage: &Stage, ui_id: &str) -> Value {
    let log = stage.json("ui log");
    let set = log.as_array().unwrap().iter().rev().find(|e| e["doc"]["ui_id"] == ui_id);
    let mut set = set.unwrap().clone();
    let beside = set.as_object_mut().unwrap();
    for name in ["seq", "at", "root"] {
        assert!(beside.remove(name).is_some(), "{name}");
    }
    set
}

#[test]
fn the_status_document_is_that_of_s3() {
    let (stage, _, attempt, review) = second_review();
    let found = envelope(&stage, "ui:control-flow");
    let expected = json!({
        "action": "set",
        "doc": {
            "v": 1,
            "ui_id": "ui:control-flow",
            "title": "Control-flow status",
            "summary": "policy=review-gated · round=2/3 · state=review_pending",
            "components": [{
                "kind": "key_value",
                "id": "policy",
                "title": "Review gate",
                "rows": [
                    { "key": "policy", "value": "flow:review-gated-v1" },
                    { "key": "round", "value": "2/3" },
                    { "key": "attempt", "value": attempt },
                    { "key": "review", "value": review },
                    { "key": "next", "value": "Run review_2" }
                ],
                "metadata": {}
            }],
            "actions": [],
            "revision": { "id": "control-flow-status", "version": 5 },
            "updated_at_ms": found["doc"]["updated_at_ms"],
            "metadata": { "profile": {
                "id": "control-flow",
                "variant": "status",
                "snapshot": {
                    "compact": "round=2/3 · state=review_pending",
                    "multiline": "policy: review-gated\nround: 2/3\nstate: review_pending\nnext: run review_2"
                }
            } }
        }
    });
    assert_eq!(found, expected);
    insta::assert_snapshot!(serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn the_prompt_is_that_of_s3_with_its_two_actions_first() {
    let (gated, _, _) = Gated::escalated();
    let found = envelope(&gated.stage, "ui:control-flow:escalation");
    insta::assert_snapshot!(serde_json::to_string_pretty(&found).unwrap());
    let actions = &found["doc"]["actions"];
    let s3 = json!([
        {
            "id": "open-extra-round",
            "label": "Open one extra round",
            "kind": "primary",
            "payload": {},
            "metadata": { "command_text": "/answer open-extra-round" }
        },
        {
            "id": "stop-and-handoff",
            "label": "Stop and hand off",
            "kind": "secondary",
            "payload": {},
            "metadata": { "command_text": "/answer stop-and-handoff" }
        }
    ]);
    assert_eq!(actions.as_array().unwrap()[..2], s3.as_array().unwrap()[..]);
}

#[test]
fn a_revision_counts_up_when_the_text_changes_and_at_no_other_time() {
    let (stage, root, _, review) = second_review();
    let before = version(&stage, "ui:control-flow");
    stage.cmd(&format!("issues claim {review}")).by("reviewer").ok();
    stage.cmd(&format!("issues renew {review} --lease 3h")).by("reviewer").ok();
    stage.ok(&format!("heartbeats create --root {root} --every 15s"));
    stage.ok(&format!("heartbeats trigger {root}"));
    stage.ok(&format!("issues update {root} --priority 2"));
    stage.ok("forum post other -m hello");
    stage.ok("issues create Elsewhere --operation once");
    stage.ok("issues create Elsewhere --operation once");
    stage.ok("tick --all");
    assert_eq!(version(&stage, "ui:control-flow"), before);
    let events = stage.events();
    stage.ok("tick --all");
    assert_eq!(stage.events(), events, "an idle tick writes nothing");
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    assert_eq!(version(&stage, "ui:control-flow"), before + 1);
}

#[test]
fn documents_go_when_the_root_is_final() {
    let (stage, root, _, review) = second_review();
    stage.cmd(&format!("rounds verdict {review} pass --tick")).by("reviewer").ok();
    for _ in 0..4 {
        stage.ok("tick --all");
    }
    assert_eq!(stage.json(&format!("issues validate {root}"))["is_final"], true);
    assert_eq!(names(&stage), [""; 0]);
    let log = stage.json("ui log");
    let last = log.as_array().unwrap().last().unwrap();
    assert_eq!((&last["action"], &last["ui_id"]), (&json!("remove"), &json!("ui:control-flow")));
    assert_eq!(stage.json("doctor")["sound"], true);
}

#[test]
fn the_log_goes_on_over_a_long_history_and_gives_the_latest() {
    let (stage, _, _, review) = second_review();
    let all = || stage.json("ui log").as_array().unwrap().clone();
    let before = all();
    let line =
        |n: usize| format!("{{\"id\":\"x-{n}\",\"title\":\"Old\",\"status\":\"open\",\"priority\":2}}\n");
    stage.write("old.jsonl", (0..1_100).map(line).collect::<String>());
    stage.ok("import --format beads old.jsonl");
    stage.cmd(&format!("rounds verdict {review} pass --tick")).by("reviewer").ok();
    let after = all();
    assert!(after.len() > before.len() && after.starts_with(&before), "{after:?}");
    let seq = |view: &Value| view["seq"].as_u64().unwrap();
    assert!(seq(&after[before.len()]) > seq(before.last().unwrap()) + 1_000);
    let latest = stage.json("ui log --limit 2");
    assert_eq!(latest.as_array().unwrap()[..], after[after.len() - 2..]);
    let table = stage.ok("ui log --limit 2");
    assert_eq!(table.lines().count(), 4, "{table}");
    let footer = format!("... and {} earlier; --all shows every envelope\n", after.len() - 2);
    assert!(table.ends_with(&footer), "{table}");
}

#[test]
fn the_prompt_goes_first_when_work_is_handed_off() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    assert_eq!(names(stage), ["ui:control-flow", "ui:control-flow:escalation"]);
    stage.ok(&format!("answer {ask} stop-and-handoff"));
    let prompt = stage.json("ui get ui:control-flow:escalation");
    assert_eq!(prompt["revision"]["version"], 2);
    let shown = stage.json("ui log").as_array().unwrap().len();
    stage.ok("tick --all");
    let log = stage.json("ui log");
    let said = log.as_array().unwrap()[shown..].iter();
    let said: Vec<String> = said
        .map(|e| format!("{} {}", e["action"], e.get("ui_id").unwrap_or(&e["doc"]["ui_id"])).replace('"', ""))
        .collect();
    assert_eq!(
        said,
        ["remove ui:control-flow:escalation", "remove ui:control-flow", "set ui:control-flow:escalation"]
    );
    let actions = stage.json("ui get ui:control-flow:escalation")["actions"].clone();
    let ids: Vec<&str> = actions.as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["done", "abandon"]);
    assert_eq!(stage.json("doctor")["sound"], true);
}

#[test]
fn each_further_ask_of_a_root_has_its_own_name() {
    let stage = Stage::new();
    let root = stage.id("issues create Work --tag kind:root");
    let ask = |title: &str| stage.id(&format!("issues create {title} --parent {root} --tag kind:ask"));
    let (first, second) = (ask("First?"), ask("Second?"));
    let further = format!("ui:control-flow:escalation:{second}");
    assert_eq!(names(&stage), ["ui:control-flow:escalation".to_owned(), further.clone()]);
    stage.ok(&format!("answer {first} done --tick"));
    assert_eq!(names(&stage), [further]);
    ask("Third?");
    assert!(names(&stage).contains(&"ui:control-flow:escalation".to_owned()));
}

#[test]
fn several_scopes_have_a_component_each_and_a_shared_root_its_own_name() {
    let stage = Stage::new();
    let root = stage.id("issues create Both --tag kind:root");
    for title in ["One", "Two"] {
        stage.id(&format!("issues create {title} --parent {root} --tag {POLICY}"));
        stage.ok("tick --all");
    }
    let doc = stage.json("ui get ui:control-flow");
    assert_eq!(doc["components"].as_array().unwrap().len(), 2);
    assert_eq!(doc["components"][0]["title"], "Review gate: One");
    assert_eq!(doc["summary"], "policy=review-gated · scopes=2 · attempt_pending=2");
    stage.show("ui list");
    stage.show("ui snapshot compact");
    stage.show("ui snapshot multiline");
    stage.ok(&format!("issues update {root} --add-tag flow:subagents-v1"));
    let doc = stage.json("ui get ui:subagents");
    assert_eq!(doc["components"].as_array().unwrap().len(), 2);
    assert_eq!(doc["metadata"]["profile"]["id"], "subagents");
    assert_eq!(names(&stage), ["ui:subagents"]);
    stage.show("ui log");
    insta::assert_snapshot!(stage.transcript());
    assert_eq!(stage.json("doctor")["sound"], true);
}

#[test]
fn a_stuck_scope_says_so_and_so_does_the_tick_that_comes_upon_it() {
    let stage = Stage::new();
    let root = stage.id("issues create Both --tag kind:root");
    let mut reviews = Vec::new();
    for title in ["One", "Two"] {
        stage.id(&format!("issues create {title} --parent {root} --tag {POLICY}"));
        stage.ok("tick --all");
        stage.cmd(&format!("issues close {}", stage.ready("attempt"))).by("worker").ok();
        reviews.push(stage.ready("review"));
        stage.cmd(&format!("issues claim {}", reviews[reviews.len() - 1])).by("reviewer").ok();
    }
    let (broken, sound) = (&reviews[0], &reviews[1]);
    stage.cmd(&format!("issues release {broken}")).by("reviewer").ok();
    takes_off(&stage, broken, "node:agent");
    stage.cmd(&format!("rounds verdict {sound} pass --tick")).by("reviewer").ok();
    // What changed behind the back of the rules is seen with the next change that touches it.
    stage.ok(&format!("issues update {broken} --priority 2"));
    let doc = stage.json("ui get ui:control-flow");
    assert_eq!(doc["summary"], "policy=review-gated · round=1/3 · state=stuck");
    let next = doc["components"][0]["rows"][4]["value"].as_str().unwrap();
    let why = format!("{broken} is not an executable issue tagged flow:review");
    assert!(next.starts_with("Look into it: ") && next.contains(&why), "{next}");
    let said = passes(&stage, &root);
    let last = &said[said.len() - 1];
    assert!(last.contains("Something is wrong: ") && last.contains(&why), "{last}");
}

#[test]
fn documents_go_with_a_root_that_comes_to_lie_in_another() {
    let (stage, root, _, _) = second_review();
    let above = stage.id("issues create Above --tag kind:root");
    let before = stage.json("ui get ui:control-flow")["components"][0]["rows"].clone();
    stage.ok(&format!("issues dep {root} parent {above}"));
    let doc = stage.json("ui get ui:control-flow");
    assert_eq!((&doc["root"], &doc["components"][0]["rows"]), (&json!(above), &before));
    assert_eq!(doc["revision"]["version"], 1);
    assert_eq!(names(&stage), ["ui:control-flow"]);
    assert_eq!(stage.json("doctor")["sound"], true);
}

#[test]
fn what_is_removed_by_hand_comes_back_with_its_next_text() {
    let (stage, _, _, review) = second_review();
    let before = version(&stage, "ui:control-flow");
    assert_eq!(stage.json("ui remove ui:control-flow")["action"], "remove");
    assert_eq!(names(&stage), [""; 0]);
    stage.refused(3, "ui get ui:control-flow");
    stage.refused(3, "ui remove ui:control-flow");
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    assert_eq!(version(&stage, "ui:control-flow"), before + 1);
}

/// One story for each way on, and every ORCH_PASS of it.
#[test]
fn every_tick_that_does_something_says_so_once_in_plain_words() {
    let mut told = String::new();
    let mut story = |name: &str, stage: &Stage, root: &str, transitions: usize| {
        let said = passes(stage, root);
        let log = stage.json("log");
        let ticks = log.as_array().unwrap().iter().filter_map(|event| event["tick"].as_u64());
        let ticks: std::collections::BTreeSet<u64> = ticks.collect();
        assert_eq!((said.len(), ticks.len()), (transitions, transitions), "{name}: one post for each tick");
        told.push_str(&format!("== {name}\n{}\n\n", said.join("\n\n")));
    };
    let settle = |stage: &Stage| (0..6).for_each(|_| drop(stage.ok("tick --all")));

    let gated = Gated::opened(2);
    gated.fails("tabs count as one column");
    let review = gated.attempted();
    gated.stage.cmd(&format!("rounds verdict {review} pass --tick")).by("reviewer").ok();
    settle(&gated.stage);
    story("passed in round 2", &gated.stage, &gated.root, 5);

    for (choice, transitions) in [("open-extra-round", 3), ("accept", 3), ("abandon", 5)] {
        let (gated, ask, beyond) = Gated::escalated();
        gated.stage.ok(&format!("answer {ask} {choice} --note 'as agreed' --tick"));
        if choice == "abandon" {
            gated.stage.cmd(&format!("issues close {beyond}")).by("worker").ok();
            settle(&gated.stage);
        }
        story(choice, &gated.stage, &gated.root, transitions);
    }

    let (gated, ask, _) = Gated::escalated();
    gated.stage.ok(&format!("answer {ask} stop-and-handoff --tick"));
    let second = gated.stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
    gated.stage.ok(&format!("answer {second} done --tick"));
    story("handed off", &gated.stage, &gated.root, 4);

    for choice in ["retry", "skip"] {
        let stage = Stage::new();
        let root = stage.id("issues create Work --tag kind:root");
        let task = stage.id(&format!("issues create Task --parent {root}"));
        stage.cmd(&format!("issues close {task} --outcome failure --reason broken")).by("worker").ok();
        stage.ok("tick --all");
        let ask = stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
        stage.ok(&format!("answer {ask} {choice} --tick"));
        story(choice, &stage, &root, 2);
    }

    let stage = Stage::new();
    let root = pair_by_hand(&stage);
    stage.ok("tick --all");
    assert_eq!(stage.json("ui get ui:control-flow")["components"][0]["rows"][1]["value"], "1/3");
    story("adopted", &stage, &root, 1);

    let stage = Stage::new();
    let root = stage.id("issues create Work --tag kind:root");
    let task = stage.id(&format!("issues create 'Ta\"sk' --parent {root}"));
    let ask = stage.id(&format!("issues create 'Which one?' --parent {root} --tag kind:ask"));
    stage.cmd(&format!("issues claim {task}")).by("worker").ok();
    stage.hours_pass(2);
    stage.ok("tick --all");
    stage.ok(&format!("answer {ask} done --note 'the left one' --tick"));
    story("a lost worker and a question", &stage, &root, 2);
    insta::assert_snapshot!(told);
}
