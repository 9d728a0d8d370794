//! People who pause parts of the world and let them go on, and what must not happen meanwhile.

use roundgate::engine::Transition;
use roundgate::model::act::pause;
use roundgate::model::change::{Change, Field};
use roundgate::model::graph::Ix;
use roundgate::model::id::IssueId;
use roundgate::model::issue::{Pause, State};
use roundgate::model::snapshot::Snapshot;

use crate::world::{Check, World};

impl World {
    /// Somebody pauses something, or lets something go on.
    pub fn pause_or_resume(&mut self) {
        let graph = self.snapshot.graph();
        let paused: Vec<IssueId> =
            graph.issues().filter(|issue| issue.pause.is_some()).map(|issue| issue.id.clone()).collect();
        match self.rng.choice(paused).filter(|_| self.rng.f64() < 0.7) {
            Some(id) => drop(self.resume(&id)),
            None => {
                let at = self.any();
                let id = self.snapshot.graph().id(at).clone();
                let wish = Pause { by: self.actor(), at: self.now, reason: "wait".to_owned() };
                let act = pause::pause(&self.snapshot, &id, wish);
                self.act(act);
            }
        }
    }

    pub fn resume(&mut self, id: &IssueId) -> bool {
        let act = pause::resume(&self.snapshot, id, self.now);
        self.act(act)
    }

    pub fn is_open(&self, ix: Ix) -> bool {
        self.snapshot.graph().issue(ix).state == State::Open
    }

    /// The same world with nothing paused.
    pub fn unpaused(&self) -> Snapshot {
        let mut free = self.snapshot.clone();
        for issue in self.snapshot.graph().issues().filter(|issue| issue.pause.is_some()) {
            let (before, after) = (vec![Field::Pause(issue.pause.clone())], vec![Field::Pause(None)]);
            free.fold(&Change::IssueChanged { id: issue.id.clone(), before, after }, self.now);
        }
        free
    }

    /// Below what is paused only answers and reclaims are acted on; what is final anyway is put away.
    pub fn check_paused(&self, transition: &Transition) -> Check {
        let at = self.snapshot.graph().ix(transition.subject()).unwrap();
        let allowed = match transition {
            Transition::OpenRound { .. }
            | Transition::AdoptRound { .. }
            | Transition::NextRound { .. }
            | Transition::AcceptRound { .. }
            | Transition::Escalate { .. }
            | Transition::EscalateFailure { .. }
            | Transition::EscalateSteps { .. }
            | Transition::Moot { .. }
            | Transition::TimeOut { .. }
            | Transition::Remind { .. }
            | Transition::RollUp { .. } => !self.snapshot.relation().paused(at),
            _ => true,
        };
        if allowed { Ok(()) } else { Err(format!("{transition:?} below something that is paused")) }
    }
}
