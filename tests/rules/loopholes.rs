//! Ways round a rule that somebody could try.

use roundgate::model::apply::ApplyError;
use roundgate::model::issue::Outcome::{Expanded, Failure, Skipped, Success};
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::record::{Answer, ScopeEnd};
use roundgate::model::refusal::Refusal;
use roundgate::model::tag::TagSetError;

use crate::stage::{LEASE, Stage, id, who};

fn exhausted_inside(goal: &str) -> Stage {
    let mut stage = Stage::with_root();
    stage.goal(goal, "root");
    stage.gated_with("s", goal, Policy { max_review_rounds: Some(1), ..Policy::default() });
    stage.tick();
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.ticks(), ["escalate", "wait"]);
    stage
}

#[test]
fn whoever_skipped_the_attempt_may_not_judge_it() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Skipped, "ann").unwrap();
    let refused = stage.judge("t-2", Pass, "ann").unwrap_err();
    assert!(matches!(refused, Refusal::SelfReview { .. }), "{refused:?}");
    stage.judge("t-2", Pass, "bob").unwrap();
}

#[test]
fn a_question_cannot_be_a_scope_and_so_be_closed_by_opening_it() {
    let mut stage = Stage::with_root();
    let refused = stage.add("q", Some("root"), "kind:ask flow:review-gated-v1").unwrap_err();
    assert!(matches!(refused, Refusal::Tags(TagSetError::AskWithPolicy(_))), "{refused:?}");
    stage.add("q", Some("root"), "kind:ask").unwrap();
    assert!(stage.retag("q", "flow:review-gated-v1", "").is_err());
}

#[test]
fn a_review_that_is_itself_a_scope_is_not_adopted() {
    let mut stage = Stage::with_root();
    stage.gated("s", "root");
    stage.add("a", Some("s"), "kind:spawn flow:attempt").unwrap();
    stage.add("r", Some("s"), "kind:fork ctx:inherit flow:review flow:review-gated-v1").unwrap();
    stage.block("a", "r").unwrap();
    assert_eq!(stage.tick(), "open_round");
}

#[test]
fn a_review_that_other_work_of_the_scope_waits_for_is_not_adopted() {
    let mut stage = Stage::with_root();
    stage.gated("s", "root");
    stage.add("a", Some("s"), "kind:spawn flow:attempt").unwrap();
    stage.add("r", Some("s"), "kind:fork ctx:inherit flow:review").unwrap();
    stage.goal("after", "s");
    stage.block("a", "r").unwrap();
    stage.block("r", "after").unwrap();
    assert_eq!(stage.tick(), "open_round", "adopting it would make a circle of waiting");
}

#[test]
fn a_failed_root_spawns_nothing_more_whatever_is_answered_below() {
    let mut stage = Stage::with_exhausted_rounds();
    stage.close("root", Failure, "hugh").unwrap();
    assert_eq!(stage.answer("t-3", "open-extra-round"), Err(Refusal::AskSettled(id("t-3"))));
    assert_eq!((stage.tick(), stage.waits_on().as_str()), ("wait", "human root"));
    stage.open("root").unwrap();
    stage.answer("t-3", "open-extra-round").unwrap();
    assert_eq!(stage.tick(), "grant_rounds");
}

#[test]
fn an_answer_that_no_tick_used_before_the_root_failed_waits_for_its_reopening() {
    let mut stage = Stage::with_exhausted_rounds();
    stage.answer("t-3", "open-extra-round").unwrap();
    stage.close("root", Failure, "hugh").unwrap();
    assert_eq!(stage.tick(), "wait");
    stage.open("root").unwrap();
    assert_eq!(stage.tick(), "grant_rounds");
}

#[test]
fn what_is_open_below_a_failure_ends_with_the_answer_to_it() {
    for choice in ["skip", "retry"] {
        let mut stage = exhausted_inside("g");
        stage.close("g", Failure, "ann").unwrap();
        assert_eq!(stage.ticks(), ["escalate", "wait"]);
        stage.answer("t-4", choice).unwrap();
        stage.tick();
        assert_eq!(stage.status("t-3"), "skipped", "{choice}: nobody could answer the inner ask any more");
        assert_eq!(stage.ended("s"), Some(ScopeEnd::Abandoned));
    }
}

#[test]
fn what_is_open_below_a_failure_ends_with_its_retry() {
    let mut stage = exhausted_inside("g");
    stage.close("g", Failure, "ann").unwrap();
    stage.retry("g", "again").unwrap();
    assert_eq!(stage.status("t-3"), "skipped");
    stage.close("again", Success, "ann").unwrap();
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
}

