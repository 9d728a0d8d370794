//! What a round decides of the work in, below and beside it, and what it leaves alone (section 4).

use roundgate::model::issue::Outcome::{Expanded, Failure, Success};
use roundgate::model::record::Opinion::NeedsWork;
use roundgate::model::refusal::Refusal;

use crate::stage::{Stage, id};

/// Round 1 failed, and round 2 lies below its review: `t-3` and `t-4`.
fn second_round() -> Stage {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "next_round");
    stage
}

#[test]
fn a_round_that_failed_decides_nothing_of_the_next() {
    let mut stage = second_round();
    stage.goal("part", "t-3");
    stage.close("t-3", Expanded, "ann").unwrap();
    stage.close("part", Success, "ann").unwrap();
    assert_eq!(stage.open("part"), Ok(true));
}

#[test]
fn a_review_whose_round_failed_takes_no_more_children() {
    let mut stage = second_round();
    let refused = Refusal::NoMoreChildren { parent: id("t-2"), found: "a review whose round has ended" };
    assert_eq!(stage.add("x", Some("t-2"), "kind:goal"), Err(refused));
}

#[test]
fn a_reviewer_plans_below_the_review_and_keeps_it() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    stage.claim("t-2", "bob").unwrap();
    stage.goal("check", "t-2");
    assert_eq!(stage.status("t-2"), "in_progress");
}

#[test]
fn a_question_beside_the_rounds_is_no_work_of_theirs() {
    let mut stage = Stage::with_round();
    stage.add("which", Some("s"), "kind:ask").unwrap();
    stage.close("t-1", Success, "ann").unwrap();
    stage.answer("which", "done").unwrap();
    assert_eq!(stage.tick(), "settle");
    stage.claim("t-2", "bob").unwrap();
    stage.move_to("which", "root").unwrap();
    assert_eq!(stage.status("t-2"), "in_progress", "the review stays with its reviewer");
}

#[test]
fn what_lies_below_a_failure_takes_no_children_though_it_is_not_let_go() {
    let mut stage = Stage::with_root();
    for (name, parent) in [("a", "root"), ("b", "a"), ("c", "b")] {
        stage.goal(name, parent);
    }
    stage.close("b", Expanded, "ann").unwrap();
    stage.close("a", Failure, "ann").unwrap();
    assert!(!stage.let_go("c"));
    let refused = Refusal::NoMoreChildren { parent: id("c"), found: "part of something that has ended" };
    assert_eq!(stage.add("d", Some("c"), "kind:goal"), Err(refused));
}
