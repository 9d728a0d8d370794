//! Answers that are none.

use roundgate::model::issue::State;
use roundgate::model::record::AskKind;

use crate::{answer, issue, only_ask, rounds, steps, world};

/// What a worker prints or does instead of an answer, and what the failed step says of it. `WORD` and
/// `GOOD` stand for what the role answers with.
const BAD: [(&str, &str); 9] = [
    ("exit 0", "the worker printed nothing"),
    ("echo '{}'", "the answer has no `WORD`"),
    ("echo 'all is well'", "the last line is not one JSON object: all is well"),
    ("echo '{GOOD}'; echo '{GOOD}'", "2 lines carry `WORD`"),
    ("echo '{GOOD,GOOD}'", "repeats the key `WORD`"),
    ("echo '{GOOD}'; echo bye", "the last line is not one JSON object: bye"),
    ("echo '{GOOD}'; echo 'no luck' >&2; exit 1", "the worker exited with 1; its stderr ended with"),
    ("echo '{GOOD}'; kill -9 $$", "signal 9 ended the worker"),
    ("echo '{\"outcome\":\"success\",\"verdict\":\"pass\"}'", "never with"),
];

#[test]
fn an_attempt_that_answers_badly_fails_its_step_and_nothing_else() {
    for (bad, why) in BAD {
        let bad = bad.replace("GOOD", r#""outcome":"success""#);
        let world = world(&bad, "step_retries = 0");
        let said = world.run(11);
        let why = why.replace("WORD", "outcome");
        assert!(said.stderr.contains(&why), "{bad}: {said:#?}");
        assert_eq!(steps(&world), ["a attempt 1"], "{bad}");
        let attempt = issue(&world, "Attempt 1: Goal a");
        assert_eq!((attempt.state, attempt.failed_steps), (State::Open, 1), "{bad}");
        assert_eq!(only_ask(&world).kind, AskKind::Steps, "{bad}");
        let topic = world.says(&["forum", "read", &format!("issue:{}", attempt.id)]);
        assert!(topic.stdout.contains("STEP FAILED"), "{bad}: {topic:#?}");
    }
}

#[test]
fn a_review_that_answers_badly_never_passes_and_never_costs_a_round() {
    for (bad, why) in BAD {
        let bad = bad.replace("GOOD", r#""verdict":"pass""#);
        let world = world(&format!("[ $role = review ] || success\n{bad}"), "step_retries = 0");
        let said = world.run(11);
        let why = why.replace("WORD", "verdict");
        assert!(said.stderr.contains(&why), "{bad}: {said:#?}");
        assert_eq!(steps(&world), ["a attempt 1", "a review 1"], "{bad}");
        let rounds = rounds(&world);
        assert_eq!(rounds.len(), 1, "{bad}");
        assert!(rounds[0].verdict.is_none() && rounds[0].end.is_none(), "{bad}: {rounds:#?}");
        assert_eq!(only_ask(&world).kind, AskKind::Steps, "{bad}");
    }
}

#[test]
fn three_failed_steps_ask_and_retry_begins_the_count_again() {
    for role in ["attempt", "review"] {
        let script = format!(
            "if [ $role = {role} ] && [ ! -e mended ]; then exit 1; fi\n\
             [ $role = review ] && pass\nsuccess"
        );
        let world = world(&script, "");
        world.run(11);
        let tries = |world| steps(world).iter().filter(|step| step.contains(role)).count();
        assert_eq!(tries(&world), 3, "{role}: one and two retries");
        world.run(11);
        assert_eq!(tries(&world), 3, "{role}: while a human is asked nothing is started again");

        let ask = only_ask(&world);
        let scope = ask.scope.clone().unwrap();
        let shown = world.says(&["--json", "rounds", "show", scope.as_str()]).stdout;
        assert!(
            shown.contains("\"state\":\"escalated\"") && shown.contains(ask.id.as_str()),
            "{role}: {shown}"
        );
        let root = issue(&world, "The root").id;
        let document = world.says(&["ui", "snapshot", "--root", root.as_str()]).stdout;
        assert!(document.contains("state=escalated"), "{role}: {document}");
        assert_eq!(world.says(&["doctor"]).code, Some(0), "{role}");
        answer(&world, &ask.id, "retry");
        world.run(11);
        assert_eq!(tries(&world), 6, "{role}: retry allows as many again");
        std::fs::write(world.path("mended"), "").unwrap();
        answer(&world, &only_ask(&world).id, "retry");
        world.run(0);
        assert_eq!(tries(&world), 7, "{role}");
        assert_eq!(rounds(&world).len(), 1, "{role}: no step costs a round");
    }
}

#[test]
fn a_lost_worker_costs_a_step_and_the_next_one_goes_on() {
    let script = r#"
        [ "$(grep -c "$role" journal)" -gt 2 ] || kill -9 $$
        [ $role = review ] && pass
        success"#;
    let world = world(script, "");
    world.run(0);
    assert_eq!(steps(&world).len(), 6);
    assert_eq!(rounds(&world).len(), 1);
    for title in ["Attempt 1: Goal a", "Review 1: Goal a"] {
        assert_eq!(issue(&world, title).failed_steps, 2, "{title}");
    }
}
