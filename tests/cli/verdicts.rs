//! A verdict by command, by packet or by closing the review: one act, with one set of checks.

use insta::assert_snapshot;

use crate::gated::Gated;

const WAYS: [&str; 3] = [
    "rounds verdict REVIEW needs_work --note 'tabs count as one column'",
    "forum post issue:REVIEW -m 'VERDICT: needs_work tabs count as one column'",
    "issues close REVIEW --outcome needs_work --reason 'tabs count as one column'",
];

#[test]
fn the_three_ways_record_the_same() {
    let mut found = Vec::new();
    for way in WAYS {
        let gated = Gated::opened(3);
        let review = gated.attempted();
        gated.stage.cmd(&way.replace("REVIEW", &review)).by("reviewer").ok();
        let issue = gated.stage.json(&format!("issues get {review}"));
        assert_eq!(issue["status"], "open", "the review is closed by the tick, as expanded: {way}");
        let recorded = gated.rounds();
        gated.stage.ok(&format!("tick --root {}", gated.root));
        found.push((
            recorded,
            gated.rounds(),
            gated.stage.json(&format!("issues get {review}"))["outcome"].clone(),
        ));
    }
    assert_eq!(found[0].0["rounds"][0]["verdict"], "needs_work");
    assert_eq!(found[0].0["rounds"][0]["notes"], "tabs count as one column");
    assert_eq!(found[0].2, "expanded");
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn the_three_ways_tell_whoever_looks() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    for way in WAYS {
        let review = gated.attempted();
        stage.cmd(&way.replace("REVIEW", &review)).by("reviewer").show();
        stage.show(&format!("forum read issue:{review}"));
        stage.cmd(&format!("rounds withdraw {review}")).by("reviewer").show();
        stage.cmd(&format!("rounds verdict {review} needs_work --note other --tick")).by("reviewer").ok();
        if gated.rounds()["state"] == "escalated" {
            break;
        }
    }
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_first_verdict_stands_whatever_the_way() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass --note 'reads well'")).by("reviewer").show();
    let events = stage.events();
    stage.cmd(&format!("rounds verdict {review} pass")).by("another").show();
    assert_eq!(stage.events(), events, "the same again is a no-op");
    for way in WAYS {
        stage.cmd(&way.replace("REVIEW", &review)).by("another").refused(4);
    }
    stage.cmd(&format!("rounds withdraw {review}")).by("another").refused(5);
    stage.cmd(&format!("rounds withdraw {review}")).by("reviewer").show();
    stage.cmd(&format!("rounds withdraw {review}")).by("reviewer").refused(5);
    stage.cmd(&format!("rounds verdict {review} needs_work --note 'no tests' --tick")).by("another").show();
    stage.cmd(&format!("rounds withdraw {review}")).by("another").refused(4);
    assert_snapshot!(stage.transcript());
}

#[test]
fn who_worked_on_an_attempt_judges_it_by_none_of_the_ways() {
    let gated = Gated::opened(3);
    let review = gated.attempted();
    for way in WAYS {
        gated.stage.cmd(&way.replace("REVIEW", &review)).by("worker").refused(5);
    }
    gated.stage.cmd(&format!("issues claim {review}")).by("worker").refused(5);
    gated.stage.cmd("issues claim --next --role review").by("worker").refused(5);
    assert_snapshot!(gated.stage.transcript());
}

#[test]
fn a_missing_empty_or_contradictory_verdict_is_never_a_pass() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let attempt = stage.ready("attempt");
    let review = gated.rounds()["rounds"][0]["review"].as_str().unwrap().to_owned();
    stage.cmd(&format!("rounds verdict {review} pass")).by("reviewer").refused(5);
    stage.cmd(&format!("issues close {attempt}")).by("worker").ok();
    stage.cmd(&format!("issues close {review}")).by("reviewer").refused(5);
    stage.cmd(&format!("issues close {review} --outcome skipped --reason tired")).by("reviewer").refused(5);
    stage.cmd(&format!("issues close {review} --outcome expanded")).by("reviewer").refused(5);
    stage.cmd(&format!("rounds verdict {review} maybe")).by("reviewer").refused(2);
    stage.cmd(&format!("forum post issue:{review} -m 'VERDICT:'")).by("reviewer").refused(2);
    stage.cmd(&format!("forum post issue:{review} -m 'VERDICT: passed'")).by("reviewer").refused(2);
    let both = "fine\nVERDICT: pass\nVERDICT: needs_work no tests";
    stage.cmd(&format!("forum post issue:{review} -m")).arg(both).by("reviewer").refused(2);
    stage.cmd(&format!("forum post issue:{review} -m ''")).by("reviewer").refused(2);
    assert_eq!(stage.json(&format!("forum read issue:{review}")).as_array().unwrap().len(), 0);
    assert_eq!(gated.rounds()["state"], "review_pending");
    stage.cmd(&format!("forum post issue:{review} -m 'I would say VERDICT: pass'")).by("reviewer").show();
    assert_eq!(gated.rounds()["state"], "review_pending", "a packet starts its line");
    assert_snapshot!(stage.transcript());
}

