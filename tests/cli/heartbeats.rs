//! Heartbeats and cron entries by command line: each verb, the daemon, and what stops them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::gated::Gated;
use crate::stage::{Ran, Stage, Test};

fn due(stage: &Stage, id: &str) -> i64 {
    stage.json(&format!("heartbeats get {id}"))["next_due_at"].as_i64().unwrap()
}

/// What one pass of the daemon did, as JSON: one object a line.
pub fn pass(stage: &Stage) -> Vec<Value> {
    let printed = stage.ok("heartbeats run --once --json");
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn what(pass: &[Value]) -> Vec<&str> {
    pass.iter().map(|happened| happened["what"].as_str().unwrap()).collect()
}

#[test]
fn a_heartbeat_is_made_shown_changed_stopped_and_taken_away() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    stage.show(&format!("heartbeats create --root {root} --reason 'nobody looks at night'"));
    stage.refused(4, &format!("heartbeats create --root {}", gated.goal));
    stage.show("heartbeats list");
    stage.show(&format!("heartbeats get {root}"));
    stage.show(&format!("heartbeats update {root} --every 10m --title Slowly --for 7d --max-ticks 100"));
    stage.show(&format!("heartbeats update {root} --every-ms 600000"));
    stage.show(&format!("heartbeats disable {root} --reason 'we are on holiday'"));
    stage.show(&format!("heartbeats disable {root}"));
    stage.show(&format!("heartbeats get {root}"));
    stage.show("heartbeats list --enabled true");
    stage.show(&format!("heartbeats enable {root}"));
    stage.show(&format!("heartbeats trigger {root} --reason smoke_test"));
    stage.show(&format!("heartbeats delete {root}"));
    stage.refused(3, &format!("heartbeats get {root}"));
    stage.refused(3, "heartbeats delete hb-none");
    stage.show(&format!("issues history {root}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_cron_entry_has_the_same_verbs_and_says_what_it_does_not_understand() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    stage.show(&format!("cron create --root {root} --expr '30 2 * * *' --tz Europe/Berlin --title Nightly"));
    stage.show(&format!("cron create --root {root} --at 2026-03-29T02:30 --tz Europe/Berlin --title Once"));
    stage.show(&format!("cron create --root {root} --every 6h --overlap queue --title Often"));
    stage.show("cron list");
    let nightly = stage.json("cron list").as_array().unwrap().clone();
    let nightly = nightly.iter().find(|entry| entry["title"] == "Nightly").unwrap()["id"].as_str().unwrap();
    stage.show(&format!("cron get {nightly}"));
    stage.show(&format!("cron update {nightly} --expr '@daily'"));
    stage.show(&format!("cron update {nightly} --tz America/New_York"));
    stage.show(&format!("cron disable {nightly}"));
    stage.show(&format!("cron enable {nightly}"));
    stage.show(&format!("cron trigger {nightly}"));
    stage.show(&format!("cron delete {nightly}"));
    stage.show("heartbeats list");
    stage.refused(2, &format!("cron create --root {root}"));
    stage.refused(2, &format!("cron create --root {root} --every 1h --tz UTC"));
    stage.refused(2, &format!("cron create --root {root} --expr '61 * * * *'"));
    stage.refused(2, &format!("cron create --root {root} --expr '0 0 30 2 *'"));
    stage.refused(2, &format!("cron create --root {root} --expr @daily --tz Mars/Olympus"));
    stage.refused(2, &format!("cron create --root {root} --at 2020-01-01T00:00"));
    stage.refused(2, &format!("cron create --root {root} --at soon"));
    stage.refused(4, &format!("cron get {root}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_json_of_a_heartbeat_has_what_programs_look_for() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let made = stage.json(&format!("heartbeats create --root {} --every 1m", gated.root));
    assert_eq!(
        (&made["changed"], &made["enabled"], &made["every_ms"]),
        (&json!(true), &json!(true), &json!(60_000))
    );
    assert_eq!(made["root"], gated.root.as_str());
    assert_eq!(made["next_due_at"].as_i64().unwrap(), made["anchor"].as_i64().unwrap() + 60_000);
    let again = stage.json(&format!("heartbeats enable {}", gated.root));
    assert_eq!(again["changed"], false);
    let listed = stage.json("heartbeats list");
    assert_eq!(listed[0]["id"], made["id"]);
    let silent = stage.json(&format!("heartbeats update {} --every 0", gated.root));
    assert_eq!((&silent["every_ms"], &silent["next_due_at"]), (&json!(0), &Value::Null));
    let triggered = stage.json(&format!("heartbeats trigger {} --reason now", gated.root));
    assert_eq!(
        (&triggered["tick"]["decision"], &triggered["triggered"]["reason"]),
        (&json!("wait"), &json!("now"))
    );
}

#[test]
fn an_idle_tick_writes_nothing_and_a_pause_is_recorded_by_the_next_one() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let id = stage.id(&format!("heartbeats create --root {} --every 1h", gated.root));
    stage.hours_pass(1);
    let events = stage.events();
    assert!(pass(stage).is_empty());
    stage.hours_pass(1);
    assert!(pass(stage).is_empty());
    assert_eq!(stage.events(), events, "idle ticks are no events");
    stage.hours_pass(10);
    let after = pass(stage);
    assert_eq!(what(&after), ["skipped"]);
    assert_eq!(after[0]["gap"]["count"], 9);
    assert_eq!(stage.events(), events + 1);
    let shown = stage.json(&format!("heartbeats get {id}"));
    assert_eq!((&shown["skipped"], &shown["last_gap"]["count"]), (&json!(9), &json!(9)));
    // Whoever waits for a human is not stalled, however long.
    assert!(pass(stage).is_empty());
}

#[test]
fn each_due_time_moves_the_root_by_one_transition_until_it_is_final() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let id = stage.id(&format!("heartbeats create --root {} --every 1h", gated.root));
    let further = stage.id(&format!("cron create --root {} --expr '0 3 * * *'", gated.root));
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    let mut kinds = Vec::new();
    for _ in 0..3 {
        stage.hours_pass(1);
        let ticked = pass(stage);
        let ticked: Vec<&Value> = ticked.iter().filter(|view| view["what"] == "ticked").collect();
        kinds.extend(
            ticked.iter().map(|view| view["tick"]["transition"]["kind"].as_str().unwrap().to_owned()),
        );
        assert!(pass(stage).is_empty(), "the same due time was ticked twice");
    }
    assert_eq!(kinds, ["accept_round", "roll_up", "finish"]);
    for (group, id) in [("heartbeats", &id), ("cron", &further)] {
        let stopped = stage.json(&format!("{group} get {id}"));
        assert_eq!((&stopped["enabled"], &stopped["disabled"]["why"]), (&json!(false), &json!("final")));
    }
    stage.refused(5, &format!("heartbeats enable {id}"));
    stage.refused(5, &format!("heartbeats create --root {}", gated.root));
    stage.hours_pass(48);
    assert!(pass(stage).is_empty());
    // What comes back is ticked again, from then on, and nothing of the time between was missed.
    stage.ok(&format!("issues open {}", gated.root));
    let back = stage.json(&format!("heartbeats get {id}"));
    assert_eq!((&back["enabled"], &back["last_run_at"]), (&json!(true), &Value::Null));
    stage.hours_pass(1);
    assert_eq!(what(&pass(stage)), ["ticked"]);
}

#[test]
fn what_somebody_disabled_stays_so_when_its_root_comes_back() {
    let stage = Stage::new();
    let root = stage.id("issues create Root --tag kind:root --tag proto:hierarchical-work-v1");
    let work = stage.id(&format!("issues create 'Do it' --parent {root}"));
    stage.ok(&format!("heartbeats create --root {root}"));
    stage.ok(&format!("heartbeats disable {root}"));
    stage.ok(&format!("issues close {work}"));
    stage.ok(&format!("tick --root {root}"));
    stage.ok(&format!("tick --root {root}"));
    stage.ok(&format!("issues open {root}"));
    assert_eq!(stage.json(&format!("heartbeats get {root}"))["disabled"]["why"], "by_hand");
}

#[test]
fn a_ceiling_ends_it_and_is_reported() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    stage.ok(&format!("heartbeats create --root {} --every 1h --max-ticks 3", gated.root));
    stage.ok(&format!("cron create --root {} --at 2026-02-26T05:00", gated.root));
    for _ in 0..3 {
        stage.hours_pass(1);
        stage.show("heartbeats run --once");
    }
    stage.hours_pass(5);
    stage.show("heartbeats run --once");
    stage.show("heartbeats list");
    stage.show("cron list");
    stage.show(&format!("heartbeats enable {}", gated.root));
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_root_whose_heartbeat_was_disabled_is_left_alone_by_ticks_over_all_and_by_no_other() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    let id = stage.id(&format!("heartbeats create --root {}", gated.root));
    stage.ok(&format!("heartbeats disable {id}"));
    let events = stage.events();
    assert_eq!(stage.cmd("tick --all").run().stdout, "");
    let told = stage.json("tick --all");
    assert_eq!(told[0]["skipped"], format!("its heartbeat {id} is disabled"));
    assert_eq!((&told[0]["decision"], &told[0]["applied"]), (&json!("act"), &json!(false)));
    assert_eq!(stage.events(), events);
    let own = stage.json(&format!("tick --root {}", gated.root));
    assert_eq!((&own["transition"]["kind"], &own["skipped"]), (&json!("accept_round"), &Value::Null));
    stage.ok(&format!("heartbeats enable {id}"));
    assert_eq!(stage.json("tick --all")[0]["transition"]["kind"], "roll_up");
}

#[test]
fn a_human_may_take_as_long_as_it_takes() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    let id = stage.id(&format!("heartbeats create --root {} --every 6h", gated.root));
    let events = stage.events();
    for _ in 0..200 {
        stage.hours_pass(6);
        assert!(pass(stage).is_empty());
    }
    assert_eq!(stage.events(), events);
    assert_eq!(stage.json(&format!("asks show {ask}"))["status"], "open");
    assert!(due(stage, &id) > 0);
}

