//! The same random runs through the stores: memory and SQLite say the same, and both say what the run
//! itself came to.

use roundgate::model::change::Event;
use roundgate::model::id::Actor;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::memory::Memory;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Store};

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
        store.transact(&mut |_, _| Some(now.to_vec())).unwrap();
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
        let mut again = Snapshot::default();
        let read = sqlite.events(&EventQuery::default()).unwrap();
        read.iter().for_each(|event| again.fold(&event.change, event.at));
        assert!(again == stored.0, "seed {seed}: replaying the stored events differs");
    }
}
