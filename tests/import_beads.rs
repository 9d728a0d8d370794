//! Beads files, from bytes to a snapshot. Slices of real exports are in `fixtures/import/`; with
//! `ROUNDGATE_DATA` naming a folder that has the whole ones, they are imported, too.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use roundgate::interop::beads::{BeadsIssue, Report, compile, parse};
use roundgate::model::apply::{Author, apply};
use roundgate::model::issue::State;
use roundgate::model::primitive::Primitive;
use roundgate::model::snapshot::Snapshot;
use roundgate::model::waits::Waits;

const NOW: i64 = 1_800_000_000_000;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/import").join(name)).unwrap()
}

fn author() -> Author {
    Author { actor: "importer".parse().unwrap(), at: NOW }
}

fn planned(snapshot: &Snapshot, lines: &[BeadsIssue]) -> (Vec<Primitive>, Report) {
    compile(snapshot, lines, NOW, &author().actor)
}

/// Imports into an empty store, checks what holds of every import, and gives back both.
fn imported(bytes: &[u8]) -> (Snapshot, Report) {
    let began = Instant::now();
    let lines = parse(bytes).unwrap();
    let read = began.elapsed();
    let mut snapshot = Snapshot::default();
    let (primitives, report) = planned(&snapshot, &lines);
    let compiled = began.elapsed();
    for primitive in &primitives {
        apply(&mut snapshot, primitive, &author()).unwrap();
    }
    eprintln!("parse {read:?}, with compile {compiled:?}, with apply {:?}", began.elapsed());

    let live = lines.iter().filter(|line| !line.tombstone());
    for line in live.clone() {
        let issue = snapshot.graph().get(&line.id).unwrap();
        assert_eq!(issue.created_at, line.created_at.or(line.updated_at).unwrap_or(NOW), "{}", line.id);
        assert_eq!(issue.state.closed(), line.status.as_deref() == Some("closed"), "{}", line.id);
        assert!(issue.tags.check().is_ok(), "{}", line.id);
    }
    assert_eq!(report.created, live.count());
    assert_eq!(snapshot.graph().len(), report.created);
    assert_eq!(snapshot.reserved().count(), report.reserved);
    assert_eq!(snapshot.annotations().len(), report.annotations);
    assert!(Waits::of(snapshot.graph()).cycle().is_none());

    let (again, second) = planned(&snapshot, &lines);
    assert_eq!(again, [], "a second import writes nothing");
    assert_eq!((second.unchanged, second.stale), (lines.len(), 0));
    (snapshot, report)
}

fn counts(report: &Report) -> String {
    let odd: Vec<String> = report.odd.iter().map(|(kind, odd)| format!("{kind} {}", odd.count)).collect();
    format!(
        "created {} reserved {} parents {} edges {} comments {} | {}",
        report.created,
        report.reserved,
        report.parents,
        report.edges,
        report.comments,
        odd.join(", ")
    )
}

#[test]
fn every_odd_thing_is_reported_by_kind_and_count() {
    let (snapshot, report) = imported(&fixture("beads-odd.jsonl"));
    insta::assert_snapshot!("odd_report", serde_json::to_string_pretty(&report).unwrap());
    insta::assert_debug_snapshot!("odd_annotations", snapshot.annotations());
    let issues: Vec<_> = snapshot.graph().issues().collect();
    insta::assert_snapshot!("odd_issues", serde_json::to_string_pretty(&issues).unwrap());
}

#[test]
fn a_comment_becomes_a_post_that_cannot_act() {
    let lines = parse(&fixture("beads-odd.jsonl")).unwrap();
    let (primitives, _) = planned(&Snapshot::default(), &lines);
    let posts: Vec<_> = primitives.iter().filter(|p| matches!(p, Primitive::Post { .. })).collect();
    insta::assert_snapshot!(serde_json::to_string_pretty(&posts).unwrap());
}

#[test]
fn slices_of_real_exports_come_in_whole() {
    let (_, small) = imported(&fixture("beads-small-slice.jsonl"));
    let (_, large) = imported(&fixture("beads-large-slice.jsonl"));
    insta::assert_snapshot!("slices", format!("small: {}\nlarge: {}", counts(&small), counts(&large)));
}

#[test]
fn the_order_of_lines_does_not_matter_to_parents() {
    let text = String::from_utf8(fixture("beads-small-slice.jsonl")).unwrap();
    let mut reversed: Vec<&str> = text.lines().collect();
    reversed.reverse();
    let (forwards, _) = imported(text.as_bytes());
    let (backwards, _) = imported(reversed.join("\n").as_bytes());
    for ix in forwards.graph().indices() {
        let id = forwards.graph().id(ix);
        let other = backwards.graph().ix(id).unwrap();
        let parent = forwards.graph().parent(ix).map(|p| forwards.graph().id(p));
        assert_eq!(parent, backwards.graph().parent(other).map(|p| backwards.graph().id(p)), "{id}");
    }
}

#[test]
fn whole_exports_come_in_when_they_are_at_hand() {
    let Some(folder) = std::env::var_os("ROUNDGATE_DATA").map(PathBuf::from) else { return };
    let (snapshot, small) = imported(&fs::read(folder.join("beads-small.jsonl")).unwrap());
    eprintln!("small: {}", serde_json::to_string_pretty(&small).unwrap());
    assert_eq!((small.lines, small.created, small.reserved), (513, 512, 1));
    let held = snapshot.graph().issues().filter(|issue| matches!(issue.state, State::InProgress { .. }));
    assert_eq!(held.count(), 8);
    let (_, large) = imported(&fs::read(folder.join("beads-large.jsonl")).unwrap());
    eprintln!("large: {}", serde_json::to_string_pretty(&large).unwrap());
    assert_eq!((large.lines, large.created, large.reserved), (5722, 2403, 3319));
    assert_eq!(large.odd["unknown_status"].values["hooked"], 13);
    assert_eq!(large.count("further_parent"), 4);
}
