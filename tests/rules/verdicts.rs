//! Verdicts and rounds (section 4).

use roundgate::model::act::packet;
use roundgate::model::issue::Outcome::{Expanded, Failure, NeedsWork as Bad, Skipped, Success};
use roundgate::model::issue::Policy;
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::record::{RoundEnd, ScopeEnd};
use roundgate::model::refusal::Refusal;

use crate::stage::{Stage, id, who};

/// Round 1 with its attempt done by ann.
fn attempted() -> Stage {
    let mut stage = Stage::with_round();
    stage.close("t-1", Success, "ann").unwrap();
    stage
}

fn bounds(rounds: u32, no_progress: u32) -> Policy {
    let (rounds, no_progress) = (Some(rounds), Some(no_progress));
    Policy { max_review_rounds: rounds, no_progress, ..Policy::default() }
}

#[test]
fn the_first_round_opens_below_the_scope_with_its_edge() {
    let stage = Stage::with_round();
    assert_eq!((stage.parent("t-1"), stage.parent("t-2")), (Some("s"), Some("s")));
    assert!(stage.blocks("t-1", "t-2") && stage.status("s") == "expanded");
    let (attempt, review) = (stage.issue("t-1"), stage.issue("t-2"));
    assert!(["flow:attempt", "kind:spawn", "node:agent"].iter().all(|tag| attempt.tags.has(tag)));
    assert!(["flow:review", "kind:fork", "ctx:inherit"].iter().all(|tag| review.tags.has(tag)));
}

#[test]
fn a_container_stays_open_under_its_rounds() {
    let mut stage = Stage::with_root();
    stage.add("box", Some("root"), "node:root flow:review-gated-v1").unwrap();
    assert_eq!(stage.tick(), "open_round");
    assert_eq!(stage.status("box"), "open");
}

#[test]
fn what_a_scope_has_already_blocks_its_first_review() {
    let mut stage = Stage::with_root();
    stage.gated("s", "root");
    stage.goal("done", "s");
    stage.goal("open", "s");
    stage.close("done", Success, "ann").unwrap();
    stage.tick();
    assert!(stage.blocks("open", "t-2") && !stage.blocks("done", "t-2"));
}

#[test]
fn a_pair_made_by_hand_is_adopted_as_the_first_round() {
    let mut stage = Stage::with_root();
    stage.gated("s", "root");
    stage.add("a", Some("s"), "kind:spawn flow:attempt").unwrap();
    stage.add("r", Some("s"), "kind:fork ctx:inherit flow:review").unwrap();
    stage.block("a", "r").unwrap();
    stage.close("a", Success, "ann").unwrap();
    assert_eq!(stage.why("r"), ["waits_for_tick"]);
    assert_eq!(stage.tick(), "adopt_round");
    assert_eq!((&stage.round(1).attempt, &stage.round(1).review), (&id("a"), &id("r")));
    assert!(matches!(stage.judge("r", Pass, "ann"), Err(Refusal::SelfReview { .. })));
    stage.judge("r", Pass, "bob").unwrap();
}

#[test]
fn a_pass_is_accepted_by_the_next_tick() {
    let mut stage = attempted();
    stage.judge("t-2", Pass, "bob").unwrap();
    assert_eq!((stage.status("t-2"), stage.resolved("s")), ("open", false));
    assert_eq!(stage.tick(), "accept_round");
    assert_eq!((stage.status("t-2"), stage.ended("s")), ("success", Some(ScopeEnd::Passed)));
    assert!(stage.resolved("s"));
}

#[test]
fn a_failed_review_never_stays_closed_as_needs_work() {
    let mut stage = attempted();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "next_round");
    assert_eq!(stage.status("t-2"), "expanded");
    assert_eq!((stage.parent("t-3"), stage.parent("t-4")), (Some("t-2"), Some("t-2")));
    assert!(stage.blocks("t-3", "t-4") && stage.ready("t-3"));
    assert_eq!(stage.issue("t-3").work.notes, ["no tests"]);
    assert_eq!(stage.issue("t-4").work.notes, Vec::<String>::new());
}

