//! `tick --all` as a bare cron calls it: no terminal, no home, an empty environment.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::gated::Gated;
use crate::stage::Stage;

/// Exit code, stdout and stderr.
type Said = (i32, String, String);

fn tick_all(stage: &Stage, more: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
    command.env_clear().current_dir("/").stdin(Stdio::null());
    command.arg("--store").arg(stage.path(".roundgate")).args(["tick", "--all"]).args(more);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn silent() -> Said {
    (0, String::new(), String::new())
}

#[test]
fn it_says_nothing_when_nothing_happens_and_one_thing_a_root_otherwise() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    assert_eq!(tick_all(stage, &[]), silent());
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").ok();
    let (exit, out, err) = tick_all(stage, &[]);
    assert_eq!((exit, err.as_str()), (0, ""));
    assert!(out.starts_with(&format!("{}: applied accept_round", gated.root)), "{out}");
    let (exit, out, err) = tick_all(stage, &["--json"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told[0]["transition"]["kind"], "roll_up");
    assert!(tick_all(stage, &[]).1.contains("applied finish"));
    assert_eq!(tick_all(stage, &[]), silent());
}

#[test]
fn a_stuck_root_is_reported_and_stops_nobody_else() {
    let (gated, ..) = Gated::escalated();
    let stage = &gated.stage;
    let other = stage.id("issues create Other --tag kind:root --tag proto:hierarchical-work-v1");
    let work = stage.id(&format!("issues create 'Do it' --parent {other}"));
    stage.ok(&format!("issues close {work}"));
    // As an engine finds it that does not know the version.
    let conn = rusqlite::Connection::open(stage.path(".roundgate/roundgate.db")).unwrap();
    conn.execute("UPDATE scopes SET policy = 'flow:review-gated-v9'", ()).unwrap();
    drop(conn);
    let (exit, out, err) = tick_all(stage, &[]);
    assert_eq!(exit, 0);
    assert!(err.starts_with(&format!("{}: stuck: ", gated.root)), "{err}");
    assert!(out.starts_with(&format!("{other}: applied roll_up")), "{out}");
    assert_eq!(tick_all(stage, &["--exit-status"]).0, 12);
}

#[test]
fn roots_that_fail_are_named_once_each_whatever_is_asked_of_the_exit_code() {
    let (gated, ..) = Gated::escalated();
    let stage = &gated.stage;
    let other = stage.id("issues create Other --tag kind:root --tag proto:hierarchical-work-v1");
    let work = stage.id(&format!("issues create 'Do it' --parent {other}"));
    // No tick has anything to do here; only the exit status asks.
    let plain = stage.id("issues create Plain");
    let conn = rusqlite::Connection::open(stage.path(".roundgate/roundgate.db")).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = 1").unwrap();
    let damage = "UPDATE issues SET priority = 9 WHERE id IN (?1, ?2, ?3)";
    conn.execute(damage, [&gated.goal, &work, &plain]).unwrap();
    drop(conn);
    for more in [&[][..], &["--exit-status"], &["--exit-status", "--json"]] {
        let (exit, _, err) = tick_all(stage, more);
        assert_eq!(exit, 7, "{err}");
        let damaged = |root: &str| err.matches(&format!("{root}: the store is damaged")).count();
        let asked = usize::from(!more.is_empty());
        let found = [&gated.root, &other, &plain].map(|root| damaged(root));
        assert_eq!(found, [1, 1, asked], "{more:?}: {err}");
        assert_eq!(err.matches("damaged: issues row").count(), 2 + asked, "{err}");
    }
}

#[test]
fn what_cannot_be_ticked_at_all_has_its_exit_code_also_without_an_environment() {
    let stage = Stage::bare();
    assert_eq!(tick_all(&stage, &[]).0, 3);
    stage.ok("init");
    stage.write(
        ".roundgate/roundgate.db",
        "not a database at all, though it has more bytes than a header has......",
    );
    let (exit, out, err) = tick_all(&stage, &[]);
    assert_eq!((exit, out.as_str()), (7, ""));
    assert!(err.starts_with("error: "), "{err}");
}
