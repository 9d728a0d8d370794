//! Asks (section 5): who is asked, what the answers do, and that nothing else settles an ask.

use roundgate::engine::dependents;
use roundgate::engine::review_gated::{ScopeState, state};
use roundgate::model::act::packet;
use roundgate::model::act::update::Update;
use roundgate::model::issue::Outcome::{self, Failure, Success};
use roundgate::model::issue::{Policy, Priority};
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::record::{Answer, AskKind, ScopeEnd};
use roundgate::model::refusal::Refusal;

use crate::stage::{LEASE, Stage, id, who};

/// A human is asked in `t-3` about `s`, and `after` waits for `s`.
fn asked() -> Stage {
    let mut stage = Stage::with_exhausted_rounds();
    stage.goal("after", "root");
    stage.block("s", "after").unwrap();
    stage
}

fn given(stage: &Stage, choice: &str, rounds: Option<u32>, with_dependents: bool) -> Answer {
    let (choice, by) = (choice.to_owned(), who("hugh"));
    Answer { choice, note: String::new(), by, at: stage.now, rounds, with_dependents }
}

#[test]
fn exhausted_rounds_offer_four_choices() {
    let stage = asked();
    let ask = stage.ask("t-3");
    let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
    assert_eq!(choices, ["open-extra-round", "stop-and-handoff", "accept", "abandon"]);
    assert_eq!((ask.kind, ask.round, stage.parent("t-3")), (AskKind::Rounds, Some(1), Some("t-2")));
    assert!(ask.evidence.iter().any(|line| line.contains("no tests")));
    assert_eq!(stage.issue("t-3").body, ask.question);
    let tags = &stage.issue("t-3").tags;
    assert!(["kind:ask", "ctx:human", "actor:user"].iter().all(|tag| tags.has(tag)) && !tags.executable());
    assert_eq!(stage.waits_on(), "human t-3");
}

#[test]
fn an_ask_takes_over_what_waited_for_the_review_and_a_failed_attempt() {
    let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(1), ..Policy::default() });
    stage.goal("after", "root");
    stage.block("t-2", "after").unwrap();
    stage.close("t-1", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "escalate");
    assert!(stage.blocks("t-3", "after") && stage.supersedes("t-3", "t-1"));
    stage.answer("t-3", "open-extra-round").unwrap();
    assert_eq!(stage.tick(), "grant_rounds");
    assert!(stage.supersedes("t-4", "t-1") && !stage.supersedes("t-3", "t-1"));
    assert!(!stage.ready("after"));
}

#[test]
fn extra_rounds_raise_the_bound_and_open_the_next() {
    let mut stage = asked();
    let answer = given(&stage, "open-extra-round", Some(2), false);
    stage.answer_with("t-3", answer).unwrap();
    assert_eq!(stage.tick(), "grant_rounds");
    assert_eq!(stage.snapshot.scope(&id("s")).unwrap().bounds.max_rounds, 3);
    assert_eq!((stage.rounds(), stage.parent("t-4"), stage.status("t-3")), (2, Some("t-2"), "success"));
    assert!(!stage.resolved("s") && stage.ready("t-4"));
}

#[test]
fn accepting_overrides_the_verdict_by_name_and_releases_what_waits() {
    let mut stage = asked();
    stage.answer("t-3", "accept").unwrap();
    assert!(!stage.ready("after"), "the effect comes with the tick");
    assert_eq!(stage.tick(), "waive");
    assert_eq!((stage.status("t-3"), stage.ended("s")), ("success", Some(ScopeEnd::Waived)));
    assert!(stage.issue("t-3").state.reason().unwrap().contains("hugh answered accept: so be it"));
    assert!(stage.ready("after"));
}

