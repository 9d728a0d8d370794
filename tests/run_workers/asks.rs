//! When rounds are used up: a human is asked, and the answer is what happens.

use roundgate::model::record::{AskKind, ScopeEnd};

use crate::run_fixture::World;
use crate::{answer, only_ask, rounds, steps, world};

/// Reviews that always find something else.
const NEVER_GOOD: &str = r#"
    [ $role = attempt ] && success
    case $round in 1) needs_work "too short" ;; 2) needs_work "too long" ;; 3) needs_work "too wide" ;; esac
    needs_work "too narrow""#;

fn exhausted(max: u32) -> World {
    let world = world(NEVER_GOOD, &format!("max_review_rounds = {max}"));
    world.run(11);
    assert_eq!(rounds(&world).len(), max as usize);
    assert_eq!(steps(&world).len(), 2 * max as usize);
    world
}

#[test]
fn a_reviewer_that_always_fails_comes_to_a_human_at_the_bound() {
    for max in [1, 2, 3] {
        let world = exhausted(max);
        let ask = only_ask(&world);
        assert_eq!((ask.kind, ask.round), (AskKind::Rounds, Some(max)));
        let events = world.stored().1.len();
        let said = world.run(11);
        assert!(said.stdout.contains(&format!("roundgate asks show {}", ask.id)), "{said:#?}");
        assert_eq!(steps(&world).len(), 2 * max as usize, "nothing is dispatched again");
        assert_eq!(world.stored().1.len(), events, "and nothing is written");
    }
}

#[test]
fn accepting_ends_the_rounds_and_the_next_run_finishes() {
    let world = exhausted(2);
    answer(&world, &only_ask(&world).id, "accept");
    world.run(0);
    assert_eq!((rounds(&world).len(), steps(&world).len()), (2, 4));
    assert_eq!(world.stored().0.scopes().next().unwrap().end, Some(ScopeEnd::Waived));
}

#[test]
fn an_extra_round_is_exactly_one_more() {
    let world = exhausted(2);
    for more in 1..=2 {
        answer(&world, &only_ask(&world).id, "open-extra-round");
        world.run(11);
        assert_eq!((rounds(&world).len(), steps(&world).len()), (2 + more, 4 + 2 * more));
    }
    assert_eq!(only_ask(&world).round, Some(4));
}

#[test]
fn two_failures_alike_ask_before_the_bound() {
    let script = r#"[ $role = attempt ] && success
        needs_work "line $round of /tmp/$$/report.txt is wrong""#;
    let world = world(script, "max_review_rounds = 9");
    world.run(11);
    assert_eq!(rounds(&world).len(), 2);
    let ask = only_ask(&world);
    assert!(ask.question.contains("failed in the same way"), "{ask:#?}");
}

#[test]
fn attempts_that_fail_need_no_reviewer_to_open_the_next_round() {
    let script = r#"[ $role = review ] && pass
        case $round in 1) failure "no network" ;; 2) failure "no disk" ;; esac
        success"#;
    let world = world(script, "");
    world.run(0);
    assert_eq!(steps(&world), ["a attempt 1", "a attempt 2", "a attempt 3", "a review 3"]);
}
