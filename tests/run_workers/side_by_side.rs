//! Two runs at once: on one root, and on two roots of one store.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use roundgate::model::change::Change;
use rustix::process::{Pid, Signal, kill_process};

use crate::run_fixture::{Said, World, wait_until};
use crate::{PRELUDE, issue, open_asks, rounds, steps, world};

fn started(world: &World, plan: &str) -> Child {
    world.command(&["run", plan]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn nothing_was_done_twice(world: &World) {
    let journal = world.lines("journal");
    let distinct: BTreeSet<&String> = journal.iter().collect();
    assert_eq!(distinct.len(), journal.len(), "{journal:#?}");
}

#[test]
fn two_runs_at_once_on_one_root_share_the_work_and_both_end_well() {
    let script = r#"[ $role = attempt ] && success
        [ $round = 1 ] && needs_work "not yet"
        pass"#;
    for n in 0..12 {
        let goals: String = (0..3)
            .map(|goal| {
                format!("[[goal]]\nkey = \"g{goal}\"\ntitle = \"Goal {goal}\"\naccept = [\"good\"]\n")
            })
            .collect();
        let world = World::new(&format!("{PRELUDE}{script}"), "", &goals);
        if n % 2 == 0 {
            assert_eq!(world.says(&["plan", "apply", "plan.toml"]).code, Some(0));
        }
        let runs = [started(&world, "plan.toml"), started(&world, "plan.toml")];
        for run in runs {
            let said = Said::of(run.wait_with_output().unwrap());
            assert_eq!(said.code, Some(0), "{n}: {said:#?}");
        }
        nothing_was_done_twice(&world);
        assert_eq!((steps(&world).len(), rounds(&world).len()), (12, 6), "{n}");
        let failed = world.stored().0.graph().issues().map(|issue| issue.failed_steps).sum::<u32>();
        assert_eq!(failed, 0, "{n}: neither took the other for dead");
    }
}

#[test]
fn a_second_run_takes_nothing_from_a_runner_that_is_at_work() {
    let script = "[ $role = review ] && pass\nsleep 1\nsuccess";
    let world = world(script, "");
    let first = started(&world, "plan.toml");
    wait_until("the first worker", || steps(&world).len() == 1);
    let second = world.run(0);
    assert!(second.stderr.contains("waiting  others hold what is left"), "{second:#?}");
    assert_eq!(Said::of(first.wait_with_output().unwrap()).code, Some(0));
    assert_eq!(steps(&world), ["a attempt 1", "a review 1"]);
}

#[test]
fn a_runner_that_slept_past_its_lease_cannot_judge_over_the_one_that_took_its_place() {
    let script = r#"
        [ $role = attempt ] && success
        [ $round = 1 ] || pass
        if mkdir early 2>/dev/null; then
            until [ -e go ]; do sleep 0.02; done
            pass
        fi
        : >late
        until [ -e on ]; do sleep 0.02; done
        needs_work "looked at again""#;
    let world = world(script, "step_retries = 100");
    assert_eq!(world.says(&["init"]).code, Some(0));
    assert_eq!(world.says(&["config", "set", "runner_lease", "2s"]).code, Some(0));
    let progress = std::fs::File::create(world.path("progress")).unwrap();
    let mut early = world.command(&["run", "plan.toml"]);
    let mut early = early.stdout(Stdio::null()).stderr(progress).spawn().unwrap();
    wait_until("the first reviewer", || world.path("early").exists());
    kill_process(Pid::from_child(&early), Signal::STOP).unwrap();
    let late = started(&world, "plan.toml");
    wait_until("the second reviewer", || world.path("late").exists());
    std::fs::write(world.path("go"), "").unwrap();
    kill_process(Pid::from_child(&early), Signal::CONT).unwrap();
    let taken_away = |line: &String| line.contains("taken away");
    wait_until("the first run to see it", || world.lines("progress").iter().any(taken_away));
    assert!(rounds(&world)[0].verdict.is_none(), "{:#?}", world.lines("progress"));
    std::fs::write(world.path("on"), "").unwrap();

    assert_eq!(Said::of(late.wait_with_output().unwrap()).code, Some(0));
    assert_eq!(early.wait().unwrap().code(), Some(0), "{:#?}", world.lines("progress"));
    let verdict = rounds(&world).remove(0).verdict.unwrap();
    assert_eq!(verdict.reason, "looked at again");
}

#[test]
fn counters_of_two_roots_side_by_side_survive_kills_and_stay_apart() {
    let script = r#"[ $role = attempt ] && success
        needs_work "$key is not good enough""#;
    let goals = "[[goal]]\nkey = \"a\"\ntitle = \"Goal a\"\naccept = [\"good\"]\nmax_review_rounds = 2\n\
                 [[goal]]\nkey = \"b\"\ntitle = \"Goal b\"\naccept = [\"good\"]\nmax_review_rounds = 3\n";
    let world = World::new(&format!("{PRELUDE}{script}"), "no_progress = 0\nstep_retries = 100", goals);
    let other = std::fs::read_to_string(world.path("plan.toml")).unwrap();
    let other = other.replacen("key = \"root\"", "key = \"other\"", 1);
    let other = other.replace("Goal a", "Goal c").replace("Goal b", "Goal d");
    let other = other.replace("max_review_rounds = 2", "max_review_rounds = 1");
    std::fs::write(world.path("other.toml"), other).unwrap();

    let mut rng = fastrand::Rng::with_seed(643);
    let mut ends = [None, None];
    let mut kills = 0;
    while ends != [Some(11), Some(11)] {
        let runs = [started(&world, "plan.toml"), started(&world, "other.toml")];
        // Longer and longer, so that a slow machine gets on as well.
        std::thread::sleep(Duration::from_millis(rng.u64(1..250) + kills / 2));
        for (mut run, end) in runs.into_iter().zip(&mut ends) {
            run.kill().unwrap();
            *end = run.wait().unwrap().code();
            kills += u64::from(end.is_none());
        }
        assert!(kills < 300, "it does not get on");
    }
    let (snapshot, events) = world.stored();
    for (title, bound) in [("Goal a", 2), ("Goal b", 3), ("Goal c", 1), ("Goal d", 3)] {
        let scope = &snapshot.graph().issues().find(|issue| issue.title == title).unwrap().id;
        assert_eq!(snapshot.rounds(scope).count(), bound, "{title}");
        assert_eq!(snapshot.scope(scope).unwrap().bounds.max_rounds, bound as u32, "{title}");
        let asks = open_asks(&world).into_iter().filter(|ask| ask.scope.as_ref() == Some(scope)).count();
        assert_eq!(asks, 1, "{title}");
    }
    let opened = |event: &&_| matches!(event, Change::RoundSet { before: None, .. });
    assert_eq!(events.iter().map(|event| &event.change).filter(opened).count(), 9);
}

#[test]
fn a_goal_stands_for_its_root() {
    let world = world("[ $role = attempt ] && success; pass", "");
    assert_eq!(world.says(&["plan", "apply", "plan.toml"]).code, Some(0));
    let goal = issue(&world, "Goal a").id;
    let said = world.says(&["run", "--root", goal.as_str()]);
    assert_eq!(said.code, Some(0), "{said:#?}");
}
