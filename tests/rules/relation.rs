//! Section 3's definitions: resolved, let go, blocked, finished, ready, final, root.

use roundgate::model::act;
use roundgate::model::act::update::Update;
use roundgate::model::apply::ApplyError;
use roundgate::model::id::IssueId;
use roundgate::model::issue::Outcome::{self, Expanded, Failure, NeedsWork, Skipped, Success};
use roundgate::model::issue::{Pause, Policy};
use roundgate::model::readiness::{hindrances, ready_issues};
use roundgate::model::record::Opinion::{NeedsWork as Bad, Pass};
use roundgate::model::refusal::Refusal;

use crate::stage::{Stage, id, who};

/// `a` and `b` below the root, `a blocks b`.
fn two() -> Stage {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "root");
    stage.block("a", "b").unwrap();
    stage
}

#[test]
fn success_and_skipped_settle_an_issue_and_release_what_waits() {
    for outcome in [Success, Skipped] {
        let mut stage = two();
        assert!(!stage.ready("b"));
        stage.close("a", outcome, "ann").unwrap();
        assert!(stage.resolved("a") && stage.ready("b"), "{outcome}");
    }
}

#[test]
fn failure_and_needs_work_settle_nothing_and_release_nothing() {
    for outcome in [Failure, NeedsWork] {
        let mut stage = two();
        stage.close("a", outcome, "ann").unwrap();
        assert!(!stage.resolved("a") && !stage.ready("b"), "{outcome}");
        assert_eq!(stage.why("b"), ["blocked"]);
    }
}

#[test]
fn an_expanded_issue_is_resolved_once_all_its_children_are() {
    let mut stage = two();
    stage.goal("c", "a");
    stage.goal("d", "a");
    stage.close("a", Expanded, "ann").unwrap();
    stage.close("c", Success, "ann").unwrap();
    assert!(!stage.resolved("a") && !stage.ready("b"));
    stage.close("d", Skipped, "ann").unwrap();
    assert!(stage.resolved("a") && stage.ready("b"));
}

#[test]
fn an_expanded_issue_without_children_is_never_resolved() {
    let mut stage = two();
    let refused = stage.close("a", Expanded, "ann").unwrap_err();
    assert_eq!(refused, Refusal::Shape(ApplyError::NothingExpanded(id("a"))));
    assert!(!stage.resolved("a"));
}

#[test]
fn whatever_lies_below_a_skipped_issue_is_let_go_with_it() {
    let mut stage = two();
    stage.goal("c", "a");
    stage.goal("d", "c");
    stage.close("a", Skipped, "ann").unwrap();
    assert!(["a", "c", "d"].iter().all(|name| stage.let_go(name) && stage.resolved(name)));
    assert!(!stage.let_go("root"));
}

#[test]
fn a_failure_is_let_go_once_what_supersedes_it_is_resolved() {
    let mut stage = two();
    stage.goal("c", "a");
    stage.close("c", Failure, "ann").unwrap();
    stage.close("a", Failure, "ann").unwrap();
    stage.retry("a", "again").unwrap();
    assert!(!stage.let_go("a") && !stage.ready("b"));
    stage.close("again", Success, "ann").unwrap();
    assert!(stage.let_go("a") && stage.let_go("c") && stage.ready("b"));
}

#[test]
fn an_open_issue_is_not_let_go_by_what_supersedes_it() {
    let mut stage = two();
    stage.goal("new", "root");
    stage.supersede("new", "a").unwrap();
    stage.close("new", Success, "ann").unwrap();
    assert!(!stage.let_go("a") && !stage.ready("b"));
}

#[test]
fn what_blocks_an_ancestor_blocks_what_lies_below() {
    let mut stage = two();
    stage.goal("c", "b");
    stage.goal("d", "c");
    assert!(!stage.ready("d"));
    assert!(matches!(stage.claim("d", "ann").unwrap_err(), Refusal::NotReady { .. }));
    assert!(matches!(stage.close("d", Success, "ann").unwrap_err(), Refusal::NotReady { .. }));
    stage.close("a", Success, "ann").unwrap();
    assert!(stage.ready("d"));
}

#[test]
fn nothing_starts_below_what_ended_otherwise_than_expanded() {
    for outcome in [Failure, NeedsWork] {
        let mut stage = Stage::with_root();
        stage.goal("a", "root");
        stage.goal("b", "a");
        stage.goal("c", "b");
        stage.close("b", Expanded, "ann").unwrap();
        assert!(stage.ready("c"));
        stage.close("a", outcome, "ann").unwrap();
        assert_eq!(stage.why("c"), ["finished"]);
        assert!(matches!(stage.claim("c", "ann").unwrap_err(), Refusal::NotReady { .. }));
    }
}

#[test]
fn an_issue_with_an_unresolved_child_is_not_ready() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "a");
    assert_eq!(stage.why("a"), ["unresolved_child"]);
    stage.close("b", Success, "ann").unwrap();
    assert!(stage.ready("a"));
}

#[test]
fn containers_and_questions_are_never_ready() {
    let mut stage = Stage::with_root();
    stage.add("q", Some("root"), "kind:ask").unwrap();
    assert_eq!(stage.why("q"), ["not_executable"]);
    assert_eq!(stage.why("root"), ["not_executable", "unresolved_child"]);
}