#[test]
fn open_work_beside_the_rounds_is_waited_for_by_the_next_review() {
    let mut stage = Stage::with_round();
    stage.goal("x", "s");
    stage.close("t-1", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "next_round");
    assert!(!stage.blocks("x", "t-2") && stage.blocks("x", "t-4"));
    assert!(stage.ready("t-3") && stage.supersedes("t-3", "t-1") && !stage.blocks("t-1", "t-2"));
}

#[test]
fn a_round_fails_with_its_attempt_once_nothing_in_it_can_move() {
    let mut stage = Stage::with_round();
    for name in ["c", "d", "e"] {
        stage.goal(name, "t-1");
    }
    stage.block("c", "e").unwrap();
    stage.close("t-1", Expanded, "ann").unwrap();
    stage.close("c", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "wait", "d can still be done");
    stage.close("d", Success, "ann").unwrap();
    assert_eq!(stage.tick(), "next_round");
    assert_eq!(
        (stage.status("t-1"), stage.status("e"), stage.status("c")),
        ("expanded", "skipped", "failure")
    );
}

#[test]
fn the_bound_is_the_number_of_rounds_that_run() {
    for rounds in [1, 2, 3] {
        let mut stage = Stage::with_bounds(bounds(rounds, 0));
        for round in 1..=rounds {
            let now = stage.round(round).clone();
            stage.close(now.attempt.as_str(), Success, "ann").unwrap();
            stage.judge(now.review.as_str(), NeedsWork, "bob").unwrap();
            assert_eq!(stage.tick(), if round < rounds { "next_round" } else { "escalate" });
        }
        assert_eq!((stage.rounds(), stage.ticks()), (rounds as usize, vec!["wait"]));
    }
}

#[test]
fn the_same_failure_twice_in_a_row_asks_early_unless_switched_off() {
    for (no_progress, second) in [(2, "escalate"), (0, "next_round")] {
        let mut stage = Stage::with_bounds(bounds(5, no_progress));
        stage.close("t-1", Success, "ann").unwrap();
        stage.judge_for("t-2", NeedsWork, "bob", "src/a.rs:12 broke").unwrap();
        stage.tick();
        stage.close("t-3", Success, "ann").unwrap();
        stage.judge_for("t-4", NeedsWork, "bob", "SRC/b.rs:99   broke").unwrap();
        assert_eq!(stage.tick(), second);
    }
}

#[test]
fn a_reason_that_says_nothing_equals_no_other() {
    let mut stage = Stage::with_bounds(bounds(5, 2));
    for round in [1, 2, 3] {
        let now = stage.round(round).clone();
        stage.close(now.attempt.as_str(), Success, "ann").unwrap();
        stage.judge_for(now.review.as_str(), NeedsWork, "bob", "").unwrap();
        assert_eq!(stage.tick(), "next_round");
    }
}

#[test]
fn a_review_is_not_judged_before_its_attempt_is_resolved() {
    let mut stage = Stage::with_round();
    let pending = Refusal::AttemptPending { review: id("t-2"), attempt: id("t-1") };
    assert_eq!(stage.judge("t-2", Pass, "bob"), Err(pending.clone()));
    stage.close("t-1", Failure, "ann").unwrap();
    assert_eq!(stage.judge("t-2", Pass, "bob"), Err(pending));
}

#[test]
fn a_review_that_other_work_blocks_is_not_judged() {
    let mut stage = attempted();
    stage.goal("x", "s");
    assert!(matches!(stage.judge("t-2", Pass, "bob"), Err(Refusal::NotReady { .. })));
}

#[test]
fn a_review_that_somebody_holds_is_judged_by_the_holder_who_lets_go_of_it() {
    let mut stage = attempted();
    stage.claim("t-2", "bob").unwrap();
    assert_eq!(stage.judge("t-2", Pass, "cy"), Err(Refusal::HeldBy { id: id("t-2"), by: who("bob") }));
    stage.judge("t-2", Pass, "bob").unwrap();
    assert_eq!((stage.status("t-2"), stage.why("t-2")), ("open", vec!["verdict_recorded"]));
}

