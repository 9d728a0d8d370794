//! Work that waits for work in another tree: who must move is whoever must move there.

use serde_json::json;

use crate::gated::Gated;
use crate::stage::{Ran, Stage};

/// A tick of this root, which must end with this exit code.
#[track_caller]
fn tick(stage: &Stage, root: &str, exit: i32) -> Ran {
    let ran = stage.cmd(&format!("tick --root {root} --exit-status")).run();
    assert_eq!(ran.exit, exit, "{ran:?}");
    ran
}

/// Like [`Gated::escalated`], and a root that waits for the goal.
fn waiting_for_a_human() -> (Gated, String, String) {
    let (gated, ask, _) = Gated::escalated();
    let waiting = gated.stage.id("issues create 'Write the manual'");
    gated.stage.ok(&format!("issues dep {} blocks {waiting}", gated.goal));
    (gated, ask, waiting)
}

#[test]
fn what_waits_for_an_ask_in_another_tree_waits_for_that_human() {
    let (gated, ask, waiting) = waiting_for_a_human();
    let stage = &gated.stage;
    let ran = tick(stage, &waiting, 11);
    let said = format!(
        "waits for {} in another tree, {}, which waits for a human to answer {ask}",
        gated.goal, gated.root
    );
    assert!(ran.stdout.contains(&said), "{ran:?}");
    let view = stage.json(&format!("tick --root {waiting}"));
    assert_eq!(view["waiting_on"], json!({ "actor": "human", "issue": ask }));
    let ran = stage.cmd(&format!("run --root {waiting}")).run();
    assert_eq!(ran.exit, 11, "{ran:?}");
    assert!(ran.stdout.contains(&format!("roundgate asks show {ask}")), "{ran:?}");
    assert!(!ran.stderr.contains("others hold"), "{ran:?}");

    // And through a tree between them.
    let last = stage.id("issues create 'Print the manual'");
    stage.ok(&format!("issues dep {waiting} blocks {last}"));
    tick(stage, &last, 11);
    // Once it is answered, a tick there is what comes next, and then it is a worker here.
    stage.ok(&format!("answer {ask} accept"));
    let ran = tick(stage, &last, 10);
    assert!(ran.stdout.contains("which moves on with the next tick (waive)"), "{ran:?}");
    stage.ok(&format!("tick --root {}", gated.root));
    let ran = tick(stage, &last, 10);
    assert!(ran.stdout.contains(&format!("a worker to take {waiting}")), "{ran:?}");
}

#[test]
fn a_failure_in_another_tree_waits_for_a_tick_and_then_for_a_human() {
    let stage = Stage::new();
    let root = stage.id("issues create 'Ship it' --tag kind:root --tag proto:hierarchical-work-v1");
    let failing = stage.id(&format!("issues create 'Write the lexer' --parent {root}"));
    let waiting = stage.id("issues create 'Write the manual'");
    stage.ok(&format!("issues dep {failing} blocks {waiting}"));
    let ran = tick(&stage, &waiting, 10);
    assert!(ran.stdout.contains(&format!("a worker to take {failing}")), "{ran:?}");
    stage.ok(&format!("issues close {failing} --outcome failure --reason 'no idea'"));
    tick(&stage, &waiting, 10);
    stage.ok(&format!("tick --root {root}"));
    tick(&stage, &waiting, 11);
    // What a worker can do elsewhere comes before what a human must.
    let other = stage.id("issues create 'Draw the figures'");
    stage.ok(&format!("issues dep {other} blocks {waiting}"));
    let ran = tick(&stage, &waiting, 10);
    assert!(ran.stdout.contains(&format!("a worker to take {other}")), "{ran:?}");
}

#[test]
fn two_trees_that_wait_for_each_other_are_looked_at_once_each() {
    let (gated, _, waiting) = waiting_for_a_human();
    let (stage, root) = (&gated.stage, &gated.root);
    let back = stage.id(&format!("issues create 'Read the manual' --parent {root}"));
    stage.ok(&format!("issues dep {waiting} blocks {back}"));
    tick(stage, &waiting, 11);
    tick(stage, root, 11);
}
