//! The inbox: asks are shown with what they need to be decided, and only an answer settles them.

use insta::assert_snapshot;

use crate::gated::Gated;

#[test]
fn an_exhausted_scope_asks_a_human_with_all_there_is_to_know() {
    let (gated, ask, _) = Gated::escalated();
    gated.stage.show("asks list");
    gated.stage.show(&format!("asks list --root {}", gated.root));
    gated.stage.show(&format!("asks show {ask}"));
    gated.stage.show(&format!("issues get {ask}"));
    assert_snapshot!(gated.stage.transcript());
}

#[test]
fn open_extra_round_opens_as_many_as_it_says() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    stage.refused(2, &format!("answer {ask} open-extra-round --rounds 0"));
    stage.refused(2, &format!("answer {ask} accept --rounds 2"));
    stage.show(&format!("answer {ask} open-extra-round --rounds 2 --note 'nearly there' --tick"));
    assert_eq!(gated.rounds()["max_rounds"], 3);
    gated.fails("nested comments end too early");
    assert!(!gated.is_ready(&beyond));
    let review = gated.attempted();
    stage.cmd(&format!("rounds verdict {review} pass --tick")).by("reviewer").show();
    assert!(gated.is_ready(&beyond));
    stage.show("asks list");
    stage.show("asks list --all");
    assert_snapshot!(stage.transcript());
}

#[test]
fn stop_and_handoff_gives_the_work_to_a_human_and_what_waits_keeps_waiting() {
    for (choice, released) in [("done", true), ("abandon", true)] {
        let (gated, ask, beyond) = Gated::escalated();
        let stage = &gated.stage;
        stage.show(&format!("answer {ask} stop-and-handoff --note 'I do it' --tick"));
        assert_eq!(gated.rounds()["state"], "handed_off");
        assert!(!gated.is_ready(&beyond));
        let second = stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
        stage.show(&format!("asks show {second}"));
        stage.show(&format!("answer {second} {choice} --note 'by hand' --tick"));
        assert_eq!(gated.is_ready(&beyond), released, "{choice}");
        stage.show(&format!("rounds show {}", gated.goal));
        assert_snapshot!(format!("stop_and_handoff_{choice}"), stage.transcript());
    }
}

#[test]
fn accept_is_a_waiver_with_name_and_reason() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    stage.show(&format!("answer {ask} accept --note 'good enough for the demo' --tick"));
    assert_eq!(gated.rounds()["state"], "waived");
    assert!(gated.is_ready(&beyond));
    stage.show(&format!("issues get {ask}"));
    stage.show(&format!("asks show {ask}"));
    assert_snapshot!(stage.transcript());
}

#[test]
fn abandon_gives_up_the_scope_and_with_dependents_what_waits_for_it() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    stage.refused(2, &format!("answer {ask} accept --with-dependents"));
    let events = stage.events();
    stage.show(&format!("answer {ask} abandon --with-dependents --dry-run"));
    assert_eq!(stage.events(), events, "a dry run writes nothing");
    stage.show(&format!("answer {ask} abandon --with-dependents --note 'not worth it' --tick"));
    assert_eq!(gated.rounds()["state"], "abandoned");
    assert_eq!(stage.json(&format!("issues get {beyond}"))["outcome"], "skipped");
    assert_snapshot!(stage.transcript());
}

#[test]
fn abandon_alone_releases_what_waits() {
    let (gated, ask, beyond) = Gated::escalated();
    gated.stage.show(&format!("answer {ask} abandon --note 'not worth it' --tick"));
    assert!(gated.is_ready(&beyond));
    assert_snapshot!(gated.stage.transcript());
}

