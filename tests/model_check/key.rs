//! What of a state matters for what can come after it. Two states with the same key are one: they differ
//! in times, counts of changes, fencing numbers that nobody holds any more, or in which agent is which.

use std::hash::{DefaultHasher, Hasher};

use roundgate::model::graph::Ix;
use roundgate::model::id::Actor;
use roundgate::model::issue::State as Life;
use roundgate::model::record::RoundEnd;

use crate::world::{AGENTS, NOW, Setup, State, agent_number};

/// The hash of what matters. That two of a million states share one by chance is less likely than one in
/// 10^26.
pub type Key = u128;

/// All ways to give the agents other places.
const PLACES: [[u8; AGENTS]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
/// Whoever is no agent.
const NOBODY: u8 = AGENTS as u8;

/// The key of a state.
pub fn key(setup: &Setup, state: &State) -> Key {
    let written = Written::of(setup, state);
    let least = PLACES.iter().map(|places| written.with(places)).min().unwrap_or_default();
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(&least);
        u128::from(hasher.finish())
    };
    hash(0) << 64 | hash(1)
}

/// The key of what is stored alone: what agents remember and what may still happen is left out.
pub fn stored(setup: &Setup, state: &State) -> Key {
    key(setup, &State { jobs: Default::default(), left: Default::default(), ..state.clone() })
}

/// Whether a scope has ended, and nothing at or below it is open or unresolved.
fn is_over(state: &State, ix: Ix) -> bool {
    let graph = state.snapshot.graph();
    let ended = state.snapshot.scope(graph.id(ix)).is_some_and(|scope| scope.end.is_some());
    let settled = |ix: Ix| graph.issue(ix).state.closed() && state.snapshot.relation().resolved(ix);
    // As long as an attempt above is to be judged, it matters who worked here.
    ended && !judged_later(state, ix) && graph.subtree(ix).into_iter().all(settled)
}

/// Whether something is part of an attempt whose round has not ended.
fn judged_later(state: &State, ix: Ix) -> bool {
    let graph = state.snapshot.graph();
    graph.self_and_ancestors(ix).any(|up| {
        let round = state.snapshot.attempt_round(graph.id(up));
        round.is_some_and(|round| round.end.is_none())
    })
}

/// A state as bytes, with the places where agents stand.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    /// Where the number of an agent stands.
    agents: Vec<usize>,
    /// Where a set of agents stands, a bit each.
    hands: Vec<usize>,
    /// What each agent remembers.
    jobs: [Vec<u8>; AGENTS],
}

impl Written {
    fn of(setup: &Setup, state: &State) -> Written {
        let mut written = Written::default();
        written.bytes.extend(state.left.counts());
        let graph = state.snapshot.graph();
        let mut all: Vec<Ix> = graph.indices().collect();
        all.sort_by_key(|&ix| graph.id(ix));
        // What lies in a scope that is over, and all of which is closed, comes back in no way.
        let over: Vec<Ix> = all.iter().copied().filter(|&ix| is_over(state, ix)).collect();
        let within = |ix: Ix| over.iter().any(|&top| top != ix && graph.at_or_below(ix, top));
        for &ix in all.iter().filter(|&&ix| !within(ix)) {
            written.issue(setup, state, ix);
        }
        for scope in state.snapshot.scopes().filter(|scope| !within(state.ix(&scope.id))) {
            written.text(&format!("{} {:?} {}", scope.id, scope.end, scope.bounds.max_rounds));
        }
        for round in state.snapshot.all_rounds().filter(|round| !within(state.ix(&round.attempt))) {
            written.text(&format!("{} {} {} {}", round.scope, round.number, round.attempt, round.review));
            written.text(match &round.end {
                None => "",
                Some(RoundEnd::Passed) => "passed",
                Some(RoundEnd::Failed { .. }) => "failed",
            });
            let verdict = round.verdict.as_ref();
            written.text(verdict.map_or("", |verdict| verdict.opinion.as_str()));
            if setup.no_progress > 0 {
                written.text(&format!("{:?} {:?}", round.end, verdict.map(|verdict| &verdict.reason)));
            }
            // Who gave it matters while it can be withdrawn.
            let by = verdict.filter(|_| round.end.is_none()).map(|verdict| &verdict.by);
            written.agent(by);
        }
        for ask in state.snapshot.asks().filter(|ask| !within(state.ix(&ask.id))) {
            let answer = ask.answer.as_ref().map(|answer| (&answer.choice, answer.with_dependents));
            written.text(&format!("{} {:?} {:?} {answer:?}", ask.id, ask.kind, ask.about));
        }
        for finished in state.snapshot.finished_roots() {
            written.text(finished.as_str());
        }
        for (number, job) in state.jobs.iter().enumerate() {
            // What is closed comes back to nobody who had it: the agent need not remember it.
            let open = job.as_ref().filter(|job| !state.issue(&job.issue).state.closed());
            if let Some(job) = open {
                written.jobs[number].extend(job.issue.as_str().bytes());
                written.jobs[number].push(u8::from(state.current(job)));
            }
        }
        written
    }