/// A daemon that has said that it started.
pub fn started(run: Test<'_>) -> Child {
    let mut daemon = run.command();
    let mut daemon = daemon.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(daemon.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "heartbeats run: started\n");
    daemon
}

/// What a daemon did that is asked to end.
pub fn ended(daemon: Child) -> Ran {
    let pid = rustix::process::Pid::from_child(&daemon);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    Ran::of(&daemon.wait_with_output().unwrap())
}

#[test]
fn one_daemon_is_enough_and_it_ends_when_asked() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    stage.ok(&format!("heartbeats create --root {} --every 1h", gated.root));
    let shown = |line: &str| stage.json(line);
    let get = format!("heartbeats get {}", gated.root);
    assert!(stage.ok(&get).contains("  runner     not running\n"));
    let daemon = started(stage.cmd("heartbeats run"));
    assert_eq!(shown(&get)["runner_pid"], daemon.id());
    assert_eq!(shown("heartbeats list")[0]["runner_pid"], daemon.id());
    assert!(stage.ok("heartbeats list").ends_with(&format!("runner: up (pid {})\n", daemon.id())));
    let second: Ran = stage.cmd("heartbeats run --once --json").run();
    assert_eq!((second.exit, second.error()["code"].as_str().unwrap()), (4, "clock_runs"));
    let ran = ended(daemon);
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "heartbeats run: stopped\n"));
    assert_eq!(stage.cmd("heartbeats run --once").run().exit, 0);
}