#[test]
fn expanding_into_the_step_ask_does_not_break_the_tick_that_skips_it() {
    let mut stage = Stage::with_root();
    stage.goal("g", "root");
    for _ in 0..3 {
        stage.claim("g", "ann").unwrap();
        stage.now += LEASE;
        assert_eq!(stage.tick(), "reclaim");
    }
    assert_eq!(stage.ticks(), ["escalate", "wait"]);
    stage.close("g", Expanded, "ann").unwrap();
    stage.answer("t-1", "skip").unwrap();
    assert_eq!(stage.ticks(), ["skip", "roll_up", "finish", "done"]);
}

#[test]
fn giving_up_what_waits_leaves_the_review_that_waits_to_its_rounds() {
    let mut stage = Stage::with_root();
    stage.gated("outer", "root");
    stage.gated_with("s", "outer", Policy { max_review_rounds: Some(1), ..Policy::default() });
    stage.goal("after", "root");
    stage.block("s", "after").unwrap();
    assert_eq!(stage.ticks(), ["open_round", "open_round", "wait"]);
    let (attempt, review) = (stage.round(1).attempt.clone(), stage.round(1).review.clone());
    stage.close(attempt.as_str(), Success, "ann").unwrap();
    stage.judge(review.as_str(), NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "escalate");
    let (choice, by) = ("abandon".to_owned(), who("hugh"));
    let given = Answer { choice, note: "no".into(), by, at: stage.now, rounds: None, with_dependents: true };
    stage.answer_with("t-5", given).unwrap();
    assert_eq!(stage.tick(), "abandon");
    assert_eq!(stage.status("after"), "skipped");
    let outer = stage.snapshot.last_round(&id("outer")).unwrap().clone();
    assert_eq!(stage.status(outer.review.as_str()), "open");
    stage.close(outer.attempt.as_str(), Success, "ann").unwrap();
    stage.judge(outer.review.as_str(), Pass, "bob").unwrap();
    assert_eq!(stage.ticks(), ["accept_round", "roll_up", "finish", "done"]);
}

#[test]
fn work_below_a_judged_review_stays_closed() {
    let mut stage = Stage::with_round();
    stage.goal("check", "t-2");
    stage.close("t-1", Success, "ann").unwrap();
    stage.close("check", Success, "bob").unwrap();
    stage.judge("t-2", Pass, "bob").unwrap();
    let refused = stage.open("check").unwrap_err();
    assert!(matches!(refused, Refusal::RoundDecided { .. }), "{refused:?}");
}

#[test]
fn work_does_not_move_below_what_waits_for_it() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "root");
    stage.block("a", "b").unwrap();
    stage.close("a", Success, "ann").unwrap();
    let refused = stage.move_to("a", "b").unwrap_err();
    assert!(matches!(refused, Refusal::Shape(ApplyError::OwnAncestor(_))), "{refused:?}");
}

#[test]
fn a_successor_and_what_it_replaced_stay_side_by_side() {
    let mut stage = Stage::with_round();
    stage.goal("c", "t-1");
    stage.goal("d", "t-1");
    stage.close("t-1", Expanded, "ann").unwrap();
    stage.close("c", Failure, "ann").unwrap();
    stage.retry("c", "c2").unwrap();
    let moved = stage.move_to("c2", "root").unwrap_err();
    assert!(matches!(moved, Refusal::StaysBeside { .. }), "outside, it could be reopened after the verdict");
    assert!(matches!(stage.move_to("c", "root").unwrap_err(), Refusal::Superseded { .. }));
}

#[test]
fn whoever_holds_work_may_finish_it_though_something_came_to_block_it() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "root");
    stage.claim("b", "ann").unwrap();
    stage.block("a", "b").unwrap();
    assert!(matches!(stage.close("b", Success, "bob").unwrap_err(), Refusal::HeldBy { .. }));
    stage.close("b", Success, "ann").unwrap();
}

#[test]
fn giving_up_what_waits_answers_no_other_scopes_ask() {
    let mut stage = Stage::with_exhausted_rounds();
    stage.gated_with("other", "root", Policy { max_review_rounds: Some(1), ..Policy::default() });
    stage.tick();
    stage.close("t-4", Success, "ann").unwrap();
    stage.judge("t-5", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage.block("s", "t-6").unwrap();
    let (choice, by) = ("abandon".to_owned(), who("hugh"));
    let given = Answer { choice, note: "no".into(), by, at: stage.now, rounds: None, with_dependents: true };
    stage.answer_with("t-3", given).unwrap();
    assert_eq!(stage.tick(), "abandon");
    assert_eq!((stage.status("t-6"), stage.resolved("other")), ("open", false));
}

#[test]
fn a_failed_root_that_was_tried_again_waits_for_its_successor() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.close("a", Success, "ann").unwrap();
    stage.close("root", Failure, "hugh").unwrap();
    assert_eq!(stage.waits_on(), "human root");
    stage.retry("root", "again").unwrap();
    assert_eq!(stage.waits_on(), "human again");
    stage.close("again", Success, "hugh").unwrap();
    assert!(stage.is_final("root"));
}
