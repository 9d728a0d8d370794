//! Claims and authority (section 6).

use roundgate::model::act::claim::{Role, claim_first, renew};
use roundgate::model::issue::Outcome::Success;
use roundgate::model::readiness::ready_issues;
use roundgate::model::record::Bounds;
use roundgate::model::refusal::Refusal;

use crate::stage::{LEASE, Stage, id, who};

fn held_by_ann() -> Stage {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    stage.claim("a", "ann").unwrap();
    stage
}

#[test]
fn a_claim_gives_a_lease_and_the_next_fencing_number() {
    let mut stage = held_by_ann();
    let claim = stage.issue("a").state.claim().unwrap().clone();
    assert_eq!((claim.epoch, claim.expires_at - LEASE), (1, stage.now - 1));
    stage.release("a", "ann", None).unwrap();
    stage.claim("a", "bob").unwrap();
    assert_eq!(stage.issue("a").state.claim().unwrap().epoch, 2);
}

#[test]
fn a_second_claim_renews_for_the_holder_and_is_a_conflict_for_others() {
    let mut stage = held_by_ann();
    let before = stage.issue("a").state.claim().unwrap().expires_at;
    stage.now += 10;
    stage.claim("a", "ann").unwrap();
    let claim = stage.issue("a").state.claim().unwrap();
    assert!(claim.epoch == 1 && claim.expires_at > before);
    assert_eq!(stage.claim("a", "bob"), Err(Refusal::HeldBy { id: id("a"), by: who("ann") }));
}

#[test]
fn closing_releasing_and_renewing_need_the_holder() {
    let mut stage = held_by_ann();
    let held = Refusal::HeldBy { id: id("a"), by: who("ann") };
    assert_eq!(stage.close("a", Success, "bob"), Err(held.clone()));
    assert_eq!(stage.release("a", "bob", None), Err(held.clone()));
    let act = renew(&stage.snapshot, &id("a"), &stage.wish("bob"), None, None);
    assert_eq!(act, Err(held));
    stage.goal("b", "root");
    let nobody = Refusal::NotHolder { id: id("b"), actor: who("bob") };
    assert_eq!(stage.release("b", "bob", None), Err(nobody));
}

#[test]
fn a_fencing_number_once_given_must_match() {
    let mut stage = held_by_ann();
    let fenced = Refusal::Fenced { id: id("a"), given: 0, current: 1 };
    assert_eq!(stage.close_as("a", Some(Success), "ann", false, Some(0)), Err(fenced.clone()));
    assert_eq!(stage.release("a", "ann", Some(0)), Err(fenced));
    stage.now += LEASE;
    stage.claim("a", "ann").unwrap();
    let stale = Refusal::Fenced { id: id("a"), given: 1, current: 2 };
    assert_eq!(stage.close_as("a", Some(Success), "ann", false, Some(1)), Err(stale));
    stage.close_as("a", Some(Success), "ann", false, Some(2)).unwrap();
}

#[test]
fn a_lease_that_ran_out_may_be_taken_by_anyone_and_counts_as_a_lost_step() {
    let mut stage = held_by_ann();
    stage.now += LEASE;
    stage.claim("a", "bob").unwrap();
    let issue = stage.issue("a");
    assert_eq!((issue.state.claim().unwrap().actor.as_str(), issue.epoch, issue.failed_steps), ("bob", 2, 1));
    assert!(matches!(stage.release("a", "ann", Some(1)), Err(Refusal::Fenced { .. })));
}

#[test]
fn a_lease_that_ran_out_is_reclaimed_by_a_tick_and_not_before() {
    let mut stage = held_by_ann();
    assert_eq!(stage.tick(), "wait");
    stage.now += LEASE;
    assert_eq!(stage.ticks(), ["reclaim", "wait"]);
    assert!(stage.ready("a") && stage.issue("a").failed_steps == 1);
}

#[test]
fn giving_an_issue_back_costs_no_step() {
    let mut stage = held_by_ann();
    assert_eq!(stage.open("a"), Ok(true));
    assert!(stage.ready("a") && stage.issue("a").failed_steps == 0);
}

#[test]
fn a_crowd_takes_the_first_ready_issue_of_its_role() {
    let mut stage = Stage::with_round();
    stage.goal("plain", "root");
    let root = stage.ix("root");
    let ready = ready_issues(&stage.snapshot, Some(root));
    let first = |stage: &Stage, role, actor| {
        claim_first(&stage.snapshot, &ready_issues(&stage.snapshot, Some(root)), role, &stage.wish(actor))
    };
    assert_eq!(ready.len(), 2);
    assert_eq!(first(&stage, Some(Role::Attempt), "ann").unwrap().0, id("t-1"));
    assert!(matches!(first(&stage, Some(Role::Review), "bob"), Err(Refusal::NothingReady(_))));
    stage.close("t-1", Success, "ann").unwrap();
    assert!(matches!(first(&stage, Some(Role::Review), "ann"), Err(Refusal::NothingReady(_))));
    assert_eq!(first(&stage, Some(Role::Review), "bob").unwrap().0, id("t-2"));
    assert_eq!(first(&stage, None, "ann").unwrap().0, id("plain"));
}

#[test]
fn a_retired_holder_cannot_close_what_a_human_skipped() {
    let mut stage = held_by_ann();
    stage.now += LEASE;
    stage.close("a", roundgate::model::issue::Outcome::Skipped, "hugh").unwrap();
    assert!(matches!(stage.close("a", Success, "ann"), Err(Refusal::AlreadyClosed { .. })));
}

#[test]
fn a_step_runs_at_most_once_more_than_its_retries_and_then_a_human_is_asked() {
    let mut stage = Stage::with_root();
    stage.goal("a", "root");
    let retries = Bounds::default().step_retries;
    for number in 0..=retries {
        stage.claim("a", &format!("agent{number}")).unwrap();
        stage.now += LEASE;
    }
    // The last lease ran out, too: neither over it nor behind it does anybody start once more.
    let refused = |stage: &mut Stage| match stage.claim("a", "eve") {
        Err(Refusal::NotReady { why, .. }) => assert!(why.contains("the next tick asks a human"), "{why}"),
        other => panic!("{other:?}"),
    };
    refused(&mut stage);
    stage.tick();
    assert_eq!(stage.issue("a").failed_steps, retries + 1);
    refused(&mut stage);
    stage.tick();
    assert_eq!(stage.why("a"), ["unresolved_child"], "somebody is asked");
}
