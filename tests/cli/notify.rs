//! Notifications by command line: whatever the notifier does, a tick prints the same and exits the same.

use std::fs;
use std::process::{Child, Stdio};

use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use crate::gated::Gated;
use crate::stage::Stage;

/// Names a shell script in the store's folder as the notifier.
fn notifier(stage: &Stage, script: &str) {
    stage.write(".roundgate/notify.sh", script);
    stage.ok("config set notify.command '[\"sh\", \"./notify.sh\"]'");
}

/// A goal whose review failed in its only round: the next tick asks.
fn about_to_ask() -> Gated {
    let gated = Gated::opened(1);
    let review = gated.attempted();
    let line = format!("rounds verdict {review} needs_work --note 'tabs count as one column'");
    gated.stage.cmd(&line).by("reviewer").ok();
    gated
}

/// The notifications that the script `cat >>told` was given.
fn told(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.path(".roundgate/told")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn undelivered(stage: &Stage) -> Value {
    stage.json("status")["notifications"].clone()
}

const ASK: &str =
    "issues create 'Which region?' --tag kind:ask --tag proto:hierarchical-work-v1 --choice eu --choice us";

#[test]
fn whatever_the_notifier_does_a_tick_prints_the_same_and_exits_the_same() {
    let plain = |gated: &Gated| {
        let ran = gated.stage.cmd(&format!("tick --root {} --exit-status", gated.root)).run();
        (ran.exit, ran.stdout, ran.stderr)
    };
    let quiet = plain(&about_to_ask());
    assert_eq!((quiet.0, quiet.2.as_str()), (11, ""));
    for (script, why) in [
        ("cat >>told", ""),
        ("exit 3", "it exited with 3"),
        ("echo 'no route to host' >&2; exit 1", "it exited with 1: no route to host"),
        ("sleep 600", "it took longer than its time limit of 300ms"),
        ("trap '' TERM; while :; do sleep 1; done", "it took longer than its time limit of 300ms"),
        ("kill -9 $$", "signal 9 ended it"),
        ("head -c 1000000 /dev/zero", ""),
        ("exec cat /dev/zero", "it took longer than its time limit of 300ms"),
        ("cat /dev/zero >&2", "it took longer than its time limit of 300ms"),
        ("exec 0<&-; exit 0", ""),
    ] {
        let gated = about_to_ask();
        notifier(&gated.stage, script);
        gated.stage.ok("config set notify.time_limit 300ms");
        assert_eq!(plain(&gated), quiet, "{script}");
        let left = undelivered(&gated.stage);
        let said = left["last_failure"]["why"].as_str().unwrap_or_default();
        assert_eq!((left["undelivered"].as_u64(), said), (Some(u64::from(!why.is_empty())), why), "{script}");
    }
    let gated = about_to_ask();
    gated.stage.ok("config set notify.command '[\"./gone\"]'");
    assert_eq!(plain(&gated), quiet);
    let why = undelivered(&gated.stage)["last_failure"]["why"].as_str().unwrap().to_owned();
    assert!(why.starts_with("program ") && why.ends_with("was not found"), "{why}");
}

#[test]
fn what_is_not_delivered_is_shown_by_status_doctor_and_the_list_with_nothing_a_terminal_obeys() {
    let gated = about_to_ask();
    let stage = &gated.stage;
    notifier(stage, "printf 'first\\nsecond \\033[31mred \\007 \\342\\200\\256bidi' >&2; exit 1");
    stage.ok(&format!("tick --root {}", gated.root));
    stage.show("status");
    stage.show("notify list");
    let doctor = stage.cmd("doctor").run();
    assert_eq!(doctor.exit, 0, "what is not delivered is no damage");
    let line = doctor.stdout.lines().find(|line| line.contains("outbox")).unwrap().to_owned();
    assert!(line.contains("1 undelivered; last failure: it exited with 1: first second [31mred"), "{line}");
    assert!(!doctor.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{}", doctor.stdout);
    assert!(!stage.transcript().contains(['\u{1b}', '\u{7}', '\u{202e}']));
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_notifier_gets_the_ask_as_one_line_of_json_and_finds_the_store() {
    let gated = about_to_ask();
    let stage = &gated.stage;
    notifier(
        stage,
        "cat >>told; pwd >>surroundings; echo \"$ROUNDGATE_STORE $ROUNDGATE_ROOT $ROUNDGATE_ISSUE\" >>surroundings",
    );
    stage.ok(&format!("tick --root {}", gated.root));
    let ask = stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
    let packets = told(stage);
    assert_eq!(packets.len(), 1);
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\brg-[0-9a-z]+", "[ID]");
    settings.bind(|| assert_snapshot!(serde_json::to_string_pretty(&packets[0]).unwrap()));
    let store = stage.path(".roundgate").display().to_string();
    let surroundings = fs::read_to_string(stage.path(".roundgate/surroundings")).unwrap();
    assert_eq!(surroundings, format!("{store}\n{store} {} {ask}\n", gated.root));
    // What it says can be called as it stands.
    let command = packets[0]["choices"][2]["command"].as_str().unwrap().replacen("roundgate ", "", 1);
    assert_eq!(stage.json(&command)["answer"], "accept");
    let text = packets[0]["choices"][2]["command_text"].as_str().unwrap();
    stage.ok(&format!("forum post issue:{ask} -m '{text}'"));
}

#[test]
fn everybody_who_ticks_sends_and_a_dry_run_does_not() {
    let ways: [fn(&Gated); 8] = [
        |gated| drop(gated.stage.ok(&format!("tick --root {}", gated.root))),
        |gated| drop(gated.stage.ok("tick --all")),
        |gated| {
            gated.stage.ok(&format!("heartbeats create --root {} --every 1m", gated.root));
            gated.stage.hours_pass(1);
            gated.stage.ok("heartbeats run --once");
        },
        |gated| {
            gated.stage.ok(&format!("heartbeats create --root {}", gated.root));
            gated.stage.ok(&format!("heartbeats trigger {}", gated.root));
        },
        |gated| {
            let id = gated.stage.id(&format!("cron create --root {} --expr @daily", gated.root));
            gated.stage.ok(&format!("cron trigger {id}"));
        },
        |gated| {
            let ask = gated.stage.id(ASK);
            gated.stage.ok(&format!("answer {ask} eu --tick"));
        },
        |gated| {
            let ask = gated.stage.id(ASK);
            let done = gated.stage.json(&format!("answer {ask} eu --tick"));
            assert_eq!(done["tick"]["transition"]["kind"], "settle");
        },
        |gated| assert_eq!(gated.stage.cmd(&format!("run --root {}", gated.root)).run().exit, 11),
    ];
    for (n, way) in ways.into_iter().enumerate() {
        let gated = about_to_ask();
        notifier(&gated.stage, "cat >>told");
        gated.stage.ok("tick --all --dry-run");
        gated.stage.ok(&format!("tick --root {} --dry-run", gated.root));
        assert!(told(&gated.stage).is_empty());
        way(&gated);
        assert_eq!(told(&gated.stage).len(), 1, "way {n}");
        assert_eq!(undelivered(&gated.stage)["undelivered"], 0, "way {n}");
    }
}

#[test]
fn an_idle_tick_writes_nothing_also_where_something_waits_for_its_retry() {
    let stage = Stage::new();
    notifier(&stage, "exit 1");
    stage.ok(ASK);
    let before = stage.events();
    stage.ok("tick --all");
    let failed = stage.events();
    assert_eq!(failed, before + 2, "taken, and not delivered");
    for _ in 0..5 {
        stage.ok("tick --all");
    }
    assert_eq!(stage.events(), failed);
}

#[test]
fn without_a_notifier_nothing_is_queued_and_taking_it_away_leaves_what_was() {
    let stage = Stage::new();
    stage.ok(ASK);
    assert_eq!(stage.json("notify list"), json!([]));
    assert!(!stage.ok("status").contains("\nnotify"));
    notifier(&stage, "exit 1");
    stage.ok(ASK);
    stage.ok("config set notify.command []");
    stage.hours_pass(5);
    stage.ok("tick --all");
    stage.show("status");
    stage.show("notify list");
    stage.refused(2, "notify send");
    stage.show("notify drop --all");
    stage.show("notify drop --all");
    stage.show("notify list");
    assert_snapshot!(stage.transcript());
}

#[test]
fn what_was_not_delivered_is_listed_sent_tried_again_and_dropped() {
    let stage = Stage::new();
    notifier(&stage, "grep -q Which && exit 4; exit 0");
    let ask = stage.id(ASK);
    stage.show("notify list");
    let failed = stage.cmd("notify send --json").run();
    assert_eq!((failed.exit, json_of(&failed.stderr)["code"].clone()), (1, json!("not_delivered")));
    assert_eq!(json_of(&failed.stdout)["failed"]["why"], "it exited with 4");
    stage.show("notify send");
    stage.show(&format!("notify retry {ask}"));
    stage.show(&format!("notify retry {ask}"));
    stage.ok("config set notify.command '[\"true\"]'");
    stage.show("notify send");
    stage.show("notify send");
    stage.ok("config set notify.command '[\"false\"]'");
    let other = stage.id(ASK);
    stage.show("notify send");
    stage.show(&format!("notify drop {other}:asked:1"));
    stage.refused(3, &format!("notify drop {other}:asked:1"));
    stage.refused(3, &format!("notify retry {other}"));
    stage.refused(3, "notify retry rg-none");
    stage.refused(2, "notify retry");
    stage.show(&format!("issues history {ask}"));
    stage.show(&format!("issues history {other}"));
    assert_snapshot!(stage.transcript());
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn retry_and_drop_are_done_once_by_their_operation() {
    let stage = Stage::new();
    notifier(&stage, "exit 1");
    let one = stage.id(ASK);
    stage.ok("tick --all");
    for verb in ["retry", "drop"] {
        let line = format!("notify {verb} {one} --operation {verb}-1");
        let first = stage.json(&line);
        assert_eq!(first["changed"], true);
        let events = stage.events();
        assert_eq!(stage.json(&line), first);
        assert_eq!(stage.events(), events);
    }
    stage.refused(2, "notify send --operation send-1");
}

#[test]
fn the_notifier_is_configured_as_an_argument_vector_and_never_as_a_shell_string() {
    let stage = Stage::new();
    stage.refused(2, "config set notify.command 'mail -s asked ann'");
    stage.refused(2, "config set notify.command '[1]'");
    stage.refused(2, "config set notify.time_limit 1h");
    stage.refused(2, "config set notify.retry soon");
    stage.refused(2, "config set notify.shell yes");
    stage.ok("config set lease 2h");
    stage.ok("config set notify.command '[\"mail\", \"-s\", \"it'\"'\"'s \\\"asked\\\"\"]'");
    stage.ok("config set notify.retry 1m");
    assert_eq!(stage.ok("config get notify.command"), "[\"mail\",\"-s\",\"it's \\\"asked\\\"\"]\n");
    assert_eq!(stage.ok("config get notify.retry"), "1m\n");
    let file = fs::read_to_string(stage.path(".roundgate/config.toml")).unwrap();
    assert_eq!(file.matches("[notify]").count(), 1, "{file}");
    assert_eq!(stage.json("config set notify.retry 1m")["changed"], false);
    for (text, fine) in [
        ("[notify]\ncommand = [\n  'sh', # a shell\n  'x',\n]\n", true),
        ("notify.command = ['sh']\n", true),
        ("notify = { command = ['sh'], retry = '5s' }\n", true),
        ("[notify]\ncommand = 'sh x'\n", false),
        ("[notify]\ncomand = ['sh']\n", false),
        ("notify = true\n", false),
        ("[notify.command]\na = 1\n", false),
        ("[other]\ncommand = ['sh']\n", false),
    ] {
        stage.write(".roundgate/config.toml", text);
        let ran = stage.cmd("config list").run();
        assert_eq!(ran.exit, if fine { 0 } else { 2 }, "{text}: {}{}", ran.stdout, ran.stderr);
        if fine {
            stage.ok("config set notify.retry 7s");
            assert_eq!(stage.ok("config get notify.command").matches("\"sh\"").count(), 1);
            assert_eq!(stage.ok("config get notify.retry"), "7s\n");
        }
    }
}

#[test]
fn eight_who_send_at_once_send_each_notification_once() {
    let stage = Stage::new();
    notifier(&stage, "cat >>told; sleep 0.05");
    for _ in 0..6 {
        stage.ok(ASK);
    }
    let start = |_| {
        let mut command = stage.cmd("notify send").command();
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let senders: Vec<Child> = (0..8).map(start).collect();
    for sender in senders {
        let output = sender.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let mut ids: Vec<String> = told(&stage).iter().map(|packet| packet["id"].to_string()).collect();
    ids.sort();
    let count = ids.len();
    ids.dedup();
    assert_eq!((count, ids.len()), (6, 6));
}

#[test]
fn a_tick_that_is_killed_while_it_sends_costs_nothing_but_a_second_notification() {
    let stage = Stage::new();
    notifier(&stage, "cat >>told; [ -e second ] || { touch second; exec sleep 600; }");
    stage.ok(ASK);
    let mut tick = stage.cmd("tick --all").command();
    let mut tick = tick.stdout(Stdio::null()).spawn().unwrap();
    while !stage.path(".roundgate/second").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    tick.kill().unwrap();
    tick.wait().unwrap();
    stage.ok("tick --all");
    assert_eq!(told(&stage).len(), 1, "somebody may still be sending it");
    stage.hours_pass(1);
    stage.ok("tick --all");
    let packets = told(&stage);
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0]["id"], packets[1]["id"]);
    assert_eq!([&packets[0]["attempt"], &packets[1]["attempt"]], [&json!(1), &json!(2)]);
    assert_eq!(undelivered(&stage)["undelivered"], 0);
}

#[test]
fn what_was_told_is_compacted_and_the_store_stays_sound() {
    let stage = Stage::new();
    notifier(&stage, "[ -e up ] || exit 1");
    let ask = stage.id(ASK);
    stage.ok("tick --all");
    stage.write(".roundgate/up", "");
    stage.hours_pass(1);
    stage.ok("tick --all");
    stage.ok(&format!("answer {ask} eu --tick"));
    stage.ok("tick --all");
    stage.hours_pass(24 * 100);
    let archive = stage.path("archive");
    stage.ok(&format!("compact --older-than 30d --archive {} --yes", archive.display()));
    let doctor = stage.cmd(&format!("doctor --archive {}", archive.display())).run();
    assert_eq!(doctor.exit, 0, "{}", doctor.stdout);
    let history = stage.json(&format!("issues history {ask}"));
    let set = history.as_array().unwrap().iter().filter(|event| event["change"] == "notice_set");
    let before: Vec<&Value> = set.map(|event| &event["before"]).collect();
    assert_eq!(before, vec![&Value::Null; 4], "queued, taken, failed, taken");
}

#[test]
fn whoever_stops_a_tick_that_is_sending_stops_the_notifier_and_loses_nothing() {
    let gated = about_to_ask();
    let stage = &gated.stage;
    notifier(stage, "echo $$ >pid; exec sleep 600");
    let mut tick = stage.cmd(&format!("tick --root {}", gated.root)).command().spawn().unwrap();
    let read = || std::fs::read_to_string(stage.path(".roundgate/pid")).unwrap_or_default();
    while !read().ends_with('\n') {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = Pid::from_raw(i32::try_from(tick.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(tick.wait().unwrap().code(), Some(130));
    let notifier = Pid::from_raw(read().trim().parse().unwrap()).unwrap();
    assert!(test_kill_process(notifier).is_err(), "the notifier goes on");
    // What the tick did stands, and what was not delivered is to be sent.
    assert_eq!(stage.json("asks list").as_array().unwrap().len(), 1);
    assert_eq!(undelivered(stage)["undelivered"], 1);
    assert_eq!(stage.json("notify retry --all")["changed"], false, "it waits for nothing");
}

#[test]
fn what_is_named_to_be_retried_does_not_wait_for_another_that_failed() {
    let stage = Stage::new();
    stage.ok("init");
    notifier(&stage, "cat >>told; test ! -e down");
    stage.write(".roundgate/down", "");
    let first = stage.id(ASK);
    let second = stage.id(ASK);
    assert_eq!(stage.cmd("notify send").run().exit, 1);
    fs::remove_file(stage.path(".roundgate/down")).unwrap();
    assert_eq!(stage.json("notify send")["delivered"], json!([]), "the second waits with the first");
    stage.show(&format!("notify retry {second}"));
    assert!(!stage.json(&format!("notify retry {second}"))["changed"].as_bool().unwrap());
    stage.show("notify list");
    assert_eq!(stage.json("notify send")["delivered"], json!([format!("{second}:asked:1")]));
    let asks: Vec<Value> = told(&stage).into_iter().map(|packet| packet["ask"].clone()).collect();
    assert_eq!(asks, [json!(first), json!(second)], "the first still waits for its own retry");
    let left = stage.json("notify list");
    assert_eq!((left.as_array().unwrap().len(), &left[0]["ask"]), (1, &json!(first)));
    assert_snapshot!(stage.transcript());
}
