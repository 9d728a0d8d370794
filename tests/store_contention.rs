//! Several connections to one SQLite store: what they see of each other, who waits, and what is left
//! on the disk.

mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use roundgate::model::change::Change;
use roundgate::model::graph::EdgeKind;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::{Options, Sqlite};
use roundgate::store::{EventQuery, Extent, PostQuery, Store, StoreError};
use store_fixture::{commit, created, events, plain, post};
use story::{edge, story};
use tempfile::TempDir;

fn store() -> (TempDir, PathBuf, Sqlite) {
    let above = tempfile::tempdir().expect("a folder");
    let folder = above.path().join("store");
    let store = Sqlite::init(&folder).expect("a store");
    (above, folder, store)
}

/// The bytes of every file in a folder. What SQLite keeps in shared memory only is left out.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let files = entries.map(|entry| {
        let name = entry.file_name().into_string().expect("a name");
        (name, fs::read(entry.path()).expect("a file"))
    });
    files.filter(|(name, _)| !name.ends_with("-shm")).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> = entries.map(|e| e.file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

/// A store as a crash leaves it: committed data in a log that nobody folded in.
fn crashed() -> (TempDir, PathBuf) {
    let (above, folder, mut store) = store();
    commit(&mut store, vec![created(plain("rg-a", 1), None)]).expect("a commit");
    let copy = above.path().join("copy");
    fs::create_dir(&copy).expect("a folder");
    for (name, bytes) in bytes(&folder) {
        fs::write(copy.join(name), bytes).expect("a copy");
    }
    (above, copy)
}

#[test]
fn two_handles_see_each_others_commits() {
    let (_above, folder, mut one) = store();
    let mut two = Sqlite::open(&folder).unwrap();
    for (n, bundle) in story().into_iter().enumerate() {
        let writer = if n % 2 == 0 { &mut one } else { &mut two };
        commit(writer, bundle).unwrap();
        assert_eq!(one.snapshot().unwrap(), two.snapshot().unwrap());
    }
    assert_eq!(Sqlite::open(&folder).unwrap().snapshot().unwrap(), one.snapshot().unwrap());
}

#[test]
fn eight_threads_commit_a_hundred_and_sixty_events_without_gaps() {
    let (_above, folder, store) = store();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                let mut store = Sqlite::open(folder).expect("a store");
                for n in 0..20 {
                    commit(&mut store, vec![post(&format!("thread {thread}"), &n.to_string(), n)])
                        .expect("a commit");
                }
            });
        }
    });
    let numbers: Vec<u64> =
        store.events(&EventQuery::default()).unwrap().iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=160).collect::<Vec<u64>>());
    for topic in store.topics("").unwrap() {
        let query = PostQuery { topic: Some(topic.name), last: None };
        let bodies: Vec<String> = store.posts(&query).unwrap().into_iter().map(|post| post.body).collect();
        assert_eq!(bodies, (0..20).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}

#[test]
fn who_waits_longer_than_the_deadline_is_told_so_and_nothing_is_written() {
    let (_above, folder, mut holder) = store();
    let deadline = Duration::from_millis(60);
    let mut other = Sqlite::open_with(&folder, &Options { deadline, ..Options::default() }).unwrap();
    let work = &mut |_: &mut Snapshot, _| {
        let started = Instant::now();
        let busy = commit(&mut other, vec![post("t", "other", 1)]);
        match busy {
            Err(StoreError::Busy { waited_ms }) => {
                assert!((60..=started.elapsed().as_millis()).contains(&u128::from(waited_ms)));
            }
            other => panic!("{other:?}"),
        }
        // Reading needs nobody's leave.
        assert_eq!(other.snapshot().unwrap().1, 0);
        None
    };
    holder.transact(Extent::Frontier, work).unwrap();
    assert_eq!(commit(&mut other, vec![post("t", "later", 1)]).unwrap(), 1);
}

#[test]
fn work_that_panics_leaves_nothing_behind_and_nobody_waiting() {
    let (_above, folder, mut store) = store();
    let panicked =
        catch_unwind(AssertUnwindSafe(|| store.transact(Extent::Frontier, &mut |_, _| panic!("on purpose"))));
    assert!(panicked.is_err());
    let mut other =
        Sqlite::open_with(&folder, &Options { deadline: Duration::ZERO, ..Options::default() }).unwrap();
    assert_eq!(commit(&mut other, vec![post("t", "x", 1)]).unwrap(), 1);
    assert_eq!(commit(&mut store, vec![post("t", "y", 1)]).unwrap(), 2);
}

#[test]
fn a_change_that_does_not_fit_takes_the_whole_transaction_back() {
    let (_above, folder, mut store) = store();
    commit(&mut store, vec![created(plain("rg-a", 1), None)]).unwrap();
    let before = bytes(&folder);
    let misfits = [
        created(plain("rg-a", 1), None),
        created(plain("rg-c", 1), Some("rg-none")),
        Change::EdgeAdded { edge: edge("rg-a", EdgeKind::Blocks, "rg-none") },
        Change::EdgeRemoved { edge: edge("rg-a", EdgeKind::Blocks, "rg-b") },
        Change::IssueChanged { id: store_fixture::id("rg-none"), before: vec![], after: vec![] },
        Change::ParentSet { id: store_fixture::id("rg-none"), before: None, after: None },
        Change::AnswerSet { id: store_fixture::id("rg-a"), before: None, after: None },
    ];
    for misfit in misfits {
        let refused = commit(&mut store, vec![created(plain("rg-b", 1), None), misfit.clone()]);
        assert!(matches!(refused, Err(StoreError::Unfit { .. })), "{misfit:?}: {refused:?}");
    }
    assert_eq!(store.snapshot().unwrap().0.graph().len(), 1);
    assert_eq!(bytes(&folder), before);
}

#[test]
fn work_without_events_writes_not_a_byte() {
    let (_above, folder, mut store) = store();
    commit(&mut store, vec![created(plain("rg-a", 1), None)]).unwrap();
    let before = bytes(&folder);
    assert!(before.contains_key("roundgate.db-wal"));
    store.transact(Extent::Frontier, &mut |_, _| None).unwrap();
    store.transact(Extent::Frontier, &mut |_, _| Some(events(Vec::new(), 1))).unwrap();
    assert_eq!(bytes(&folder), before);
}

#[test]
fn reading_leaves_no_file_and_no_changed_byte_behind() {
    let (_above, folder, mut store) = store();
    for bundle in story() {
        commit(&mut store, bundle).unwrap();
    }
    drop(store);
    assert_eq!(names(&folder), ["roundgate.db", "roundgate.mark"]);
    let before = bytes(&folder);

    let mut store = Sqlite::open(&folder).unwrap();
    store.snapshot().unwrap();
    store.events(&EventQuery::default()).unwrap();
    store.posts(&PostQuery::default()).unwrap();
    store.topics("").unwrap();
    store.transact(Extent::Frontier, &mut |_, _| None).unwrap();
    drop(store);
    assert_eq!(names(&folder), ["roundgate.db", "roundgate.mark"]);
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_log_left_by_a_crash_is_read_and_left_alone_by_readers() {
    let (_above, folder) = crashed();
    let before = bytes(&folder);
    assert!(!before["roundgate.db-wal"].is_empty());
    let store = Sqlite::open(&folder).unwrap();
    assert_eq!(store.snapshot().unwrap().1, 1);
    drop(store);
    assert_eq!(bytes(&folder), before);
}

#[test]
fn a_log_left_by_a_crash_is_folded_in_by_the_next_writer() {
    let (_above, folder) = crashed();
    let mut store = Sqlite::open(&folder).unwrap();
    assert_eq!(commit(&mut store, vec![post("t", "x", 1)]).unwrap(), 2);
    drop(store);
    assert_eq!(names(&folder), ["roundgate.db", "roundgate.mark"]);
    assert_eq!(Sqlite::open(&folder).unwrap().snapshot().unwrap().1, 2);
}
