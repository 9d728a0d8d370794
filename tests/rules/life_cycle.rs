//! Section 3's life cycle: close, skip, children, reopen; ids.

use roundgate::model::apply::ApplyError;
use roundgate::model::issue::Outcome::{Expanded, Failure, NeedsWork, Skipped, Success};
use roundgate::model::record::Opinion::Pass;
use roundgate::model::refusal::Refusal;

use crate::stage::{Stage, id, who};

fn parent_and_child() -> Stage {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "a");
    stage
}

#[test]
fn success_needs_resolved_children() {
    let mut stage = parent_and_child();
    let refused = stage.close("a", Success, "ann").unwrap_err();
    let child =
        Refusal::ChildInTheWay { id: id("a"), outcome: Success, child: id("b"), found: "not resolved" };
    assert_eq!(refused, child);
    stage.close("b", Failure, "ann").unwrap();
    assert_eq!(stage.close("a", Success, "ann").unwrap_err(), child);
}

#[test]
fn failure_and_needs_work_need_closed_children() {
    for outcome in [Failure, NeedsWork] {
        let mut stage = parent_and_child();
        let refused = stage.close("a", outcome, "ann").unwrap_err();
        assert_eq!(refused, Refusal::ChildInTheWay { id: id("a"), outcome, child: id("b"), found: "open" });
        stage.close("b", Failure, "ann").unwrap();
        stage.close("a", outcome, "ann").unwrap();
    }
}

#[test]
fn a_blocked_issue_may_be_expanded_ahead_and_closed_in_no_other_way() {
    let mut stage = parent_and_child();
    stage.goal("first", "root");
    stage.block("first", "a").unwrap();
    stage.close("first", Failure, "ann").unwrap();
    for outcome in [Success, Failure, NeedsWork] {
        assert!(matches!(stage.close("a", outcome, "ann").unwrap_err(), Refusal::NotReady { .. }));
    }
    stage.close("a", Expanded, "ann").unwrap();
    assert_eq!(stage.why("b"), ["blocked"]);
}

#[test]
fn closing_without_an_outcome_is_success_except_on_a_review() {
    let mut stage = Stage::with_round();
    stage.close_as("t-1", None, "ann", false, None).unwrap();
    assert_eq!(stage.status("t-1"), "success");
    let refused = stage.close_as("t-2", None, "bob", false, None).unwrap_err();
    assert_eq!(refused, Refusal::ReviewNeedsOutcome(id("t-2")));
}

#[test]
fn closing_the_same_way_again_changes_nothing_and_another_way_is_a_conflict() {
    let mut stage = parent_and_child();
    assert_eq!(stage.close("b", Success, "ann"), Ok(true));
    assert_eq!(stage.close("b", Success, "bob"), Ok(false));
    let refused = stage.close("b", Failure, "bob").unwrap_err();
    assert_eq!(refused, Refusal::AlreadyClosed { id: id("b"), outcome: Success });
}

#[test]
fn skipping_wants_a_reason() {
    let stage = parent_and_child();
    let closing = roundgate::model::act::close::Closing {
        outcome: Some(Skipped),
        reason: Some("  ".to_owned()),
        cascade: false,
        actor: who("ann"),
        epoch: None,
        now: 0,
    };
    let refused = roundgate::model::act::close::close(&stage.snapshot, &id("b"), &closing).unwrap_err();
    assert_eq!(refused, Refusal::SkipNeedsReason(id("b")));
}

#[test]
fn a_blocked_issue_with_open_children_may_be_skipped() {
    let mut stage = parent_and_child();
    stage.goal("first", "root");
    stage.block("first", "a").unwrap();
    stage.close("a", Skipped, "ann").unwrap();
    assert_eq!(stage.status("b"), "open");
}

#[test]
fn asks_reviews_and_work_that_others_hold_are_not_skipped() {
    let mut stage = Stage::with_round();
    stage.add("q", Some("root"), "kind:ask").unwrap();
    assert_eq!(stage.close("q", Skipped, "ann"), Err(Refusal::AskIsAnswered(id("q"))));
    let review = Refusal::ReviewIsJudged { id: id("t-2"), outcome: Skipped };
    assert_eq!(stage.close("t-2", Skipped, "ann"), Err(review));
    stage.claim("t-1", "bob").unwrap();
    assert_eq!(stage.close("t-1", Skipped, "ann"), Err(Refusal::HeldBy { id: id("t-1"), by: who("bob") }));
    stage.close("t-1", Skipped, "bob").unwrap();
}

#[test]
fn a_cascade_takes_along_what_is_below_with_its_asks_and_claims() {
    let mut stage = parent_and_child();
    stage.goal("c", "a");
    stage.add("q", Some("b"), "kind:ask").unwrap();
    stage.claim("c", "bob").unwrap();
    stage.cascade("a", "ann").unwrap();
    assert!(["a", "b", "c", "q"].iter().all(|name| stage.status(name) == "skipped"));
    assert!(stage.issue("q").state.reason().unwrap().starts_with("moot: "));
    assert!(stage.issue("c").state.claim().is_none());
}

