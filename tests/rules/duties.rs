//! Asks and the time (section 5): who is to answer by when, reminders, defaults, and questions that go away.

use roundgate::engine::{Decision, Transition};
use roundgate::model::act::answer;
use roundgate::model::act::assign::{self, Assignment};
use roundgate::model::duty::{AskPolicy, AskTimeout, Duty, Fallback, Reminder};
use roundgate::model::id::Actor;
use roundgate::model::issue::Outcome::{Failure, Skipped, Success};
use roundgate::model::issue::{Millis, Policy};
use roundgate::model::record::Answer;
use roundgate::model::record::Opinion::NeedsWork;
use roundgate::model::refusal::Refusal;

use crate::stage::{Done, Stage, id, who};

const HOUR: Millis = 3_600_000;

/// A scope of one round, and what it wants of its asks.
fn policy(ask: AskPolicy) -> Policy {
    Policy { max_review_rounds: Some(1), ask, ..Policy::default() }
}

fn timeout(after: Millis, choice: &str) -> AskPolicy {
    let timeout = Some(AskTimeout { after, choice: choice.to_owned() });
    AskPolicy { timeout, ..AskPolicy::default() }
}

/// A human is asked in `t-3`.
fn asked(ask: AskPolicy) -> Stage {
    let mut stage = Stage::with_bounds(policy(ask));
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage
}

impl Stage {
    fn assign(&mut self, ask: &str, wish: Assignment) -> Done {
        let act = assign::assign(&self.snapshot, &id(ask), wish, self.now);
        self.act(act)
    }

    fn duty(&self, ask: &str) -> Duty {
        self.ask(ask).duty.clone().unwrap()
    }
}

#[test]
fn a_new_ask_takes_what_the_nearest_issue_above_wants() {
    let mut stage = Stage::with_root();
    stage
        .create(
            "out",
            Some("root"),
            "kind:goal",
            policy(AskPolicy {
                assignee: Some(who("hugh")),
                due: Some(9 * HOUR),
                remind: Some(HOUR),
                ..AskPolicy::default()
            }),
        )
        .unwrap();
    let own = AskPolicy { due: Some(2 * HOUR), ..timeout(8 * HOUR, "abandon") };
    stage.gated_with("s", "out", policy(own));
    assert_eq!(stage.tick(), "open_round");
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    let now = stage.now;
    assert_eq!(stage.tick(), "escalate");
    let expected = Duty {
        assignee: Some(who("hugh")),
        since: now,
        due_at: Some(now + 2 * HOUR),
        remind_every: Some(HOUR),
        default: Some(Fallback { at: now + 8 * HOUR, choice: "abandon".to_owned(), since: now }),
        reminder: None,
        earlier: 0,
    };
    assert_eq!(stage.duty("t-3"), expected);
}

#[test]
fn an_ask_of_which_nobody_wants_anything_waits_for_as_long_as_it_takes() {
    let mut stage = asked(AskPolicy::default());
    assert_eq!(stage.ask("t-3").duty, None);
    stage.now += 10_000 * HOUR;
    assert_eq!((stage.tick(), stage.waits_on()), ("wait", "human t-3".to_owned()));
}

#[test]
fn reminders_come_once_an_interval_and_what_nobody_ticked_for_is_counted() {
    let mut stage = asked(AskPolicy { due: Some(5 * HOUR), remind: Some(HOUR), ..AskPolicy::default() });
    let due = stage.duty("t-3").due_at.unwrap();
    stage.now = due - 1;
    assert_eq!(stage.tick(), "wait");
    stage.now = due;
    assert_eq!(stage.ticks(), ["remind", "wait"]);
    stage.now = due + HOUR;
    assert_eq!(stage.ticks(), ["remind", "wait"]);
    stage.now = due + 4 * HOUR + 7;
    assert_eq!(stage.ticks(), ["remind", "wait"]);
    let last = Reminder { count: 3, due: due + 4 * HOUR, skipped: 2 };
    assert_eq!(stage.duty("t-3").reminder, Some(last));
    stage.answer("t-3", "accept").unwrap();
    stage.now += 9 * HOUR;
    assert_eq!(stage.ticks(), ["waive", "roll_up", "finish", "done"], "an answered ask needs no reminder");
}

