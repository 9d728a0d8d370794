//! `heartbeats run` while things change around it: its configuration, and who reads what it prints.

use std::cell::RefCell;
use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::gated::Gated;
use crate::heartbeats::{ended, started};
use crate::stage::{Ran, Stage, Test};

/// With the clock of the machine.
fn now<'s>(stage: &'s Stage, line: &str) -> Test<'s> {
    stage.cmd(line).env("ROUNDGATE_NOW", "")
}

/// Waits until something holds, and says whether it ever did.
fn soon(holds: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while Instant::now() < until {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn what_is_configured_while_a_daemon_runs_holds_from_its_next_pass_on() {
    let gated = Gated::opened(1);
    let (stage, root) = (&gated.stage, &gated.root);
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} needs_work --note tabs")).by("reviewer").ok();
    let daemon: Child = started(now(stage, "heartbeats run"));
    stage.write(".roundgate/notify.sh", "cat >>told");
    stage.ok("config set notify.command '[\"sh\", \"./notify.sh\"]'");
    now(stage, &format!("heartbeats create --root {root} --every 1s")).ok();
    let told = || fs::read_to_string(stage.path(".roundgate/told")).unwrap_or_default().lines().count();
    assert!(soon(|| told() == 1), "nobody was told what the daemon's tick asked");
    // What is wrong is said once, however many passes there are, and the notifier stays.
    let file = fs::read_to_string(stage.path(".roundgate/config.toml")).unwrap();
    let last = || {
        let seen = fs::read_to_string(stage.path(".roundgate/heartbeats.seen")).unwrap_or_default();
        seen.chars().filter(char::is_ascii_digit).collect::<String>()
    };
    let passes = || {
        let before = last();
        assert!(soon(|| last() != before), "it stopped");
    };
    stage.write(".roundgate/config.toml", format!("nonsense = 1\n{file}"));
    (0..3).for_each(|_| passes());
    stage.write(".roundgate/config.toml", &file);
    passes();
    let ran = ended(daemon);
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert_eq!(ran.stderr.matches("\"nonsense\" is not a key").count(), 1, "{ran:?}");
    assert!(ran.stderr.contains("; what it said before holds\n"), "{ran:?}");
    assert_eq!(told(), 1);
}

#[test]
fn that_idle_ticks_are_not_remembered_is_an_error_like_any_other_and_ends_nothing() {
    for json in ["", " --json"] {
        let gated = Gated::opened(2);
        let stage = &gated.stage;
        stage.ok(&format!("heartbeats create --root {} --every 1h", gated.root));
        stage.hours_pass(1);
        // What cannot be written over: a folder.
        stage.write(".roundgate/heartbeats.seen/in/the/way", "");
        let mut daemon = stage.cmd(&format!("heartbeats run{json}")).command();
        let errors = stage.path("errors");
        daemon.stdout(Stdio::null()).stderr(fs::File::create(&errors).unwrap());
        let daemon = daemon.spawn().unwrap();
        let said = || fs::read_to_string(&errors).unwrap_or_default();
        assert!(soon(|| said().contains("idle ticks are not remembered: cannot write ")), "{}", said());
        assert_eq!(ended(daemon).exit, 0);
        let error = if json.is_empty() { "error: " } else { "{\"code\":\"file\"," };
        assert!(said().lines().any(|line| line.starts_with(error)), "{}", said());
    }
}

#[test]
fn a_daemon_whose_stdout_has_no_room_says_so_with_its_pass_and_ends() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    stage.ok(&format!("heartbeats create --root {} --every 1h", gated.root));
    stage.hours_pass(3);
    let mut daemon = stage.cmd("heartbeats run --json").command();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut daemon = daemon.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let over = RefCell::new(&mut daemon);
    assert!(soon(|| over.borrow_mut().try_wait().unwrap().is_some()), "it goes on");
    let ran = Ran::of(&daemon.wait_with_output().unwrap());
    assert_eq!((ran.exit, ran.error()["code"].as_str()), (1, Some("unprinted")), "{ran:?}");
    // What was done is done.
    assert_eq!(stage.json("heartbeats list")[0]["skipped"], 2);
}
