//! The built program as a shell meets it: what it prints, where, and with which exit code.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A folder with a store.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Desk {
        let desk = Desk { folder: tempfile::tempdir().unwrap() };
        desk.prints(&["init"]);
        desk
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(self.folder.path());
        command.args(arguments);
        command
    }

    fn runs(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    #[track_caller]
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.runs(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
    for name in ["STORE", "ACTOR", "NOW", "SEED"] {
        command.env_remove(format!("ROUNDGATE_{name}"));
    }
    command.current_dir(folder).env("LOGNAME", "ann");
    command
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed_raw_in_any_form() {
    let desk = Desk::new();
    let evil = "t\u{1b}[2J\u{9b}2J\u{7}\u{202e}x";
    let root = parsed(desk.prints(&["issues", "create", evil, "--tag", "kind:root", "--json"]).as_bytes());
    let root = root["id"].as_str().unwrap().to_owned();
    // A name may have neither.
    let actor = "a\u{fc}nn";
    desk.prints(&["issues", "create", evil, "--parent", &root, "--body", evil, "--as", actor]);
    desk.prints(&["issues", "claim", "--next", "--as", actor]);
    desk.prints(&["forum", "post", &format!("issue:{root}"), "--message", evil, "--as", actor]);
    for command in [
        &["issues", "list"][..],
        &["issues", "get", &root],
        &["status"],
        &["log"],
        &["graph", &root],
        &["graph", &root, "--format", "mermaid"],
        &["forum", "read", &format!("issue:{root}")],
    ] {
        for json in [&[][..], &["--json"], &["--json", "--pretty"]] {
            let said = desk.prints(&[command, json].concat());
            let raw = said.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(raw, None, "{command:?} {json:?}: {said:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_printed_is_an_error() {
    let desk = Desk::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let status = desk.command(&["status"]).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let desk = Desk::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = desk.command(&["status"]).stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_file_error_has_the_exit_code_of_its_kind() {
    let desk = Desk::new();
    fs::write(desk.path("latin.toml"), b"title = \"\xe9\"").unwrap();
    for (file, code) in [("nowhere.toml", 3), ("latin.toml", 2), (".", 2)] {
        let output = desk.runs(&["plan", "check", file]);
        assert_eq!(output.status.code(), Some(code), "{file}: {output:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_that_is_not_utf_8_is_no_reason_to_panic() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("plan.toml"), "[root]\nkey = \"r\"\ntitle = \"R\"\n").unwrap();
    for command in ["init", "status"] {
        let output = program(&folder).args([command, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(parsed(&output.stdout)["store"].is_string());
    }
    let output = program(&folder).args(["plan", "apply", "plan.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("is not UTF-8"), "{output:?}");
}

#[test]
fn the_bound_shown_before_a_scope_opens_is_the_one_it_opens_with() {
    let desk = Desk::new();
    let scope = ["issues", "create", "scope", "--tag", "flow:review-gated-v1", "--json"];
    let made = parsed(desk.prints(&[&scope[..], &["--body", "max_review_rounds=7"]].concat()).as_bytes());
    let id = made["id"].as_str().unwrap();
    let bound = || parsed(desk.prints(&["rounds", "show", id, "--json"]).as_bytes())["max_rounds"].clone();
    assert_eq!(bound(), 7);
    desk.prints(&["forum", "post", &format!("issue:{id}"), "--message", "max_review_rounds=9"]);
    assert_eq!(bound(), 9);
    let status = parsed(desk.prints(&["status", id, "--json"]).as_bytes());
    assert_eq!(status["scopes"][0]["max_rounds"], 9);
    desk.prints(&["tick", "--root", id]);
    assert_eq!(bound(), 9);
}

#[test]
fn a_usage_error_in_json_names_what_is_missing() {
    let output = Desk::new().runs(&["issues", "create", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let message = parsed(&output.stderr)["message"].to_string();
    assert!(message.contains("required arguments were not provided: <TITLE>"), "{message}");
}

#[test]
fn setting_a_key_keeps_the_comments_around_it() {
    let desk = Desk::new();
    let file = desk.path(".roundgate/config.toml");
    fs::write(&file, "# how long\nlease = \"30m\" # agreed on\n\n# last\noutput_cap = 2048\n").unwrap();
    desk.prints(&["config", "set", "lease", "40m"]);
    let expected = "# how long\nlease = \"40m\" # agreed on\n\n# last\noutput_cap = 2048\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), expected);
}

#[test]
fn tick_all_finishes_a_root_that_never_had_rounds() {
    let desk = Desk::new();
    let made = desk.prints(&["issues", "create", "root", "--tag", "kind:root", "--json"]);
    let root = parsed(made.as_bytes())["id"].as_str().unwrap().to_owned();
    let made = desk.prints(&["issues", "create", "work", "--parent", &root, "--json"]);
    let work = parsed(made.as_bytes())["id"].as_str().unwrap().to_owned();
    desk.prints(&["issues", "close", &work]);
    let ticks = || {
        let views = parsed(desk.prints(&["tick", "--all", "--json"]).as_bytes());
        views.as_array().unwrap().iter().map(|view| view["transition"]["kind"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ticks(), ["roll_up"]);
    assert_eq!(ticks(), ["finish"]);
    assert_eq!(ticks(), Vec::<Value>::new());
}

#[test]
fn applying_a_plan_again_keeps_a_bound_that_was_posted() {
    let desk = Desk::new();
    let workers = "[workers.attempt]\ncommand = [\"sh\"]\n[workers.review]\ncommand = [\"sh\"]\n";
    let goal = "[[goal]]\nkey = \"a\"\ntitle = \"A\"\naccept = [\"good\"]\n";
    let plan = format!("[root]\nkey = \"r\"\ntitle = \"R\"\n{workers}{goal}");
    fs::write(desk.path("plan.toml"), plan).unwrap();
    let apply = || parsed(desk.prints(&["plan", "apply", "plan.toml", "--json"]).as_bytes());
    let id = apply()["ids"]["a"].as_str().unwrap().to_owned();
    desk.prints(&["forum", "post", &format!("issue:{id}"), "--message", "max_review_rounds=9"]);
    assert_eq!(apply()["changed"], false);
    assert_eq!(parsed(desk.prints(&["rounds", "show", &id, "--json"]).as_bytes())["max_rounds"], 9);
}

#[test]
fn what_ended_badly_neither_hides_its_questions_nor_asks_for_ticks() {
    let desk = Desk::new();
    let created = |arguments: &[&str]| {
        let issue: Value = serde_json::from_str(&desk.prints(&[arguments, &["--json"]].concat())).unwrap();
        issue["id"].as_str().unwrap().to_owned()
    };
    let root = created(&["issues", "create", "Root", "--tag", "kind:root"]);
    let part = created(&["issues", "create", "Part", "--parent", &root]);
    let ask = created(&["issues", "create", "Which?", "--tag", "kind:ask", "--parent", &part]);
    desk.prints(&["issues", "close", &part, "--outcome", "expanded"]);
    desk.prints(&["issues", "close", &root, "--outcome", "failure", "--reason", "no way"]);
    assert!(desk.prints(&["asks", "list"]).contains(&ask));

    let alone = created(&["issues", "create", "Alone", "--tag", "kind:root"]);
    desk.prints(&["issues", "close", &alone, "--outcome", "failure", "--reason", "no way"]);
    let ticked = desk.prints(&["tick", "--all", "--json"]);
    assert!(!ticked.contains(&alone), "{ticked}");
}

#[test]
fn an_empty_variable_says_as_much_as_none() {
    let desk = Desk::new();
    let mut command = desk.command(&["issues", "create", "Work", "--json"]);
    for name in ["STORE", "ACTOR", "OPERATION", "NOW", "SEED"] {
        command.env(format!("ROUNDGATE_{name}"), "");
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = parsed(desk.prints(&["log", "--json"]).as_bytes());
    assert_eq!(log[0]["actor"], "ann");
    // What is named as a flag is meant, empty or not.
    assert_eq!(desk.runs(&["issues", "list", "--as", ""]).status.code(), Some(2));
}

#[test]
fn nobody_acts_under_the_name_of_the_engine() {
    let desk = Desk::new();
    let refused = desk.runs(&["issues", "create", "Work", "--as", "roundgate", "--json"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let mut command = desk.command(&["issues", "create", "Work", "--json"]);
    assert!(command.env("LOGNAME", "roundgate").output().unwrap().status.success());
    let log = parsed(desk.prints(&["log", "--json"]).as_bytes());
    assert!(log[0]["actor"].as_str().unwrap().starts_with("uid:"), "{log}");
}

#[test]
fn where_there_are_two_ways_an_error_names_both() {
    let desk = Desk::new();
    for (line, ways) in [
        (&["tick"][..], "<--root <ID>|--all>"),
        (&["issues", "claim"], "<ID|--next>"),
        (&["run"], "<PLAN|--root <ID>>"),
    ] {
        let output = desk.runs(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(ways), "{ways}: {said}");
    }
    for both in [
        &["tick", "--all", "--root", "rg-a"][..],
        &["issues", "claim", "rg-a", "--next"],
        &["run", "p", "--root", "r"],
    ] {
        assert_eq!(desk.runs(both).status.code(), Some(2), "{both:?}");
    }
}

/// The help of a command.
fn help(desk: &Desk, words: &[&str]) -> String {
    desk.prints(&[words, &["--help"]].concat())
}

#[test]
fn every_example_of_a_help_text_is_a_line_that_the_program_takes() {
    let desk = Desk::new();
    for words in [&["tick"][..], &["issues", "create"], &["run"], &["answer"], &["cron", "create"]] {
        let text = help(&desk, words);
        let examples = text.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{text}"));
        assert!(examples.lines().count() >= 2, "{examples}");
        for line in examples.lines() {
            let line = line.trim().strip_prefix("roundgate ").unwrap();
            let mut command = Command::new("sh");
            command.arg("-c").arg(format!("\"$BIN\" {line}")).current_dir(desk.path(""));
            command.env("BIN", env!("CARGO_BIN_EXE_roundgate")).env("LOGNAME", "ann");
            let output = command.output().unwrap();
            // What it names is not there; but nothing about the line itself is wrong.
            assert!(matches!(output.status.code(), Some(0 | 3)), "{line}: {output:?}");
        }
    }
}

#[test]
fn help_keeps_the_flags_of_a_command_apart_from_those_of_all() {
    let desk = Desk::new();
    let text = help(&desk, &["tick"]);
    let (own, all) = text.split_once("With every command:").unwrap();
    assert!(own.contains("--dry-run") && own.contains("--exit-status") && !own.contains("--store"), "{own}");
    for flag in ["--store", "--as", "--operation", "--json", "--pretty"] {
        assert!(all.contains(flag), "{all}");
    }
}
