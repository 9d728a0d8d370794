//! The command lines that are printed for a person to go on with: pasted as they are, they work where they
//! were printed.

use crate::stage::{Ran, Stage};

/// A store with a name that a shell would take apart.
const STORE: &str = "it's my store";

/// Commands with something in what they print that is to be gone on with, and what of it.
fn lines(ask: &str, work: &str) -> Vec<(String, String)> {
    [
        (format!("asks show {ask}"), format!("answer {ask} CHOICE --note TEXT")),
        (format!("asks show {ask}"), format!("forum read issue:{ask}")),
        (format!("answer {ask} never"), format!("asks show {ask}")),
        (format!("issues close {ask}"), format!("answer {ask} CHOICE")),
        ("issues get nothing".to_owned(), "issues list --all".to_owned()),
        (format!("issues claim {work}"), format!("issues explain {work}")),
        ("status".to_owned(), "issues list".to_owned()),
        ("notify send".to_owned(), "config set notify.command '[\"sh\", \"./notify.sh\"]'".to_owned()),
        ("heartbeats get hb-none".to_owned(), "heartbeats list".to_owned()),
        (format!("run --root {work}"), format!("asks show {ask}")),
    ]
    .to_vec()
}

fn said(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

/// A question, and work that waits for it.
fn asked(stage: &Stage) -> (String, String) {
    let at = |line: &str| stage.cmd(line).arg("--store").arg(STORE);
    at("init").ok();
    let id = |line: &str| at(line).json()["id"].as_str().unwrap().to_owned();
    let ask = id("issues create 'Which region?' --tag kind:ask --tag proto:hierarchical-work-v1");
    let work = id("issues create 'Copy the tables'");
    at(&format!("issues dep {ask} blocks {work}")).ok();
    (ask, work)
}

#[test]
fn what_is_printed_to_go_on_with_names_the_store_that_a_flag_named() {
    let stage = Stage::new();
    let (ask, work) = asked(&stage);
    for (command, further) in lines(&ask, &work) {
        let ran = stage.cmd(&command).arg("--store").arg(STORE).run();
        let wanted = format!("roundgate --store 'it'\\''s my store' {further}");
        assert!(said(&ran).contains(&wanted), "{command}: {}", said(&ran));
        assert!(!said(&ran).replace(&wanted, "").contains("roundgate issues"), "{command}: {}", said(&ran));
    }
}

#[test]
fn a_store_that_the_environment_names_is_not_named_again() {
    let stage = Stage::new();
    let (ask, work) = asked(&stage);
    for (command, further) in lines(&ask, &work) {
        let ran = stage.cmd(&command).env("ROUNDGATE_STORE", STORE).run();
        let wanted = format!("roundgate {further}");
        assert!(said(&ran).contains(&wanted), "{command}: {}", said(&ran));
        assert!(!said(&ran).contains("--store"), "{command}: {}", said(&ran));
    }
}

#[test]
fn a_line_that_was_printed_can_be_pasted() {
    let stage = Stage::new();
    let (ask, _) = asked(&stage);
    let shown = stage.cmd(&format!("asks show {ask}")).arg("--store").arg(STORE).ok();
    let line = shown.lines().last().unwrap().replace("CHOICE", "done").replace("TEXT", "'the nearest one'");
    let ran = stage.script(&line);
    assert_eq!(ran.exit, 0, "{line}: {ran:?}");
    assert!(ran.stdout.contains("answered done"), "{ran:?}");
    let missing = stage.cmd("status").arg("--store").arg("not there").run();
    let hint = missing.stderr.lines().last().unwrap();
    let line = hint.strip_prefix("hint: ").and_then(|hint| hint.strip_suffix(" makes one")).unwrap();
    assert_eq!(stage.script(line).exit, 0, "{line}");
    assert!(stage.path("not there/roundgate.db").exists());
}

#[test]
fn what_a_store_keeps_does_not_depend_on_how_it_was_named() {
    let stage = Stage::new();
    let (ask, _) = asked(&stage);
    let named = stage.cmd(&format!("asks show {ask}")).arg("--store").arg(STORE).json();
    let found = stage.cmd(&format!("asks show {ask}")).env("ROUNDGATE_STORE", STORE).json();
    assert_eq!(named, found);
    assert_eq!(named["everything"], format!("roundgate forum read issue:{ask}"));
    let documents = stage.cmd("ui list").arg("--store").arg(STORE).json().to_string();
    assert!(documents.contains("/answer done") && !documents.contains("my store"), "{documents}");
}
