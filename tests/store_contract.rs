//! One contract, every store. Each test below runs against each backend.

mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::collections::BTreeSet;

use roundgate::model::change::{Change, Event, Field};
use roundgate::model::record::{Notice, NoticeEnd};
use roundgate::model::snapshot::Snapshot;
use roundgate::model::source::Outbox;
use roundgate::store::memory::Memory;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Extent, PostQuery, Store, StoreError, Topic};
use store_fixture::{commit, created, events, id, plain, post};
use story::{done, notice, noticed, story};

/// Runs each test of the contract against each store.
macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::$name(&mut super::Memory::new()); })+
        }
        mod sqlite {
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().expect("a folder");
                super::$name(&mut super::Sqlite::init(&folder.path().join("store")).expect("a store"));
            })+
        }
    };
}

contract! {
    a_new_store_is_empty,
    a_transaction_commits_all_its_events,
    work_without_events_leaves_the_store_as_it_was,
    work_is_called_once_with_the_state_at_that_moment,
    events_are_numbered_without_gaps,
    events_with_a_wrong_number_are_refused_and_nothing_is_written,
    events_are_found_by_subject_number_and_count,
    posts_are_found_by_topic_and_count,
    topics_are_found_by_prefix,
    the_snapshot_equals_the_fold_of_all_events_after_every_commit,
    every_event_comes_back_as_it_was_written,
    a_step_of_an_operation_is_found_by_its_name,
    the_outbox_gives_the_first_that_is_due_and_the_latest_that_failed,
    a_notice_is_found_by_its_id_until_it_ends,
    no_step_of_an_operation_is_recorded_twice,
}

fn all_events(store: &dyn Store) -> Vec<Event> {
    store.events(&EventQuery::default()).expect("events")
}

fn fold(events: &[Event]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    events.iter().for_each(|event| snapshot.fold(&event.change, event.at));
    snapshot
}

/// Equal even in the order of nodes, children and edges, which the rules may see.
fn assert_same(found: &Snapshot, expected: &Snapshot) {
    assert_eq!(found, expected);
    let nodes = |s: &Snapshot| s.graph().indices().map(|ix| s.graph().node(ix).clone()).collect::<Vec<_>>();
    assert_eq!(nodes(found), nodes(expected));
    let rounds = |s: &Snapshot| {
        let issues = s.graph().issues();
        issues.map(|issue| s.round_of(&issue.id).cloned()).collect::<Vec<_>>()
    };
    assert_eq!(rounds(found), rounds(expected));
}

fn a_new_store_is_empty(store: &mut dyn Store) {
    let (snapshot, revision) = store.snapshot().expect("a snapshot");
    assert_eq!((snapshot, revision), (Snapshot::default(), 0));
    assert_eq!(all_events(store), []);
    assert_eq!(store.posts(&PostQuery::default()).expect("posts"), []);
    assert_eq!(store.topics("").expect("topics"), []);
}

fn a_transaction_commits_all_its_events(store: &mut dyn Store) {
    let two = vec![created(plain("rg-a", 1), None), created(plain("rg-b", 1), Some("rg-a"))];
    assert_eq!(commit(store, two).expect("a commit"), 2);
    let (snapshot, revision) = store.snapshot().expect("a snapshot");
    assert_eq!((snapshot.graph().len(), revision), (2, 2));
}

fn work_without_events_leaves_the_store_as_it_was(store: &mut dyn Store) {
    commit(store, vec![created(plain("rg-a", 1), None)]).expect("a commit");
    assert_eq!(store.transact(Extent::Frontier, &mut |_, _| None).expect("nothing"), 1);
    assert_eq!(store.transact(Extent::Frontier, &mut |_, _| Some(Vec::new())).expect("nothing"), 1);
    assert_eq!(all_events(store).len(), 1);
}

fn work_is_called_once_with_the_state_at_that_moment(store: &mut dyn Store) {
    commit(store, vec![created(plain("rg-a", 1), None)]).expect("a commit");
    let mut seen = Vec::new();
    let work = &mut |snapshot: &mut Snapshot, revision| {
        seen.push((snapshot.graph().len(), revision));
        None
    };
    store.transact(Extent::Whole, work).expect("a transaction");
    assert_eq!(seen, [(1, 1)]);
}