#[test]
fn a_hand_off_keeps_what_waits_waiting_until_a_human_is_done() {
    let mut stage = asked();
    stage.block("t-3", "after").unwrap();
    stage.answer("t-3", "stop-and-handoff").unwrap();
    assert_eq!(stage.tick(), "hand_off");
    assert!(stage.blocks("t-4", "after") && !stage.blocks("t-3", "after"));
    assert_eq!(state(&stage.snapshot, stage.ix("s")), ScopeState::HandedOff);
    assert!(!stage.ready("after") && stage.ask("t-4").kind == AskKind::Handoff);
    stage.answer("t-4", "done").unwrap();
    assert_eq!(stage.tick(), "waive");
    assert!(stage.ready("after"));
}

#[test]
fn abandoning_lets_the_scope_go_and_releases_what_waits() {
    let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(1), ..Policy::default() });
    stage.goal("after", "root");
    stage.goal("x", "s");
    stage.block("s", "after").unwrap();
    stage.close("t-1", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage.answer("t-3", "abandon").unwrap();
    assert_eq!(stage.tick(), "abandon");
    assert_eq!((stage.status("t-3"), stage.status("x")), ("skipped", "skipped"));
    assert!(stage.supersedes("t-3", "s") && stage.let_go("s") && stage.ready("after"));
    assert_eq!(stage.ended("s"), Some(ScopeEnd::Abandoned));
}

#[test]
fn abandoning_with_dependents_skips_what_waits_directly_or_not() {
    let mut stage = asked();
    stage.goal("later", "root");
    stage.goal("apart", "root");
    stage.block("after", "later").unwrap();
    let answer = given(&stage, "abandon", None, true);
    stage.answer_with("t-3", answer).unwrap();
    stage.tick();
    assert_eq!(["after", "later", "apart"].map(|name| stage.status(name)), ["skipped", "skipped", "open"]);
}

#[test]
fn work_that_was_begun_or_is_judged_does_not_turn_into_a_question() {
    let mut stage = Stage::with_round();
    for (name, parent) in [("begun", "root"), ("fresh", "root"), ("part", "t-1"), ("beside", "s")] {
        stage.goal(name, parent);
    }
    stage.claim("begun", "ann").unwrap();
    stage.release("begun", "ann", None).unwrap();
    for name in ["begun", "part", "beside"] {
        let refused = stage.retag(name, "kind:ask", "kind:goal node:agent");
        assert!(matches!(refused, Err(Refusal::WorkStaysWork { .. })), "{name}: {refused:?}");
    }
    stage.retag("fresh", "kind:ask", "kind:goal node:agent").unwrap();
}

#[test]
fn an_ask_closes_only_by_its_answer() {
    let mut stage = asked();
    for outcome in Outcome::ALL {
        assert_eq!(stage.close("t-3", outcome, "ann"), Err(Refusal::AskIsAnswered(id("t-3"))));
    }
    assert_eq!(stage.retag("t-3", "kind:goal node:agent", "kind:ask"), Err(Refusal::AskStaysAsk(id("t-3"))));
    assert!(matches!(stage.claim("t-3", "ann"), Err(Refusal::NotReady { .. })));
    assert_eq!(stage.move_to("t-3", "root"), Err(Refusal::AskIsAnswered(id("t-3"))));
    stage.block("t-3", "after").unwrap();
    assert!(matches!(stage.unblock("t-3", "after"), Err(Refusal::EngineEdge(_))));
    assert_eq!(stage.status("t-3"), "open");
}

#[test]
fn the_first_answer_wins_the_same_is_no_change_and_another_a_conflict() {
    let mut stage = asked();
    assert_eq!(stage.answer("t-3", "accept"), Ok(true));
    assert_eq!(stage.answer("t-3", "accept"), Ok(false));
    let first =
        Refusal::AlreadyAnswered { ask: id("t-3"), choice: "accept".into(), by: who("hugh"), used: false };
    assert_eq!(stage.answer("t-3", "abandon"), Err(first));
}

