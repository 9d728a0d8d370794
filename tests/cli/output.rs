//! What reaches a terminal or a pipe: nothing raw, nothing cut silently, no panic when nobody reads.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::gated::Gated;
use crate::stage::Stage;

/// Clears the screen, turns the line around, rings the bell, and says it in eight bits.
const NASTY: &str = "lex\u{1b}[2Jer \u{202e}txt.exe\u{7} \u{9b}31m";

fn nothing_raw(text: &str, line: &str) {
    let raw = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.chars().any(raw), "{line} prints a control character: {text:?}");
}

#[test]
fn a_nasty_title_is_shown_escaped_everywhere() {
    let gated = Gated::opened(1);
    let stage = &gated.stage;
    let root = &gated.root;
    let other = stage.cmd("issues create --parent").arg(root).arg(NASTY).arg("--body").arg(NASTY).json();
    let other = other["id"].as_str().unwrap().to_owned();
    stage.ok(&format!("issues dep {other} blocks {}", gated.goal));
    stage.cmd(&format!("issues update {root} --title")).arg(NASTY).ok();
    stage.cmd(&format!("issues update {} --title", gated.goal)).arg(NASTY).ok();
    stage.cmd(&format!("forum post issue:{other} -m")).arg(NASTY).ok();
    stage.cmd(&format!("issues close {other} --outcome failure --reason")).arg(NASTY).ok();
    let nasty_plan = stage.write("plan.toml", "[root]\nkey = \"\\u001b[2J\"\ntitle = \"\\u0007\"\n");
    let lines = [
        format!("tick --root {root} --dry-run"),
        format!("tick --root {root}"),
        "issues list".to_owned(),
        "issues ready".to_owned(),
        format!("issues get {other}"),
        format!("issues history {other}"),
        format!("issues explain {}", gated.goal),
        format!("issues validate {root}"),
        format!("issues children {root}"),
        "status".to_owned(),
        "log --all".to_owned(),
        format!("graph {root}"),
        format!("graph {root} --format mermaid"),
        "asks list".to_owned(),
        "ui list".to_owned(),
        "ui snapshot compact".to_owned(),
        "ui snapshot multiline".to_owned(),
        format!("ui get ui:control-flow --root {root}"),
        format!("ui get ui:control-flow:escalation --root {root}"),
        "ui log".to_owned(),
        format!("forum read issue:{root}"),
        format!("forum read issue:{other}"),
        format!("plan check {}", nasty_plan.display()),
    ];
    for line in &lines {
        let ran = stage.cmd(line).run();
        nothing_raw(&ran.stdout, line);
        nothing_raw(&ran.stderr, line);
    }
    let ask = stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
    for line in [format!("asks show {ask}"), format!("answer {ask} skip --tick"), format!("issues get {ask}")]
    {
        nothing_raw(&stage.show(&line).stdout, &line);
    }
    let errors = [
        stage.cmd("issues get").arg(NASTY),
        stage.cmd("issues create it --tag").arg(NASTY),
        stage.cmd("config get").arg(NASTY),
    ];
    for error in errors {
        let ran = error.show();
        nothing_raw(&ran.stderr, "an error");
        nothing_raw(&error.arg("--json").run().stderr, "an error as JSON");
    }
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_table_that_is_cut_says_so_and_what_shows_the_rest() {
    let stage = Stage::new();
    for n in 1..=13 {
        stage.ok(&format!("issues create 'issue {n}'"));
    }
    stage.show("issues ready --limit 3");
    stage.show("issues list --limit 2");
    stage.show("log --limit 2");
    assert!(!stage.ok("issues ready").contains("more"));
    assert_eq!(stage.json("issues ready").as_array().unwrap().len(), 13);
    assert_eq!(stage.json("issues ready --limit 3").as_array().unwrap().len(), 3);
    assert_eq!(stage.ok("issues ready --limit 3 --all").lines().count(), 14);
    for n in 14..=60 {
        stage.ok(&format!("issues create 'issue {n}'"));
    }
    let cut = stage.ok("issues ready");
    let last = cut.lines().nth(50).unwrap().split_whitespace().next().unwrap();
    let next = format!("... and more; --after {last} shows them, --all every row");
    assert_eq!(cut.lines().last(), Some(next.as_str()));
    assert_eq!(stage.json("issues ready").as_array().unwrap().len(), 60);
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_pipe_gets_no_escape_codes() {
    let gated = Gated::opened(1);
    for line in ["--help", "issues list", "status", "issues get", "none"] {
        for test in [gated.stage.cmd(line), gated.stage.cmd(line).env("NO_COLOR", "1")] {
            let ran = test.run();
            assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{line}: {ran:?}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let stage = Stage::new();
    stage.write("body", "x".repeat(1 << 20));
    for _ in 0..3 {
        stage.ok("issues create big --body-file body");
    }
    for line in ["issues list --json", "log --json", "issues list"] {
        let mut child =
            stage.cmd(line).command().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((said.as_str(), child.wait().unwrap().code()), ("", Some(0)), "{line}");
    }
}

#[test]
fn help_names_every_command_and_exit_code() {
    let stage = Stage::bare();
    stage.show("--help");
    stage.show("issues --help");
    let script = stage.ok("completions bash");
    assert!(script.contains("roundgate__subcmd__help__subcmd__issues,search)"), "{script}");
    assert!(stage.ok("completions fish").contains("-a \"log\" -d 'The latest events'"));
    assert_snapshot!(stage.transcript());
}