#[test]
fn what_a_clock_needs_is_printed_with_absolute_paths() {
    let stage = Stage::new();
    let program = env!("CARGO_BIN_EXE_roundgate");
    let store = stage.path(".roundgate");
    let line = stage.ok("cron install --print crontab --every 5m --store .roundgate");
    assert!(line.starts_with("*/5 * * * * ") && line.ends_with(" tick --all\n"), "{line}");
    assert!(line.contains(program), "{line}");
    assert!(line.contains(&store.display().to_string()), "{line}");
    let units = stage.json("cron install --print systemd --every 15s");
    let text = units["text"].as_str().unwrap();
    assert!(text.contains("ExecStart=") && text.contains("OnUnitActiveSec=15s"), "{text}");
    stage.refused(2, "cron install --print crontab --every 15s");
    stage.refused(2, "cron install");
}

#[test]
fn a_daemon_whose_database_is_gone_says_so_and_ends() {
    for (with_mark, exit, said) in [(true, 7, "is gone: "), (false, 3, "there is no store at ")] {
        let gated = Gated::opened(2);
        let stage = &gated.stage;
        stage.ok(&format!("heartbeats create --root {} --every 1h", gated.root));
        let (database, mark) =
            (stage.path(".roundgate/roundgate.db"), stage.path(".roundgate/roundgate.mark"));
        let daemon = started(stage.cmd("heartbeats run"));
        fs::rename(&database, stage.path("moved.db")).unwrap();
        if !with_mark {
            fs::remove_file(mark).unwrap();
        }
        let ended = Ran::of(&daemon.wait_with_output().unwrap());
        assert_eq!(ended.exit, exit, "{ended:?}");
        // Gone between a tick and what it sends, it is missed there, too.
        let error = ended.stderr.lines().find(|line| line.starts_with("error: "));
        assert!(error.is_some_and(|line| line.contains(said)), "{ended:?}");
    }
}

