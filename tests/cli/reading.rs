//! The commands that tell: explain, history, log, status, graph and the configuration.

use insta::assert_snapshot;
use serde_json::Value;

use crate::gated::Gated;
use crate::stage::Stage;

#[test]
fn explain_names_each_reason() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let review = gated.rounds()["rounds"][0]["review"].as_str().unwrap().to_owned();
    let attempt = stage.ready("attempt");
    let blocked = stage.id("issues create blocked");
    let gated_later = stage.id("issues create later --tag flow:review-gated-v1");
    let below = stage.id(&format!("issues create below --parent {blocked}"));
    stage.ok(&format!("issues dep {} blocks {blocked}", gated.goal));
    stage.cmd(&format!("issues claim {attempt}")).by("worker").ok();
    for id in [&gated.root, &gated.goal, &attempt, &review, &blocked, &below, &gated_later] {
        stage.show(&format!("issues explain {id}"));
    }
    stage.refused(5, &format!("issues claim {below}"));
    stage.refused(5, &format!("issues close {below}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn history_log_status_and_graph_tell_the_same_story() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    gated.fails("tabs count as one column");
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues claim {attempt}")).by("worker").ok();
    stage.show(&format!("issues history {}", gated.goal));
    stage.show("log --all");
    stage.show("log --after 3 --limit 2");
    stage.show("status");
    stage.show(&format!("status {}", gated.goal));
    stage.show(&format!("graph {}", gated.root));
    stage.show(&format!("graph {} --format mermaid", gated.root));
    stage.show(&format!("rounds show {attempt}"));
    stage.ok(&format!("pause {} --reason 'no money'", gated.goal));
    for format in ["dot", "mermaid"] {
        let drawn = stage.ok(&format!("graph {} --format {format}", gated.root));
        assert_eq!(drawn.matches(", paused").count(), 1, "{drawn}");
        assert!(drawn.lines().any(|line| line.contains(&gated.goal) && line.contains("paused")), "{drawn}");
    }
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_forum_keeps_topics() {
    let stage = Stage::new();
    stage.show("forum post general -m 'good morning'");
    stage.show("forum post general -m 'good night' --author bob");
    stage.write("long", "a\nb\n");
    stage.show("forum post plans/2026 --message-file long");
    stage.show("forum topics");
    stage.show("forum topics --prefix plans");
    stage.show("forum read general --limit 1");
    stage.show("forum read none");
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_configuration_is_read_and_written() {
    let stage = Stage::new();
    stage.show("config list");
    stage.show("config get max_review_rounds");
    stage.show("config set max_review_rounds 2");
    stage.show("config set max_review_rounds 2");
    stage.show("config set lease 90m");
    stage.show("config get lease");
    stage.refused(2, "config set max_review_rounds 0");
    stage.refused(2, "config set max_review_round 2");
    stage.refused(2, "config set lease soon");
    stage.refused(2, "config get colour");
    stage.show("config list");
    let goal = stage.id("issues create it");
    assert_eq!(stage.json(&format!("rounds open {goal}"))["max_rounds"], 2);
    stage.write(".roundgate/config.toml", "lease = \"1h\"\nmax_review_rounds = \"many\"\n");
    stage.refused(2, "issues list");
    stage.write(".roundgate/config.toml", "lease = \n");
    stage.refused(2, "issues list");
    assert_snapshot!(stage.transcript());
}

#[test]
fn what_a_cascade_would_skip_is_shown_only_where_it_may_skip() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    let attempt = stage.ready("attempt");
    let skip =
        |id: &str, reason: &str| format!("issues close {id} --outcome skipped {reason} --cascade --dry-run");
    let log = || stage.json("log");
    let seen = log().as_array().unwrap().len();
    let would = stage.json(&skip(root, "--reason 'bought instead'"));
    assert!(would["would_skip"].as_array().unwrap().iter().any(|id| *id == *attempt), "{would}");
    stage.refused(2, &skip(root, ""));
    stage.refused(3, &skip("rg-none", "--reason tired"));
    stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
    stage.refused(4, &skip(&attempt, "--reason 'done already'"));
    let written: Vec<Value> =
        log().as_array().unwrap()[seen..].iter().map(|event| event["cause"].clone()).collect();
    assert_eq!(
        written,
        ["issues close", "issues close"],
        "nothing but the close, and what the document says of it"
    );
}

#[test]
fn a_cascade_gives_up_the_rounds_of_a_scope_and_nothing_else_closes_it() {
    let gated = Gated::opened(2);
    let (stage, goal) = (&gated.stage, &gated.goal);
    let beyond = stage.id(&format!("issues create 'Write the parser' --parent {}", gated.root));
    stage.ok(&format!("issues dep {goal} blocks {beyond}"));
    let attempt = stage.ready("attempt");
    stage.cmd(&format!("issues claim {attempt}")).by("worker").ok();
    let ran = stage.refused(4, &format!("issues close {goal} --outcome skipped --reason 'bought instead'"));
    assert!(ran.stderr.contains("--cascade"), "{}", ran.stderr);
    stage.refused(2, &format!("issues close {goal} --outcome skipped --cascade --reason ' '"));
    stage.ok(&format!("issues close {goal} --outcome skipped --cascade --reason 'bought instead'"));
    assert_eq!(gated.rounds()["state"], "abandoned");
    let attempt = stage.json(&format!("issues get {attempt}"));
    assert_eq!((&attempt["outcome"], &attempt["claim"]), (&"skipped".into(), &serde_json::Value::Null));
    assert!(gated.is_ready(&beyond));
    stage.refused(4, &format!("issues close {goal} --outcome skipped --cascade --reason again"));
    stage.ok(&format!("issues close {beyond} --outcome failure --reason 'no luck'"));
    stage.ok(&format!("issues close {beyond} --outcome failure"));
    stage.refused(4, &format!("issues close {beyond} --outcome failure --reason 'another reason'"));
}
