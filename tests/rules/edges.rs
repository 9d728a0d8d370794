//! Edges and parents: what would make a deadlock is refused when it is written.

use roundgate::model::apply::ApplyError;
use roundgate::model::issue::Outcome::{Expanded, Failure, Success};
use roundgate::model::refusal::Refusal;

use crate::stage::{Done, Stage, id};

fn goals(names: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::with_root();
    names.iter().for_each(|(name, parent)| stage.goal(name, parent));
    stage
}

fn deadlock(done: Done) -> String {
    match done {
        Err(Refusal::Shape(ApplyError::Deadlock(cycle))) => cycle.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_issues_do_not_block_each_other() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.block("a", "b").unwrap();
    let printed = deadlock(stage.block("b", "a"));
    assert!(printed.contains("a may start") && printed.contains("b is resolved"), "{printed}");
}

#[test]
fn no_edge_lies_between_an_issue_and_its_ancestor_whatever_their_status() {
    let mut stage = goals(&[("a", "root"), ("b", "a"), ("c", "b")]);
    for (blocker, blocked) in [("a", "c"), ("c", "a"), ("b", "b")] {
        let refused = stage.block(blocker, blocked).unwrap_err();
        assert!(matches!(refused, Refusal::Shape(ApplyError::OwnAncestor(_))), "{refused:?}");
    }
    stage.close("c", Success, "ann").unwrap();
    assert!(matches!(stage.block("c", "a"), Err(Refusal::Shape(ApplyError::OwnAncestor(_)))));
}

#[test]
fn a_circle_through_a_parent_is_a_circle() {
    let mut stage = goals(&[("p", "root"), ("c", "p"), ("x", "root")]);
    stage.block("p", "x").unwrap();
    deadlock(stage.block("x", "c"));
    deadlock(stage.block("x", "p"));
}

#[test]
fn a_circle_through_a_successor_is_a_circle() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.close("a", Failure, "ann").unwrap();
    stage.retry("a", "again").unwrap();
    stage.block("a", "b").unwrap();
    deadlock(stage.block("b", "again"));
}

#[test]
fn an_edge_from_what_is_resolved_waits_for_nothing() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    stage.block("a", "b").unwrap();
    stage.close("a", Success, "ann").unwrap();
    stage.block("b", "a").unwrap();
    deadlock(stage.open("a"));
}

#[test]
fn a_new_parent_is_checked_like_an_edge() {
    let mut stage = goals(&[("a", "root"), ("b", "root"), ("c", "b")]);
    stage.block("a", "b").unwrap();
    let refused = stage.move_to("a", "b").unwrap_err();
    assert!(matches!(refused, Refusal::Shape(ApplyError::OwnAncestor(_))), "{refused:?}");
    let below = Refusal::Shape(ApplyError::ParentBelow { child: id("b"), parent: id("c") });
    assert_eq!(stage.move_to("b", "c"), Err(below));
    stage.goal("d", "root");
    stage.block("d", "a").unwrap();
    deadlock(stage.move_to("d", "c"));
}

#[test]
fn the_last_child_does_not_leave_an_expanded_issue() {
    let mut stage = goals(&[("a", "root"), ("b", "a")]);
    stage.close("a", Expanded, "ann").unwrap();
    let last = Refusal::Shape(ApplyError::LastChild { child: id("b"), parent: id("a") });
    assert_eq!(stage.move_to("b", "root"), Err(last));
}

#[test]
fn the_same_edge_again_changes_nothing() {
    let mut stage = goals(&[("a", "root"), ("b", "root")]);
    assert_eq!(stage.block("a", "b"), Ok(true));
    assert_eq!(stage.block("a", "b"), Ok(false));
    assert_eq!(stage.unblock("a", "b"), Ok(true));
    assert!(matches!(stage.unblock("a", "b"), Err(Refusal::Shape(ApplyError::NoEdge(_)))));
    assert_eq!(stage.block("a", "nobody"), Err(Refusal::NoIssue(id("nobody"))));
}

#[test]
fn tags_parents_and_incoming_edges_of_round_nodes_belong_to_the_engine() {
    let mut stage = Stage::with_round();
    stage.goal("x", "root");
    for node in ["t-1", "t-2"] {
        assert!(matches!(stage.block("x", node), Err(Refusal::RoundNode { what: "edges", .. })));
        assert!(matches!(stage.move_to(node, "root"), Err(Refusal::RoundNode { what: "parent", .. })));
        for (add, remove) in [("", "node:agent"), ("flow:review-gated-v1", ""), ("kind:ask", "")] {
            let refused = stage.retag(node, add, remove).unwrap_err();
            assert!(matches!(refused, Refusal::RoundNode { .. } | Refusal::Tags(_)), "{refused:?}");
        }
        stage.retag(node, "area:lexer", "").unwrap();
    }
    assert!(matches!(stage.unblock("t-1", "t-2"), Err(Refusal::RoundNode { .. })));
    assert!(stage.blocks("t-1", "t-2"));
}

#[test]
fn the_policy_tag_of_an_opened_scope_stays() {
    let mut stage = Stage::with_round();
    assert_eq!(stage.retag("s", "", "flow:review-gated-v1"), Err(Refusal::ScopeIsOpened(id("s"))));
    assert_eq!(stage.retag("s", "", "node:agent"), Err(Refusal::ScopeIsOpened(id("s"))));
}

#[test]
fn a_policy_tag_goes_on_open_work_that_nobody_holds() {
    let mut stage = goals(&[("a", "root")]);
    stage.claim("a", "ann").unwrap();
    let refused = stage.retag("a", "flow:review-gated-v1", "").unwrap_err();
    assert!(matches!(refused, Refusal::TagNeedsOpen { status: "in_progress", .. }));
    stage.release("a", "ann", None).unwrap();
    stage.retag("a", "flow:review-gated-v1", "").unwrap();
    assert_eq!(stage.tick(), "open_round");
}

#[test]
fn new_work_in_an_opened_scope_is_waited_for_by_its_review() {
    let mut stage = Stage::with_round();
    stage.goal("x", "s");
    stage.goal("y", "root");
    stage.move_to("y", "s").unwrap();
    stage.close("t-1", Success, "ann").unwrap();
    assert!(stage.blocks("x", "t-2") && stage.blocks("y", "t-2") && !stage.ready("t-2"));
    stage.close("x", Success, "ann").unwrap();
    stage.close("y", Success, "ann").unwrap();
    assert!(stage.ready("t-2"));
}