#[test]
fn what_would_be_over_before_it_is_due_is_refused() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    for line in [
        // The next one is in 2028, and unless told otherwise an entry goes on for 366 days.
        format!("cron create --root {root} --expr '0 0 29 2 *'"),
        format!("cron create --root {root} --every 400d"),
        format!("heartbeats create --root {root} --every 2h --for 1h"),
    ] {
        let ran = stage.refused(2, &line);
        assert!(ran.stderr.contains("it is over before it is due"), "{ran:?}");
        assert!(ran.stderr.contains("hint: --for DURATION"), "{ran:?}");
    }
    let entry = stage.id(&format!("cron create --root {root} --expr '0 0 29 2 *' --for 1000d"));
    assert!(stage.json(&format!("cron get {entry}"))["next_due_at"].is_i64());
    let daily = stage.id(&format!("cron create --root {root} --expr @daily"));
    stage.refused(2, &format!("cron update {daily} --expr '0 0 29 2 *'"));
}

#[test]
fn an_interval_that_would_do_nothing_but_tick_is_refused() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    for line in [
        format!("heartbeats create --root {root} --every 1ms"),
        format!("heartbeats create --root {root} --every-ms 1"),
        format!("heartbeats create --root {root} --every 999ms"),
        format!("cron create --root {root} --every 999ms"),
    ] {
        let ran = stage.refused(2, &line);
        assert!(ran.stderr.starts_with("error: an interval is at least 1s, not "), "{ran:?}");
    }
    stage.ok(&format!("heartbeats create --root {root} --every 1s"));
    stage.refused(2, &format!("heartbeats update {root} --every-ms 999"));
    stage.ok(&format!("heartbeats update {root} --every 0"));
}

#[test]
fn disabling_a_heartbeat_names_what_still_ticks_its_root() {
    let gated = Gated::opened(2);
    let (stage, root) = (&gated.stage, &gated.root);
    stage.ok(&format!("heartbeats create --root {root}"));
    let entry = stage.id(&format!("cron create --root {root} --expr @daily"));
    let said = stage.cmd(&format!("heartbeats disable {root}")).run().stderr;
    assert_eq!(
        said,
        format!("{entry} still ticks {root}; roundgate cron disable {entry} keeps it from that\n")
    );
    stage.ok(&format!("cron disable {entry}"));
    stage.ok(&format!("heartbeats enable {root}"));
    assert_eq!(stage.cmd(&format!("heartbeats disable {root}")).run().stderr, "");
}

#[test]
fn a_restore_beside_a_daemon_says_what_to_stop() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    stage.ok("backup kept.db");
    let mut daemon = started(stage.cmd("heartbeats run"));
    let refused = stage.cmd("restore kept.db --force --json").run();
    let error = refused.error();
    assert_eq!((refused.exit, &error["code"], &error["retryable"]), (6, &json!("busy"), &json!(true)));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("heartbeats run (process {})", daemon.id())), "{hint}");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    stage.ok("restore kept.db --force");
}

#[test]
fn a_root_that_was_final_and_goes_on_elsewhere_is_not_final_when_it_comes_back() {
    let stage = Stage::new();
    let root = stage.id("issues create Inner --tag kind:root");
    let work = stage.id(&format!("issues create Work --parent {root}"));
    stage.ok(&format!("issues close {work}"));
    let beat = stage.json(&format!("heartbeats create --root {root} --every 15s"))["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let beats = |stage: &Stage| stage.json(&format!("heartbeats get {beat}"))["enabled"].clone();
    let settle = |stage: &Stage| while stage.json(&format!("tick --root {root}"))["applied"] == true {};
    settle(&stage);
    assert_eq!(beats(&stage), false);
    let outer = stage.id("issues create Outer --tag kind:root");
    stage.ok(&format!("issues dep {root} parent {outer}"));
    stage.ok(&format!("issues open {root}"));
    stage.ok(&format!("issues open {work}"));
    assert_eq!(beats(&stage), true, "it goes on");
    stage.ok(&format!("issues undep {root} parent {outer}"));
    stage.ok(&format!("issues close {work}"));
    settle(&stage);
    assert_eq!(beats(&stage), false);
    let log = stage.ok("log --limit 0");
    assert_eq!(log.matches("is final").count(), 2, "{log}");
}

#[test]
fn a_lock_that_another_program_holds_says_how_to_find_it() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let lock = std::fs::File::create(stage.path(".roundgate/heartbeats.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let ran = stage.refused(4, "heartbeats run --once");
    let file = stage.path(".roundgate/heartbeats.lock");
    let hint = format!(
        "hint: no roundgate of this machine has it: fuser {} names what has, unless that runs in another container",
        file.display()
    );
    assert!(ran.stderr.ends_with(&format!("{hint}\n")), "{}", ran.stderr);
    drop(lock);
    assert_eq!(stage.cmd("heartbeats run --once").run().exit, 0);
}
