//! The outbox, by the use cases: what is queued when, what is sent how often, and what is left behind by
//! senders that fail, hang or die. The notifier is a closure, the clock stands where it is put.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

mod shared_store;

use std::cell::RefCell;
use std::rc::Rc;

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::{Config, Notify};
use roundgate::app::due::Due;
use roundgate::app::notify::{self, Delivery, Packet, Sent, send_due};
use roundgate::app::operation::{Ongoing, Request};
use roundgate::app::{AppError, Session, asks, issues};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::{Change, Event};
use roundgate::model::issue::{Millis, Outcome};
use roundgate::model::record::NoticeEnd;
use roundgate::model::tag::Tags;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Store};
use shared_store::Shared;

const SECOND: Millis = 1_000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const START: Millis = 1_000 * HOUR;

fn configured() -> Config {
    Config {
        notify: Notify { command: vec!["notifier".to_owned()], ..Notify::default() },
        ..Config::default()
    }
}

fn session(store: impl Store + 'static, actor: &str) -> Session {
    Session {
        store: Box::new(store),
        clock: Clock::Frozen(START),
        ids: Ids::new(Some(3)),
        actor: actor.parse().unwrap(),
        config: configured(),
        operation: None,
    }
}

fn ask(session: &mut Session, title: &str) -> String {
    let tags = ["kind:ask", "proto:hierarchical-work-v1"].iter().map(|tag| tag.parse().unwrap()).collect();
    let new = NewIssue { title: title.to_owned(), tags, ..NewIssue::default() };
    issues::create(session, new, None).unwrap().value.id
}

fn at(session: &mut Session, moment: Millis) {
    session.clock = Clock::Frozen(moment);
}

fn events(session: &Session) -> Vec<Event> {
    session.store.events(&EventQuery::default()).unwrap()
}

/// Sends what is due to a notifier that takes everything; what it got.
fn told(session: &mut Session) -> Vec<Packet> {
    let mut got = Vec::new();
    send_due(session, &mut |packet: &Packet| {
        got.push(packet.clone());
        Delivery::Delivered
    })
    .unwrap();
    got
}

fn failing(session: &mut Session) -> Sent {
    send_due(session, &mut |_: &Packet| Delivery::Failed("no\troute\n".to_owned())).unwrap()
}

fn ids(packets: &[Packet]) -> Vec<&str> {
    packets.iter().map(|packet| packet.id.as_str()).collect()
}

#[test]
fn what_is_asked_is_queued_by_the_transaction_that_asks_and_by_no_other() {
    let shared = Shared::default();
    let mut session = session(shared.clone(), "ann");
    shared.fails_next();
    let tags = ["kind:ask"].iter().map(|tag| tag.parse().unwrap()).collect();
    let new = NewIssue { title: "Lost?".to_owned(), tags, ..NewIssue::default() };
    assert!(issues::create(&mut session, new, None).is_err());
    assert!(told(&mut session).is_empty(), "nothing was asked, and nobody is told");
    let id = ask(&mut session, "Which region?");
    let made = events(&session);
    let at = made.iter().rposition(|event| matches!(event.change, Change::NoticeSet { .. })).unwrap();
    let (asked, queued) = (&made[at - 1], &made[at]);
    assert!(matches!(&asked.change, Change::AskOpened { ask } if ask.id.as_str() == id));
    let Change::NoticeSet { before: None, after } = &queued.change else { panic!("{queued:?}") };
    assert_eq!(after.id.to_string(), format!("{id}:asked:1"));
    assert_eq!((&asked.cause, asked.at), (&queued.cause, queued.at));
    assert_eq!(shared.transactions(), 1, "one transaction, and the one that failed");
}

#[test]
fn where_nobody_is_to_be_told_nothing_is_queued_and_nothing_that_is_queued_is_sent() {
    let shared = Shared::default();
    let mut quiet = session(shared.clone(), "ann");
    quiet.config = Config::default();
    ask(&mut quiet, "One?");
    assert!(notify::list(&quiet, None).unwrap().is_empty());
    let mut loud = session(shared, "ann");
    assert!(told(&mut loud).is_empty(), "what was asked before there was a notifier is not told");
    ask(&mut loud, "Two?");
    assert!(told(&mut quiet).is_empty());
    assert_eq!(notify::list(&quiet, None).unwrap().len(), 1);
    assert_eq!(told(&mut loud).len(), 1);
}

