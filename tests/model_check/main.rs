//! Every state that three agents, a human and a clock can bring one or two scopes into, each held to the
//! laws: all orders in which they can act, agents that die or are slower than their lease, verdicts, answers
//! and reopenings at any moment, everything said twice. From every state there must be a way to the end.
//!
//! `ROUNDGATE_MODEL=full` searches the larger worlds, too. That takes some minutes, and gigabytes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod key;
mod laws;
mod moves;
mod planted;
mod search;
mod tick;
mod world;

use search::search;
use world::{Left, Setup, Work};

const NOTHING: Left = Left { crashes: 0, slow: 0, grants: 0, retries: 0, skips: 0, reopenings: 0, plans: 0 };

fn scope(name: &'static str, rounds: u32, after: Option<&'static str>) -> Work {
    Work { name, rounds: Some(rounds), after }
}

fn plain(name: &'static str, after: Option<&'static str>) -> Work {
    Work { name, rounds: None, after }
}

fn setup(name: &'static str, work: Vec<Work>, left: Left) -> Setup {
    Setup { name, work, step_retries: 1, no_progress: 0, inner_rounds: 1, left, bug: None }
}

/// One scope of two rounds, and all that can happen to one.
fn alone(left: Left) -> Setup {
    setup("alone", vec![scope("a", 2, None)], left)
}

/// A scope of two rounds, and one that waits for it.
fn one_after_the_other(second: u32, left: Left) -> Setup {
    setup("one after the other", vec![scope("a", 2, None), scope("b", second, Some("a"))], left)
}

/// Two scopes at once.
fn side_by_side(rounds: [u32; 2], left: Left) -> Setup {
    setup("side by side", vec![scope("a", rounds[0], None), scope("b", rounds[1], None)], left)
}

/// A scope, and work without rounds that waits for it.
fn work_behind(left: Left) -> Setup {
    setup("work behind", vec![scope("a", 1, None), plain("w", Some("a"))], left)
}

/// A scope whose attempt may become a scope itself.
fn one_in_the_other(rounds: u32, inner: u32, left: Left) -> Setup {
    let work = vec![scope("a", rounds, None)];
    Setup { inner_rounds: inner, ..setup("one in the other", work, Left { plans: 1, ..left }) }
}

/// A scope that asks when it fails twice in the same way.
fn without_progress(left: Left) -> Setup {
    Setup { no_progress: 2, ..setup("without progress", vec![scope("a", 3, None)], left) }
}

/// Searches a world of which the number of states is known.
fn holds(setup: &Setup, states: usize) {
    match search(setup) {
        Ok(figures) => {
            println!("{}: {figures}", setup.name);
            assert!(figures.states >= states, "{}: only {figures}", setup.name);
            assert!(figures.finals > 0 && figures.humans > 0, "{}: {figures}", setup.name);
        }
        Err(found) => panic!("{}: {found}", setup.name),
    }
}

/// Searches a world that is too large for every day.
fn holds_in_full(setup: &Setup, states: usize) {
    if std::env::var("ROUNDGATE_MODEL").is_ok_and(|size| size == "full") {
        holds(setup, states);
    }
}

#[test]
fn the_laws_hold_of_one_scope() {
    holds(&alone(Left { grants: 1, skips: 1, ..NOTHING }), 2_014);
    holds(&alone(Left { crashes: 1, slow: 1, skips: 1, ..NOTHING }), 6_498);
    holds_in_full(&alone(Left { crashes: 1, slow: 1, grants: 1, skips: 1, ..NOTHING }), 33_086);
    let all = Left { crashes: 2, slow: 1, grants: 1, skips: 1, reopenings: 1, ..NOTHING };
    holds_in_full(&alone(all), 1_490_371);
}

#[test]
fn the_laws_hold_of_a_scope_that_waits_for_another() {
    holds(&one_after_the_other(1, Left { crashes: 1, slow: 1, ..NOTHING }), 17_557);
    holds_in_full(&one_after_the_other(2, Left { crashes: 1, slow: 1, ..NOTHING }), 38_781);
    holds_in_full(&one_after_the_other(1, Left { crashes: 1, grants: 1, skips: 1, ..NOTHING }), 23_516);
}

#[test]
fn the_laws_hold_of_two_scopes_at_once() {
    holds(&side_by_side([1, 1], NOTHING), 13_645);
    holds_in_full(&side_by_side([1, 1], Left { crashes: 1, ..NOTHING }), 50_842);
    holds_in_full(&side_by_side([2, 1], NOTHING), 62_889);
    holds_in_full(&side_by_side([1, 1], Left { crashes: 1, slow: 1, ..NOTHING }), 311_269);
}

#[test]
fn the_laws_hold_of_plain_work_behind_a_scope() {
    holds(&work_behind(Left { reopenings: 1, ..NOTHING }), 1_531);
    holds(&work_behind(Left { crashes: 1, slow: 1, retries: 1, ..NOTHING }), 4_092);
    holds_in_full(&work_behind(Left { crashes: 1, slow: 1, retries: 1, reopenings: 1, ..NOTHING }), 92_204);
}

#[test]
fn the_laws_hold_of_a_scope_in_an_attempt() {
    holds(&one_in_the_other(1, 1, NOTHING), 28_142);
    holds_in_full(&one_in_the_other(1, 1, Left { crashes: 1, ..NOTHING }), 84_333);
}

#[test]
fn the_laws_hold_where_want_of_progress_asks() {
    holds(&without_progress(Left { crashes: 1, grants: 1, ..NOTHING }), 5_333);
}
