//! A small store with one byte changed, all over the file, or cut short: nothing panics, nothing is written by who
//! only reads, and whenever what a reader is told has changed, an examination finds it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use roundgate::engine::{decide, roots_to_move};
use roundgate::model::readiness::ready_issues;
use roundgate::model::record::Bounds;
use roundgate::model::search::{Page, found, ranked};
use roundgate::store::sqlite::{Examined, Options, Sqlite, examine};
use roundgate::store::{EventQuery, PostQuery, Store, StoreError};
use store_fixture::{commit, created, id, plain, post};
use story::story;
use tempfile::TempDir;

const FILE: &str = "roundgate.db";
const LOG: &str = "roundgate.db-wal";

/// How many flips one test tries, however long that takes.
const AT_LEAST: usize = 320;
/// How long it may go on after that.
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
    let mut live = String::new();
    store.look(&mut |snapshot, _| {
        let ready = ready_issues(snapshot, None);
        let roots = roots_to_move(snapshot, 0, &Bounds::default());
        let tops = roots.iter().filter_map(|root| snapshot.graph().ix(root));
        let next: Vec<_> = tops.map(|root| decide(snapshot, root, 0, &Bounds::default())).collect();
        let page = Page { limit: 9, ..Page::default() };
        let (listed, words) = (ranked(snapshot, None, &page), "r*".parse().unwrap());
        let found = found(snapshot, &words, &page);
        live = format!("{ready:?} {roots:?} {next:?} {listed:?} {found:?}");
    })?;
    let events = store.events(&EventQuery::default())?;
    let history = store.events(&EventQuery { subject: Some(id("rg-a")), ..EventQuery::default() })?;
    let posts = store.posts(&PostQuery::default())?;
    let topics = store.topics("")?;
    Ok(format!("{nodes:?} {lists:?} {live} {} {events:?} {history:?} {posts:?} {topics:?}", snapshot.1))
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

/// What an examination says is wrong.
type Finds = fn(&Examined) -> bool;

/// As doctor does.
fn anything(examined: &Examined) -> bool {
    !examined.sound()
}

/// The planted bug: the shape of the file is looked at, and not what is written in it.
fn only_the_shape(examined: &Examined) -> bool {
    ["schema", "integrity", "references"].iter().any(|check| examined.faulty(check))
}

/// One file of a store, to be damaged and made whole again.
struct Patient<'f> {
    folder: &'f Path,
    name: &'f str,
    whole: Vec<u8>,
    /// What a reader is told while it is whole.
    sound: String,
    finds: Finds,
    tried: usize,
    noticed: usize,
}

impl<'f> Patient<'f> {
    fn new(folder: &'f Path, name: &'f str, finds: Finds) -> Patient<'f> {
        let (whole, sound) = (fs::read(folder.join(name)).unwrap(), told(folder).unwrap());
        Patient { folder, name, whole, sound, finds, tried: 0, noticed: 0 }
    }

    /// Damages it, and looks whether anybody writes, and whether what shows is found.
    fn suffer(&mut self, damaged: &[u8], what: &str) -> Result<(), String> {
        let (folder, name) = (self.folder, self.name);
        fs::write(folder.join(name), damaged).unwrap();
        let before = files(folder);
        let now = told(folder);
        let examined = examine(folder, &Options { deadline: Duration::ZERO, ..Options::default() });
        if files(folder) != before {
            return Err(format!("{what} of {name}: somebody wrote"));
        }
        let found = examined.as_ref().map_or(true, self.finds);
        self.tried += 1;
        if !matches!(&now, Ok(text) if *text == self.sound) {
            if !found {
                return Err(format!("{what} of {name}: {:?}\n{now:?}", examined.map(|e| e.checks)));
            }
            self.noticed += 1;
        }
        // What only memory shared must not outlive the file it was about.
        fs::remove_file(folder.join("roundgate.db-shm")).ok();
        if name != LOG {
            fs::remove_file(folder.join(LOG)).ok();
        }
        Ok(())
    }

    /// How many damages were tried, and how many changed what a reader is told.
    fn recover(self) -> (usize, usize) {
        fs::write(self.folder.join(self.name), &self.whole).unwrap();
        assert_eq!(told(self.folder).unwrap(), self.sound);
        (self.tried, self.noticed)
    }
}