#[test]
fn a_packet_has_all_that_is_needed_to_decide() {
    let mut session = session(Shared::default(), "ann");
    let id = ask(&mut session, "Which region?");
    let packet = serde_json::to_value(&told(&mut session)[0]).unwrap();
    assert_eq!(packet["id"], format!("{id}:asked:1"));
    let said =
        ["v", "kind", "number", "attempt", "created_at", "status"].map(|field| packet[field].to_string());
    assert_eq!(said, ["1", "\"asked\"", "1", "1", &START.to_string(), "\"open\""]);
    assert_eq!((&packet["ask"], &packet["root"]), (&id.clone().into(), &id.clone().into()));
    assert_eq!(
        (&packet["question"], &packet["root_title"]),
        (&"Which region?".into(), &"Which region?".into())
    );
    let choice = &packet["choices"][0];
    assert_eq!((&choice["id"], &choice["command_text"]), (&"done".into(), &"/answer done".into()));
    assert_eq!(choice["command"], format!("roundgate answer {id} done"));
    assert!(
        ["scope", "evidence", "answer", "assignee", "due_at"].iter().all(|field| packet.get(field).is_some())
    );
}

#[test]
fn what_was_delivered_is_never_sent_again_and_its_mark_is_an_event() {
    let mut session = session(Shared::default(), "ann");
    let (one, two) = (ask(&mut session, "One?"), ask(&mut session, "Two?"));
    let mut sent: Vec<String> = told(&mut session).into_iter().map(|packet| packet.ask).collect();
    sent.sort();
    let mut both = vec![one, two];
    both.sort();
    assert_eq!(sent, both);
    let marks = events(&session)
        .into_iter()
        .filter(|event| matches!(&event.change, Change::NoticeEnded { end: NoticeEnd::Delivered, .. }));
    assert_eq!(marks.count(), 2);
    at(&mut session, START + 1_000 * HOUR);
    assert!(told(&mut session).is_empty());
    assert!(notify::list(&session, None).unwrap().is_empty());
}

#[test]
fn an_ask_that_was_answered_meanwhile_is_told_all_the_same_and_says_so() {
    let mut session = session(Shared::default(), "ann");
    let id = ask(&mut session, "Which?");
    failing(&mut session);
    let wish = asks::AnswerWish { choice: "done".to_owned(), ..asks::AnswerWish::default() };
    asks::answer(&mut session, &id, wish).unwrap();
    at(&mut session, START + MINUTE);
    let packet = told(&mut session).remove(0);
    assert_eq!((&*packet.status, packet.answer.as_deref(), packet.attempt), ("answered", Some("done"), 2));
}

#[test]
fn a_failure_is_tried_again_after_twice_the_time_each_up_to_the_ceiling() {
    let mut session = session(Shared::default(), "ann");
    ask(&mut session, "Which?");
    let mut waits = Vec::new();
    for _ in 0..8 {
        let now = session.clock.now();
        let sent = failing(&mut session);
        assert_eq!(sent.failed.unwrap().why, "no route");
        let next = sent.next_at.unwrap();
        waits.push((next - now) / SECOND);
        at(&mut session, next - 1);
        let before = events(&session).len();
        assert_eq!(failing(&mut session), Sent { next_at: Some(next), ..Sent::default() });
        assert_eq!(events(&session).len(), before, "waiting stores nothing");
        at(&mut session, next);
    }
    assert_eq!(waits, [30, 60, 120, 240, 480, 900, 900, 900]);
    assert_eq!(told(&mut session)[0].attempt, 9);
}

