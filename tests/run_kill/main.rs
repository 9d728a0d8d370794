//! `run` is killed between any two of its steps and run again: the same graph must come of it, and
//! nothing may be done twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../run_fixture/mod.rs"]
mod run_fixture;
mod story;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use run_fixture::{Said, runs, wait_until};
use story::Story;

/// Starts the plan, kills the run as soon as it has printed so many lines, and says whether it had so
/// much to say.
fn kill_after_lines(story: &Story, lines: usize) -> bool {
    let mut child = story
        .world
        .command(&["run", "plan.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    for _ in 0..lines {
        if stderr.read_line(&mut said).unwrap() == 0 {
            assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
            return false;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    true
}

#[test]
fn a_run_killed_after_any_line_of_its_progress_ends_like_one_that_was_not() {
    let undisturbed = Story::new();
    let said = undisturbed.world.run(0);
    assert!(said.stdout.ends_with(" is final\n"), "{said:#?}");
    let lines = said.stderr.lines().count();
    let wanted = undisturbed.ended();
    assert!(lines > 20, "a plan with too little to it: {lines} lines");
    for line in 1..=lines {
        let story = Story::new();
        assert!(kill_after_lines(&story, line), "{line} of {lines}");
        story.world.run(0);
        assert_eq!(story.ended(), wanted, "killed after line {line}");
    }
}

#[test]
fn a_step_that_is_done_again_or_was_never_recorded_is_noticed() {
    let story = Story::new();
    story.world.run(0);
    let journal = story.world.lines("journal");
    let ended = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| story.ended()));
    assert!(ended().is_ok());
    let fields: Vec<&str> = journal[0].split(' ').collect();
    let stranger = format!("{} 1 {}", fields[0], fields[2]);
    let late = format!("{} {} {}", fields[0], fields[1], u64::MAX / 4);
    // The planted bugs: a runner that does a step twice, feeds before it records, or goes on with what
    // has its result; and one that makes up a result.
    let again = [&journal[..], &journal[..1]].concat();
    let replaced = |first: String| [&[first], &journal[1..]].concat();
    for doctored in [again, replaced(stranger), replaced(late), journal[1..].to_vec()] {
        std::fs::write(story.world.path("journal"), doctored.join("\n")).unwrap();
        assert!(ended().is_err(), "{doctored:#?}");
    }
}

#[test]
fn a_run_killed_at_every_line_it_gets_to_still_comes_to_its_end() {
    let undisturbed = Story::new();
    undisturbed.world.run(0);
    // The same store throughout: one line further each time, so that every kill meets what earlier
    // ones left.
    let story = Story::new();
    let mut kills = 0;
    while kill_after_lines(&story, 2 + kills % 3) {
        kills += 1;
        assert!(kills < 200, "it does not get on");
    }
    assert!(kills > 5, "only {kills} kills");
    assert_eq!(story.ended(), undisturbed.ended());
}

#[test]
fn a_worker_that_kills_its_runner_at_any_step_costs_no_more_than_that_step() {
    let undisturbed = Story::new();
    undisturbed.world.run(0);
    let wanted = undisturbed.ended();
    let steps = undisturbed.steps();
    assert_eq!(steps.len(), 8, "{steps:?}");
    for (step, number) in steps.iter().zip(1..) {
        for moment in [format!("{number} unfed"), format!("{step} fed"), format!("{step} answered")] {
            let story = Story::new();
            let killed = story.says_with("KILL_AT", &moment);
            assert_eq!(killed.code, None, "{moment}: {killed:#?}");
            let again = story.world.run(0);
            assert!(again.stderr.contains("reclaim "), "{moment}: {again:#?}");
            assert_eq!(story.ended(), wanted, "{moment}");
        }
    }
}

#[test]
fn a_run_killed_while_a_worker_works_leaves_none_behind_for_the_next_run() {
    let undisturbed = Story::new();
    undisturbed.world.run(0);
    let wanted = undisturbed.ended();
    for (step, without_file) in undisturbed.steps().into_iter().zip([false, true].into_iter().cycle()) {
        let story = Story::new();
        let mut child = story.world.command(&["run", "plan.toml"]);
        let mut child =
            child.env("SLEEP_AT", &step).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("a sleeping worker", || story.world.lines("sleeping").len() == 1);
        child.kill().unwrap();
        child.wait().unwrap();
        let sleeping = story.world.lines("sleeping").remove(0);
        let pids: Vec<&str> = sleeping.split(' ').collect();
        assert!(pids.iter().all(|pid| runs(pid)), "{step}: nobody but the runner was killed");
        let beside = worker_files(&story);
        assert_eq!(beside.len(), 1, "{step}: {beside:?}");
        if without_file {
            // The claim tells of the worker too.
            fs::remove_file(&beside[0]).unwrap();
        }
        let again = story.world.run(0);
        assert!(again.stderr.contains("reclaim "), "{step}: {again:#?}");
        wait_until("the end of the orphaned worker", || !pids.iter().any(|pid| runs(pid)));
        assert!(worker_files(&story).is_empty(), "{step}");
        assert_eq!(story.ended(), wanted, "{step}");
    }
}

/// The files beside the store that tell of workers.
fn worker_files(story: &Story) -> Vec<PathBuf> {
    let files = fs::read_dir(story.world.path(".roundgate")).unwrap().map(|entry| entry.unwrap().path());
    let of_worker = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("worker-");
    files.filter(of_worker).collect()
}

#[test]
fn a_worker_left_behind_is_ended_though_its_issue_was_taken_back_meanwhile() {
    let undisturbed = Story::new();
    undisturbed.world.run(0);
    let story = Story::new();
    for arguments in [&["init"][..], &["config", "set", "runner_lease", "1s"]] {
        assert_eq!(story.world.says(arguments).code, Some(0));
    }
    let mut child = story.world.command(&["run", "plan.toml"]);
    let mut child =
        child.env("SLEEP_AT", "a attempt 1").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a sleeping worker", || story.world.lines("sleeping").len() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("a tick that takes the issue back", || {
        let said = story.world.says(&["tick", "--all"]);
        assert_eq!(said.code, Some(0), "{said:#?}");
        !story.world.stored().0.graph().issues().any(|issue| issue.state.claim().is_some())
    });
    let sleeping = story.world.lines("sleeping").remove(0);
    let pids: Vec<&str> = sleeping.split(' ').collect();
    assert!(pids.iter().all(|pid| runs(pid)), "a tick ends no process");
    let again = story.world.run(0);
    let ended = format!(": process {}, left behind by a runner that is gone", pids[0]);
    assert!(again.stderr.contains(&ended) && !again.stderr.contains("reclaim "), "{again:#?}");
    wait_until("the end of the orphaned worker", || !pids.iter().any(|pid| runs(pid)));
    assert_eq!(story.ended(), undisturbed.ended());
}