#[test]
fn an_answer_is_withdrawn_by_its_author_until_a_tick_has_used_it() {
    let mut stage = asked();
    assert_eq!(stage.withdraw_answer("t-3", "hugh"), Err(Refusal::NothingToWithdraw(id("t-3"))));
    stage.answer("t-3", "accept").unwrap();
    let author = Refusal::NotTheAuthor { id: id("t-3"), by: who("hugh") };
    assert_eq!(stage.withdraw_answer("t-3", "ann"), Err(author));
    stage.withdraw_answer("t-3", "hugh").unwrap();
    stage.answer("t-3", "abandon").unwrap();
    stage.tick();
    assert_eq!(stage.withdraw_answer("t-3", "hugh"), Err(Refusal::AskSettled(id("t-3"))));
}

#[test]
fn an_answer_is_one_of_the_choices_with_its_own_options() {
    let mut stage = asked();
    assert!(matches!(stage.answer("t-3", "maybe"), Err(Refusal::NoSuchChoice { .. })));
    assert_eq!(stage.answer("s", "accept"), Err(Refusal::NotAnAsk(id("s"))));
    let rounds = given(&stage, "accept", Some(2), false);
    assert!(matches!(
        stage.answer_with("t-3", rounds),
        Err(Refusal::ChoiceOption { option: "--rounds", .. })
    ));
    let dependents = given(&stage, "accept", None, true);
    let refused = stage.answer_with("t-3", dependents).unwrap_err();
    assert!(matches!(refused, Refusal::ChoiceOption { option: "--with-dependents", .. }));
    let none = given(&stage, "open-extra-round", Some(0), false);
    assert!(matches!(stage.answer_with("t-3", none), Err(Refusal::OutOfRange { name: "rounds", .. })));
}

#[test]
fn an_answer_packet_stands_at_the_start_of_a_line() {
    assert_eq!(
        packet::answer("well\n/answer accept it is fine"),
        Ok(Some(("accept".into(), "it is fine".into())))
    );
    assert_eq!(packet::answer("you could /answer accept"), Ok(None));
    assert!(matches!(packet::answer("/answer accept\n/answer abandon"), Err(Refusal::BadPacket(_))));
}

#[test]
fn a_failure_that_no_round_covers_is_asked_about_once() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.close("a", Failure, "ann").unwrap();
    assert_eq!(stage.ticks(), ["escalate", "wait"]);
    assert!(stage.supersedes("t-1", "a") && stage.parent("t-1") == Some("root"));
    assert_eq!(stage.waits_on(), "human t-1");
}

#[test]
fn a_failure_is_tried_again_by_a_successor_with_the_notes_or_skipped() {
    for choice in ["retry", "skip"] {
        let mut stage = Stage::with_root();
        stage.goal("a", "root");
        stage.close("a", Failure, "ann").unwrap();
        stage.tick();
        stage.answer("t-1", choice).unwrap();
        assert_eq!(stage.tick(), choice);
        if choice == "retry" {
            assert_eq!(stage.issue("t-2").work.notes, ["so it went", "so be it"]);
            assert!(!stage.resolved("a") && stage.supersedes("t-2", "a"));
            stage.close("t-2", Success, "ann").unwrap();
        }
        assert!(stage.let_go("a"));
        assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
    }
}

#[test]
fn lost_steps_are_asked_about_and_never_cost_a_round() {
    let mut stage = Stage::with_round();
    for _ in 0..3 {
        stage.claim("t-1", "ann").unwrap();
        stage.now += LEASE;
        assert_eq!(stage.tick(), "reclaim");
    }
    assert_eq!(stage.ticks(), ["escalate", "wait"]);
    assert_eq!((stage.rounds(), stage.ask("t-3").kind, stage.ready("t-1")), (1, AskKind::Steps, false));
    stage.answer("t-3", "retry").unwrap();
    assert_eq!(stage.tick(), "retry");
    assert!(stage.ready("t-1") && stage.issue("t-1").failed_steps == 0);
    assert_eq!(stage.issue("t-1").work.notes, ["so be it"], "the next step is told");
}

