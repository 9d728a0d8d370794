//! Ctrl-C.

use std::process::{Child, Stdio};

use roundgate::model::issue::State;
use rustix::process::{Pid, Signal, kill_process};

use crate::run_fixture::{Said, World, runs, wait_until};
use crate::{issue, rounds, steps, world};

/// Sleeps once in the role that the test names, with a child.
const SCRIPT: &str = r#"
if [ "$role" = "${SLEEP_IN:-}" ] && mkdir slept 2>/dev/null; then
    [ -z "${CLOSE_FIRST:-}" ] || "$BIN" issues close "$ROUNDGATE_ISSUE" >/dev/null
    sleep 600 &
    echo "$$ $!" >sleeping.new && mv sleeping.new sleeping
    wait
fi
[ $role = review ] && pass
success"#;

fn asleep(world: &World, role: &str, close_first: &str) -> (Child, Vec<String>) {
    let mut command = world.command(&["run", "plan.toml"]);
    command.env("SLEEP_IN", role).env("CLOSE_FIRST", close_first);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a sleeping worker", || world.path("sleeping").exists());
    let pids = world.lines("sleeping").remove(0);
    (child, pids.split(' ').map(str::to_owned).collect())
}

#[test]
fn a_stopped_run_ends_its_worker_frees_the_issue_and_loses_no_step() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for role in ["attempt", "review"] {
            let world = world(SCRIPT, "");
            let (child, pids) = asleep(&world, role, "");
            kill_process(Pid::from_child(&child), signal).unwrap();
            let said = Said::of(child.wait_with_output().unwrap());
            assert_eq!(said.code, Some(130), "{said:#?}");
            let root = issue(&world, "The root").id;
            assert!(said.stdout.contains(&format!("roundgate run --root {root} goes on")), "{said:#?}");
            assert!(!pids.iter().any(|pid| runs(pid)), "the worker and its child are gone");

            let title = if role == "attempt" { "Attempt 1: Goal a" } else { "Review 1: Goal a" };
            let stopped = issue(&world, title);
            assert_eq!((stopped.state, stopped.failed_steps), (State::Open, 0), "{role}");
            let again = world.says(&["run", "--root", root.as_str()]);
            assert_eq!(again.code, Some(0), "{again:#?}");
            assert_eq!((steps(&world).len(), rounds(&world).len()), (3, 1), "{role}");
        }
    }
}

#[test]
fn a_run_stopped_after_its_worker_closed_the_issue_keeps_the_result() {
    let world = world(SCRIPT, "");
    let (child, _) = asleep(&world, "attempt", "yes");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{said:#?}");
    world.run(0);
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
}

#[test]
fn a_run_that_only_waits_for_others_can_be_stopped_too() {
    let world = world(SCRIPT, "");
    let (mut first, _) = asleep(&world, "attempt", "");
    let mut second = world.command(&["run", "plan.toml"]);
    let progress = std::fs::File::create(world.path("progress")).unwrap();
    let mut second = second.stdout(Stdio::null()).stderr(progress).spawn().unwrap();
    let waiting = |line: &String| line.starts_with("waiting  others hold what is left");
    wait_until("the second run to wait", || world.lines("progress").iter().any(waiting));
    kill_process(Pid::from_child(&second), Signal::INT).unwrap();
    assert_eq!(second.wait().unwrap().code(), Some(130));
    assert!(first.try_wait().unwrap().is_none(), "the other run is not disturbed");
    kill_process(Pid::from_child(&first), Signal::INT).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(130));
}
