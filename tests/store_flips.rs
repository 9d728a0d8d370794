//! A small store with one byte changed, all over the file: nothing panics, nothing is written by who
//! only reads, and whenever what a reader is told has changed, an examination finds it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use roundgate::store::sqlite::{Options, Sqlite, examine};
use roundgate::store::{EventQuery, PostQuery, Store, StoreError};
use store_fixture::{commit, created, id, plain, post};
use story::story;
use tempfile::TempDir;

const FILE: &str = "roundgate.db";
const LOG: &str = "roundgate.db-wal";

/// How long one test may go on flipping.
const AT_MOST: Duration = Duration::from_secs(8);

/// Everything that a reader can be told of a store.
fn told(folder: &Path) -> Result<String, StoreError> {
    let store = Sqlite::open_with(folder, &Options { deadline: Duration::ZERO, ..Options::default() })?;
    let snapshot = store.snapshot()?;
    let nodes: Vec<_> = snapshot.0.graph().indices().map(|ix| snapshot.0.graph().node(ix).clone()).collect();
    let lists = (
        snapshot.0.scopes().collect::<Vec<_>>(),
        snapshot.0.all_rounds().collect::<Vec<_>>(),
        snapshot.0.asks().collect::<Vec<_>>(),
        snapshot.0.plans().collect::<Vec<_>>(),
        snapshot.0.finished_roots().collect::<Vec<_>>(),
        snapshot.0.reserved().collect::<Vec<_>>(),
        snapshot.0.annotations(),
    );
    let events = store.events(&EventQuery::default())?;
    let history = store.events(&EventQuery { subject: Some(id("rg-a")), ..EventQuery::default() })?;
    let posts = store.posts(&PostQuery::default())?;
    let topics = store.topics("")?;
    Ok(format!("{nodes:?} {lists:?} {} {events:?} {history:?} {posts:?} {topics:?}", snapshot.1))
}

/// Which bytes to flip: those that say something more often than empty space, and others each time
/// the store's layout changes a little.
fn worth(bytes: &[u8], every: usize) -> Vec<usize> {
    let full = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at);
    let empty = bytes.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(at, _)| at);
    let header = 0..110.min(bytes.len());
    let mut all: Vec<usize> = header.chain(full.step_by(every)).chain(empty.step_by(every * 40)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Flips bytes of one file of a store, and gives back how many were tried and how many changed what a
/// reader is told.
fn flip(folder: &Path, name: &str, every: usize) -> (usize, usize) {
    let started = Instant::now();
    let sound = told(folder).unwrap();
    let file = folder.join(name);
    let whole = fs::read(&file).unwrap();
    let others = |folder: &Path| {
        [FILE, LOG, "roundgate.mark"].map(|other| fs::read(folder.join(other)).unwrap_or_default())
    };
    let (mut tried, mut noticed) = (0, 0);
    let all = worth(&whole, every);
    // If time runs out, it has been everywhere once, if thinly.
    let spread = (0..7).flat_map(|first| all.iter().skip(first).step_by(7));
    for &at in spread {
        if started.elapsed() > AT_MOST {
            break;
        }
        let mut flipped = whole.clone();
        flipped[at] ^= if at % 3 == 0 { 0xff } else { 1 << (at % 8) };
        fs::write(&file, &flipped).unwrap();
        let before = others(folder);
        let now = told(folder);
        let examined = examine(folder, &Options { deadline: Duration::ZERO, ..Options::default() });
        assert!(others(folder) == before, "byte {at} of {name}: somebody wrote");
        let found = examined.as_ref().map_or(true, |examined| !examined.sound());
        if !matches!(&now, Ok(text) if *text == sound) {
            assert!(found, "byte {at} of {name}: {:?}\n{now:?}", examined.map(|e| e.checks));
            noticed += 1;
        }
        tried += 1;
        // What only memory shared must not outlive the file it was about.
        fs::remove_file(folder.join("roundgate.db-shm")).ok();
        if name != LOG {
            fs::remove_file(folder.join(LOG)).ok();
        }
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(told(folder).unwrap(), sound);
    (tried, noticed)
}

#[test]
fn a_flipped_byte_of_the_database_is_found_whenever_it_shows() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    for bundle in story() {
        commit(&mut store, bundle).unwrap();
    }
    drop(store);
    let (tried, noticed) = flip(&folder, FILE, 7);
    eprintln!("{tried} bytes flipped, {noticed} showed");
    assert!(tried > 300 && noticed > tried / 10, "{tried} {noticed}");
}

/// A store as a crash leaves it: everything is in the log.
fn crashed() -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    let reader = Sqlite::open(&folder).unwrap();
    commit(&mut store, vec![created(plain("rg-a", 1), None), post("t", "one", 1)]).unwrap();
    commit(&mut store, vec![created(plain("rg-b", 1), Some("rg-a")), post("t", "two", 1)]).unwrap();
    drop(store);
    drop(reader);
    (above, folder)
}

#[test]
fn a_flipped_byte_of_the_log_is_found_whenever_it_shows() {
    let (_above, folder) = crashed();
    let (tried, noticed) = flip(&folder, LOG, 7);
    eprintln!("{tried} bytes flipped, {noticed} showed");
    assert!(tried > 300 && noticed > tried / 2, "{tried} {noticed}");
}