#[test]
fn an_ask_past_its_due_time_is_told_of_once_where_no_interval_is_wanted() {
    let mut stage = asked(AskPolicy { due: Some(HOUR), ..AskPolicy::default() });
    stage.now += 2 * HOUR;
    assert_eq!(stage.ticks(), ["remind", "wait"]);
    stage.now += 1_000 * HOUR;
    assert_eq!(stage.tick(), "wait");
}

#[test]
fn work_goes_before_reminders() {
    let mut stage = asked(AskPolicy { due: Some(HOUR), ..AskPolicy::default() });
    stage.gated("other", "root");
    stage.now += 2 * HOUR;
    assert_eq!(stage.ticks(), ["open_round", "remind", "wait"]);
}

#[test]
fn nobodys_answer_is_the_default_and_is_acted_on_like_any_other() {
    let mut stage = asked(timeout(HOUR, "abandon"));
    stage.now += HOUR;
    assert_eq!(stage.tick(), "time_out");
    let answer = stage.ask("t-3").answer.clone().unwrap();
    assert_eq!((answer.choice.as_str(), answer.by), ("abandon", Actor::engine()));
    assert_eq!(stage.ticks(), ["abandon", "roll_up", "finish", "done"]);
}

#[test]
fn of_an_answer_and_a_timeout_the_first_wins_and_the_other_is_told() {
    let mut stage = asked(timeout(HOUR, "abandon"));
    stage.answer("t-3", "accept").unwrap();
    stage.now += HOUR;
    assert_eq!(stage.tick(), "waive", "the human was first");

    let mut stage = asked(timeout(HOUR, "abandon"));
    stage.now += HOUR;
    assert_eq!(stage.tick(), "time_out");
    let late = stage.answer("t-3", "accept").unwrap_err();
    let (ask, choice) = (id("t-3"), "abandon".into());
    let first = Refusal::AlreadyAnswered { ask, choice, by: Actor::engine(), used: false };
    assert_eq!(late, first);
    // The same again changes nothing; with another note it would be lost.
    assert!(matches!(stage.answer("t-3", "abandon"), Err(Refusal::AlreadyAnswered { .. })));
    let first = stage.ask("t-3").answer.clone().unwrap();
    let again = Answer { by: who("hugh"), ..first };
    assert_eq!(answer::answer(&stage.snapshot, &id("t-3"), again), Ok(Vec::new()));
    assert!(matches!(stage.withdraw_answer("t-3", "hugh"), Err(Refusal::NotTheAuthor { .. })));
}

#[test]
fn no_default_opens_rounds_or_raises_a_budget() {
    let mut stage = Stage::with_root();
    for choice in ["open-extra-round", "retry", "whatever"] {
        let wish = policy(timeout(HOUR, choice));
        let refused = stage.create("a", Some("root"), "kind:goal flow:review-gated-v1", wish);
        assert_eq!(refused, Err(Refusal::NotByTimeout(choice.to_owned())));
    }
    let mut stage = asked(AskPolicy::default());
    let default = |choice: &str, at| Assignment {
        default: Some(Some(Fallback { at, choice: choice.to_owned(), since: 0 })),
        ..Assignment::default()
    };
    let later = stage.now + HOUR;
    let refused = stage.assign("t-3", default("open-extra-round", later));
    assert_eq!(refused, Err(Refusal::NotByTimeout("open-extra-round".to_owned())));
    assert!(matches!(stage.assign("t-3", default("nonsense", later)), Err(Refusal::NoSuchChoice { .. })));
    assert_eq!(stage.assign("t-3", default("accept", later)), Ok(true));
}

#[test]
fn a_default_that_an_ask_does_not_offer_is_not_its_default() {
    let mut stage = Stage::with_root();
    stage.create("out", Some("root"), "kind:goal", policy(timeout(HOUR, "abandon"))).unwrap();
    stage.goal("a", "out");
    stage.close("a", Failure, "ann").unwrap();
    assert_eq!(stage.tick(), "escalate");
    assert_eq!(stage.ask("t-1").duty, None, "retry and skip are all there is");
    stage.now += 2 * HOUR;
    assert_eq!(stage.tick(), "wait");
}

#[test]
fn a_hand_off_is_for_whoever_took_it_and_comes_to_nothing_by_itself() {
    let mut stage = asked(timeout(HOUR, "abandon"));
    stage.answer("t-3", "stop-and-handoff").unwrap();
    assert_eq!(stage.tick(), "hand_off");
    let duty = stage.duty("t-4");
    assert_eq!((duty.assignee, duty.default), (Some(who("hugh")), None));
}