#[test]
fn a_step_whose_worker_was_not_recorded_yet_was_never_fed() {
    // The worker kills its runner before it reads, so the runner may or may not have come to record it
    // and to feed it by then. The journal proves that who was fed was recorded.
    for _ in 0..8 {
        let story = Story::new();
        let killed = story.says_with("KILL_AT", "1 unfed");
        assert_eq!(killed.code, None);
        let ends = |file: &str| story.world.lines(file).len();
        wait_until("the worker to see the end of its stdin", || ends("starved") + ends("journal") == 1);
        if ends("starved") == 1 {
            assert_eq!(ends("steps"), 0, "it got nothing, so it did nothing");
        }
        story.world.run(0);
        story.ended();
    }
}

#[test]
fn runs_killed_at_random_moments_come_to_the_same_end() {
    let undisturbed = Story::new();
    let started = Instant::now();
    undisturbed.world.run(0);
    let whole = started.elapsed();
    let wanted = undisturbed.ended();
    let stories = std::env::var("ROUNDGATE_KILL_RUNS").map_or(24, |n| n.parse().unwrap());
    let mut rng = fastrand::Rng::with_seed(20_240_717);
    for n in 0..stories {
        let story = Story::new();
        let mut kills = 0;
        let last = loop {
            // Short lives for the moments of making and opening the store, long ones to get on.
            let life = whole.mul_f64(if rng.bool() { 0.1 } else { 1.2 } * rng.f64());
            let mut child = story
                .world
                .command(&["run", "plan.toml"])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(life.max(Duration::from_millis(1)));
            child.kill().unwrap();
            if let Some(code) = child.wait().unwrap().code() {
                let mut stderr = String::new();
                child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
                break Said { code: Some(code), stdout: String::new(), stderr };
            }
            kills += 1;
            if kills == 12 {
                break story.world.run(0);
            }
        };
        assert_eq!(last.code, Some(0), "story {n} after {kills} kills: {last:#?}");
        assert_eq!(story.ended(), wanted, "story {n} after {kills} kills");
    }
}

#[test]
fn two_runs_that_are_killed_in_turn_take_over_from_each_other() {
    let undisturbed = Story::new();
    let started = Instant::now();
    undisturbed.world.run(0);
    let whole = started.elapsed();
    let wanted = undisturbed.ended();
    let stories = std::env::var("ROUNDGATE_KILL_RUNS").map_or(8, |n| n.parse().unwrap());
    let mut rng = fastrand::Rng::with_seed(4_387);
    for n in 0..stories {
        let story = Story::new();
        let start = || {
            let mut run = story.world.command(&["run", "plan.toml"]);
            run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut pair = [start(), start()];
        for kill in 0..8 {
            std::thread::sleep(whole.mul_f64(0.5 * rng.f64()));
            pair[kill % 2].kill().unwrap();
            pair[kill % 2].wait().unwrap();
            pair[kill % 2] = start();
        }
        for run in pair {
            let said = Said::of(run.wait_with_output().unwrap());
            assert_eq!(said.code, Some(0), "story {n}: {said:#?}");
        }
        assert_eq!(story.ended(), wanted, "story {n}");
    }
}