#[test]
fn nobody_judges_an_attempt_they_held_or_closed_anything_of() {
    let mut stage = Stage::with_round();
    stage.goal("c", "t-1");
    stage.claim("t-1", "cy").unwrap_err();
    stage.claim("c", "dee").unwrap();
    stage.release("c", "dee", None).unwrap();
    stage.close("c", Success, "eve").unwrap();
    stage.close("t-1", Success, "ann").unwrap();
    for actor in ["ann", "dee", "eve"] {
        assert!(matches!(stage.claim("t-2", actor), Err(Refusal::SelfReview { .. })), "{actor}");
        assert!(matches!(stage.judge("t-2", Pass, actor), Err(Refusal::SelfReview { .. })), "{actor}");
    }
    stage.judge("t-2", Pass, "cy").unwrap();
}

#[test]
fn a_scope_can_allow_self_review() {
    let mut stage = Stage::with_bounds(Policy { allow_self_review: Some(true), ..Policy::default() });
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", Pass, "ann").unwrap();
}

#[test]
fn the_first_verdict_stands_the_same_is_no_change_and_another_a_conflict() {
    let mut stage = attempted();
    assert_eq!(stage.judge("t-2", Pass, "bob"), Ok(true));
    assert_eq!(stage.judge("t-2", Pass, "cy"), Ok(false));
    let other = Refusal::AlreadyJudged { review: id("t-2"), opinion: Pass, by: who("bob"), used: false };
    assert_eq!(stage.judge("t-2", NeedsWork, "cy"), Err(other));
}

#[test]
fn a_verdict_is_withdrawn_by_its_author_until_a_tick_has_used_it() {
    let mut stage = attempted();
    assert_eq!(stage.withdraw("t-2", "bob"), Err(Refusal::NothingToWithdraw(id("t-2"))));
    stage.judge("t-2", Pass, "bob").unwrap();
    assert_eq!(stage.withdraw("t-2", "cy"), Err(Refusal::NotTheAuthor { id: id("t-2"), by: who("bob") }));
    stage.withdraw("t-2", "bob").unwrap();
    assert_eq!(stage.tick(), "wait");
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "next_round");
    assert_eq!(stage.withdraw("t-2", "bob"), Err(Refusal::RoundEnded(id("t-2"))));
}

#[test]
fn closing_a_review_by_hand_is_its_verdict() {
    for (outcome, opinion) in [(Success, Pass), (Failure, NeedsWork), (Bad, NeedsWork)] {
        let mut stage = attempted();
        stage.close("t-2", outcome, "bob").unwrap();
        assert_eq!(stage.round(1).verdict.as_ref().unwrap().opinion, opinion);
        assert_eq!(stage.status("t-2"), "open");
    }
    for outcome in [Skipped, Expanded] {
        let refused = Refusal::ReviewIsJudged { id: id("t-2"), outcome };
        assert_eq!(attempted().close("t-2", outcome, "bob"), Err(refused));
    }
}

#[test]
fn a_missing_half_written_or_contradictory_packet_is_never_a_pass() {
    for body in ["", "{}", "looks good", " VERDICT: pass", "I say VERDICT: pass"] {
        assert_eq!(packet::verdict(body), Ok(None), "{body:?}");
    }
    for body in
        ["VERDICT:", "VERDICT: pas", "VERDICT: pass\nVERDICT: needs_work", "VERDICT: pass\nVERDICT: pass"]
    {
        assert!(matches!(packet::verdict(body), Err(Refusal::BadPacket(_))), "{body:?}");
    }
}

#[test]
fn a_failed_round_keeps_its_notes_and_signature() {
    let mut stage = attempted();
    stage.judge_for("t-2", NeedsWork, "bob", "Line 12 is wrong").unwrap();
    stage.tick();
    let (notes, signature) = ("Line 12 is wrong".to_owned(), Some("line # is wrong".to_owned()));
    assert_eq!(stage.round(1).end, Some(RoundEnd::Failed { notes, signature }));
}

#[test]
fn bounds_are_1_to_100_and_fixed_once_the_scope_has_opened() {
    use roundgate::model::act::update::Update;
    let mut stage = Stage::with_root();
    for bad in [0, 101] {
        let refused = stage.create("s", Some("root"), "flow:review-gated-v1", bounds(bad, 0)).unwrap_err();
        assert!(matches!(refused, Refusal::OutOfRange { name: "max_review_rounds", .. }));
    }
    let mut stage = Stage::with_round();
    let update = Update { policy: Some(bounds(50, 0)), ..Update::default() };
    assert_eq!(stage.update("s", update), Err(Refusal::BoundsFixed(id("s"))));
}
