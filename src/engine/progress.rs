//! Can a piece of work still come to a good end, or has it failed for good?

use std::collections::HashMap;

use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::issue::{Outcome, State};
use crate::model::snapshot::Snapshot;

/// Whether something at or below `top` failed, and nothing there can move any more (section 4, the
/// failed-round rule).
pub fn failed_for_good(snapshot: &Snapshot, top: Ix) -> bool {
    !failures(snapshot, top).is_empty() && !Hope::new(snapshot, top).anything_moves()
}

/// Whether that hangs on what becomes of other trees.
pub fn looks_abroad(snapshot: &Snapshot, top: Ix) -> bool {
    let mut hope = Hope::new(snapshot, top);
    !failures(snapshot, top).is_empty() && {
        hope.anything_moves();
        hope.abroad
    }
}

/// The unresolved failures at or below `top`, topmost first.
pub fn failures(snapshot: &Snapshot, top: Ix) -> Vec<Ix> {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    // Mostly there are none; then nobody has to walk down to know it.
    if !snapshot.listed(List::Failed, Some(top)).any() {
        return Vec::new();
    }
    let mut below = graph.subtree(top);
    below.retain(|&ix| {
        !relation.resolved(ix) && graph.issue(ix).state.outcome().is_some_and(Outcome::unsuccessful)
    });
    below
}

/// What could become resolved if everybody did their best, with the failures inside `top` taken as
/// they are. Failures elsewhere are somebody else's to mend, so they do not end hope here.
struct Hope<'s> {
    snapshot: &'s Snapshot,
    top: Ix,
    resolves: HashMap<Ix, bool>,
    /// Whether a node of another tree was looked at.
    abroad: bool,
}

impl<'s> Hope<'s> {
    fn new(snapshot: &'s Snapshot, top: Ix) -> Self {
        Hope { snapshot, top, resolves: HashMap::new(), abroad: false }
    }

    fn anything_moves(&mut self) -> bool {
        let graph = self.snapshot.graph();
        graph.subtree(self.top).into_iter().any(|ix| match graph.issue(ix).state {
            State::InProgress { .. } => true,
            State::Open => self.may_resolve(ix),
            State::Closed { .. } => false,
        })
    }

    /// Whether a node can still become resolved. What that hangs on may be as long a chain as there are
    /// issues, so the questions that wait for others lie on a stack of their own.
    fn may_resolve(&mut self, ix: Ix) -> bool {
        let mut answer = self.looked_up(ix);
        let mut waiting: Vec<Question> = answer.is_none().then(|| self.question(ix)).into_iter().collect();
        while let Some(question) = waiting.last_mut() {
            match question.go_on(self, answer.take()) {
                Next::Asks(other) => {
                    answer = self.looked_up(other);
                    if answer.is_none() {
                        let next = self.question(other);
                        waiting.push(next);
                    }
                }
                Next::Is(found) => {
                    self.resolves.insert(question.ix, found);
                    answer = Some(found);
                    waiting.pop();
                }
            }
        }
        answer.unwrap_or(false)
    }

    /// What is known of a node without asking about others.
    fn looked_up(&mut self, ix: Ix) -> Option<bool> {
        let graph = self.snapshot.graph();
        self.abroad |= graph.root(ix) != graph.root(self.top);
        let resolved = || self.snapshot.relation().resolved(ix).then_some(true);
        self.resolves.get(&ix).copied().or_else(resolved)
    }

    fn question(&mut self, ix: Ix) -> Question {
        let graph = self.snapshot.graph();
        // On a circle of waiting, which only a damaged store can hold, nothing resolves.
        self.resolves.insert(ix, false);
        let replaced = graph.self_and_ancestors(ix).flat_map(|up| graph.superseded_by(up).to_vec());
        Question { ix, part: Part::Successors, left: replaced.collect::<Vec<_>>().into_iter() }
    }

    /// What is known of a node of which no successor helps, or what must be asked of others.
    fn without_successors(&self, ix: Ix) -> Result<bool, Part> {
        let (graph, relation) = (self.snapshot.graph(), self.snapshot.relation());
        match graph.issue(ix).state {
            State::Closed { outcome, .. } if outcome.unsuccessful() => Ok(!graph.at_or_below(ix, self.top)),
            State::Closed { .. } => Err(Part::Children),
            State::InProgress { .. } => Ok(true),
            State::Open if relation.finished(ix) => Ok(false),
            // A human may answer whatever else is going on.
            State::Open if graph.issue(ix).tags.ask() => Ok(true),
            State::Open => Err(Part::Blockers),
        }
    }

