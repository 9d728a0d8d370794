//! Heartbeats over a root that waits for a human: for as long as it takes, and until they end themselves.

use roundgate::app::ambient::Clock;
use roundgate::app::heartbeats::{self, Beats, Happened, HappenedView, New, When};
use roundgate::app::view::AskView;
use roundgate::app::{Session, asks, issues, status, tick};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Change;
use roundgate::model::duty::AskPolicy;
use roundgate::model::issue::{Millis, Outcome, Policy};
use roundgate::model::record::{HeartbeatKind, Overlap};
use roundgate::store::EventQuery;

use crate::{DAY, HOUR, session};

/// A root whose only scope has used up its rounds, and the ask about it.
fn escalated(remind: Option<Millis>) -> (Session, String, AskView) {
    let mut session = session(0);
    let tags = |words: &[&str]| words.iter().map(|tag| tag.parse().unwrap()).collect();
    let title = "Root".to_owned();
    let new =
        NewIssue { title, tags: tags(&["kind:root", "proto:hierarchical-work-v1"]), ..NewIssue::default() };
    let root = issues::create(&mut session, new, None).unwrap().value.id;
    let ask = AskPolicy { assignee: "hugh".parse().ok(), remind, ..AskPolicy::default() };
    let policy = Policy { max_review_rounds: Some(1), ask, ..Policy::default() };
    let title = "Write the lexer".to_owned();
    let new = NewIssue { title, tags: tags(&["flow:review-gated-v1"]), policy, ..NewIssue::default() };
    issues::create(&mut session, new, Some(&root)).unwrap();
    tick::tick(&mut session, &root, false).unwrap();
    let ready = issues::ready(&session, &issues::Filter::default()).unwrap();
    let reason = Some("no luck".to_owned());
    let failed = issues::CloseWish { outcome: Some(Outcome::Failure), reason, ..Default::default() };
    issues::close(&mut session, &ready.rows[0].issue.id, &failed).unwrap();
    tick::tick(&mut session, &root, false).unwrap();
    let ask = asks::list(&session, None, &[], false).unwrap().remove(0);
    assert_eq!((ask.kind.to_string().as_str(), ask.assignee.as_deref()), ("rounds", Some("hugh")));
    (session, root, ask)
}

fn heartbeat(session: &mut Session, root: &str, lasts: Option<Millis>) -> String {
    let new = New {
        kind: HeartbeatKind::Heartbeat,
        root: root.to_owned(),
        title: None,
        reason: String::new(),
        when: When::Every(HOUR),
        lasts,
        max_ticks: None,
        overlap: Overlap::Skip,
    };
    heartbeats::create(session, new).unwrap().value.id
}

/// Lets the clock run until then, or until nothing is due any more.
fn until(session: &mut Session, beats: &mut Beats, end: Millis) -> (Vec<HappenedView>, usize) {
    let (mut happened, mut ticks) = (Vec::new(), 0);
    loop {
        let pass = beats.pass(session).unwrap();
        happened.extend(pass.happened);
        ticks += pass.ticks;
        match pass.next.filter(|&next| next <= end) {
            Some(next) => session.clock = Clock::Frozen(next),
            None => return (happened, ticks),
        }
    }
}

#[test]
fn a_year_of_ticks_over_a_question_stores_twelve_reminders_and_nothing_else() {
    let (mut session, root, before) = escalated(Some(30 * DAY));
    heartbeat(&mut session, &root, Some(400 * DAY));
    let events = session.store.events(&EventQuery::default()).unwrap().len();
    let (happened, ticks) = until(&mut session, &mut Beats::default(), 365 * DAY);
    assert_eq!(ticks, 365 * 24);
    let reminds = |view: &HappenedView| match &view.happened {
        Happened::Ticked { tick } => tick.transition.as_ref().is_some_and(|done| done.kind == "remind"),
        _ => false,
    };
    assert!(happened.iter().all(reminds), "{happened:?}");
    assert_eq!(happened.len(), 12);
    let stored = session.store.events(&EventQuery::default()).unwrap().split_off(events);
    for event in &stored {
        // A reminder, its post to the root, and which due time it was of.
        let change = &event.change;
        let of_a_reminder = matches!(
            change,
            Change::AskReminded { .. } | Change::Posted { .. } | Change::HeartbeatSet { .. }
        );
        assert!(of_a_reminder && event.tick.is_some(), "{event:?}");
    }
    assert_eq!(stored.len(), 3 * 12);
    let after = asks::show(&session, &before.id).unwrap();
    assert_eq!(after.reminders, 12);
    assert_eq!(AskView { reminders: before.reminders, ..after }, before);
    let told = status::root(&session, &root).unwrap();
    assert_eq!(told.next, format!("waits for a human to answer {}", before.id));
    assert_eq!(told.scopes[0].state, "escalated");
}

#[test]
fn a_heartbeat_that_reaches_its_time_over_a_question_says_so_and_the_question_stays() {
    let (mut session, root, before) = escalated(None);
    let id = heartbeat(&mut session, &root, None);
    let events = session.store.events(&EventQuery::default()).unwrap().len();
    let mut beats = Beats::default();
    let (happened, ticks) = until(&mut session, &mut beats, 365 * DAY);
    assert_eq!(ticks, 90 * 24);
    assert_eq!(happened.iter().map(|view| view.happened.word()).collect::<Vec<_>>(), ["over"]);
    assert_eq!(session.store.events(&EventQuery::default()).unwrap().len(), events + 1);
    let told = status::root(&session, &root).unwrap();
    let halted: Vec<_> = told.halted.iter().map(|line| (line.heartbeat.as_str(), line.at)).collect();
    assert_eq!(halted, [(id.as_str(), 90 * DAY)]);
    assert!(told.halted[0].note.starts_with("it has reached its time"), "{:?}", told.halted);
    assert_eq!(asks::show(&session, &before.id).unwrap(), before);
    heartbeats::enable(&mut session, HeartbeatKind::Heartbeat, &id).unwrap();
    assert!(status::root(&session, &root).unwrap().halted.is_empty());
    assert!(beats.pass(&mut session).unwrap().next.is_some());
}
