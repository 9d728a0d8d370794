//! Workers that are not there, take too long, print too much, or leave something behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use crate::run_fixture::{World, runs, wait_until};
use crate::{GOAL, PRELUDE, issue, steps, world};

/// A world whose plan names this program in place of `sh`.
fn with_program(program: &str) -> World {
    let world = world("success", "");
    let plan = fs::read_to_string(world.path("plan.toml")).unwrap();
    let plan = plan.replacen("[\"sh\", \"./worker.sh\"]", &format!("[\"{program}\"]"), 1);
    fs::write(world.path("plan.toml"), plan).unwrap();
    world
}

#[test]
fn a_worker_that_is_not_there_is_refused_before_anything_is_written() {
    for (program, why) in [
        ("./none.sh", "there is no program at"),
        ("./worker.sh", "cannot be executed"),
        ("no-such-program-anywhere", "it is not in PATH"),
        ("/", "cannot be executed"),
    ] {
        let world = with_program(program);
        let said = world.run(2);
        assert!(said.stderr.contains("the worker attempt cannot run"), "{said:#?}");
        assert!(said.stderr.contains(why), "{program}: {said:#?}");
        assert!(!world.path(".roundgate").exists(), "{program}");
    }
}

#[test]
fn a_worker_that_is_gone_when_a_root_is_run_again_is_refused_as_well() {
    let world = with_program("./work");
    fs::copy(world.path("worker.sh"), world.path("work")).unwrap();
    fs::set_permissions(world.path("work"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(world.says(&["plan", "apply", "plan.toml"]).code, Some(0));
    fs::remove_file(world.path("work")).unwrap();
    let (before, events) = world.stored();
    let root = before.graph().issue(0).id.to_string();
    let said = world.says(&["run", "--root", &root]);
    assert_eq!(said.code, Some(2), "{said:#?}");
    assert_eq!(world.stored().1.len(), events.len());
}

#[test]
fn a_program_that_vanishes_in_mid_run_is_a_failed_step() {
    let world = world("", "step_retries = 0");
    let work = format!("#!/bin/sh\n{PRELUDE}\nrm work\nsuccess");
    fs::write(world.path("work"), work).unwrap();
    fs::set_permissions(world.path("work"), fs::Permissions::from_mode(0o755)).unwrap();
    let plan = fs::read_to_string(world.path("plan.toml")).unwrap();
    fs::write(world.path("plan.toml"), plan.replace("\"sh\", \"./worker.sh\"", "\"./work\"")).unwrap();
    let said = world.run(11);
    assert!(said.stderr.contains("was not found"), "{said:#?}");
    assert_eq!(issue(&world, "Review 1: Goal a").failed_steps, 1);
    // Whoever is asked sees why without looking further.
    let asks = world.says(&["asks", "list", "--json"]).stdout;
    let asks: serde_json::Value = serde_json::from_str(&asks).unwrap();
    let shown = world.says(&["asks", "show", asks[0]["id"].as_str().unwrap()]).stdout;
    assert!(shown.contains("  - STEP FAILED: ") && shown.contains("was not found"), "{shown}");
}

#[test]
fn a_worker_past_its_time_limit_is_ended_with_all_its_children() {
    let script = "sleep 600 & echo $! >child\nwait";
    for trap in ["", "trap '' TERM\n"] {
        let world = world(&format!("{trap}{script}"), "step_retries = 0\ntime_limit = \"1s\"");
        let started = Instant::now();
        let said = world.run(11);
        assert!(started.elapsed() < Duration::from_secs(15), "{trap}");
        assert!(said.stderr.contains("it took longer than its time limit of 1s"), "{said:#?}");
        let child = world.lines("child").remove(0);
        wait_until("the end of the worker's child", || !runs(&child));
    }
}

#[test]
fn a_worker_that_prints_a_hundred_megabytes_is_stopped_at_the_cap() {
    let world = world("head -c 100000000 /dev/zero\nsuccess", "step_retries = 0");
    let said = world.run(11);
    assert!(said.stderr.contains("it printed more than 4194304 bytes"), "{said:#?}");
}

#[test]
fn a_worker_may_print_as_much_as_it_likes_on_stderr() {
    let world = world("head -c 10000000 /dev/zero >&2\n[ $role = review ] && pass\nsuccess", "");
    world.run(0);
}

#[test]
fn a_worker_need_not_read_its_packet_however_large_that_is() {
    let body = "much to say. ".repeat(15_000);
    let goal = format!("{GOAL}body = \"{body}\"\n");
    let script = r#"
        n=$(ls | wc -l); : >"step-$n"
        if [ -e step-3 ]; then echo '{"verdict":"pass"}'; else echo '{"outcome":"success"}'; fi"#;
    let world = World::new(script, "", &goal);
    world.run(0);
    assert!(world.path("step-3").exists() && !world.path("step-4").exists());
}

#[test]
fn a_child_left_behind_with_stdout_open_holds_nobody_up_and_is_ended() {
    let script = "sleep 600 & echo $! >>children\n[ $role = review ] && pass\nsuccess";
    let world = world(script, "");
    let started = Instant::now();
    world.run(0);
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(steps(&world).len(), 2);
    for child in world.lines("children") {
        wait_until("the end of what a worker left behind", || !runs(&child));
    }
}
