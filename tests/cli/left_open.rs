//! What no tick has anything to do for, and is not done all the same: nobody is told that all is well.

use crate::gated::Gated;
use crate::stage::Stage;

/// A root that was closed over an open child.
fn closed_over_its_child() -> (Stage, String) {
    let gated = Gated::opened(2);
    gated.stage.ok(&format!("issues close {} --outcome skipped --reason 'bought instead'", gated.root));
    (gated.stage, gated.root)
}

#[test]
fn a_root_closed_over_open_work_is_seen_by_whoever_asks_for_the_whole_store() {
    let (stage, root) = closed_over_its_child();
    assert_eq!(stage.cmd(&format!("tick --root {root} --exit-status")).run().exit, 11);
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 11);
    let status = stage.json("status");
    let listed = status["roots"].as_array().unwrap().iter().find(|listed| listed["root"] == root.as_str());
    let next = listed.unwrap()["next"].as_str().unwrap();
    assert!(next.contains(&format!("a human to skip {root} once more with --cascade")), "{status}");
}

#[test]
fn what_lies_below_something_ended_goes_as_it_is_said() {
    let (stage, root) = closed_over_its_child();
    stage.ok(&format!("issues close {root} --outcome skipped --reason 'not needed' --cascade"));
    while stage.json(&format!("tick --root {root}"))["final"] != true {}
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 0);
}

#[test]
fn plain_work_that_waits_counts_in_the_exit_status_of_all_and_in_the_status() {
    let stage = Stage::new();
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 0);
    assert!(stage.ok("status").contains("no root has anything left to do"));
    let one = stage.id("issues create one");
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 10);
    assert_eq!(stage.cmd("tick --all").run().exit, 0);
    let said = stage.ok("status");
    assert!(said.contains("1 issue that stands alone is not done"), "{said}");
    assert!(!said.contains("no root has anything left"), "{said}");
    stage.ok("issues create two");
    assert_eq!(stage.json("status")["alone"], 2);
    stage.ok(&format!("issues close {one} --outcome failure"));
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 11, "a failed root is its owner's");
}

#[test]
fn a_failure_below_a_plain_root_is_asked_about_by_the_tick_over_the_whole_store() {
    let stage = Stage::new();
    let root = stage.id("issues create plain");
    let child = stage.id(&format!("issues create child --parent {root}"));
    stage.ok(&format!("issues close {child} --outcome failure --reason 'no way'"));
    let ticked = stage.json("tick --all");
    assert_eq!(ticked[0]["transition"]["kind"], "escalate", "{ticked}");
    assert_eq!(stage.json("asks list").as_array().unwrap().len(), 1);
    assert_eq!(stage.ok("tick --all"), "", "asked once");
}

#[test]
fn work_whose_holders_vanish_again_and_again_is_taken_from_the_ready_and_a_human_is_asked() {
    let stage = Stage::new();
    let one = stage.id("issues create one --step-retries 1");
    for agent in ["ann", "bob"] {
        stage.cmd("issues claim --next --lease 10s").by(agent).ok();
        stage.hours_pass(1);
    }
    for _ in 0..2 {
        let refused = stage.cmd("issues claim --next").by("eve").run();
        assert_eq!(refused.exit, 6, "{}", refused.stderr);
        let refused = stage.cmd(&format!("issues claim {one}")).by("eve").run();
        assert!(
            refused.stderr.contains("lost or failed steps: 2, and 1 retries are allowed"),
            "{}",
            refused.stderr
        );
        assert_eq!(stage.json("issues ready").as_array().unwrap().len(), 0);
        stage.ok("tick --all");
    }
    assert_eq!(stage.json("asks list")[0]["kind"], "steps");
}

#[test]
fn the_exit_status_of_an_operation_stays_what_it_was() {
    let stage = Stage::new();
    let one = stage.id("issues create one");
    let tick = "tick --all --exit-status --operation once";
    assert_eq!(stage.cmd(tick).run().exit, 10);
    stage.ok(&format!("issues close {one}"));
    assert_eq!(stage.cmd(tick).run().exit, 10);
    assert_eq!(stage.cmd("tick --all --exit-status").run().exit, 0);
}
