//! Ctrl-C while a command waits at a store that somebody else writes.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::gated::Gated;
use crate::stage::Ran;

#[test]
fn who_is_stopped_at_a_busy_store_was_stopped() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    stage.write(".roundgate/notify.sh", "cat >/dev/null");
    stage.ok("config set notify.command '[\"sh\", \"./notify.sh\"]'");
    stage.id("issues create 'Which region?' --tag kind:ask");
    let writer = Connection::open(stage.path(".roundgate/roundgate.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let lines =
        [format!("run --root {}", gated.root), "notify send".to_owned(), "notify send --json".to_owned()];
    let started = lines.map(|line| {
        let mut command = stage.cmd(&line).command();
        (line, command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    });
    // By then each of them waits, and will for ten seconds.
    sleep(Duration::from_secs(2));
    for (_, child) in &started {
        kill_process(Pid::from_child(child), Signal::INT).unwrap();
    }
    for (line, child) in started {
        let ran = Ran::of(&child.wait_with_output().unwrap());
        assert_eq!(ran.exit, 130, "{line}: {ran:?}");
        assert!(ran.stderr.contains("busy"), "{line}: {ran:?}");
        if line.ends_with("--json") {
            assert_eq!(ran.error()["code"], "stopped");
        }
    }
    writer.execute_batch("ROLLBACK").unwrap();
}
