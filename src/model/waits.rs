//! Who waits for whom, and the refusal of whatever would make that go in a circle (section 3,
//! "deadlocks are refused at write time").
//!
//! Every node has two events: it may *start*, and it is *resolved*. To start, the parent must have
//! started and every blocker must be resolved. To be resolved (unless it is), a node must start, and
//! every child and whatever supersedes it or an ancestor must be resolved.
//!
//! An ask is the exception: a human may answer it whatever else is going on, so its being resolved
//! waits for nothing in the graph.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::graph::{Graph, Ix};
use super::id::IssueId;
use super::relation::Relation;

/// An event of a node that others may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// The node may start.
    Starts(Ix),
    /// The node is resolved.
    Resolves(Ix),
    /// Whatever supersedes the node or an ancestor is resolved: what every `Resolves` below waits for.
    Replaced(Ix),
}

/// A circle of waiting, as text for people: each step waits for the next, the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(pub Vec<Step>);

/// One step of a [`Cycle`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Whose event it is.
    pub issue: IssueId,
    /// Whether the event is its start, and not its being resolved.
    pub start: bool,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().chain(self.0.first()).enumerate() {
            let arrow = if n == 0 { "" } else { ", which waits until " };
            let what = if step.start { "may start" } else { "is resolved" };
            write!(f, "{arrow}{} {what}", step.issue)?;
        }
        Ok(())
    }
}

/// The waiting between the nodes of one graph.
#[derive(Debug, Clone, Copy)]
pub struct Waits<'g> {
    graph: &'g Graph,
    relation: Relation<'g>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    OnPath,
    Done,
}

impl<'g> Waits<'g> {
    /// The waiting in a graph.
    pub fn of(graph: &'g Graph) -> Self {
        Waits { graph, relation: Relation::of(graph) }
    }

    /// What an event waits for.
    pub fn waits_for(&self, event: Event) -> Vec<Event> {
        match event {
            Event::Starts(n) => {
                let parent = self.graph.parent(n).map(Event::Starts);
                let blockers = self.relation.own_open_blockers(n).map(Event::Resolves);
                parent.into_iter().chain(blockers).collect()
            }
            Event::Resolves(n) if self.relation.resolved(n) => Vec::new(),
            Event::Resolves(n) if self.graph.issue(n).tags.ask() => Vec::new(),
            Event::Resolves(n) => {
                let children = self.relation.unresolved_children(n).map(Event::Resolves);
                [Event::Starts(n)].into_iter().chain(children).chain([Event::Replaced(n)]).collect()
            }
            Event::Replaced(n) => {
                let successors = self.graph.superseded_by(n).iter().copied().map(Event::Resolves);
                successors.chain(self.graph.parent(n).map(Event::Replaced)).collect()
            }
        }
    }

    /// Whether one event waits for another, directly or not.
    pub fn reaches(&self, from: Event, to: Event) -> bool {
        let mut seen = HashSet::from([from]);
        let mut next = vec![from];
        while let Some(event) = next.pop() {
            if event == to {
                return true;
            }
            next.extend(self.waits_for(event).into_iter().filter(|&waited| seen.insert(waited)));
        }
        false
    }

    /// A circle of waiting that can be reached from these events, if there is one.
    pub fn cycle_from(&self, starts: impl IntoIterator<Item = Event>) -> Option<Cycle> {
        let mut marks: HashMap<Event, Mark> = HashMap::new();
        for start in starts {
            if marks.contains_key(&start) {
                continue;
            }
            let mut path: Vec<(Event, Vec<Event>)> = vec![(start, self.waits_for(start))];
            marks.insert(start, Mark::OnPath);
            while let Some((event, open)) = path.last_mut() {
                let Some(next) = open.pop() else {
                    marks.insert(*event, Mark::Done);
                    path.pop();
                    continue;
                };
                match marks.get(&next) {
                    Some(Mark::Done) => {}
                    Some(Mark::OnPath) => return Some(self.circle(&path, next)),
                    None => {
                        marks.insert(next, Mark::OnPath);
                        path.push((next, self.waits_for(next)));
                    }
                }
            }
        }
        None
    }

    /// Any circle of waiting in the whole graph.
    pub fn cycle(&self) -> Option<Cycle> {
        let open = self.graph.indices().filter(|&ix| !self.relation.resolved(ix));
        self.cycle_from(open.map(Event::Resolves))
    }

    fn circle(&self, path: &[(Event, Vec<Event>)], back_to: Event) -> Cycle {
        let on_circle = path.iter().map(|(event, _)| *event).skip_while(|event| *event != back_to);
        Cycle(
            on_circle
                .filter_map(|event| match event {
                    Event::Starts(ix) => Some(Step { issue: self.graph.id(ix).clone(), start: true }),
                    Event::Resolves(ix) => Some(Step { issue: self.graph.id(ix).clone(), start: false }),
                    Event::Replaced(_) => None,
                })
                .collect(),
        )
    }
}
