//! The pure parts and the parts of the store, timed inside one process on graphs of several sizes: what
//! a whole command spends beside starting, opening and syncing. `whole_process` times the rest.

#[path = "whole_process/unit.rs"]
mod unit;

use std::error::Error;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};

use roundgate::engine::{Decision, Forge, compile, decide};
use roundgate::interop::beads;
use roundgate::model::apply::{Author, apply};
use roundgate::model::change::Event;
use roundgate::model::duty::AskPolicy;
use roundgate::model::graph::Ix;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::readiness::ready_issues;
use roundgate::model::record::Bounds;
use roundgate::model::relation::Relation;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::{Options, Sqlite, Synchronous, examine};
use roundgate::store::{Extent, Store};

use unit::{BODY, PLAYED_AT, Unit};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Issues of the graphs: the live part is 200 of them, the rest is final.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// A graph, the events it came from, and its roots.
struct Story {
    size: usize,
    events: Vec<Event>,
    snapshot: Snapshot,
    idle: Ix,
    moving: Ix,
}

impl Story {
    fn of(size: usize) -> Result<Story> {
        let (history, loose, idle, moving) =
            (unit::history()?, unit::loose()?, unit::idle()?, unit::moving()?);
        let settled = size.saturating_sub(idle.issues() + moving.issues());
        let (mut events, mut given) = (Vec::new(), 0);
        let mut add = |unit: &Unit| -> Result<String> {
            let ids: Vec<String> = (0..unit.issues()).map(|n| format!("rg-{:06}", given + n)).collect();
            given += ids.len();
            events.extend(unit.events_as(&ids, events.len() as u64)?);
            Ok(ids[0].clone())
        };
        for _ in 0..settled / history.issues() {
            add(&history)?;
        }
        for _ in 0..settled % history.issues() {
            add(&loose)?;
        }
        let (idle, moving) = (add(&idle)?, add(&moving)?);
        let snapshot = folded(&events);
        let at = |id: &str| -> Result<Ix> {
            let id: IssueId = id.parse()?;
            snapshot.graph().ix(&id).ok_or_else(|| format!("{id} is not there").into())
        };
        let (idle, moving) = (at(&idle)?, at(&moving)?);
        Ok(Story { size, events, snapshot, idle, moving })
    }
}

fn folded(events: &[Event]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    events.iter().for_each(|event| snapshot.fold(&event.change, event.at));
    snapshot
}

fn rules(criterion: &mut Criterion, stories: &[Story]) {
    let defaults = Bounds::default();
    let mut group = criterion.benchmark_group("rules");
    for story in stories {
        let (snapshot, size) = (&story.snapshot, story.size);
        let graph = snapshot.graph();
        // Worked out once and kept by the snapshot; what follows is measured with it there.
        snapshot.relation();
        group.bench_function(BenchmarkId::new("relation", size), |b| {
            b.iter(|| Relation::of(black_box(graph)))
        });
        group.bench_function(BenchmarkId::new("ready", size), |b| {
            b.iter(|| ready_issues(black_box(snapshot), Some(story.idle)));
        });
        for (name, root) in [("decide, nothing to do", story.idle), ("decide, a transition", story.moving)] {
            group.bench_function(BenchmarkId::new(name, size), |b| {
                b.iter(|| decide(black_box(snapshot), root, PLAYED_AT, &defaults));
            });
        }
        group.sample_size(10);
        group.bench_function(BenchmarkId::new("compile and apply", size), |b| {
            let author = Author { actor: Actor::engine(), at: PLAYED_AT };
            let decision = decide(snapshot, story.moving, PLAYED_AT, &defaults);
            b.iter_batched(
                || snapshot.clone(),
                |mut changed| {
                    carry_out(&mut changed, &decision, &defaults, &author);
                    changed
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn carry_out(snapshot: &mut Snapshot, decision: &Decision, defaults: &Bounds, author: &Author) {
    let Decision::Act(transition) = decision else { return };
    let mut given = 0;
    let mut next_id = || {
        given += 1;
        format!("rg-new{given}").parse().expect("an id")
    };
    let mut forge = Forge { now: author.at, defaults, asks: &AskPolicy::default(), next_id: &mut next_id };
    let primitives = compile(snapshot, transition, &mut forge).expect("what was decided on is there");
    for primitive in &primitives {
        apply(snapshot, primitive, author).expect("the snapshot allows it");
    }
}

fn facts(criterion: &mut Criterion, stories: &[Story]) {
    let mut group = criterion.benchmark_group("facts");
    group.sample_size(10);
    for story in stories {
        group.throughput(Throughput::Elements(story.events.len() as u64));
        group.bench_function(BenchmarkId::new("fold", story.size), |b| {
            b.iter(|| folded(black_box(&story.events)));
        });
    }
    for lines in [1_000, 10_000] {
        let bytes = export(lines);
        group.throughput(Throughput::Elements(lines as u64));
        group.bench_function(BenchmarkId::new("parse an import", lines), |b| {
            b.iter(|| beads::parse(black_box(&bytes)).expect("an export"));
        });
    }
    group.finish();
}

/// Another tracker's export, one issue a line.
fn export(lines: usize) -> Vec<u8> {
    let line = |n: usize| {
        format!(
            r#"{{"id":"job-{n}","title":"Job {n}","description":"{BODY}","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-16T17:13:09Z","updated_at":"2026-01-16T17:13:46Z"}}"#
        )
    };
    let lines: Vec<String> = (0..lines).map(line).collect();
    lines.join("\n").into_bytes()
}

/// Hashes are worked out where events are written and where they are checked, so both are timed.
fn store(criterion: &mut Criterion, stories: &[Story]) -> Result<()> {
    let mut group = criterion.benchmark_group("store");
    group.sample_size(10);
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    for story in stories.iter().filter(|story| story.size <= 10_000) {
        let folder = tempfile::tempdir()?;
        let mut written = Sqlite::init_with(folder.path(), &options)?;
        written.transact(Extent::Frontier, &mut |_, _| Some(story.events.clone()))?;
        drop(written);
        group.throughput(Throughput::Elements(story.events.len() as u64));
        group.bench_function(BenchmarkId::new("write and chain events", story.size), |b| {
            b.iter_batched(
                || {
                    let folder = tempfile::tempdir().expect("a folder");
                    let store = Sqlite::init_with(folder.path(), &options).expect("a store");
                    (folder, store, story.events.clone())
                },
                |(folder, mut store, events)| {
                    let mut events = Some(events);
                    store.transact(Extent::Frontier, &mut |_, _| events.take()).expect("the events fit");
                    (folder, store)
                },
                BatchSize::PerIteration,
            );
        });
        group.bench_function(BenchmarkId::new("check the chain and the tables", story.size), |b| {
            b.iter(|| examine(black_box(folder.path()), &options).expect("a sound store"));
        });
        group.bench_function(BenchmarkId::new("open and close", story.size), |b| {
            b.iter(|| Sqlite::open_with(black_box(folder.path()), &options).expect("a store"));
        });
    }
    group.finish();
    Ok(())
}

fn main() -> Result<()> {
    let stories: Vec<Story> = SIZES.into_iter().map(Story::of).collect::<Result<_>>()?;
    let mut criterion = Criterion::default().configure_from_args();
    rules(&mut criterion, &stories);
    facts(&mut criterion, &stories);
    store(&mut criterion, &stories)?;
    criterion.final_summary();
    Ok(())
}
