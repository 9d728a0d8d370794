//! `pause` and `resume` by command line: what they keep from starting, and where they are shown.

use insta::assert_snapshot;
use serde_json::json;

use crate::gated::Gated;
use crate::heartbeats::pass;

#[test]
fn a_paused_root_starts_nothing_new_says_why_everywhere_and_lets_what_runs_finish() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues claim {attempt}")).by("worker").ok();
    let beside = stage.id(&format!("issues create 'Write the parser' --parent {root}"));
    stage.refused(2, &format!("pause {root}"));
    stage.refused(2, &format!("pause {root} --reason ' '"));
    stage.show(&format!("pause {root} --reason 'the disk is being replaced'"));
    stage.cmd(&format!("pause {root} --reason 'another reason'")).by("bob").show();
    stage.refused(5, &format!("issues claim {beside}"));
    stage.refused(6, &format!("issues claim --next --root {root}"));
    stage.show("issues ready");
    stage.show(&format!("issues explain {beside}"));
    stage.show(&format!("issues get {beside}"));
    stage.show(&format!("rounds show {}", gated.goal));
    stage.show(&format!("tick --root {root} --exit-status"));
    stage.cmd(&format!("issues close {attempt}")).by("worker").show();
    stage.show(&format!("tick --root {root} --exit-status"));
    stage.show("tick --all");
    stage.show(&format!("issues validate {root}"));
    stage.show(&format!("run --root {root}"));
    stage.show("status");
    stage.show(&format!("resume {root}"));
    stage.show(&format!("resume {root}"));
    stage.show("issues ready");
    stage.show(&format!("issues history {root}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn an_inner_pause_is_told_of_when_the_outer_one_ends_and_the_other_way_round() {
    let gated = Gated::opened(2);
    let (stage, root, goal) = (&gated.stage, &gated.root, &gated.goal);
    stage.ok(&format!("pause {goal} --reason 'the lexer is to be bought'"));
    stage.cmd(&format!("pause {root} --reason 'no money'")).by("bob").ok();
    stage.show(&format!("resume {goal}"));
    stage.ok(&format!("pause {goal} --reason 'the lexer is to be bought'"));
    stage.ok(&format!("resume {root}"));
    stage.show(&format!("tick --root {root}"));
    stage.show("status");
    assert_snapshot!(stage.transcript());
}

#[test]
fn programs_read_who_paused_what_and_why() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    let attempt = stage.ready("attempt");
    let done = stage.json(&format!("pause {root} --reason 'no money'"));
    assert_eq!((&done["scope"], &done["changed"]), (&json!(root), &json!(true)));
    let paused = done["paused"].clone();
    assert_eq!((&paused["by"], &paused["reason"]), (&json!("ana"), &json!("no money")));
    assert_eq!(stage.json(&format!("pause {root} --reason again"))["changed"], false);
    assert_eq!(stage.json("issues ready"), json!([]));
    assert_eq!(stage.json(&format!("issues get {attempt}"))["paused"], paused);
    let why = stage.json(&format!("issues explain {attempt}"));
    assert_eq!((&why["reasons"][0]["code"], &why["reasons"][0]["issue"]), (&json!("paused"), &json!(root)));
    let tick = stage.json(&format!("tick --root {root}"));
    assert_eq!(
        (&tick["decision"], &tick["state"], &tick["paused"]),
        (&json!("wait"), &json!("paused"), &paused)
    );
    assert_eq!(tick["waiting_on"], json!({ "actor": "human", "issue": root }));
    let all = stage.json("tick --all");
    assert_eq!(all[0]["skipped"], "ana paused it: no money");
    assert_eq!(stage.json("status")["roots"][0]["paused"], json!([paused]));
    let validated = stage.json(&format!("issues validate {root}"));
    assert_eq!((&validated["paused"], &validated["stuck"]), (&json!([paused]), &json!([])));
    let resumed = stage.json(&format!("resume {root}"));
    assert_eq!((&resumed["changed"], &resumed["paused"]), (&json!(true), &json!(null)));
    assert_eq!(stage.json(&format!("tick --root {root}"))["state"], "attempt_pending");
}

#[test]
fn a_hostile_reason_never_reaches_a_terminal_raw() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    let reason = "\u{1b}]0;owned\u{7}\u{202e}txt\r\nnext\u{9b}2J";
    let beside = stage.id(&format!("issues create 'Write the parser' --parent {root}"));
    stage.cmd(&format!("pause {root} --reason")).arg(reason).ok();
    stage.show(&format!("pause {root} --reason again"));
    for line in ["status", "issues ready", "tick --all", "log"] {
        stage.show(line);
    }
    for verb in
        ["tick --root", "issues get", "issues explain", "issues history", "issues validate", "run --root"]
    {
        stage.show(&format!("{verb} {root}"));
    }
    stage.show(&format!("issues claim {beside}"));
    let shown = stage.transcript();
    assert!(shown.matches("owned").count() > 8, "{shown}");
    let raw = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
    assert_eq!(shown.chars().find(raw), None, "{shown}");
    assert_eq!(stage.json(&format!("issues get {root}"))["paused"]["reason"], reason, "and is kept as it is");
}

#[test]
fn a_heartbeat_of_a_paused_root_stores_nothing_and_calls_it_no_stall() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    stage.ok(&format!("heartbeats create --root {root} --every 6h"));
    stage.ok(&format!("pause {root} --reason 'no money'"));
    let events = stage.events();
    for _ in 0..50 {
        stage.hours_pass(6);
        assert!(pass(stage).is_empty());
    }
    assert_eq!(stage.events(), events);
    stage.ok(&format!("resume {root}"));
    stage.hours_pass(6);
    assert_eq!(pass(stage)[0]["what"], "ticked");
}

#[test]
fn ticks_over_all_go_on_with_other_roots() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let other = stage.id("issues create Other --tag kind:goal --tag flow:review-gated-v1");
    stage.ok(&format!("pause {} --reason 'no money'", gated.root));
    let ticked = stage.json("tick --all");
    let of =
        |root: &str| ticked.as_array().unwrap().iter().find(|view| view["root"] == root).unwrap().clone();
    assert_eq!(of(&other)["transition"]["kind"], "open_round");
    assert_eq!(of(&gated.root)["applied"], false);
}

#[test]
fn an_ask_below_a_pause_says_that_its_time_stands_still_and_one_whose_time_is_over_what_comes_next() {
    let (gated, ask, _) = Gated::escalated();
    let (stage, root) = (&gated.stage, &gated.root);
    stage.ok(&format!("asks assign {ask} --due 1d --remind 12h --timeout 2d --default abandon"));
    assert_eq!(stage.json(&format!("asks show {ask}"))["paused"], json!(null));
    stage.ok(&format!("pause {root} --reason 'the disk is being replaced'"));
    stage.hours_pass(72);
    stage.show(&format!("asks show {ask}"));
    let paused = &stage.json(&format!("asks show {ask}"))["paused"];
    assert_eq!((&paused["scope"], &paused["by"]), (&json!(root), &json!("ana")));
    stage.show(&format!("tick --root {root}"));
    stage.ok(&format!("resume {root}"));
    stage.show(&format!("asks show {ask}"));
    stage.hours_pass(48);
    stage.show(&format!("asks show {ask}"));
    stage.ok(&format!("tick --root {root}"));
    assert_eq!(stage.json(&format!("asks show {ask}"))["answer"], json!("abandon"));
    assert_snapshot!(stage.transcript());
}