#[test]
fn a_scope_waits_for_the_tick_that_opens_it() {
    let mut stage = Stage::with_root();
    stage.gated("s", "root");
    assert_eq!(stage.why("s"), ["waits_for_tick"]);
    assert!(matches!(stage.claim("s", "ann").unwrap_err(), Refusal::NotReady { .. }));
    assert!(matches!(stage.close("s", Success, "ann").unwrap_err(), Refusal::NotReady { .. }));
}

#[test]
fn what_is_ready_comes_by_priority_then_age_then_id() {
    let mut stage = Stage::with_root();
    for name in ["old", "urgent", "twin-b"] {
        stage.goal(name, "root");
    }
    stage.now -= 1;
    stage.goal("twin-a", "root");
    let update = Update { priority: Some(1_u8.try_into().unwrap()), ..Update::default() };
    stage.update("urgent", update).unwrap();
    let graph = stage.snapshot.graph();
    let found = ready_issues(&stage.snapshot, None);
    let found: Vec<&str> = found.into_iter().map(|ix| graph.id(ix).as_str()).collect();
    assert_eq!(found, ["urgent", "old", "twin-a", "twin-b"]);
}

#[test]
fn the_root_of_an_issue_is_its_topmost_ancestor() {
    let mut stage = two();
    stage.goal("c", "a");
    let graph = stage.snapshot.graph();
    assert_eq!(graph.root(stage.ix("c")), stage.ix("root"));
    assert_eq!(graph.root(stage.ix("root")), stage.ix("root"));
}

#[test]
fn a_root_is_final_once_everything_below_is_closed_and_resolved() {
    let mut stage = two();
    stage.close("a", Success, "ann").unwrap();
    assert!(!stage.is_final("root"));
    stage.close("b", Success, "ann").unwrap();
    assert!(!stage.is_final("root"), "the root itself is open");
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
    assert!(stage.is_final("root"));
}

#[test]
fn a_root_is_not_final_while_anything_below_is_open_even_if_let_go() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("b", "a");
    stage.close("a", Skipped, "ann").unwrap();
    assert_eq!((stage.ticks(), stage.waits_on()), (vec!["roll_up", "wait"], "human b".to_owned()));
    assert!(!stage.is_final("root"));
    stage.cascade("a", "ann").unwrap();
    assert_eq!(stage.ticks(), ["finish", "done"]);
}

// Why not what mu does.

#[test]
fn what_waits_on_a_review_that_failed_once_is_released_by_the_next_that_passes() {
    let mut stage = Stage::with_round();
    stage.goal("after", "root");
    stage.block("t-2", "after").unwrap();
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", Bad, "bob").unwrap();
    assert_eq!(stage.tick(), "next_round");
    assert!(!stage.ready("after"));
    stage.close("t-3", Success, "ann").unwrap();
    stage.judge("t-4", Pass, "bob").unwrap();
    assert_eq!(stage.tick(), "accept_round");
    assert!(stage.ready("after"));
}

#[test]
fn a_failed_attempt_neither_releases_its_review_nor_keeps_its_root_from_being_final() {
    let mut stage = Stage::with_round();
    stage.close("t-1", Failure, "ann").unwrap();
    assert!(!stage.ready("t-2"));
    assert_eq!(stage.tick(), "next_round");
    stage.close("t-3", Success, "ann").unwrap();
    stage.judge("t-4", Pass, "bob").unwrap();
    assert_eq!(stage.ticks(), ["accept_round", "roll_up", "finish", "done"]);
    assert_eq!(stage.status("t-1"), "failure");
}

#[test]
fn the_children_of_a_blocked_goal_are_not_ready() {
    let mut stage = two();
    stage.goal("c", "b");
    assert_eq!(stage.why("c"), ["blocked"]);
}

#[test]
fn a_root_that_does_not_exist_is_an_error_and_never_final() {
    let stage = two();
    assert_eq!(stage.snapshot.graph().ix(&id("rot")), None);
    let refused = roundgate::model::act::find(&stage.snapshot, &id("rot")).unwrap_err();
    assert_eq!(refused, Refusal::NoIssue(id("rot")));
}

#[test]
fn the_same_outcomes_settle_an_issue_wherever_it_is_asked() {
    for outcome in Outcome::ALL {
        let mut stage = Stage::with_bounds(Policy::default());
        stage.goal("c", "t-1");
        let child = if outcome == Success { Success } else { Skipped };
        stage.close("c", child, "ann").unwrap();
        stage.close("t-1", outcome, "ann").unwrap();
        assert_eq!(stage.resolved("t-1"), stage.ready("t-2"), "{outcome}");
        assert_eq!(stage.resolved("t-1"), !outcome.unsuccessful(), "{outcome}");
    }
}

#[test]
fn a_hindrance_names_the_issue_it_comes_from() {
    let mut stage = two();
    for (name, parent) in [("c", "b"), ("d", "c")] {
        stage.goal(name, parent);
    }
    let pause = Pause { by: who("ann"), at: stage.now, reason: "the disk is full".to_owned() };
    let act = act::pause::pause(&stage.snapshot, &id("root"), pause);
    stage.act(act).unwrap();
    let found = hindrances(&stage.snapshot, stage.ix("c"));
    let found: Vec<_> = found.iter().map(|one| (one.code(), one.issue().map(IssueId::as_str))).collect();
    let expected = [("blocked", Some("a")), ("unresolved_child", Some("d")), ("paused", Some("root"))];
    assert_eq!(found, expected);
    assert_eq!(hindrances(&stage.snapshot, stage.ix("root"))[0].issue(), None);
}