#[test]
fn a_time_that_is_set_below_a_pause_is_later_by_the_rest_of_the_pause() {
    let mut stage = asked(AskPolicy::default());
    stage.pause("root", "ann", "holidays").unwrap();
    stage.now += 5 * HOUR;
    let (set, due) = (stage.now, stage.now + HOUR);
    let default = Some(Some(Fallback { at: due + HOUR, choice: "accept".to_owned(), since: set }));
    let wish = Assignment { due_at: Some(Some(due)), default, ..Assignment::default() };
    stage.assign("t-3", wish).unwrap();
    stage.now += 3 * HOUR;
    let left = stage.now - set;
    stage.resume("root").unwrap();
    let duty = stage.duty("t-3");
    assert_eq!((duty.due_at, duty.default.unwrap().at), (Some(due + left), due + HOUR + left));
}

#[test]
fn below_a_pause_the_time_of_asks_stands_still() {
    let mut stage = asked(AskPolicy { due: Some(5 * HOUR), ..timeout(8 * HOUR, "abandon") });
    let before = stage.duty("t-3");
    stage.pause("root", "ann", "holidays").unwrap();
    let began = stage.now - 1;
    stage.now += 100 * HOUR;
    assert_eq!(stage.tick(), "wait");
    let inner = stage.now;
    stage.pause("s", "ann", "and more").unwrap();
    stage.now += 10 * HOUR;
    let resumed = stage.now;
    stage.resume("root").unwrap();
    assert_eq!(stage.duty("t-3"), before.later(began, inner), "the inner pause adds the rest");
    assert_eq!(stage.tick(), "wait");
    stage.now += 10 * HOUR;
    let ended = stage.now;
    stage.resume("s").unwrap();
    assert_eq!(stage.duty("t-3"), before.later(began, ended));
    assert!(resumed < ended);
    assert_eq!(stage.tick(), "wait");
    stage.now += 5 * HOUR;
    assert_eq!(stage.ticks(), ["remind", "wait"]);
    stage.now += 3 * HOUR;
    assert_eq!(stage.tick(), "time_out");
}

#[test]
fn an_ask_whose_question_went_away_closes_as_moot() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.add("which", Some("a"), "kind:ask").unwrap();
    stage.close("a", Skipped, "ann").unwrap();
    assert_eq!(stage.tick(), "moot");
    assert_eq!(stage.status("which"), "skipped");
    assert!(stage.issue("which").state.reason().unwrap().starts_with("moot: "));
    assert_eq!(stage.answer("which", "done"), Err(Refusal::AskSettled(id("which"))));
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
}

#[test]
fn an_escalated_scope_that_is_given_up_from_above_does_not_keep_its_root_waiting() {
    let mut stage = Stage::with_root();
    stage.add("part", Some("root"), "kind:root").unwrap();
    stage.gated_with("s", "part", policy(AskPolicy::default()));
    assert_eq!(stage.tick(), "open_round");
    stage.close("t-1", Success, "ann").unwrap();
    stage.judge("t-2", NeedsWork, "bob").unwrap();
    assert_eq!(stage.tick(), "escalate");
    stage.close("part", Skipped, "ann").unwrap();
    assert_eq!(stage.ticks(), ["moot", "roll_up", "finish", "done"]);
    let moot = Decision::Act(Transition::Moot { ask: id("t-3") });
    assert_ne!(stage.decision(), moot, "once");
}

#[test]
fn an_answered_or_settled_ask_is_not_assigned() {
    let mut stage = asked(AskPolicy::default());
    let to = |name| Assignment { to: Some(Some(who(name))), ..Assignment::default() };
    assert_eq!((stage.assign("t-3", to("ann")), stage.assign("t-3", to("ann"))), (Ok(true), Ok(false)));
    stage.answer("t-3", "accept").unwrap();
    assert!(matches!(stage.assign("t-3", to("bob")), Err(Refusal::AlreadyAnswered { .. })));
    stage.ticks();
    assert!(matches!(stage.assign("t-3", to("bob")), Err(Refusal::AlreadyAnswered { .. })));
    assert!(matches!(stage.assign("s", to("bob")), Err(Refusal::NotAnAsk(_))));
}
