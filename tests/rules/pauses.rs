//! Pauses (section 4): nothing new starts at or below what is paused, and what runs may finish.

use roundgate::model::act::claim;
use roundgate::model::act::pause;
use roundgate::model::issue::Outcome::{Expanded, Failure, Skipped, Success};
use roundgate::model::issue::Pause;
use roundgate::model::readiness::ready_issues;
use roundgate::model::record::Opinion::{NeedsWork, Pass};
use roundgate::model::refusal::Refusal;
use roundgate::model::snapshot::Snapshot;

use crate::stage::{Done, LEASE, Stage, id, who};

impl Stage {
    pub fn pause(&mut self, name: &str, actor: &str, reason: &str) -> Done {
        let wish = Pause { by: who(actor), at: self.now, reason: reason.to_owned() };
        let act = pause::pause(&self.snapshot, &id(name), wish);
        self.act(act)
    }

    pub fn resume(&mut self, name: &str) -> Done {
        let act = pause::resume(&self.snapshot, &id(name), self.now);
        self.act(act)
    }

    fn paused(mut self, name: &str) -> Stage {
        assert_eq!(self.pause(name, "ann", "the disk is full"), Ok(true));
        self
    }
}

fn ready(snapshot: &Snapshot) -> Vec<String> {
    ready_issues(snapshot, None).into_iter().map(|ix| snapshot.graph().id(ix).to_string()).collect()
}

#[test]
fn nothing_below_a_paused_issue_is_ready_and_beside_it_everything_goes_on() {
    let mut stage = Stage::with_root();
    ["a", "b"].iter().for_each(|goal| stage.goal(goal, "root"));
    stage.goal("deep", "a");
    let mut stage = stage.paused("a");
    assert_eq!((ready(&stage.snapshot), stage.why("deep")), (vec!["b".to_owned()], vec!["paused"]));
    stage.goal("later", "a");
    assert_eq!(stage.why("later"), ["paused"], "also what comes below it later");
    stage.move_to("b", "a").unwrap();
    assert_eq!(ready(&stage.snapshot), [""; 0], "and what moves below it");
    stage.move_to("deep", "root").unwrap();
    assert_eq!(ready(&stage.snapshot), ["deep"], "and what moves out is free");
    stage.resume("a").unwrap();
    assert_eq!(ready(&stage.snapshot), ["b", "deep", "later"]);
}

#[test]
fn a_claim_is_refused_with_who_paused_it_and_why() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    let mut stage = stage.paused("root");
    let refused = stage.claim("a", "bob").unwrap_err().to_string();
    assert!(refused.contains("ann paused root: the disk is full"), "{refused}");
    let next = claim::claim_first(&stage.snapshot, None, None, |_| true, &stage.wish("bob"));
    assert!(matches!(next, Err(Refusal::NothingReady(_))));
}

#[test]
fn what_runs_may_be_renewed_given_back_judged_and_finished() {
    let mut stage = Stage::with_round();
    stage.claim("t-1", "ann").unwrap();
    let mut stage = stage.paused("root");
    assert_eq!(stage.claim("t-1", "ann"), Ok(true), "the holder renews");
    assert_eq!(stage.waits_on(), "worker t-1");
    stage.close("t-1", Success, "ann").unwrap();
    assert_eq!((stage.why("t-2"), stage.waits_on()), (vec!["paused"], "human root".to_owned()));
    assert!(matches!(stage.judge("t-2", Pass, "bob"), Err(Refusal::NotReady { .. })));
    stage.resume("root").unwrap();
    stage.claim("t-2", "bob").unwrap();
    stage.pause("s", "cy", "wait").unwrap();
    assert_eq!(stage.judge("t-2", NeedsWork, "bob"), Ok(true), "the reviewer holds it");
    assert_eq!(stage.tick(), "wait", "and no round follows before it is resumed");
    stage.resume("s").unwrap();
    assert_eq!(stage.tick(), "next_round");
    stage.claim("t-3", "ann").unwrap();
    stage.pause("s", "cy", "wait").unwrap();
    stage.release("t-3", "ann", None).unwrap();
    assert!(matches!(stage.claim("t-3", "ann"), Err(Refusal::NotReady { .. })));
}