#[test]
fn evidence_is_posted_with_the_verdict_and_tick_acts_at_once() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let review = gated.attempted();
    stage.write("out/test.log", "lexer.rs:14: column is 3, not 10\n");
    stage.write("out/core", [0xff, 0xfe, 0x00]);
    stage.cmd(&format!("rounds verdict {review} needs_work --evidence out/none")).by("reviewer").refused(3);
    stage.cmd(&format!("rounds verdict {review} needs_work --evidence out/core")).by("reviewer").refused(2);
    let line =
        format!("rounds verdict {review} needs_work --note 'a test fails' --evidence out/test.log --tick");
    stage.cmd(&line).by("reviewer").show();
    stage.show(&format!("forum read issue:{review}"));
    stage.show(&format!("rounds show {}", gated.goal));
    let next = stage.ready("attempt");
    stage.show(&format!("issues get {next}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn who_judged_may_say_more_and_nobody_else_is_told_it_was_kept() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let review = gated.attempted();
    let judge = |note: &str| stage.cmd(&format!("rounds verdict {review} needs_work{note}")).by("reviewer");
    judge("").ok();
    assert_eq!(judge(" --note 'no tests'").json()["changed"], true);
    let events = stage.events();
    assert_eq!(judge(" --note 'no tests'").json()["changed"], false);
    assert_eq!(judge("").json()["changed"], false);
    let post = format!("forum post issue:{review} -m 'VERDICT: needs_work and no docs'");
    stage.cmd(&post).by("another").refused(4);
    stage.cmd(&format!("rounds verdict {review} needs_work --note 'no docs'")).by("another").refused(4);
    assert_eq!(stage.events(), events);
    let ticked = stage.cmd(&format!("rounds verdict {review} needs_work --tick")).by("reviewer").json();
    assert_eq!((&ticked["verdict"], &ticked["changed"]), (&"needs_work".into(), &false.into()));
    assert_eq!(ticked["tick"]["transition"]["kind"], "next_round");
    assert_eq!(gated.rounds()["rounds"][0]["notes"], "no tests");
    judge(" --note 'too late'").refused(4);
}

#[test]
fn a_post_that_reads_like_an_act_in_the_wrong_place_is_told_so() {
    let gated = Gated::opened(3);
    let stage = &gated.stage;
    let review = gated.attempted();
    let post = |topic: &str, body: &str| stage.json(&format!("forum post issue:{topic} -m '{body}'"));
    for (topic, body, word) in [
        (&gated.goal, "VERDICT: pass", "no verdict"),
        (&review, " VERDICT: pass", "no verdict"),
        (&review, "**VERDICT: pass**", "no verdict"),
        (&gated.goal, "/answer accept", "no answer"),
        (&review, "max_review_rounds=2", "no bound"),
    ] {
        let posted = post(topic, body);
        assert_eq!(posted["act"], serde_json::Value::Null, "{body}");
        assert!(posted["notice"].as_str().unwrap().starts_with(word), "{body}: {posted}");
    }
    let said = stage.cmd(&format!("forum post issue:{} -m 'VERDICT: pass'", gated.goal)).run();
    assert!(said.stderr.contains("no verdict: VERDICT: counts"), "{}", said.stderr);
    assert_eq!(post(&review, "Looks good to me").get("notice"), None);
    let judged = stage.cmd(&format!("forum post issue:{review} -m 'VERDICT: pass'")).by("reviewer").json();
    assert_eq!((judged["act"].as_str(), judged.get("notice")), (Some("verdict"), None));
}
