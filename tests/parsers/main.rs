//! Everything that reads a text from outside, held to the laws in `laws/`: on each file of `fixtures/fuzz/`,
//! with the real store behind it, and on texts made of them at random. `.ci/fuzz` does the same guided by
//! what of the program each text reaches.
//!
//! `ROUNDGATE_FUZZ_RUNS` says how many texts are made for each parser.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod laws;
mod mutate;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use laws::{Behind, Held, TARGETS, Target};
use mutate::Mutator;

/// How many texts are made for each parser, unless `ROUNDGATE_FUZZ_RUNS` says otherwise.
const RUNS: usize = 2_000;

fn runs() -> usize {
    std::env::var("ROUNDGATE_FUZZ_RUNS").map_or(RUNS, |runs| runs.parse().unwrap())
}

/// The corpus of a parser, in the order of the names.
fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}

/// A panic breaks the first law.
fn held(target: &Target, input: &[u8], behind: Behind) -> Held {
    catch_unwind(AssertUnwindSafe(|| (target.law)(input, behind)))
        .unwrap_or_else(|_| Err("a panic".to_owned()))
}

/// The first of the texts made of a corpus of which a law does not hold.
fn search(target: &Target, seeds: Vec<Vec<u8>>, runs: usize) -> Option<(Vec<u8>, String)> {
    let mut mutator = Mutator::new(seeds, target.words, 7);
    (0..runs).find_map(|_| {
        let input = mutator.next();
        let broken = held(target, &input, Behind::Memory).err()?;
        Some((input, broken))
    })
}

fn target(name: &str) -> &'static Target {
    static ALL: [Target; 9] = TARGETS;
    ALL.iter().find(|target| target.name == name).unwrap()
}

fn holds(name: &str) {
    let target = target(name);
    let seeds = corpus(name);
    assert!(seeds.len() >= 3, "{name} has a corpus of {}", seeds.len());
    for (file, input) in &seeds {
        if let Err(broken) = held(target, input, Behind::Disk) {
            panic!("{}: {broken}", file.display());
        }
    }
    let seeds = seeds.into_iter().map(|(_, input)| input).collect();
    if let Some((input, broken)) = search(target, seeds, runs()) {
        panic!("{name}: {broken}\n{}", input.escape_ascii());
    }
}

#[test]
fn the_configuration_is_read_as_it_is_written() {
    holds("config");
}

#[test]
fn durations_are_read_as_they_are_written() {
    holds("durations");
}

#[test]
fn an_import_that_is_read_is_stored_whole() {
    holds("import");
}

#[test]
fn names_are_their_texts() {
    holds("names");
}

#[test]
fn packets_are_read_as_they_are_written() {
    holds("packets");
}

#[test]
fn a_plan_that_passes_its_check_can_be_applied() {
    holds("plan");
}

#[test]
fn replies_answer_one_question() {
    holds("replies");
}

#[test]
fn what_is_a_rhythm_is_due_in_order() {
    holds("schedule");
}

#[test]
fn tags_are_stored_or_refused_as_a_set() {
    holds("tags");
}

#[test]
fn every_parser_has_a_test_and_every_corpus_a_parser() {
    let tests = include_str!("main.rs");
    assert!(TARGETS.iter().all(|target| tests.contains(&format!("holds({:?})", target.name))));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz");
    let corpora =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(corpora.into_iter().all(|name| TARGETS.iter().any(|target| target.name == name)));
}

/// The planted bug: a printer that forgets what is smaller than a minute.
#[test]
fn a_printer_that_forgets_the_seconds_is_found() {
    fn forgetful(millis: i64) -> String {
        format!("{}m", (millis / 60_000).max(1))
    }
    let planted = Target {
        law: |input, _| laws::durations::held_by(&String::from_utf8_lossy(input), forgetful),
        ..TARGETS.into_iter().find(|target| target.name == "durations").unwrap()
    };
    let seeds = vec![b"1h".to_vec(), b"10m".to_vec()];
    let (_, broken) = search(&planted, seeds, runs()).expect("the search found nothing");
    assert!(broken.contains("print as"), "{broken}");
}