#[test]
fn while_one_waits_for_its_retry_the_others_wait_with_it_for_five_minutes_at_most() {
    let mut session = session(Shared::default(), "ann");
    for n in 0..50 {
        ask(&mut session, &format!("Number {n}?"));
    }
    let mut tries = 0;
    let end = START + 24 * HOUR;
    while session.clock.now() < end {
        let sent = send_due(&mut session, &mut |_: &Packet| {
            tries += 1;
            Delivery::Failed("down".to_owned())
        });
        let next = sent.unwrap().next_at.unwrap();
        assert!(next - session.clock.now() <= 5 * MINUTE, "the others are not kept for longer");
        let later = session.clock.now() + SECOND;
        at(&mut session, next.max(later));
    }
    // Each waits for less at first; then there is one try in five minutes, however many wait.
    assert!((24 * 12..24 * 12 + 4 * 50).contains(&tries), "{tries} tries in a day");
    let mut got = Vec::new();
    while session.clock.now() < end + HOUR {
        got.extend(told(&mut session).into_iter().map(|packet| packet.id));
        let later = session.clock.now() + MINUTE;
        at(&mut session, later);
    }
    let count = got.len();
    got.sort();
    got.dedup();
    assert_eq!((count, got.len()), (50, 50), "each once, and all within the hour");
}

#[test]
fn one_that_can_never_be_delivered_keeps_no_other_from_it() {
    let mut session = session(Shared::default(), "ann");
    let bad = ask(&mut session, "Poison?");
    failing(&mut session);
    for n in 0..20 {
        ask(&mut session, &format!("Number {n}?"));
    }
    let mut delivered = 0;
    for _ in 0..60 {
        let later = session.clock.now() + MINUTE;
        at(&mut session, later);
        let sent = send_due(&mut session, &mut |packet: &Packet| match packet.ask == bad {
            true => Delivery::Failed("cannot read it".to_owned()),
            false => Delivery::Delivered,
        });
        delivered += sent.unwrap().delivered.len();
    }
    assert_eq!(delivered, 20);
    assert_eq!(notify::list(&session, None).unwrap().len(), 1);
}

#[test]
fn two_who_send_at_once_do_not_send_the_same_one() {
    let shared = Shared::default();
    let mut first = session(shared.clone(), "ann");
    for n in 0..3 {
        ask(&mut first, &format!("Number {n}?"));
    }
    let other = RefCell::new(session(shared, "bob"));
    let (mut own, mut others) = (Vec::new(), Vec::new());
    send_due(&mut first, &mut |packet: &Packet| {
        own.push(packet.id.clone());
        let mut other = other.borrow_mut();
        others.extend(told(&mut other).into_iter().map(|packet| packet.id));
        let sending = notify::list(&other, None).unwrap();
        assert_eq!(
            sending.iter().map(|view| (&*view.state, view.sender.as_deref())).collect::<Vec<_>>(),
            [("sending", Some("ann"))]
        );
        Delivery::Delivered
    })
    .unwrap();
    assert_eq!((own.len(), others.len()), (1, 2));
    assert!(!others.contains(&own[0]));
    assert!(notify::list(&first, None).unwrap().is_empty());
}

#[test]
fn no_lock_is_held_while_the_notifier_runs() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("store");
    let mut first = session(Sqlite::init(&place).unwrap(), "ann");
    ask(&mut first, "Which?");
    let mut asked = 0;
    send_due(&mut first, &mut |_: &Packet| {
        // Another connection writes: it would wait for ten seconds, and fail.
        let mut other = session(Sqlite::open(&place).unwrap(), "bob");
        ask(&mut other, "And which?");
        asked += 1;
        if asked > 3 { Delivery::Stopped } else { Delivery::Delivered }
    })
    .unwrap();
    assert_eq!(asked, 4);
}

#[test]
fn what_a_dead_sender_had_taken_is_sent_again_with_the_same_id_once_its_lease_is_over() {
    let shared = Shared::default();
    let mut first = session(shared.clone(), "ann");
    ask(&mut first, "Which?");
    let mut got = Vec::new();
    let dead = send_due(&mut first, &mut |packet: &Packet| {
        got.push(packet.clone());
        // It told somebody, and dies before it can write that down.
        shared.fails_next();
        Delivery::Delivered
    });
    assert!(matches!(dead, Err(AppError::Store(_))));
    let mut second = session(shared, "bob");
    at(&mut second, START + 10 * SECOND + MINUTE - 1);
    assert!(told(&mut second).is_empty(), "the lease: the time limit and a minute");
    at(&mut second, START + 10 * SECOND + MINUTE);
    got.extend(told(&mut second));
    assert_eq!(got[0].id, got[1].id);
    assert_eq!([got[0].attempt, got[1].attempt], [1, 2]);
    assert!(notify::list(&second, None).unwrap().is_empty());
}

