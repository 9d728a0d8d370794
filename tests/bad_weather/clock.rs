//! A clock that is set forth and back, or stands at the end of time: nothing panics, history keeps the
//! order of its numbers, and leases are what the clock says at the time.

use serde_json::Value;

use crate::shell::{NOW, Shell};

const TEN_YEARS: u64 = 10 * 365 * 24 * 60 * 60 * 1000;

/// Every way to look at a root and an issue.
fn looks(root: &str, id: &str) -> Vec<String> {
    let one = ["get", "explain", "children"].map(|verb| format!("issues {verb} {id}"));
    let root =
        ["issues validate", "issues ready --root", "graph", "asks list --root", "tick --dry-run --root"]
            .map(|verb| format!("{verb} {root}"));
    let all = ["issues list --all", "log", "status", "forum topics", "doctor", "tick --all --dry-run"];
    one.into_iter().chain(root).chain(all.map(str::to_owned)).collect()
}

/// Whether events follow each other by their numbers, without gaps.
fn in_order(log: &[Value]) -> bool {
    let numbers: Vec<u64> = log.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    numbers.iter().copied().eq(1..=log.len() as u64)
}

#[test]
fn history_keeps_its_order_and_leases_follow_the_clock_when_it_jumps_by_ten_years() {
    let shell = Shell::new();
    let root = shell.id("issues create Root --tag kind:root");
    let id = shell.id(&format!("issues create Work --parent {root}"));
    let at = |now: u64, who: &str, line: &str| shell.say_as(who, now, line);
    at(NOW, "ann", &format!("issues claim {id}")).exit(0);
    // Set back: the lease has longer to go, and nobody else gets it.
    at(NOW - TEN_YEARS, "bob", &format!("issues claim {id}")).exit(4);
    at(NOW - TEN_YEARS, "ann", &format!("issues renew {id}")).exit(0);
    // As it was: by now the renewed lease ran out ten years ago.
    at(NOW, "bob", &format!("issues claim {id}")).exit(0);
    at(NOW + TEN_YEARS, "clock", &format!("tick --root {root}")).exit(0);
    at(NOW + TEN_YEARS, "eve", &format!("issues claim {id}")).exit(0);
    at(NOW - TEN_YEARS, "ann", &format!("issues close {id}")).exit(4);
    at(NOW - TEN_YEARS, "eve", &format!("issues close {id}")).exit(0);
    at(NOW - TEN_YEARS, "eve", &format!("issues create Old --parent {root}")).exit(0);
    for now in [NOW, NOW - TEN_YEARS, NOW + TEN_YEARS] {
        for line in looks(&root, &id) {
            let said = at(now, "ann", &line);
            assert_eq!((said.code, said.err.contains("panicked")), (Some(0), false), "{line}: {said:?}");
        }
    }
    let log = shell.say("log --json").exit(0).json();
    let mut log = log.as_array().unwrap().clone();
    assert!(in_order(&log), "{log:?}");
    // The planted bug: whoever sorts by time tells another story.
    log.sort_by_key(|event| event["at"].as_u64());
    assert!(!in_order(&log), "the clock never jumped");
    shell.sound();
}

#[test]
fn a_round_goes_on_whatever_the_clock_says_between_its_steps() {
    let shell = Shell::new();
    let root = shell.id("issues create Root --tag kind:root");
    let scope = shell.id(&format!("issues create Scope --parent {root} --tag flow:review-gated-v1"));
    for (jump, note) in [(TEN_YEARS, "tabs"), (0, "comments"), (2 * TEN_YEARS, "strings")] {
        let at = |who: &str, line: &str| shell.say_as(who, NOW + jump - TEN_YEARS, line);
        at("clock", &format!("tick --root {root}")).exit(0);
        let rounds = at("ann", &format!("rounds show {scope} --json")).exit(0).json();
        let round = rounds["rounds"].as_array().unwrap().last().unwrap().clone();
        let (attempt, review) = (round["attempt"].as_str().unwrap(), round["review"].as_str().unwrap());
        at("ann", &format!("issues close {attempt}")).exit(0);
        at("bob", &format!("rounds verdict {review} needs_work --note {note}")).exit(0);
    }
    shell.say(&format!("tick --root {root}")).exit(0);
    assert_eq!(shell.say("asks list --json").exit(0).json().as_array().unwrap().len(), 1);
    shell.sound();
}

#[test]
fn at_the_beginning_and_at_the_end_of_time_nothing_panics() {
    for now in [0, 1, i64::MAX.unsigned_abs(), i64::MAX.unsigned_abs() - 1_000] {
        let shell = Shell::new();
        let root = shell.id("issues create Root --tag kind:root");
        let id = shell.id(&format!("issues create Work --parent {root}"));
        let mut lines = vec![format!("issues claim {id}"), format!("issues renew {id} --lease 1h")];
        lines.extend(looks(&root, &id));
        lines.extend([format!("tick --root {root}"), format!("issues close {id}"), "tick --all".to_owned()]);
        lines.extend(looks(&root, &id));
        for line in lines {
            let said = shell.say_as("ann", now, &line);
            assert!(!said.err.contains("panicked") && said.code.is_some(), "{now}: {line}: {said:?}");
        }
        shell.sound();
    }
}
