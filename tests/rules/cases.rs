//! What went wrong for users of other tools, each as the smallest thing that would bring it out here.

use roundgate::model::apply::ApplyError;
use roundgate::model::issue::Outcome::{Expanded, Failure, Skipped, Success};
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::refusal::Refusal;

use crate::stage::{LEASE, Stage, id, who};

fn goals(names: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::with_root();
    names.iter().for_each(|(name, parent)| stage.goal(name, parent));
    stage
}

#[test]
fn a_child_does_not_block_its_parent() {
    let mut stage = goals(&[("p", "root"), ("c", "p")]);
    assert!(matches!(stage.block("c", "p"), Err(Refusal::Shape(ApplyError::OwnAncestor(_)))));
}

#[test]
fn a_failed_blocker_keeps_blocking() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.block("a", "b").unwrap();
    stage.close("a", Failure, "ann").unwrap();
    assert!(!stage.ready("b"));
}

#[test]
fn a_review_is_not_ready_while_a_part_of_the_expanded_attempt_is_open() {
    let mut stage = Stage::with_round();
    stage.goal("c", "t-1");
    stage.close("t-1", Expanded, "ann").unwrap();
    assert!(!stage.ready("t-2"));
    stage.close("c", Success, "ann").unwrap();
    assert!(stage.ready("t-2"));
}

#[test]
fn work_below_a_blocked_goal_is_neither_ready_nor_claimed_nor_closed() {
    let mut stage = goals(&[("a", "root"), ("b", "root"), ("c", "b")]);
    stage.block("a", "b").unwrap();
    assert!(!stage.ready("c"));
    assert!(matches!(stage.claim("c", "ann"), Err(Refusal::NotReady { .. })));
    assert!(matches!(stage.close("c", Success, "ann"), Err(Refusal::NotReady { .. })));
}

#[test]
fn a_skipped_blocker_counts_as_finished() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.block("a", "b").unwrap();
    stage.close("a", Skipped, "ann").unwrap();
    assert!(stage.ready("b"));
    stage.close("b", Success, "ann").unwrap();
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
}

#[test]
fn a_reviewer_that_always_fails_leads_to_a_human() {
    let mut stage = Stage::with_bounds(Policy { no_progress: Some(0), ..Policy::default() });
    for number in 1..=3 {
        let round = stage.round(number).clone();
        stage.close(round.attempt.as_str(), Success, "ann").unwrap();
        stage.judge(round.review.as_str(), NeedsWork, "bob").unwrap();
        stage.tick();
    }
    assert_eq!((stage.rounds(), stage.tick()), (3, "wait"));
    assert!(stage.waits_on().starts_with("human "));
}

#[test]
fn a_root_closed_in_mid_round_spawns_nothing_more() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    stage.close("root", Skipped, "hugh").unwrap();
    assert_eq!((stage.tick(), stage.rounds()), ("wait", 1));
    stage.cascade("root", "hugh").unwrap();
    assert_eq!(stage.ticks(), ["finish", "done"]);
    assert_eq!(stage.rounds(), 1);
}

#[test]
fn a_verdict_that_lands_before_a_tick_is_used_by_it_once() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    assert_eq!(stage.tick(), "wait");
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.ticks(), ["next_round", "wait"]);
    assert_eq!(stage.rounds(), 2);
}

#[test]
fn a_silent_reviewer_is_alive_while_the_lease_is_renewed() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    for _ in 0..5 {
        stage.claim("t-2", "bob").unwrap();
        stage.now += LEASE / 2;
        assert_eq!(stage.ticks(), ["wait"], "no second review, no reclaim");
    }
    stage.now += LEASE;
    assert_eq!(stage.ticks(), ["reclaim", "wait"]);
    assert_eq!((stage.rounds(), stage.ready("t-2")), (1, true));
}

#[test]
fn two_loops_side_by_side_count_for_themselves() {
    let mut stage = Stage::with_root();
    let one = Policy { max_review_rounds: Some(1), ..Policy::default() };
    stage.gated_with("s", "root", one.clone());
    stage.gated_with("u", "root", one);
    assert_eq!(stage.ticks(), ["open_round", "open_round", "wait"]);
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage.close("t-3", Success, "ann").unwrap();
    stage.judge("t-4", Pass, "bob").unwrap();
    assert_eq!(stage.tick(), "accept_round");
    assert!(stage.resolved("u") && !stage.resolved("s"));
}

#[test]
fn the_same_failure_twice_is_never_completed() {
    let mut stage = Stage::with_round();
    for number in 1..=2 {
        let round = stage.round(number).clone();
        stage.close(round.attempt.as_str(), Failure, "ann").unwrap();
        stage.tick();
    }
    assert!(!stage.resolved("s") && stage.ask("t-5").question.contains("failed in the same way"));
}

#[test]
fn an_agent_does_not_settle_an_ask_by_close_or_update() {
    let mut stage = Stage::with_exhausted_rounds();
    assert_eq!(stage.close("t-3", Success, "ann"), Err(Refusal::AskIsAnswered(id("t-3"))));
    assert_eq!(stage.retag("t-3", "node:root", "kind:ask"), Err(Refusal::AskStaysAsk(id("t-3"))));
}

#[test]
fn an_ask_stays_open_for_days_and_nothing_is_dispatched_again() {
    let mut stage = Stage::with_exhausted_rounds();
    for _ in 0..10 {
        stage.now += 86_400_000;
        assert_eq!(stage.ticks(), ["wait"]);
    }
    assert_eq!((stage.status("t-3"), stage.snapshot.graph().len()), ("open", 5));
}

#[test]
fn of_many_who_claim_one_wins_and_the_others_are_told_who() {
    let mut stage = goals(&[("a", "root")]);
    let crowd = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"];
    let results: Vec<_> = crowd.iter().map(|actor| stage.claim("a", actor)).collect();
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let told = Err(Refusal::HeldBy { id: id("a"), by: who("p1") });
    assert_eq!(results.iter().filter(|result| **result == told).count(), 7);
}

#[test]
fn only_leases_that_ran_out_are_reclaimed() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.claim("a", "ann").unwrap();
    stage.now += LEASE / 2;
    stage.claim("b", "bob").unwrap();
    stage.now += LEASE / 2;
    assert_eq!(stage.ticks(), ["reclaim", "wait"]);
    assert_eq!((stage.status("a"), stage.status("b")), ("open", "in_progress"));
}

#[test]
fn two_ticks_on_one_verdict_open_one_round() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!((stage.tick(), stage.tick()), ("next_round", "wait"));
    assert_eq!(stage.rounds(), 2);
}
