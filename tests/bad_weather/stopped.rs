//! A process that holds the write lock and was stopped: others read, wait for as long as they should, and
//! go on when it does.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use roundgate::store::sqlite::{Options, Sqlite};
use roundgate::store::{Extent, Store, StoreError};
use rustix::process::{Pid, Signal, kill_process};

use crate::shell::Shell;

/// The variable that makes a process of this test one that holds the lock of a store.
const HOLD: &str = "ROUNDGATE_TEST_HOLD";

/// Not a test, but what the other starts: holds the lock until its stdin ends.
#[test]
fn a_holder_of_the_lock() {
    let Ok(folder) = std::env::var(HOLD) else { return };
    let mut store = Sqlite::open(Path::new(&folder)).unwrap();
    store
        .transact(Extent::Frontier, &mut |_, _| {
            println!("\nheld");
            std::io::stdin().lines().for_each(drop);
            None
        })
        .unwrap();
}

/// One that holds it, and its stdout, which must stay open.
fn holder(folder: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "stopped::a_holder_of_the_lock", "--nocapture"]).env(HOLD, folder);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let held = stdout.by_ref().lines().map_while(Result::ok).any(|line| line == "held");
    assert!(held, "it never got the lock");
    (child, stdout)
}

/// Whether somebody with little patience is told that the store is busy, and does nothing.
fn busy(shell: &Shell) -> Result<(), String> {
    let hasty = Options { deadline: Duration::from_millis(200), ..Options::default() };
    let mut store = Sqlite::open_with(&shell.store(), &hasty).unwrap();
    let mut called = false;
    let told = store.transact(Extent::Frontier, &mut |_, _| {
        called = true;
        None
    });
    match told {
        Err(StoreError::Busy { waited_ms: 200.. }) if !called => Ok(()),
        told => Err(format!("{told:?}, called: {called}")),
    }
}

#[test]
fn a_lock_that_holds_nobody_back_is_noticed() {
    let shell = Shell::new();
    // This holder only reads, as one would whose lock is none.
    let reader = Sqlite::open(&shell.store()).unwrap();
    reader.snapshot().unwrap();
    busy(&shell).unwrap_err();
}

#[test]
fn who_meets_a_stopped_holder_of_the_lock_is_busy_after_the_deadline_and_writes_nothing() {
    let shell = Shell::new();
    shell.say("issues create Before").exit(0);
    let (mut child, _stdout) = holder(&shell.store());
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).unwrap();

    // Readers do not wait for it.
    assert_eq!(shell.say("issues list --json").exit(0).json().as_array().unwrap().len(), 1);
    shell.sound();
    busy(&shell).unwrap();
    // Several at once, and the program's own ten seconds.
    let said = shell.script(
        r#"
        for n in 1 2 3; do ( code=0; "$BIN" --json issues create N 2>err$n || code=$?; echo $code ) & done; wait
        cat err1 err2 err3
        "#,
    );
    let said = said.exit(0);
    assert_eq!(said.out.lines().filter(|line| *line == "6").count(), 3, "{said:?}");
    assert_eq!(said.out.matches("\"code\":\"busy\"").count(), 3, "{said:?}");
    assert_eq!(said.out.matches("\"retryable\":true").count(), 3, "{said:?}");

    kill_process(pid, Signal::CONT).unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    shell.say("issues create After").exit(0);
    assert_eq!(shell.say("issues list --json").exit(0).json().as_array().unwrap().len(), 2);
    shell.sound();
}

#[test]
fn a_stopped_holder_that_is_killed_leaves_the_lock_to_others() {
    let shell = Shell::new();
    let (mut child, _stdout) = holder(&shell.store());
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    shell.say("issues create After").exit(0);
    shell.sound();
}