#[test]
fn a_child_may_be_added_below_an_open_or_an_unresolved_expanded_node() {
    let mut stage = parent_and_child();
    stage.close("a", Expanded, "ann").unwrap();
    stage.goal("c", "a");
    stage.close("b", Success, "ann").unwrap();
    stage.close("c", Success, "ann").unwrap();
    let refused = stage.add("d", Some("a"), "kind:goal").unwrap_err();
    assert_eq!(refused, Refusal::NoMoreChildren { parent: id("a"), found: "expanded and resolved" });
    let refused = stage.add("d", Some("b"), "kind:goal").unwrap_err();
    assert_eq!(refused, Refusal::NoMoreChildren { parent: id("b"), found: "closed, and not as expanded" });
}

#[test]
fn a_question_and_what_has_ended_take_no_children() {
    let mut stage = parent_and_child();
    stage.add("q", Some("root"), "kind:ask").unwrap();
    let refused = stage.add("c", Some("q"), "kind:goal").unwrap_err();
    assert_eq!(refused, Refusal::NoMoreChildren { parent: id("q"), found: "a question" });
    stage.close("a", Skipped, "ann").unwrap();
    let refused = stage.add("c", Some("b"), "kind:goal").unwrap_err();
    let ended = Refusal::NoMoreChildren { parent: id("b"), found: "part of something that has ended" };
    assert_eq!(refused, ended);
}

#[test]
fn a_closed_issue_comes_back_and_its_root_with_it() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.close("a", Success, "ann").unwrap();
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
    assert!(stage.snapshot.root_finished(&id("root")));
    stage.open("root").unwrap();
    assert!(!stage.snapshot.root_finished(&id("root")));
    stage.open("a").unwrap();
    assert!(stage.ready("a"));
    assert_eq!(stage.open("a"), Ok(false));
}

#[test]
fn round_nodes_asks_and_opened_scopes_are_not_reopened() {
    let mut stage = Stage::with_exhausted_rounds();
    assert!(matches!(stage.open("t-1"), Err(Refusal::RoundNode { .. })));
    assert!(matches!(stage.open("t-2"), Err(Refusal::RoundNode { .. })));
    assert_eq!(stage.open("s"), Err(Refusal::ScopeIsOpened(id("s"))));
    stage.answer("t-3", "accept").unwrap();
    assert_eq!(stage.tick(), "waive");
    assert_eq!(stage.open("t-3"), Err(Refusal::AskSettled(id("t-3"))));
}

#[test]
fn work_of_a_judged_round_is_not_reopened() {
    let mut stage = Stage::with_round();
    stage.goal("c", "t-1");
    stage.close("t-1", Expanded, "ann").unwrap();
    stage.close("c", Success, "ann").unwrap();
    stage.judge("t-2", Pass, "bob").unwrap();
    let decided = Refusal::RoundDecided { id: id("c"), scope: id("s"), round: 1 };
    assert_eq!(stage.open("c"), Err(decided.clone()));
    assert_eq!(stage.tick(), "accept_round");
    assert_eq!(stage.open("c"), Err(decided));
}

#[test]
fn reopening_work_under_review_takes_the_review_from_its_reviewer() {
    let mut stage = Stage::with_round();
    stage.goal("c", "t-1");
    stage.close("t-1", Expanded, "ann").unwrap();
    stage.close("c", Success, "ann").unwrap();
    stage.claim("t-2", "bob").unwrap();
    stage.open("c").unwrap();
    assert_eq!(stage.status("t-2"), "open");
    let pending = Refusal::AttemptPending { review: id("t-2"), attempt: id("t-1") };
    assert_eq!(stage.judge("t-2", Pass, "bob"), Err(pending));
}

#[test]
fn what_is_superseded_or_lies_below_what_ended_is_not_reopened() {
    let mut stage = parent_and_child();
    stage.close("b", Failure, "ann").unwrap();
    stage.retry("b", "again").unwrap();
    assert_eq!(stage.open("b"), Err(Refusal::Superseded { id: id("b"), by: id("again") }));
    stage.goal("c", "a");
    stage.close("c", Failure, "ann").unwrap();
    stage.close("again", Success, "ann").unwrap();
    stage.close("a", Failure, "ann").unwrap();
    assert_eq!(stage.open("c"), Err(Refusal::BelowEnded { id: id("c"), ancestor: id("a") }));
}

#[test]
fn only_what_failed_is_tried_again() {
    let mut stage = parent_and_child();
    let open = Refusal::NothingToRetry { id: id("b"), found: "open".to_owned() };
    assert_eq!(stage.retry("b", "again"), Err(open));
    stage.close("b", Failure, "ann").unwrap();
    stage.retry("b", "again").unwrap();
    assert!(stage.supersedes("again", "b"));
    assert_eq!(stage.parent("again"), Some("a"));
    assert_eq!(stage.issue("again").work.notes, ["so it went"]);
    assert!(matches!(stage.retry("b", "more"), Err(Refusal::Superseded { .. })));
}

#[test]
fn an_id_is_never_given_twice() {
    let mut stage = parent_and_child();
    let refused = stage.add("b", Some("root"), "kind:goal").unwrap_err();
    assert_eq!(refused, Refusal::Shape(ApplyError::IdTaken(id("b"))));
}