#[test]
fn a_sender_that_comes_back_late_fails_nothing_that_another_sends_by_now() {
    let shared = Shared::default();
    let mut slow = session(shared.clone(), "ann");
    ask(&mut slow, "Which?");
    let other = RefCell::new(session(shared, "bob"));
    send_due(&mut slow, &mut |_: &Packet| {
        let mut other = other.borrow_mut();
        at(&mut other, START + 2 * MINUTE);
        let taken = send_due(&mut other, &mut |_: &Packet| Delivery::Failed("bob's".to_owned()));
        assert!(taken.unwrap().failed.is_some());
        Delivery::Failed("ann's, much too late".to_owned())
    })
    .unwrap();
    let left = notify::list(&slow, None).unwrap().remove(0);
    assert_eq!((left.attempts, left.last_failure.unwrap().why.as_str()), (2, "bob's"));
}

#[test]
fn a_sender_that_is_stopped_gives_back_what_it_had_taken() {
    let mut session = session(Shared::default(), "ann");
    ask(&mut session, "Which?");
    let sent = send_due(&mut session, &mut |_: &Packet| Delivery::Stopped).unwrap();
    assert_eq!(sent, Sent::default());
    let left = notify::list(&session, None).unwrap().remove(0);
    assert_eq!((&*left.state, left.due_at, left.last_failure), ("waiting", START, None));
    assert_eq!(told(&mut session).len(), 1, "at once");
}

#[test]
fn a_clock_that_is_set_back_keeps_nothing_from_being_sent() {
    let mut session = session(Shared::default(), "ann");
    ask(&mut session, "Which?");
    failing(&mut session);
    at(&mut session, START - 900 * HOUR);
    assert_eq!(told(&mut session).len(), 1);
}

#[test]
fn sending_is_no_step_of_an_operation() {
    let mut session = session(Shared::default(), "ann");
    ask(&mut session, "Which?");
    session.operation =
        Some(Ongoing::new("once".parse().unwrap(), Request::default().digest(&session.actor)));
    assert_eq!(told(&mut session).len(), 1);
    let steps =
        events(&session).into_iter().filter(|event| matches!(event.change, Change::OperationDone { .. }));
    assert_eq!(steps.count(), 0);
    assert!(session.operation.is_some(), "what comes after it is still part of the operation");
}

#[test]
fn one_go_ends_when_the_time_limit_has_gone_by() {
    let mut first = session(Shared::default(), "ann");
    for n in 0..250 {
        ask(&mut first, &format!("Number {n}?"));
    }
    let sent = send_due(&mut first, &mut |_: &Packet| Delivery::Delivered).unwrap();
    assert_eq!((sent.delivered.len(), sent.next_at), (100, Some(START)), "and after a hundred");
    let mut slow = session(Shared::default(), "ann");
    slow.clock = Clock::Machine;
    slow.config.notify.time_limit = 1;
    for n in 0..5 {
        ask(&mut slow, &format!("Number {n}?"));
    }
    let sent = send_due(&mut slow, &mut |_: &Packet| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        Delivery::Delivered
    });
    assert_eq!(sent.unwrap().delivered.len(), 1);
}

#[test]
fn retry_and_drop_do_what_they_say_to_what_they_name() {
    let mut session = session(Shared::default(), "ann");
    let (one, two) = (ask(&mut session, "One?"), ask(&mut session, "Two?"));
    failing(&mut session);
    let again = notify::retry(&mut session, None).unwrap();
    assert!(
        again.changed && again.value.len() == 2 && again.value.iter().all(|view| &*view.state == "waiting")
    );
    assert!(!notify::retry(&mut session, None).unwrap().changed, "nothing keeps them");
    let dropped = notify::drop(&mut session, Some(&format!("{one}:asked:1"))).unwrap();
    assert_eq!(dropped.value.iter().map(|view| view.ask.as_str()).collect::<Vec<_>>(), [&one]);
    let gone = notify::drop(&mut session, Some(&one)).unwrap_err();
    assert_eq!((gone.exit_code(), gone.code()), (3, "not_found"));
    assert_eq!(ids(&told(&mut session)), [format!("{two}:asked:1")]);
}