fn files(folder: &Path) -> [Vec<u8>; 3] {
    [FILE, LOG, "roundgate.mark"].map(|other| fs::read(folder.join(other)).unwrap_or_default())
}

/// What is left to try of these, thinly at first: so many in any case, and more until the time is up.
fn in_time(all: &[usize]) -> impl Iterator<Item = usize> {
    let started = Instant::now();
    let spread = (0..7).flat_map(|first| all.iter().skip(first).step_by(7).copied());
    let enough = move |tried| tried >= AT_LEAST && !every_one() && started.elapsed() > AT_MOST;
    spread.enumerate().take_while(move |(tried, _)| !enough(*tried)).map(|(_, at)| at)
}

/// Whether every byte is flipped and every length tried, however long that takes.
fn every_one() -> bool {
    std::env::var_os("ROUNDGATE_EVERY_BYTE").is_some_and(|value| value == "1")
}

/// Flips bytes of one file of a store.
fn flip(folder: &Path, name: &str, every: usize, finds: Finds) -> Result<(usize, usize), String> {
    let mut patient = Patient::new(folder, name, finds);
    let whole = patient.whole.clone();
    let all = if every_one() { (0..whole.len()).collect() } else { worth(&whole, every) };
    for at in in_time(&all) {
        let mut flipped = whole.clone();
        flipped[at] ^= if at % 3 == 0 { 0xff } else { 1 << (at % 8) };
        patient.suffer(&flipped, &format!("byte {at}"))?;
    }
    Ok(patient.recover())
}

/// Cuts one file of a store to shorter lengths.
fn truncate(folder: &Path, name: &str, every: usize, finds: Finds) -> Result<(usize, usize), String> {
    let mut patient = Patient::new(folder, name, finds);
    let whole = patient.whole.clone();
    let all: Vec<usize> = (0..whole.len()).step_by(if every_one() { 1 } else { every }).collect();
    for length in in_time(&all) {
        patient.suffer(&whole[..length], &format!("the first {length} bytes"))?;
    }
    Ok(patient.recover())
}

/// A closed store in which a whole story happened.
fn closed() -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    for bundle in story() {
        commit(&mut store, bundle).unwrap();
    }
    (above, folder)
}

#[test]
fn a_flipped_byte_of_the_database_is_found_whenever_it_shows() {
    let (_above, folder) = closed();
    let (tried, noticed) = flip(&folder, FILE, 7, anything).unwrap();
    eprintln!("{tried} bytes flipped, {noticed} showed");
    assert!(tried > 300 && noticed > tried / 10, "{tried} {noticed}");
}

#[test]
fn a_database_of_any_shorter_length_is_found_whenever_it_shows() {
    let (_above, folder) = closed();
    let (tried, noticed) = truncate(&folder, FILE, 251, anything).unwrap();
    eprintln!("{tried} lengths tried, {noticed} showed");
    assert!(tried > 100 && noticed > tried / 2, "{tried} {noticed}");
}

#[test]
fn a_doctor_who_only_looks_at_the_shape_of_the_file_is_noticed() {
    let (_above, folder) = closed();
    flip(&folder, FILE, 7, only_the_shape).unwrap_err();
    let (_above, folder) = crashed();
    truncate(&folder, LOG, 29, only_the_shape).unwrap_err();
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
    let (tried, noticed) = flip(&folder, LOG, 7, anything).unwrap();
    eprintln!("{tried} bytes flipped, {noticed} showed");
    assert!(tried > 300 && noticed > tried / 2, "{tried} {noticed}");
}

#[test]
fn a_log_of_any_shorter_length_is_found_whenever_it_shows() {
    let (_above, folder) = crashed();
    let (tried, noticed) = truncate(&folder, LOG, 29, anything).unwrap();
    eprintln!("{tried} lengths tried, {noticed} showed");
    assert!(tried > 300 && noticed > tried / 2, "{tried} {noticed}");
}
