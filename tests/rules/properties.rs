//! The relation and the waiting against naive versions written straight from section 3, on random
//! graphs. The naive ones know nothing of how the real ones compute.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use roundgate::model::above::{Above, Aboves};
use roundgate::model::graph::{EdgeKind, Graph, Ix};
use roundgate::model::issue::{Issue, Outcome, Priority, State};
use roundgate::model::relation::Relation;
use roundgate::model::signature::signature;
use roundgate::model::standing::{self, Standing};
use roundgate::model::tag::{IMPORT_OPEN_BELOW_CLOSED, Tag, Tags};
use roundgate::model::waits::Waits;

use crate::stage::id;

/// Per node: its state, a parent among the earlier nodes, whether it is an ask, whether it was imported.
type Spec = (u8, Option<prop::sample::Index>, bool, bool);
type Pair = (prop::sample::Index, prop::sample::Index);

fn issue(number: usize, state: u8, ask: bool, imported: bool) -> Issue {
    let outcome = Outcome::ALL.get(usize::from(state)).copied();
    let mut tags = Tags::new();
    if ask {
        tags.insert(Tag::known("kind:ask"));
    }
    if imported {
        tags.insert(Tag::known(IMPORT_OPEN_BELOW_CLOSED));
    }
    Issue {
        id: id(&format!("n{number}")),
        title: "n".into(),
        body: String::new(),
        state: outcome.map_or(State::Open, |outcome| State::Closed { outcome, reason: None }),
        tags,
        priority: Priority::default(),
        created_at: 0,
        updated_at: 0,
        revision: 1,
        epoch: 0,
        hands: BTreeSet::new(),
        failed_steps: 0,
        policy: Default::default(),
        work: Default::default(),
        key: None,
        pause: None,
    }
}

fn graph(nodes: &[Spec], blocks: &[Pair], supersedes: &[Pair]) -> Graph {
    let mut graph = Graph::default();
    for (number, (state, parent, ask, imported)) in nodes.iter().enumerate() {
        let ix = graph.insert(issue(number, *state, *ask, *imported));
        graph.set_parent(ix, parent.filter(|_| number > 0).map(|parent| parent.index(number)));
    }
    for (kind, pairs) in [(EdgeKind::Blocks, blocks), (EdgeKind::Supersedes, supersedes)] {
        for (from, to) in pairs {
            let (from, to) = (from.index(nodes.len()), to.index(nodes.len()));
            if from != to && !graph.has_edge(from, kind, to) {
                graph.add_edge(from, kind, to);
            }
        }
    }
    graph
}

prop_compose! {
    fn graphs()(
        nodes in prop::collection::vec((0_u8..10, any::<Option<prop::sample::Index>>(), prop::bool::weighted(0.15), prop::bool::weighted(0.15)), 1..14),
        blocks in prop::collection::vec(any::<Pair>(), 0..10),
        supersedes in prop::collection::vec(any::<Pair>(), 0..4),
    ) -> Graph {
        graph(&nodes, &blocks, &supersedes)
    }
}

/// Section 3 word by word: sets that only grow, until nothing changes.
struct Naive {
    resolved: BTreeSet<Ix>,
    let_go: BTreeSet<Ix>,
}

impl Naive {
    fn of(graph: &Graph) -> Naive {
        let mut naive = Naive { resolved: BTreeSet::new(), let_go: BTreeSet::new() };
        loop {
            let let_go = graph.indices().filter(|&n| naive.is_let_go(graph, n)).collect();
            let resolved = graph.indices().filter(|&n| naive.is_resolved(graph, n)).collect();
            if (&let_go, &resolved) == (&naive.let_go, &naive.resolved) {
                return naive;
            }
            naive = Naive { resolved, let_go };
        }
    }

    /// n is closed, and it is `skipped`, or what supersedes it is resolved.
    fn is_let_go(&self, graph: &Graph, n: Ix) -> bool {
        let replaced = graph.superseded_by(n).iter().any(|new| self.resolved.contains(new));
        graph.issue(n).state.closed()
            && (graph.issue(n).state.outcome() == Some(Outcome::Skipped) || replaced)
    }

