//! A fault planted, and the law that the search then finds broken. A search that finds nothing would be
//! worth nothing.

use crate::laws::Law;
use crate::search::search;
use crate::world::{Bug, Left, Setup};
use crate::{NOTHING, alone, one_after_the_other, side_by_side, work_behind};

/// Searches a world with a fault in it.
fn finds(bug: Bug, law: Law, world: Setup) {
    let found = search(&Setup { bug: Some(bug), ..world }).err().map(|found| (found.breach.law, found));
    match found {
        None => panic!("{bug:?} is not found"),
        Some((broken, found)) => assert_eq!(broken, law, "{found}"),
    }
}

const CRASH: Left = Left { crashes: 1, ..NOTHING };
const SLOW: Left = Left { slow: 1, ..NOTHING };

#[test]
fn a_claim_that_ignores_the_holder_is_found() {
    finds(Bug::ClaimIgnoresHolder, Law::OneHolder, alone(NOTHING));
}

#[test]
fn a_fence_that_is_ignored_is_found() {
    finds(Bug::FenceIgnored, Law::Fence, alone(SLOW));
}

#[test]
fn a_round_that_opens_twice_is_found() {
    finds(Bug::RoundTwice, Law::OneRound, alone(NOTHING));
}

#[test]
fn a_review_left_as_needs_work_is_found() {
    finds(Bug::ReviewStaysNeedsWork, Law::Review, alone(NOTHING));
}

#[test]
fn a_verdict_that_dies_with_its_author_is_found() {
    finds(Bug::VerdictDropped, Law::Verdict, alone(CRASH));
}

#[test]
fn a_bound_that_is_ignored_is_found() {
    finds(Bug::BoundIgnored, Law::Bound, alone(NOTHING));
}

#[test]
fn a_bound_that_lets_the_last_round_pass_is_found() {
    finds(Bug::BoundPasses, Law::Verdict, alone(NOTHING));
}

#[test]
fn a_failed_round_that_nobody_ends_is_found() {
    finds(Bug::FailedRoundForgotten, Law::Forward, alone(NOTHING));
}

#[test]
fn an_end_that_comes_too_soon_is_found() {
    finds(Bug::FinalTooSoon, Law::Release, side_by_side([1, 1], NOTHING));
}

#[test]
fn an_ask_that_answers_itself_is_found() {
    finds(Bug::AskExpires, Law::Release, one_after_the_other(1, NOTHING));
}

#[test]
fn a_lost_step_that_is_counted_twice_is_found() {
    finds(Bug::RetryCounted, Law::Twice, alone(CRASH));
}

#[test]
fn work_that_does_not_wait_for_its_blocker_is_found() {
    finds(Bug::BlockerForgotten, Law::Release, work_behind(NOTHING));
}