#[test]
fn a_question_put_in_by_hand_is_settled_by_its_answer() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.add("q", Some("root"), "kind:ask").unwrap();
    stage.block("q", "a").unwrap();
    assert_eq!(stage.waits_on(), "human q");
    stage.answer("q", "done").unwrap();
    assert_eq!(stage.tick(), "settle");
    assert!(stage.ready("a"));
}

#[test]
fn an_ask_of_a_scope_that_was_skipped_from_above_is_moot() {
    let mut stage = Stage::with_root();
    stage.goal("p", "root");
    stage.gated("s", "p");
    stage.tick();
    stage.close("t-1", Success, "ann").unwrap();
    stage.add("q", Some("p"), "kind:ask").unwrap();
    stage.close("p", Outcome::Skipped, "ann").unwrap();
    assert_eq!(stage.answer("q", "done"), Err(Refusal::AskSettled(id("q"))));
    assert!(matches!(stage.judge("t-2", Pass, "bob"), Err(Refusal::NotReady { .. })));
    stage.cascade("p", "ann").unwrap();
    assert_eq!((stage.status("q"), stage.ended("s")), ("skipped", Some(ScopeEnd::Abandoned)));
    assert!(matches!(stage.judge("t-2", NeedsWork, "bob"), Err(Refusal::NotReady { .. })));
}

#[test]
fn an_ask_is_as_urgent_as_what_it_is_about() {
    let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(1), ..Policy::default() });
    let urgent = Priority::try_from(1).unwrap();
    stage.update("s", Update { priority: Some(urgent), ..Update::default() }).unwrap();
    stage.close("t-1", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "escalate");
    assert_eq!(stage.issue("t-3").priority, urgent);
}

#[test]
fn what_is_given_up_with_a_scope_is_no_question_of_the_engine_s() {
    let mut stage = asked();
    stage.goal("a", "root");
    stage.close("a", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage.block("s", "t-4").unwrap();
    let (graph, scope) = (stage.snapshot.graph(), stage.snapshot.graph().ix(&id("s")).unwrap());
    let given_up: Vec<&str> =
        dependents(&stage.snapshot, scope).into_iter().map(|ix| graph.id(ix).as_str()).collect();
    assert_eq!(given_up, ["after"]);
}

#[test]
fn an_ask_tells_the_notes_of_the_rounds_before_the_last() {
    let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(2), ..Policy::default() });
    for (attempt, review, next) in [("t-1", "t-2", "next_round"), ("t-3", "t-4", "escalate")] {
        stage.close(attempt, Success, "ann").unwrap();
        stage.judge(review, NeedsWork, "bob").unwrap();
        assert_eq!(stage.tick(), next);
    }
    let evidence = &stage.ask("t-5").evidence;
    let earlier: Vec<&String> = evidence.iter().filter(|line| line.starts_with("earlier: ")).collect();
    assert!(
        matches!(earlier[..], [one] if one.contains("round 1: ") && !one.contains("round 2: ")),
        "{evidence:?}"
    );
}

#[test]
fn a_round_that_failed_without_a_word_is_not_among_the_earlier_notes() {
    let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(3), ..Policy::default() });
    for (attempt, review, notes) in [("t-1", "t-2", ""), ("t-3", "t-4", "no tests"), ("t-5", "t-6", "")] {
        stage.close(attempt, Success, "ann").unwrap();
        stage.judge_for(review, NeedsWork, "bob", notes).unwrap();
        stage.tick();
    }
    let evidence: Vec<&str> = stage.ask("t-7").evidence.iter().map(String::as_str).collect();
    let expected = [
        "round 3 of 3 failed: its review said needs_work",
        "earlier: round 2: no tests",
        "everything: roundgate rounds show s",
    ];
    assert_eq!(evidence, expected);
}