#[test]
fn unheld_work_is_not_finished_but_planned_and_given_up() {
    let mut stage = Stage::with_root();
    ["a", "b", "c"].iter().for_each(|goal| stage.goal(goal, "root"));
    stage.goal("part", "b");
    let mut stage = stage.paused("root");
    for outcome in [Success, Failure] {
        assert!(matches!(stage.close("a", outcome, "ann"), Err(Refusal::NotReady { .. })));
    }
    assert_eq!(stage.close("b", Expanded, "ann"), Ok(true));
    assert_eq!(stage.close("c", Skipped, "ann"), Ok(true));
}

#[test]
fn only_answers_and_reclaims_are_acted_on() {
    let mut stage = Stage::with_exhausted_rounds();
    stage.goal("held", "root");
    stage.goal("failed", "root");
    stage.add("empty", Some("root"), "kind:root").unwrap();
    stage.gated("unopened", "root");
    stage.claim("held", "ann").unwrap();
    stage.close("failed", Failure, "ann").unwrap();
    let mut stage = stage.paused("root");
    stage.answer("t-3", "accept").unwrap();
    assert_eq!(stage.ticks(), ["waive", "wait"]);
    stage.now += LEASE;
    assert_eq!(stage.ticks(), ["reclaim", "wait"]);
    assert_eq!(stage.waits_on(), "human root");
    stage.resume("root").unwrap();
    assert_eq!(stage.ticks(), ["escalate", "open_round", "wait"]);
}

#[test]
fn a_container_is_not_rolled_up_and_a_paused_root_is_no_deadlock() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.claim("a", "ann").unwrap();
    let mut stage = stage.paused("root");
    stage.close("a", Success, "ann").unwrap();
    assert_eq!((stage.tick(), stage.waits_on()), ("wait", "human root".to_owned()));
    stage.resume("root").unwrap();
    assert_eq!(stage.ticks(), ["roll_up", "finish", "done"]);
}

#[test]
fn an_inner_pause_outlives_the_outer_one() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.goal("deep", "a");
    let mut stage = stage.paused("root").paused("a");
    assert_eq!(stage.why("deep"), ["paused", "paused"]);
    stage.resume("root").unwrap();
    assert_eq!((stage.why("deep"), stage.waits_on()), (vec!["paused"], "human a".to_owned()));
    stage.resume("a").unwrap();
    assert!(stage.ready("deep"));
}

#[test]
fn the_first_pause_stands_and_what_is_not_paused_need_not_be_resumed() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    let mut stage = stage.paused("a");
    assert_eq!(stage.pause("a", "bob", "another reason"), Ok(false));
    assert_eq!(stage.issue("a").pause.as_ref().unwrap().by, who("ann"));
    assert_eq!(
        (stage.resume("a"), stage.resume("a"), stage.resume("root")),
        (Ok(true), Ok(false), Ok(false))
    );
}

#[test]
fn there_must_be_a_reason_and_something_to_pause() {
    let mut stage = Stage::with_exhausted_rounds();
    assert_eq!(stage.pause("root", "ann", " \n"), Err(Refusal::PauseNeedsReason(id("root"))));
    assert!(matches!(stage.pause("t-3", "ann", "so"), Err(Refusal::NothingToPause { .. })), "a question");
    stage.goal("a", "root");
    stage.goal("below", "a");
    stage.close("a", Skipped, "ann").unwrap();
    for name in ["a", "below"] {
        assert!(matches!(stage.pause(name, "ann", "so"), Err(Refusal::NothingToPause { .. })), "{name}");
    }
}

#[test]
fn what_takes_the_place_of_something_paused_is_paused_too() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.claim("a", "ann").unwrap();
    let mut stage = stage.paused("a");
    stage.close("a", Failure, "ann").unwrap();
    stage.retry("a", "again").unwrap();
    assert_eq!(stage.why("again"), ["paused"]);
    assert_eq!(stage.issue("again").pause, stage.issue("a").pause);
}