    /// n is closed and its own outcome settles it, or n or an ancestor has been let go.
    fn is_resolved(&self, graph: &Graph, n: Ix) -> bool {
        let children = &graph.children(n);
        let own = match graph.issue(n).state.outcome() {
            Some(Outcome::Success | Outcome::Skipped) => true,
            Some(Outcome::Expanded) => {
                !children.is_empty() && children.iter().all(|child| self.resolved.contains(child))
            }
            _ => false,
        };
        own || graph.self_and_ancestors(n).any(|up| self.let_go.contains(&up))
    }

    fn blocked(&self, graph: &Graph, n: Ix) -> bool {
        let blockers = graph.self_and_ancestors(n).flat_map(|a| graph.blockers(a));
        blockers.into_iter().any(|b| !self.resolved.contains(b))
    }

    /// An ancestor is closed with anything but `expanded`, or let go; an imported open child of a closed
    /// parent starts afresh.
    fn finished(&self, graph: &Graph, n: Ix) -> bool {
        if graph.ancestors(n).any(|up| self.let_go.contains(&up)) {
            return true;
        }
        for at in graph.self_and_ancestors(n) {
            if graph.issue(at).tags.has(IMPORT_OPEN_BELOW_CLOSED) {
                return false;
            }
            let ended = |up| graph.issue(up).state.outcome().is_some_and(|o| o != Outcome::Expanded);
            if graph.parent(at).is_some_and(ended) {
                return true;
            }
        }
        false
    }

    /// Everything in the subtree is closed, the root is resolved, and so is every node below that is not
    /// under one that was let go.
    fn is_final(&self, graph: &Graph, root: Ix) -> bool {
        let below = graph.indices().filter(|&n| graph.at_or_below(n, root));
        self.resolved.contains(&root)
            && below.into_iter().all(|n| {
                let under = graph.ancestors(n).any(|up| self.let_go.contains(&up));
                graph.issue(n).state.closed() && (under || self.resolved.contains(&n))
            })
    }
}

/// Who waits for whom, drawn from the nodes' sides: (node, whether its start).
fn drawn(graph: &Graph, naive: &Naive) -> BTreeMap<(Ix, bool), BTreeSet<(Ix, bool)>> {
    let mut arrows: BTreeMap<(Ix, bool), BTreeSet<(Ix, bool)>> = BTreeMap::new();
    let mut draw = |from, to| arrows.entry(from).or_default().extend([to]);
    for n in graph.indices() {
        graph.parent(n).into_iter().for_each(|parent| draw((n, true), (parent, true)));
        graph.blockers(n).iter().for_each(|&b| draw((n, true), (b, false)));
        if naive.resolved.contains(&n) || graph.issue(n).tags.ask() {
            continue;
        }
        draw((n, false), (n, true));
        graph.children(n).iter().for_each(|&child| draw((n, false), (child, false)));
        for up in graph.self_and_ancestors(n) {
            graph.superseded_by(up).iter().for_each(|&new| draw((n, false), (new, false)));
        }
    }
    arrows
}

/// Whether an event comes back to itself.
fn comes_back(arrows: &BTreeMap<(Ix, bool), BTreeSet<(Ix, bool)>>, start: (Ix, bool)) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![start];
    while let Some(event) = next.pop() {
        for &to in arrows.get(&event).into_iter().flatten() {
            if to == start {
                return true;
            }
            if seen.insert(to) {
                next.push(to);
            }
        }
    }
    false
}

