//! What is kept of what can move stays right where work ends, comes back, changes its policy or is paused.

use roundgate::app::doctor;

use crate::gated::Gated;
use crate::stage::Stage;

/// Nothing is kept that does not follow, and a copy of it may be made.
#[track_caller]
fn sound(stage: &Stage) {
    let diagnosis = doctor::examine(&stage.path(".roundgate")).unwrap();
    assert!(diagnosis.sound, "{:?}", diagnosis.checks);
}

#[test]
fn a_judged_round_below_a_root_that_failed_is_acted_on_once_the_root_is_open_again() {
    let gated = Gated::opened(2);
    let (stage, root, scope) = (&gated.stage, &gated.root, &gated.goal);
    stage.cmd(&format!("rounds verdict {} pass", gated.attempted())).by("bob").ok();
    stage.ok(&format!("issues close {root} --outcome failure --reason 'wrong way'"));
    sound(stage);
    stage.ok(&format!("issues update {scope} --priority 1"));
    sound(stage);
    stage.ok(&format!("issues open {root}"));
    sound(stage);
    assert_eq!(stage.json(&format!("tick --root {root}"))["transition"]["kind"], "accept_round");
}

#[test]
fn a_review_made_by_hand_is_ready_once_what_it_lies_below_has_no_policy_any_more() {
    let stage = Stage::new();
    let scope = stage.id("issues create 'A scope' --tag flow:review-gated-v1");
    let tags = "--tag flow:review --tag kind:fork --tag ctx:inherit";
    let review = stage.id(&format!("issues create 'A review' --parent {scope} {tags}"));
    assert_eq!(stage.json("issues ready").as_array().unwrap().len(), 0);
    stage.ok(&format!("issues update {scope} --remove-tag flow:review-gated-v1"));
    sound(&stage);
    assert_eq!(stage.json("issues ready")[0]["id"], review.as_str());
    stage.ok(&format!("issues update {scope} --add-tag flow:review-gated-v1"));
    sound(&stage);
    assert_eq!(stage.json("issues ready").as_array().unwrap().len(), 0);
}

#[test]
fn a_question_deep_below_what_was_skipped_goes_away_behind_a_pause() {
    let stage = Stage::new();
    let root = stage.id("issues create Root --tag kind:root");
    let outer = stage.id(&format!("issues create Outer --parent {root}"));
    let inner = stage.id(&format!("issues create Inner --parent {outer}"));
    let ask = stage.id(&format!("issues create Which --parent {inner} --tag kind:ask"));
    stage.ok(&format!("issues close {inner} --outcome expanded"));
    stage.ok(&format!("issues close {outer} --outcome skipped --reason 'not needed'"));
    stage.ok(&format!("pause {root} --reason holidays"));
    sound(&stage);
    stage.ok(&format!("resume {root}"));
    sound(&stage);
    stage.ok(&format!("tick --root {root}"));
    assert_eq!(stage.json(&format!("issues get {ask}"))["outcome"], "skipped");
}
