//! `watch`, on a terminal that a program looks at: it opens, follows what others do, answers an ask, and
//! leaves the terminal as it found it, however it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod tmux;

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tmux::Tmux;

/// A terminal in a folder with a store in it.
struct Desk {
    tmux: Tmux,
}

impl Desk {
    fn new(columns: u16, rows: u16) -> Option<Desk> {
        let desk = Desk { tmux: Tmux::start(columns, rows)? };
        desk.run("ann", &["init"]);
        Some(desk)
    }

    fn command(&self, actor: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        for name in ["ROUNDGATE_STORE", "ROUNDGATE_NOW", "ROUNDGATE_SEED", "ROUNDGATE_OPERATION"] {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(self.tmux.folder()).env("ROUNDGATE_ACTOR", actor);
        command.stdin(Stdio::null());
        command
    }

    /// Another process does something.
    fn run(&self, actor: &str, arguments: &[&str]) -> String {
        let output = self.command(actor, arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, actor: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(actor, &[arguments, &["--json"]].concat())).unwrap()
    }

    fn id(&self, actor: &str, arguments: &[&str]) -> String {
        self.json(actor, arguments)["id"].as_str().unwrap().to_owned()
    }

    /// A scope with two rounds at most.
    fn scope(&self) -> String {
        let scope = self.id("ann", &["issues", "create", "Write the lexer"]);
        self.run("ann", &["rounds", "open", &scope, "--max-review-rounds", "2", "--no-progress", "0"]);
        scope
    }

    /// The round at work fails in its review.
    fn fail_round(&self) {
        let attempt = self.id("ann", &["issues", "claim", "--next", "--role", "attempt"]);
        self.run("ann", &["issues", "close", &attempt]);
        let review = self.json("bob", &["issues", "ready", "--role", "review"])[0]["id"].clone();
        let note = ["--note", "strings are split in two"];
        self.run(
            "bob",
            &[&["rounds", "verdict", review.as_str().unwrap(), "needs_work"][..], &note].concat(),
        );
        self.run("bob", &["tick", "--all"]);
    }

    fn ask(&self) -> Value {
        self.json("ann", &["asks", "list", "--all"])[0].clone()
    }

    /// Starts `watch`, as a process whose id is known.
    fn watch(&self) -> Pid {
        let _ = fs::remove_file(self.tmux.folder().join("pid"));
        self.tmux.line("sh -c 'echo $$ >pid; exec roundgate watch'");
        self.tmux.wait_for("1 Roots");
        let pid = fs::read_to_string(self.tmux.folder().join("pid")).unwrap();
        Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
    }
}

#[test]
fn what_is_to_be_gone_on_with_names_the_store_that_was_named() {
    let Some(desk) = Desk::new(120, 32) else { return };
    let tmux = &desk.tmux;
    desk.scope();
    desk.fail_round();
    desk.fail_round();
    tmux.line("roundgate --store ./.roundgate watch");
    tmux.wait_for("5 Asks 1");
    tmux.keys(&["a", "Enter"]);
    tmux.wait_for("everything: roundgate --store ./.roundgate rounds show");
    tmux.keys(&["q"]);
}

/// Whether a process has ended, whoever is to take note of it.
fn ended(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn a_failing_round_appears_an_ask_is_answered_and_the_terminal_is_left_as_it_was() {
    let Some(desk) = Desk::new(120, 32) else { return };
    let tmux = &desk.tmux;
    let scope = desk.scope();
    tmux.before();
    desk.watch();
    tmux.wait_for("attempt_1");
    desk.fail_round();
    tmux.wait_for("attempt_2");
    tmux.wait_for("needs_work by bob  strings");
    tmux.wait_for("next_round");
    desk.fail_round();
    tmux.wait_for("5 Asks 1");
    tmux.keys(&["a", "Enter"]);
    let screen = tmux.wait_for("overrides the verdict");
    assert!(screen.contains("Max review rounds were reached on \"Write the lexer\""), "{screen}");
    tmux.keys(&["j", "Down", "Enter"]);
    tmux.wait_for("with accept, as ann?");
    tmux.keys(&["n"]);
    tmux.types("good enough, Grüße");
    tmux.keys(&["Enter"]);
    tmux.wait_for("y answer");
    tmux.keys(&["y"]);
    tmux.wait_for("recorded: ");
    let ask = desk.ask();
    let told = ["answer", "note", "answered_by"].map(|name| ask[name].as_str().unwrap().to_owned());
    assert_eq!(told, ["accept", "good enough, Grüße", "ann"]);
    desk.run("ann", &["tick", "--all"]);
    tmux.wait_for("waive");
    tmux.keys(&["q"]);
    tmux.after();
    assert_eq!(desk.json("ann", &["rounds", "show", &scope])["state"], "waived");
}

#[test]
fn however_it_is_asked_to_end_the_terminal_is_left_as_it_was() {
    let Some(desk) = Desk::new(80, 24) else { return };
    desk.scope();
    desk.tmux.before();
    for keys in [["q"], ["Escape"], ["C-c"]] {
        desk.watch();
        desk.tmux.keys(&keys);
        desk.tmux.after();
    }
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let pid = desk.watch();
        kill_process(pid, signal).unwrap();
        desk.tmux.after();
    }
}

#[test]
fn after_a_kill_that_nothing_can_be_done_about_the_readme_s_line_gives_the_terminal_back() {
    let Some(desk) = Desk::new(80, 24) else { return };
    let tmux = &desk.tmux;
    tmux.before();
    let pid = desk.watch();
    kill_process(pid, Signal::KILL).unwrap();
    tmux.wait_for_shell();
    let readme = include_str!("../../README.md");
    let line = "stty sane; tput rmcup; tput cnorm";
    assert!(readme.contains(line), "the README has another way out");
    tmux.types(line);
    tmux.keys(&["C-j"]);
    tmux.wait_until("the shell's screen", |screen| screen.contains("what was before"));
    tmux.line("stty -a | tr ' ' '\\n' | grep -x -e icanon -e echo -e isig | sort | paste -sd+");
    tmux.wait_for("echo+icanon+isig");
    assert_eq!((tmux.knows("alternate_on"), tmux.knows("cursor_flag")), ("0".to_owned(), "1".to_owned()));
}

#[test]
fn a_terminal_that_goes_away_takes_it_along() {
    let Some(desk) = Desk::new(80, 24) else { return };
    let pid = desk.watch();
    desk.tmux.tell(&["kill-server"]);
    let started = Instant::now();
    while !ended(pid) {
        assert!(started.elapsed() < Duration::from_secs(60), "it goes on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_answer_that_another_gave_first_is_told_in_the_view() {
    let Some(desk) = Desk::new(100, 30) else { return };
    let tmux = &desk.tmux;
    desk.scope();
    (0..2).for_each(|_| desk.fail_round());
    let ask = desk.ask()["id"].as_str().unwrap().to_owned();
    desk.watch();
    tmux.wait_for("5 Asks 1");
    tmux.keys(&["a", "Enter", "Enter"]);
    tmux.wait_for("with open-extra-round, as ann?");
    desk.run("bob", &["answer", &ask, "abandon"]);
    tmux.keys(&["y"]);
    let screen = tmux.wait_for("was already answered abandon by bob");
    assert!(screen.contains("hint: "), "{screen}");
    tmux.keys(&["C-c"]);
    tmux.wait_for_shell();
    assert_eq!(desk.ask()["answered_by"], "bob");
}

#[test]
fn a_store_that_goes_away_is_told_and_seen_again_when_it_is_back() {
    let Some(desk) = Desk::new(80, 24) else { return };
    let (store, away) = (desk.tmux.folder().join(".roundgate"), desk.tmux.folder().join("away"));
    desk.scope();
    desk.watch();
    desk.tmux.wait_for("attempt_1");
    fs::rename(&store, &away).unwrap();
    let screen = desk.tmux.wait_for("error: there is no store");
    assert!(screen.contains("attempt_1"), "what was read is gone:\n{screen}");
    // Another store at the same place is another store.
    desk.run("ann", &["init"]);
    desk.run("ann", &["issues", "create", "A new beginning"]);
    desk.tmux.wait_until("the other store and nothing of the first", |screen| {
        screen.contains("A new beginning") && !screen.contains("error:") && !screen.contains("attempt_1")
    });
    desk.tmux.keys(&["q"]);
}

#[test]
fn it_is_drawn_anew_when_the_size_changes_and_after_it_was_suspended() {
    let Some(desk) = Desk::new(120, 32) else { return };
    let tmux = &desk.tmux;
    desk.scope();
    tmux.before();
    desk.watch();
    tmux.wait_for("6 Latest");
    tmux.tell(&["resize-window", "-x", "40", "-y", "10"]);
    tmux.wait_until("one pane", |screen| screen.contains("1 Roots") && !screen.contains("2 Rounds"));
    tmux.tell(&["resize-window", "-x", "120", "-y", "32"]);
    tmux.wait_for("6 Latest");
    tmux.keys(&["C-z"]);
    tmux.wait_for_shell();
    tmux.line("fg");
    tmux.wait_for("6 Latest");
    tmux.keys(&["q"]);
    tmux.after();
}

#[test]
fn looking_writes_nothing() {
    let Some(desk) = Desk::new(80, 24) else { return };
    desk.scope();
    let database = || fs::read(desk.tmux.folder().join(".roundgate/roundgate.db")).unwrap();
    let before = database();
    desk.watch();
    desk.tmux.keys(&["j", "r", "Tab", "r", "?"]);
    desk.tmux.wait_for("Keys");
    desk.tmux.keys(&["Escape", "q"]);
    desk.tmux.wait_for_shell();
    assert_eq!(database(), before);
}

#[test]
fn where_nothing_can_be_drawn_it_says_what_there_is_instead() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["watch"][..], &["watch", "--json"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        let output =
            command.args(arguments).current_dir(&folder).env_remove("ROUNDGATE_STORE").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("roundgate status --json"), "{said}");
    }
    let Some(desk) = Desk::new(100, 24) else { return };
    desk.tmux.line("TERM=dumb roundgate watch; echo it ended with $?");
    desk.tmux.wait_for("it ended with 2");
}
