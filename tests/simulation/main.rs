//! Properties of the rules under random graphs, agents who act between ticks, and any node failing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod clocks;
mod derived;
mod pauses;
mod stores;
mod tangles;
mod world;

use std::collections::BTreeSet;

use roundgate::engine::status::Rule;
use roundgate::model::snapshot::Snapshot;
use world::{End, Fault, World};

/// How many random runs; set `ROUNDGATE_SIM_RUNS` for a longer search.
fn runs() -> u64 {
    std::env::var("ROUNDGATE_SIM_RUNS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000)
}

/// How many of the latest changes a failed run shows.
fn latest() -> usize {
    std::env::var("ROUNDGATE_SIM_LATEST").ok().and_then(|n| n.parse().ok()).unwrap_or(30)
}

/// The first seed; with one run, that seed alone is looked at again.
fn first_seed() -> u64 {
    std::env::var("ROUNDGATE_SIM_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0)
}

#[test]
fn every_run_ends_final_or_with_a_human_and_releases_nothing_without_a_pass() {
    let (mut finals, mut humans) = (0, 0);
    let mut kinds = BTreeSet::new();
    for seed in first_seed()..first_seed() + runs() {
        let mut world = World::new(seed, None);
        let ended = world.run(seed % 2 == 0);
        kinds.extend(std::mem::take(&mut world.kinds));
        match ended {
            Ok(End::Final) => finals += 1,
            Ok(End::Human) => humans += 1,
            Err(why) => panic!("seed {seed}: {why}\n{}", world.latest(latest())),
        }
    }
    let timed = ["moot", "time_out", "remind"].iter().all(|kind| kinds.contains(kind));
    assert!(runs() < 1_000 || timed, "these are all that came: {kinds:?}");
    assert!(runs() < 100 || (finals > 0 && humans > 0), "{finals} final, {humans} with a human");
}

#[test]
fn replaying_the_changes_gives_the_same_snapshot() {
    for seed in 0..200 {
        let mut world = World::new(seed, None);
        world.run(true).unwrap();
        let mut again = Snapshot::default();
        world.changes.iter().zip(&world.times).for_each(|(change, &at)| again.fold(change, at));
        assert!(again == world.snapshot, "seed {seed}");
    }
}

/// How many runs each switched-off rule gets.
const FAULTY_RUNS: u64 = 1_500;

fn wrong(fault: Fault) -> u64 {
    (0..FAULTY_RUNS).filter(|&seed| World::new(seed, Some(fault)).run(true).is_err()).count() as u64
}

macro_rules! without {
    ($($name:ident: $fault:expr,)*) => {$(
        #[test]
        fn $name() {
            let wrong = wrong($fault);
            println!("{:?}: {wrong} of {FAULTY_RUNS} runs go wrong", $fault);
            assert!(wrong > 0, "nothing went wrong without this rule, so the properties prove nothing");
        }
    )*};
}

without! {
    without_the_cycle_check_runs_go_wrong: Fault::NoCycleCheck,
    without_moving_the_blockers_runs_go_wrong: Fault::NoMoveOfBlockers,
    without_the_failed_round_rule_runs_go_wrong: Fault::NoFailedRound,
    without_the_failure_ask_runs_go_wrong: Fault::NoFailureAsk,
    without_the_not_yet_opened_rule_runs_go_wrong: Fault::NoUnopenedGuard,
    without_the_decided_round_guard_runs_go_wrong: Fault::NoDecidedGuard,
    without_the_bound_runs_go_wrong: Fault::NoBound,
    without_expanding_the_failed_review_runs_go_wrong: Fault::ReviewStaysNeedsWork,
    without_the_pause_guard_runs_go_wrong: Fault::NoPauseGuard,
    without_the_attempt_guard_on_verdicts_runs_go_wrong: Fault::VerdictWithoutAttempt,
    without_what_was_resolved_with_it_documents_go_stale: Fault::NoRule(Rule::Shifted),
    without_what_lies_below_documents_go_stale: Fault::NoRule(Rule::Below),
    without_what_holds_a_failure_documents_go_stale: Fault::NoRule(Rule::Failing),
    without_what_looks_abroad_documents_go_stale: Fault::NoRule(Rule::Abroad),
}