#[test]
fn a_root_that_is_final_tells_what_of_it_never_passed() {
    for (choice, list) in [("abandon", "given_up"), ("accept", "waived")] {
        let (gated, ask, beyond) = Gated::escalated();
        let stage = &gated.stage;
        stage.ok(&format!("answer {ask} {choice} --note 'so be it' --tick"));
        stage.ok(&format!("issues close {beyond} --outcome skipped --reason 'bought instead'"));
        while stage.json(&format!("tick --root {}", gated.root))["transition"].is_object() {}
        let found = stage.json(&format!("issues validate {}", gated.root));
        assert_eq!(found["is_final"], true, "{found}");
        let skipped = [gated.goal.as_str(), &beyond];
        let wanted = if choice == "abandon" { &skipped[..] } else { &skipped[1..] };
        assert_eq!(found["given_up"], serde_json::json!(wanted), "{choice}");
        assert!(found[list].as_array().unwrap().iter().any(|id| id == &gated.goal), "{choice}: {found}");
        assert_ne!(found["reason"], "everything is settled");
    }
}

#[test]
fn an_answer_in_the_forum_is_the_same_act() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    stage.refused(2, &format!("forum post issue:{ask} -m /answer"));
    stage.refused(2, &format!("forum post issue:{ask} -m '/answer perhaps'"));
    stage.show(&format!("forum post issue:{ask} -m 'What does the log say?'"));
    stage.cmd(&format!("forum post issue:{ask} -m '/answer accept good enough'")).by("carla").show();
    stage.show(&format!("asks show {ask}"));
    stage.show(&format!("tick --root {}", gated.root));
    assert!(gated.is_ready(&beyond));
    assert_snapshot!(stage.transcript());
}

#[test]
fn nothing_but_an_answer_settles_an_ask() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    stage.refused(5, &format!("issues close {ask}"));
    stage.refused(5, &format!("issues close {ask} --outcome skipped --reason 'no time'"));
    stage.refused(5, &format!("issues update {ask} --status closed"));
    stage.refused(5, &format!("issues update {ask} --remove-tag kind:ask"));
    stage.refused(2, &format!("issues update {ask} --add-tag node:agent"));
    stage.refused(5, &format!("issues claim {ask}"));
    stage.refused(5, &format!("issues dep {ask} parent {}", gated.root));
    assert_snapshot!(stage.transcript());
}

#[test]
fn the_first_answer_stands_until_its_author_withdraws_it() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    stage.cmd(&format!("answer {ask} accept --note fine")).by("carla").show();
    let events = stage.events();
    stage.cmd(&format!("answer {ask} accept")).by("dora").show();
    assert_eq!(stage.events(), events, "the same again is a no-op");
    stage.cmd(&format!("answer {ask} abandon")).by("dora").refused(4);
    stage.cmd(&format!("forum post issue:{ask} -m '/answer abandon'")).by("dora").refused(4);
    stage.cmd(&format!("answer {ask} --withdraw")).by("dora").refused(5);
    stage.cmd(&format!("answer {ask} --withdraw")).by("carla").show();
    stage.cmd(&format!("answer {ask} --withdraw")).by("carla").refused(5);
    stage.cmd(&format!("answer {ask} abandon --tick")).by("dora").show();
    stage.cmd(&format!("answer {ask} --withdraw")).by("dora").refused(4);
    stage.cmd(&format!("answer {ask} accept")).by("carla").refused(4);
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_failure_that_no_round_takes_care_of_asks_beside_it() {
    for choice in ["retry", "skip"] {
        let stage = crate::stage::Stage::new();
        let root = stage.id("issues create 'Ship the parser' --tag kind:root");
        let work = stage.id(&format!("issues create 'Write the lexer' --parent {root}"));
        stage.ok(&format!("issues close {work} --outcome failure --reason 'the grammar is wrong'"));
        stage.show(&format!("tick --root {root}"));
        let ask = stage.json("asks list")[0]["id"].as_str().unwrap().to_owned();
        stage.show(&format!("asks show {ask}"));
        stage.show(&format!("answer {ask} {choice} --note 'it is mended' --tick"));
        stage.show(&format!("issues list --root {root}"));
        assert_snapshot!(format!("failure_{choice}"), stage.transcript());
    }
}
