//! Two humans, or a human and the clock, decide the same ask at the same moment: one of them does, and the
//! other is told who was first.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]
#![expect(dead_code, reason = "each test uses a part of the fixture")]

mod cli_fixture;

use std::process::{Child, Output, Stdio};

use cli_fixture::Place;
use serde_json::Value;

const ROUNDS: usize = 200;

fn start(place: &Place, arguments: &[&str], now: &str) -> Child {
    let mut command = place.command(arguments);
    command.env("ROUNDGATE_NOW", now).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn end(child: Child) -> (i32, Output) {
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), output)
}

fn error(output: &Output) -> Value {
    serde_json::from_slice(&output.stderr).unwrap()
}

fn ask(place: &Place, more: &[&str]) -> String {
    let create = ["issues", "create", "Which?", "--tag", "kind:ask", "--choice", "red", "--choice", "blue"];
    place.json(&[&create[..], more].concat())["id"].as_str().unwrap().to_owned()
}

/// The answers that were ever recorded to an ask.
fn answers(place: &Place, ask: &str) -> Vec<Value> {
    let events = place.json(&["issues", "history", ask, "--all"]);
    let events = events.as_array().unwrap().iter();
    events.filter(|event| event["change"] == "answer_set").cloned().collect()
}

const NOW: &str = "1800000000000";

#[test]
fn of_two_humans_who_answer_at_once_one_decides_and_the_other_is_told_who_was_first() {
    let place = Place::empty();
    place.ok(&["init"]);
    let mut won = [0, 0];
    for n in 0..ROUNDS {
        let ask = ask(&place, &[]);
        let sides = [("ann", "red"), ("bob", "blue")];
        let order = if n % 2 == 0 { [0, 1] } else { [1, 0] };
        let started = order.map(|side| {
            let (who, choice) = sides[side];
            (side, start(&place, &["answer", &ask, choice, "--as", who, "--json"], NOW))
        });
        let ended = started.map(|(side, child)| (side, end(child)));
        let first = ended.iter().find(|(_, (code, _))| *code == 0).unwrap().0;
        let (_, (code, second)) = ended.iter().find(|(side, _)| *side != first).unwrap();
        let (who, choice) = sides[first];
        assert_eq!(*code, 4, "{second:?}");
        let told = error(second);
        assert_eq!(told["code"], "already_answered");
        let message = told["message"].as_str().unwrap();
        assert!(message.contains(&format!("already answered {choice} by {who}")), "{message}");
        let recorded = answers(&place, &ask);
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        assert_eq!(recorded[0]["after"]["by"], who);
        won[first] += 1;
    }
    assert_eq!(won.iter().sum::<usize>(), ROUNDS);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn of_a_human_and_a_timeout_that_meet_one_decides_and_the_effect_comes_once() {
    let place = Place::empty();
    place.ok(&["init"]);
    let late = "1800000060000";
    let (mut humans, mut clocks) = (0, 0);
    for n in 0..40 {
        let ask = ask(&place, &["--ask-timeout", "1m", "--ask-default", "blue"]);
        let answer = ["answer", &ask, "red", "--as", "ann", "--json"];
        let tick = ["tick", "--root", &ask, "--json"];
        let (human, clock) = if n % 2 == 0 {
            let human = start(&place, &answer, late);
            (human, start(&place, &tick, late))
        } else {
            let clock = start(&place, &tick, late);
            (start(&place, &answer, late), clock)
        };
        let ((code, said), (ticked, _)) = (end(human), end(clock));
        assert_eq!(ticked, 0);
        let recorded = answers(&place, &ask);
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        if code == 0 {
            assert_eq!(recorded[0]["after"]["choice"], "red");
            humans += 1;
        } else {
            let told = error(&said);
            assert_eq!((code, told["code"].as_str().unwrap()), (4, "already_answered"), "{told}");
            assert_eq!(recorded[0]["after"]["choice"], "blue");
            clocks += 1;
        }
        let mut settle = place.command(&["tick", "--root", &ask, "--json"]);
        settle.env("ROUNDGATE_NOW", late).output().unwrap();
        let shown = place.json(&["asks", "show", &ask]);
        assert_eq!(shown["status"], "settled");
        assert_eq!(shown["answer"], recorded[0]["after"]["choice"]);
    }
    assert_eq!(humans + clocks, 40);
    assert_eq!(place.faults(), [""; 0]);
}
