//! People who make, disable, enable and take away heartbeats and cron entries in the world.

use roundgate::model::act::heartbeat;
use roundgate::model::id::Actor;
use roundgate::model::issue::Millis;
use roundgate::model::record::{Ceiling, Heartbeat, HeartbeatId, HeartbeatKind, Overlap, Rhythm};

use crate::world::World;

const DAY: Millis = 86_400_000;

impl World {
    /// Something random about what ticks a root.
    pub fn keep_a_clock(&mut self) {
        let known: Vec<HeartbeatId> = self.snapshot.heartbeats().map(|beat| beat.id.clone()).collect();
        let known = self.rng.choice(known).filter(|_| self.rng.f64() < 0.6);
        let Some(found) = known.and_then(|id| self.snapshot.heartbeat(&id).cloned()) else {
            return self.make_a_clock();
        };
        let actor = Actor::engine();
        let act = match self.rng.u8(0..3) {
            0 => heartbeat::disable(&found, &actor, self.now, "enough"),
            1 => heartbeat::enable(&self.snapshot, &found, self.now),
            _ => Ok(heartbeat::remove(&found.id)),
        };
        self.act(act);
    }

    fn make_a_clock(&mut self) {
        let at = self.any();
        let graph = self.snapshot.graph();
        let root = graph.id(graph.root(at)).clone();
        let id = self.id().as_str().replace("rg-", "hb-");
        let kind = self.rng.choice([HeartbeatKind::Heartbeat, HeartbeatKind::Cron]).unwrap();
        let new = Heartbeat {
            id: id.parse().unwrap(),
            kind,
            root,
            title: id,
            reason: String::new(),
            rhythm: Rhythm::Every { interval: 15_000 },
            ceiling: Ceiling { lasts: DAY, ticks: None },
            overlap: Overlap::Skip,
            anchor: self.now,
            halted: None,
            last_run: None,
            skipped: 0,
            gap: None,
            trigger: None,
            created_by: self.actor(),
            created_at: self.now,
        };
        let act = heartbeat::create(&self.snapshot, new);
        self.act(act);
    }
}