fn events_are_numbered_without_gaps(store: &mut dyn Store) {
    for bundle in story() {
        commit(store, bundle).expect("a commit");
    }
    let numbers: Vec<u64> = all_events(store).iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

fn events_with_a_wrong_number_are_refused_and_nothing_is_written(store: &mut dyn Store) {
    commit(store, vec![post("t", "one", 1)]).expect("a commit");
    for wrong in [0, 2, 7] {
        let bundle = events(vec![post("t", "two", 1), post("t", "three", 1)], wrong);
        let refused = store.transact(Extent::Frontier, &mut |_, _| Some(bundle.clone()));
        assert!(matches!(refused, Err(StoreError::Unfit { .. })), "{refused:?}");
    }
    assert_eq!(store.snapshot().expect("a snapshot").1, 1);
    assert_eq!(store.posts(&PostQuery::default()).expect("posts").len(), 1);
}

fn events_are_found_by_subject_number_and_count(store: &mut dyn Store) {
    commit(store, vec![created(plain("rg-a", 1), None), created(plain("rg-b", 1), None)]).expect("a commit");
    let title = |name: &str| Change::IssueChanged {
        id: id(name),
        before: vec![],
        after: vec![Field::Title("New".to_owned())],
    };
    commit(store, vec![title("rg-a"), title("rg-b"), title("rg-a"), post("t", "x", 1)]).expect("a commit");

    let found = |subject: Option<&str>, after, last| {
        let query = EventQuery { subject: subject.map(id), after, last, first: None };
        store.events(&query).expect("events").iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(found(None, 0, None), [1, 2, 3, 4, 5, 6]);
    assert_eq!(found(None, 4, None), [5, 6]);
    assert_eq!(found(None, 0, Some(2)), [5, 6]);
    assert_eq!(found(None, 5, Some(9)), [6]);
    assert_eq!(found(None, 0, Some(0)), Vec::<u64>::new());
    assert_eq!(found(None, u64::MAX, None), Vec::<u64>::new());
    assert_eq!(found(Some("rg-a"), 0, None), [1, 3, 5]);
    assert_eq!(found(Some("rg-a"), 1, Some(1)), [5]);
    assert_eq!(found(Some("rg-none"), 0, None), Vec::<u64>::new());

    let first = |subject: Option<&str>, after, first, last| {
        let query = EventQuery { subject: subject.map(id), after, first: Some(first), last };
        store.events(&query).expect("events").iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(first(None, 0, 2, None), [1, 2]);
    assert_eq!(first(None, 2, 3, None), [3, 4, 5]);
    assert_eq!(first(None, 2, 3, Some(1)), [5]);
    assert_eq!(first(Some("rg-a"), 1, 1, None), [3]);
    assert_eq!(first(Some("rg-a"), 5, 9, None), Vec::<u64>::new());
}

fn posts_are_found_by_topic_and_count(store: &mut dyn Store) {
    commit(store, vec![post("a", "1", 9), post("b", "2", 8), post("a", "3", 7), post("a", "4", 6)])
        .expect("a commit");
    let found = |topic: Option<&str>, last| {
        let query = PostQuery { topic: topic.map(str::to_owned), last };
        store.posts(&query).expect("posts").into_iter().map(|post| post.body).collect::<Vec<_>>()
    };
    assert_eq!(found(None, None), ["1", "2", "3", "4"]);
    assert_eq!(found(None, Some(2)), ["3", "4"]);
    assert_eq!(found(Some("a"), None), ["1", "3", "4"]);
    assert_eq!(found(Some("a"), Some(1)), ["4"]);
    assert_eq!(found(Some("c"), None), Vec::<String>::new());
}

fn topics_are_found_by_prefix(store: &mut dyn Store) {
    let posts = [("issue:b", 3), ("issue:a", 5), ("ISSUE:c", 1), ("issue:a", 4), ("issuf", 1), ("", 2)];
    let odd = [("100%", 1), ("1000", 1)];
    commit(store, posts.iter().chain(&odd).map(|(topic, at)| post(topic, "x", *at)).collect())
        .expect("a commit");
    let topic = |name: &str, posts, last_at| Topic { name: name.to_owned(), posts, last_at };
    let found = |prefix| store.topics(prefix).expect("topics");
    assert_eq!(found("issue:"), [topic("issue:a", 2, 5), topic("issue:b", 1, 3)]);
    assert_eq!(found("100%"), [topic("100%", 1, 1)]);
    assert_eq!(found("x"), []);
    let all: Vec<String> = found("").into_iter().map(|topic| topic.name).collect();
    assert_eq!(all, ["", "100%", "1000", "ISSUE:c", "issue:a", "issue:b", "issuf"]);
}

fn the_snapshot_equals_the_fold_of_all_events_after_every_commit(store: &mut dyn Store) {
    let mut expected = Snapshot::default();
    let mut revision = 0;
    for bundle in story() {
        for event in events(bundle.clone(), revision) {
            expected.fold(&event.change, event.at);
        }
        revision = commit(store, bundle).expect("a commit");
        let (found, at) = store.snapshot().expect("a snapshot");
        assert_eq!(at, revision);
        assert_same(&found, &expected);
        assert_same(&found, &fold(&all_events(store)));
    }
}

fn every_event_comes_back_as_it_was_written(store: &mut dyn Store) {
    let mut written = Vec::new();
    for bundle in story() {
        written.extend(events(bundle.clone(), written.len() as u64));
        commit(store, bundle).expect("a commit");
    }
    assert_eq!(all_events(store), written);
    let kinds: BTreeSet<&str> = written.iter().map(|event| event.change.name()).collect();
    assert_eq!(kinds.len(), 23, "the story has every kind of change but a compaction: {kinds:?}");
}

fn a_step_of_an_operation_is_found_by_its_name(store: &mut dyn Store) {
    commit(store, vec![post("t", "one", 1), done("a", 0, "first"), post("t", "two", 1)]).expect("a commit");
    commit(store, vec![done("a", 1, "second"), done("b", 0, "third")]).expect("a commit");
    let found = |id: &str, step| {
        let found = store.operation(&id.parse().expect("an id"), step).expect("operations");
        found.map(|(event, done)| (event.seq, done.reply.as_str().map(str::to_owned).unwrap_or_default()))
    };
    assert_eq!(found("a", 0), Some((2, "first".to_owned())));
    assert_eq!(found("a", 1), Some((4, "second".to_owned())));
    assert_eq!(found("b", 0), Some((5, "third".to_owned())));
    assert_eq!((found("b", 1), found("A", 0), found("c", 0)), (None, None, None));
}

fn no_step_of_an_operation_is_recorded_twice(store: &mut dyn Store) {
    commit(store, vec![post("t", "one", 1), done("a", 0, "first")]).expect("a commit");
    let before = all_events(store);
    let refused = commit(store, vec![post("t", "one", 1), done("a", 0, "again")]);
    assert!(matches!(refused, Err(StoreError::Unfit { .. })), "{refused:?}");
    assert_eq!(all_events(store), before);
    assert_eq!(store.posts(&PostQuery::default()).expect("posts").len(), 1);
}

/// The ids of the first so many of the outbox, as a part of the graph and the whole say.
fn outbox(store: &dyn Store, order: Outbox, limit: usize) -> Vec<String> {
    let ids = |snapshot: &Snapshot| {
        snapshot.outbox(order, limit).into_iter().map(|notice| notice.id.to_string()).collect::<Vec<_>>()
    };
    let mut part = Vec::new();
    store.look(&mut |snapshot, _| part = ids(snapshot)).expect("a look");
    assert_eq!(part, ids(&store.snapshot().expect("a snapshot").0));
    part
}

fn the_outbox_gives_the_first_that_is_due_and_the_latest_that_failed(store: &mut dyn Store) {
    assert!(outbox(store, Outbox::FirstDue, 9).is_empty());
    for bundle in story() {
        commit(store, bundle).expect("a commit");
    }
    let ids = ["rg-q0:reminder:1", "rg-q0:moot:1", "rg-q0:timeout:1"].map(|id| id.parse().expect("an id"));
    let ended = outbox(store, Outbox::FirstDue, usize::MAX);
    assert!(!ended.contains(&"rg-q0:asked:1".to_owned()) && !ended.contains(&"rg-q0:due:1".to_owned()));
    for id in ids {
        let gone = Notice::new(id, 3);
        let change = Change::NoticeEnded { notice: Box::new(gone), end: NoticeEnd::Delivered };
        commit(store, vec![change]).expect("a commit");
    }
    let late = notice("rg-q1:asked:1", 50, Some(9));
    let early = notice("rg-q2:asked:1", 50, Some(8));
    let same = notice("rg-q3:asked:1", 1, Some(9));
    commit(store, [&late, &early, &same].map(noticed).to_vec()).expect("a commit");
    let due = ["rg-q3:asked:1", "rg-q4:asked:1", "rg-q1:asked:1", "rg-q2:asked:1", "rg-q0:reminder:2"];
    assert_eq!(outbox(store, Outbox::FirstDue, 9), due);
    assert_eq!(outbox(store, Outbox::FirstDue, 2), due[..2]);
    let failed = ["rg-q1:asked:1", "rg-q3:asked:1", "rg-q2:asked:1", "rg-q0:reminder:2"];
    assert_eq!(outbox(store, Outbox::LastFailed, 9), failed);
    assert_eq!(outbox(store, Outbox::LastFailed, 1), failed[..1]);
}

fn a_notice_is_found_by_its_id_until_it_ends(store: &mut dyn Store) {
    for bundle in story() {
        commit(store, bundle).expect("a commit");
    }
    let failed = notice("rg-q4:asked:1", 5, None);
    let known = |store: &dyn Store| {
        let mut known = None;
        store.look(&mut |snapshot, _| known = snapshot.notice(&failed.id).cloned()).expect("a look");
        known
    };
    assert_eq!(known(store), Some(failed.clone()));
    let end = NoticeEnd::Dropped;
    commit(store, vec![Change::NoticeEnded { notice: Box::new(failed.clone()), end }]).expect("a commit");
    assert_eq!(known(store), None);
}