#[test]
fn what_is_being_sent_right_now_is_not_sent_again_by_a_retry() {
    let shared = Shared::default();
    let mut first = session(shared.clone(), "ann");
    ask(&mut first, "Which?");
    let other = Rc::new(RefCell::new(session(shared, "bob")));
    let mut times = 0;
    send_due(&mut first, &mut |_: &Packet| {
        times += 1;
        let mut other = other.borrow_mut();
        assert!(!notify::retry(&mut other, None).unwrap().changed);
        times += told(&mut other).len();
        Delivery::Delivered
    })
    .unwrap();
    assert_eq!(times, 1);
}

#[test]
fn reminders_a_due_time_a_timeout_and_a_question_that_went_away_are_told_once_each() {
    let shared = Shared::default();
    let mut session = session(shared, "ann");
    let root = NewIssue { title: "Ship it".to_owned(), ..NewIssue::default() };
    let root = issues::create(&mut session, root, None).unwrap().value.id;
    let tags: Tags =
        ["kind:ask", "proto:hierarchical-work-v1"].iter().map(|tag| tag.parse().unwrap()).collect();
    let question =
        |title: &str| NewIssue { title: title.to_owned(), tags: tags.clone(), ..NewIssue::default() };
    let id = issues::create(&mut session, question("Which region?"), Some(&root)).unwrap().value.id;
    let wish = asks::AssignWish {
        due: Some(Some(Due::In(HOUR))),
        remind: Some(Some(2 * HOUR)),
        timeout: Some(Some((6 * HOUR, "skip".to_owned()))),
        ..asks::AssignWish::default()
    };
    asks::assign(&mut session, &id, wish).unwrap();
    assert_eq!(ids(&told(&mut session)), [format!("{id}:asked:1")]);
    let mut got = Vec::new();
    for hour in 1..=8 {
        at(&mut session, START + hour * HOUR + SECOND);
        roundgate::app::tick::tick(&mut session, &root, false).unwrap();
        got.extend(told(&mut session).iter().map(|packet| (hour, packet.id.clone(), packet.due_at)));
    }
    let due = Some(START + HOUR);
    let wanted = [(1, "due:1"), (3, "reminder:2"), (5, "reminder:3"), (6, "timeout:1")];
    assert_eq!(got, wanted.map(|(hour, what)| (hour, format!("{id}:{what}"), due)));
    let other = issues::create(&mut session, question("Which colour?"), Some(&root)).unwrap().value.id;
    let wish = issues::CloseWish {
        outcome: Some(Outcome::Skipped),
        reason: Some("bought instead".to_owned()),
        cascade: true,
        epoch: None,
    };
    issues::close(&mut session, &root, &wish).unwrap();
    let mut last: Vec<String> = told(&mut session).iter().map(|packet| packet.id.clone()).collect();
    last.sort();
    assert_eq!(last, [format!("{other}:asked:1"), format!("{other}:moot:1")]);
}

#[test]
fn a_second_due_time_is_told_of_with_a_number_of_its_own() {
    let mut session = session(Shared::default(), "ann");
    let id = ask(&mut session, "Which region?");
    told(&mut session);
    let mut got = Vec::new();
    for day in 0..2 {
        at(&mut session, START + day * 24 * HOUR);
        let wish = asks::AssignWish { due: Some(Some(Due::In(HOUR))), ..asks::AssignWish::default() };
        asks::assign(&mut session, &id, wish).unwrap();
        at(&mut session, START + day * 24 * HOUR + HOUR);
        roundgate::app::tick::tick(&mut session, &id, false).unwrap();
        got.extend(told(&mut session).iter().map(|packet| packet.id.clone()));
    }
    assert_eq!(got, [format!("{id}:due:1"), format!("{id}:due:2")]);
}
