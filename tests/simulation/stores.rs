//! The same random runs through the stores: memory and SQLite say the same, and both say what the run
//! itself came to.

use roundgate::app::view::ReadyView;
use roundgate::engine::{decide, roots_to_move};
use roundgate::model::change::Event;
use roundgate::model::frontier::List;
use roundgate::model::graph::Ix;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::readiness::{hindrances, ready_issues};
use roundgate::model::record::{Bounds, Heartbeat};
use roundgate::model::search::{Page, found, ranked};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::sqlite::{self, Options, Sqlite};
use roundgate::store::{EventQuery, Extent, Store};

use crate::world::World;

/// Everything a run did, as the events of a store.
fn events(world: &World) -> Vec<Event> {
    let each = world.changes.iter().zip(&world.times).zip(1_u64..);
    each.map(|((change, &at), seq)| Event {
        seq,
        at,
        actor: Actor::engine(),
        cause: "simulation".to_owned(),
        tick: None,
        change: change.clone(),
    })
    .collect()
}

/// Commits the events in transactions of different sizes.
fn commit(store: &mut dyn Store, events: &[Event]) {
    let mut rest = events;
    let mut size = 1;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(size.min(rest.len()));
        store.transact(Extent::Frontier, &mut |_, _| Some(now.to_vec())).unwrap();
        rest = later;
        size = size % 37 + 5;
    }
}

#[test]
fn memory_and_sqlite_give_the_state_of_the_run_and_replaying_their_events_gives_it_again() {
    for seed in 0..40 {
        let mut world = World::new(seed, None);
        world.run(true).unwrap();
        let events = events(&world);
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::init(&folder.path().join("store")).unwrap();
        let mut memory = Memory::new();
        commit(&mut memory, &events);
        commit(&mut sqlite, &events);
        let stored = sqlite.snapshot().unwrap();
        assert!(stored == memory.snapshot().unwrap(), "seed {seed}: memory and SQLite differ");
        assert!(stored.0 == world.snapshot, "seed {seed}: the store differs from the run");
        let examined = sqlite::examine(sqlite.folder(), &Options::default()).unwrap();
        assert_eq!(examined.first_fault(), None, "seed {seed}");
        let mut again = Snapshot::default();
        let read = sqlite.events(&EventQuery::default()).unwrap();
        read.iter().for_each(|event| again.fold(&event.change, event.at));
        assert!(again == stored.0, "seed {seed}: replaying the stored events differs");
    }
}

/// Everything of pages of three, one behind the other.
fn leafed(snapshot: &Snapshot, status: Option<&str>, next: &dyn Fn(&Page<'_>) -> Vec<Ix>) -> Vec<Ix> {
    let mut all: Vec<Ix> = Vec::new();
    loop {
        let after = all.last().map(|&ix| snapshot.graph().id(ix).clone());
        let page = next(&Page { status, after: after.as_ref(), limit: 3 });
        all.extend(&page);
        if page.len() < 3 {
            return all;
        }
    }
}

/// What a tick, `ready` and the rules see of the live frontier is what they see of everything.
fn assert_same_sight(sqlite: &Sqlite, now: i64, at: &str) {
    let whole = sqlite.snapshot().unwrap().0;
    let graph = whole.graph();
    let tops: Vec<Ix> = graph.indices().filter(|&ix| graph.parent(ix).is_none()).collect();
    let sight = |snapshot: &Snapshot| -> Vec<String> {
        let ix = |id: &IssueId| snapshot.graph().ix(id).unwrap();
        let named = |ix: Ix| snapshot.graph().id(ix).to_string();
        let mut seen: Vec<String> =
            roots_to_move(snapshot, now, &Bounds::default()).iter().map(ToString::to_string).collect();
        seen.push(format!("{:?}", snapshot.counts()));
        seen.push(format!("{:?}", snapshot.every_ask()));
        seen.extend(ready_issues(snapshot, None).into_iter().map(named));
        let beating = |found: Vec<&Heartbeat>| -> Vec<String> {
            found.into_iter().map(|beat| format!("{beat:?}")).collect()
        };
        seen.extend(beating(snapshot.beating()));
        for top in tops.iter().map(|&top| ix(graph.id(top))) {
            seen.push(format!("{:?}", decide(snapshot, top, now, &Bounds::default())));
            seen.extend(beating(snapshot.heartbeats_of(snapshot.graph().id(top))));
            let tally = snapshot.tally(top);
            assert_eq!(tally.settled(), snapshot.relation().is_final(top));
            seen.push(format!("{tally:?}"));
            seen.extend(snapshot.gated_in(top).into_iter().map(named));
            for list in List::ALL {
                seen.push(format!("{list:?}"));
                seen.extend(snapshot.listed(list, Some(top)).all().into_iter().map(named));
                seen.extend(snapshot.listed(list, Some(top)).first(|_| true).map(named));
            }
        }
        for below in [None, tops.first().map(|&top| ix(graph.id(top)))] {
            for status in [None, Some("open"), Some("closed")] {
                seen.push(format!("{:?} {status:?}", below.map(named)));
                let list = |page: &Page<'_>| ranked(snapshot, below, page);
                seen.extend(leafed(snapshot, status, &list).into_iter().map(named));
            }
        }
        for words in ["root", "rg*", "nothing"] {
            let query = words.parse().unwrap();
            seen.push(words.to_owned());
            let search = |page: &Page<'_>| found(snapshot, &query, page);
            seen.extend(leafed(snapshot, Some("open"), &search).into_iter().map(named));
        }
        for each in graph.indices().map(|at| ix(graph.id(at))) {
            seen.push(format!("{:?} {:?}", snapshot.graph().standing(each), hindrances(snapshot, each)));
            seen.push(serde_json::to_string(&ReadyView::of(snapshot, each)).unwrap());
        }
        seen
    };
    let due = sight(&whole);
    let ids: Vec<IssueId> = graph.indices().map(|ix| graph.id(ix).clone()).collect();
    // Asked for one by one; loaded all at once; and that after a part was asked for already.
    for loaded in [0, ids.len(), ids.len() / 2] {
        let mut found = None;
        let mut look = |snapshot: &Snapshot| {
            if loaded > 0 {
                ids.iter().skip(loaded).for_each(|id| assert!(snapshot.graph().ix(id).is_some()));
                snapshot.gather(&ids);
                let all: Vec<Ix> = ids.iter().filter_map(|id| snapshot.graph().ix(id)).collect();
                snapshot.graph().relate(&all);
            }
            found = Some(sight(snapshot));
        };
        sqlite.look(&mut |snapshot, _| look(snapshot)).unwrap();
        assert_eq!(found.unwrap(), due, "{at}, {loaded} loaded at once");
    }
}

#[test]
fn the_live_frontier_is_seen_as_it_is_seen_in_the_whole_graph() {
    for seed in 100..116 {
        let mut world = World::new(seed, None);
        world.run(true).unwrap();
        let events = events(&world);
        let folder = tempfile::tempdir().unwrap();
        let mut sqlite = Sqlite::init(&folder.path().join("store")).unwrap();
        for (n, part) in events.chunks(23).enumerate() {
            sqlite.transact(Extent::Frontier, &mut |_, _| Some(part.to_vec())).unwrap();
            let now = part.last().map_or(0, |event| event.at);
            assert_same_sight(&sqlite, now, &format!("seed {seed}, part {n}"));
        }
    }
}