/// Any change a graph can undergo, whatever the rules would say of it.
fn alter(graph: &mut Graph, one: Ix, other: Ix, what: u8) {
    let edge = |kind| if what.is_multiple_of(2) { (one, kind, other) } else { (other, kind, one) };
    match what {
        0..=3 => {
            let kind = if what < 2 { EdgeKind::Blocks } else { EdgeKind::Supersedes };
            let (from, kind, to) = edge(kind);
            if from == to {
            } else if graph.has_edge(from, kind, to) {
                graph.remove_edge(from, kind, to);
            } else {
                graph.add_edge(from, kind, to);
            }
        }
        4 => graph.set_parent(one, None),
        5 | 6 => {
            if !graph.at_or_below(other, one) {
                graph.set_parent(one, Some(other));
            }
        }
        7 | 8 => graph.edit(one, |issue| issue.state = State::Open),
        _ => {
            let outcome = Outcome::ALL[(one + other) % Outcome::ALL.len()];
            graph.edit(one, |issue| issue.state = State::Closed { outcome, reason: None });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_relation_is_what_section_3_says(graph in graphs()) {
        let (relation, naive) = (Relation::of(&graph), Naive::of(&graph));
        let mut aboves = Aboves::of(&graph);
        for n in graph.indices() {
            let gone = graph.self_and_ancestors(n).any(|up| naive.let_go.contains(&up));
            prop_assert_eq!(relation.resolved(n), naive.resolved.contains(&n), "resolved {}", n);
            prop_assert_eq!(relation.let_go(n), gone, "let go {}", n);
            prop_assert_eq!(relation.blocked(n), naive.blocked(&graph, n), "blocked {}", n);
            prop_assert_eq!(relation.finished(n), naive.finished(&graph, n), "finished {}", n);
            prop_assert_eq!(relation.is_final(n), naive.is_final(&graph, n), "final {}", n);
            prop_assert_eq!(relation.blocked(n), relation.open_blockers(n).next().is_some());
            let above = aboves.at(n);
            prop_assert_eq!(above, Above::of(&graph, n));
            prop_assert_eq!((above.root, above.depth), (graph.root(n), graph.depth(n)));
            let same = (above.blocked, above.paused, above.finished, above.let_go);
            let asked = (relation.blocked(n), relation.paused(n), relation.finished(n), relation.let_go(n));
            prop_assert_eq!(same, asked);
        }
    }

    #[test]
    fn what_is_kept_with_each_node_is_what_is_computed_from_nothing(
        graph in graphs(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u8..12), 1..12),
    ) {
        let mut graph = graph;
        for (one, other, what) in edits {
            let (one, other) = (one.index(graph.len()), other.index(graph.len()));
            alter(&mut graph, one, other, what);
            let kept: Vec<Standing> = graph.indices().map(|ix| *graph.standing(ix)).collect();
            prop_assert_eq!(kept, standing::all(&graph));
        }
    }

    #[test]
    fn a_circle_of_waiting_is_found_if_and_only_if_there_is_one(graph in graphs()) {
        let naive = Naive::of(&graph);
        let arrows = drawn(&graph, &naive);
        let found = Waits::of(&graph).cycle();
        let there = arrows.keys().any(|&event| comes_back(&arrows, event));
        prop_assert_eq!(found.is_some(), there, "{:?}", found.map(|cycle| cycle.to_string()));
    }

    #[test]
    fn a_printed_circle_is_made_of_waiting(graph in graphs()) {
        let naive = Naive::of(&graph);
        let arrows = drawn(&graph, &naive);
        if let Some(cycle) = Waits::of(&graph).cycle() {
            let steps: Vec<(Ix, bool)> =
                cycle.0.iter().map(|step| (graph.ix(&step.issue).unwrap(), step.start)).collect();
            for (at, step) in steps.iter().enumerate() {
                let next = steps[(at + 1) % steps.len()];
                prop_assert!(arrows[step].contains(&next), "{}", cycle);
            }
        }
    }

    #[test]
    fn a_signature_is_its_own_signature(reason in "\\PC*|[ -~\\n\\t]{0,60}|([a-f0-9/.:#<>-]{1,12} ?){0,8}") {
        if let Some(first) = signature(&reason) {
            let again = signature(&first);
            prop_assert_eq!(again, Some(first));
        }
    }
}