    fn issue(&mut self, setup: &Setup, state: &State, ix: Ix) {
        let graph = state.snapshot.graph();
        let issue = graph.issue(ix);
        self.text(issue.id.as_str());
        self.text(graph.parent(ix).map_or("", |parent| graph.id(parent).as_str()));
        for edges in [graph.blocks(ix), graph.supersedes(ix)] {
            let mut to: Vec<&str> = edges.iter().map(|&to| graph.id(to).as_str()).collect();
            to.sort_unstable();
            self.text(&to.join(" "));
        }
        self.text(issue.state.status());
        match &issue.state {
            Life::Open => {}
            Life::InProgress { claim } => {
                self.bytes.push(u8::from(claim.expired(NOW)));
                self.agent(Some(&claim.actor));
            }
            Life::Closed { outcome, reason } => {
                self.text(outcome.as_str());
                // What people say matters where the same failure twice in a row is told from others.
                self.text(reason.as_deref().filter(|_| setup.no_progress > 0).unwrap_or_default());
            }
        }
        // More than is allowed is more than is allowed. Whoever reopens begins anew.
        let steps = if issue.state.closed() { 0 } else { issue.failed_steps.min(setup.step_retries + 1) };
        self.bytes.push(u8::try_from(steps).unwrap_or(u8::MAX));
        // Who worked on something matters while somebody has yet to judge it.
        let judged = judged_later(state, ix);
        let hands = issue.hands.iter().filter(|_| judged).filter_map(agent_number);
        self.hands.push(self.bytes.len());
        self.bytes.push(hands.fold(0, |all, number| all | 1 << number));
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend(text.bytes());
        self.bytes.push(0xff);
    }

    fn agent(&mut self, actor: Option<&Actor>) {
        let number = actor.and_then(agent_number).and_then(|number| u8::try_from(number).ok());
        self.agents.push(self.bytes.len());
        self.bytes.push(number.unwrap_or(NOBODY));
    }

    /// The bytes, with every agent in another's place.
    fn with(&self, places: &[u8; AGENTS]) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for &at in &self.agents {
            bytes[at] = places.get(usize::from(bytes[at])).copied().unwrap_or(NOBODY);
        }
        for &at in &self.hands {
            let had = bytes[at];
            let moved = (0..AGENTS).filter(|number| had & (1 << number) != 0);
            bytes[at] = moved.fold(0, |all, number| all | 1 << places[number]);
        }
        for place in 0..AGENTS {
            let number = places.iter().position(|&to| usize::from(to) == place).unwrap_or(place);
            bytes.extend(&self.jobs[number]);
            bytes.push(0xff);
        }
        bytes
    }
}
