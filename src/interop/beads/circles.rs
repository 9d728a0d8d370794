//! Which `blocks` edges an import has to leave out so that nothing waits for itself (section 3,
//! "deadlocks are refused at write time").
//!
//! One depth-first walk over the waiting for all edges together: testing them one by one costs a walk
//! each. `resolved` does not depend on `blocks` edges, so one relation serves the whole walk. What the
//! walk cut is then tried again, for a later cut may have broken the circle of an earlier one.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::model::graph::{Graph, Ix};
use crate::model::waits::{Event, Waits};

/// A `blocks` edge: the blocker and the blocked.
pub type Blocks = (Ix, Ix);

/// The edges to leave out, given a graph that has all of them. From every circle that is found goes
/// the edge that came last in the list.
pub fn closing(graph: &Graph, candidates: &[Blocks]) -> HashSet<Blocks> {
    let rank = candidates.iter().enumerate().map(|(n, &edge)| (edge, n)).collect();
    let mut walk = Walk { rank, cut: HashSet::new(), on_path: HashMap::new(), path: Vec::new() };
    let waits = Waits::of(graph);
    for &(_, blocked) in candidates {
        walk.from(&waits, Event::Starts(blocked));
    }
    let mut cut = walk.cut;
    for edge in candidates {
        if cut.remove(edge) && leads_back(&waits, *edge, &cut) {
            cut.insert(*edge);
        }
    }
    cut
}

/// Whether the blocker of an edge waits for the blocked to start. Breadth first: a circle is short
/// compared with all that is waited for.
fn leads_back(waits: &Waits<'_>, (blocker, blocked): Blocks, cut: &HashSet<Blocks>) -> bool {
    let mut seen = HashSet::from([Event::Resolves(blocker)]);
    let mut next = VecDeque::from([Event::Resolves(blocker)]);
    while let Some(event) = next.pop_front() {
        if event == Event::Starts(blocked) {
            return true;
        }
        let waited = waits.waits_for(event).into_iter();
        let kept = waited.filter(|&waited| edge(event, waited).is_none_or(|edge| !cut.contains(&edge)));
        next.extend(kept.filter(|&waited| seen.insert(waited)));
    }
    false
}

struct Walk {
    rank: HashMap<Blocks, usize>,
    cut: HashSet<Blocks>,
    /// Every event seen: its place on the path, or `None` once all it waits for has been seen.
    on_path: HashMap<Event, Option<usize>>,
    path: Vec<(Event, Vec<Event>)>,
}

impl Walk {
    fn from(&mut self, waits: &Waits<'_>, start: Event) {
        if self.on_path.contains_key(&start) {
            return;
        }
        self.enter(waits, start);
        while let Some((event, open)) = self.path.last_mut() {
            let event = *event;
            let Some(next) = open.pop() else {
                self.on_path.insert(event, None);
                self.path.pop();
                continue;
            };
            if edge(event, next).is_some_and(|edge| self.cut.contains(&edge)) {
                continue;
            }
            match self.on_path.get(&next) {
                None => self.enter(waits, next),
                Some(None) => {}
                Some(&Some(place)) => self.break_circle(place, next),
            }
        }
    }

    fn enter(&mut self, waits: &Waits<'_>, event: Event) {
        self.on_path.insert(event, Some(self.path.len()));
        self.path.push((event, waits.waits_for(event)));
    }

    /// Cuts one edge of the circle from `place` to the end of the path and back, and goes back to
    /// where that edge began: what lay behind it has not been walked to its end, and is forgotten.
    fn break_circle(&mut self, place: usize, back_to: Event) {
        let after = |at: usize| self.path.get(at + 1).map_or(back_to, |(event, _)| *event);
        let edges = (place..self.path.len()).filter_map(|at| {
            let edge = edge(self.path[at].0, after(at))?;
            Some((*self.rank.get(&edge)?, at, edge))
        });
        // A circle without an edge of this import was there before, and is not for us to break.
        let Some((_, at, edge)) = edges.max() else { return };
        self.cut.insert(edge);
        for (event, _) in self.path.drain(at + 1..) {
            self.on_path.remove(&event);
        }
    }
}

/// The `blocks` edge because of which one event waits for another.
fn edge(waiting: Event, waited: Event) -> Option<Blocks> {
    match (waiting, waited) {
        (Event::Starts(blocked), Event::Resolves(blocker)) => Some((blocker, blocked)),
        _ => None,
    }
}