    /// The nodes that all must be able to resolve.
    fn all_of(&self, ix: Ix, part: Part) -> std::vec::IntoIter<Ix> {
        let graph = self.snapshot.graph();
        let found: Vec<Ix> = match part {
            Part::Successors => Vec::new(),
            Part::Blockers => {
                graph.self_and_ancestors(ix).flat_map(|at| graph.blockers(at).to_vec()).collect()
            }
            Part::Children => graph.children(ix).to_vec(),
        };
        found.into_iter()
    }
}

/// Whether one node can still become resolved, as far as that was asked.
struct Question {
    ix: Ix,
    part: Part,
    /// The nodes of this part that were not asked about.
    left: std::vec::IntoIter<Ix>,
}

/// What a node may hang on, in this order: one of its successors, or else all blockers and all children.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Successors,
    Blockers,
    Children,
}

enum Next {
    /// First something must be known of another node.
    Asks(Ix),
    Is(bool),
}

impl Question {
    /// Goes on with the answer to what was asked last.
    fn go_on(&mut self, hope: &Hope<'_>, answer: Option<bool>) -> Next {
        let decides = self.part == Part::Successors;
        if answer == Some(decides) {
            return Next::Is(decides);
        }
        loop {
            if let Some(other) = self.left.next() {
                return Next::Asks(other);
            }
            self.part = match self.part {
                Part::Successors => match hope.without_successors(self.ix) {
                    Ok(known) => return Next::Is(known),
                    Err(part) => part,
                },
                Part::Blockers => Part::Children,
                Part::Children => return Next::Is(true),
            };
            self.left = hope.all_of(self.ix, self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::Change;
    use crate::model::graph::{Edge, EdgeKind};
    use crate::model::id::IssueId;
    use crate::model::issue::Issue;
    use crate::model::tag::Tags;

    fn id(text: &str) -> IssueId {
        text.parse().unwrap()
    }

    /// A piece of work with two parts, one of which failed, and one waits for a long chain of others. What
    /// the chain ends with has this state.
    fn behind_a_chain(links: usize, last: State) -> (Snapshot, Ix) {
        let mut snapshot = Snapshot::default();
        let mut add = |name: &str, parent: Option<&str>, state: &State| {
            let issue = Issue::new(id(name), "work".to_owned(), Tags::new().completed(), 1);
            let issue = Box::new(Issue { state: state.clone(), ..issue });
            snapshot.fold(&Change::IssueCreated { issue, parent: parent.map(id) }, 1);
        };
        let failed = State::Closed { outcome: Outcome::Failure, reason: Some("no".to_owned()) };
        add("top", None, &State::Open);
        add("failed", Some("top"), &failed);
        add("waits", Some("top"), &State::Open);
        (0..links).for_each(|n| add(&format!("c-{n}"), None, &State::Open));
        add("last", None, &last);
        let names = (0..links).map(|n| format!("c-{n}"));
        let chain: Vec<String> =
            std::iter::once("last".to_owned()).chain(names).chain(["waits".to_owned()]).collect();
        for pair in chain.windows(2) {
            let edge = Edge { from: id(&pair[0]), kind: EdgeKind::Blocks, to: id(&pair[1]) };
            snapshot.fold(&Change::EdgeAdded { edge }, 1);
        }
        let top = snapshot.graph().ix(&id("top")).unwrap();
        (snapshot, top)
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_followed_to_its_end() {
        let (snapshot, top) = behind_a_chain(100_000, State::Open);
        assert!(!failed_for_good(&snapshot, top));
        assert!(looks_abroad(&snapshot, top));
    }

    #[test]
    fn what_failed_elsewhere_may_be_mended_there_and_what_waits_for_itself_may_not() {
        let failed = State::Closed { outcome: Outcome::Failure, reason: None };
        let (mut snapshot, top) = behind_a_chain(3, failed);
        assert!(!failed_for_good(&snapshot, top));
        let edge = Edge { from: id("c-2"), kind: EdgeKind::Blocks, to: id("c-0") };
        snapshot.fold(&Change::EdgeAdded { edge }, 1);
        assert!(failed_for_good(&snapshot, top));
    }
}
