//! A small world for the engine: random graphs, agents who act between ticks in any order, humans who
//! answer. Everything comes from one seed. A [`Fault`] switches one rule off, to show that the
//! properties notice.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use roundgate::engine::review_gated::open_asks;
use roundgate::engine::status::{Rule, brought_up_to_date_by, faults};
use roundgate::engine::{
    Actor as Mover, Cause, Decision, Forge, Transition, Waiting, compile, decide, stuck,
};
use roundgate::model::act::assign::BY_TIMEOUT;
use roundgate::model::act::{create, edges};
use roundgate::model::apply::{Author, apply};
use roundgate::model::change::Change;
use roundgate::model::duty::{AskPolicy, AskTimeout};
use roundgate::model::graph::{Edge, EdgeKind, Ix};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Millis, Outcome, Policy, Priority};
use roundgate::model::primitive::Primitive;
use roundgate::model::record::{Ask, Bounds, RoundEnd, ScopeEnd};
use roundgate::model::refusal::Refusal;
use roundgate::model::snapshot::Snapshot;
use roundgate::model::tag::Tags;
use roundgate::model::waits::Waits;

/// A rule to switch off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Edges are written without looking for circles of waiting.
    NoCycleCheck,
    /// The blockers of a failed review stay where they are.
    NoMoveOfBlockers,
    /// A round whose attempt failed does not end.
    NoFailedRound,
    /// Nobody is asked about failures outside of rounds.
    NoFailureAsk,
    /// Scopes can be worked on before a tick opens them.
    NoUnopenedGuard,
    /// Work of a judged round can still be reopened.
    NoDecidedGuard,
    /// A failed round starts another whatever the bound says.
    NoBound,
    /// A failed review stays closed as needs_work, as S3 warns.
    ReviewStaysNeedsWork,
    /// `expanded` blockers count as resolved at once.
    VerdictWithoutAttempt,
    /// Documents are brought up to date without one of the rules that find what was touched.
    NoRule(Rule),
    /// What is paused can be claimed all the same.
    NoPauseGuard,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The root is final.
    Final,
    /// A human must move.
    Human,
}

pub struct World {
    pub snapshot: Snapshot,
    pub changes: Vec<Change>,
    /// When each of them was made.
    pub times: Vec<Millis>,
    pub root: IssueId,
    pub rng: Rng,
    pub fault: Option<Fault>,
    pub now: Millis,
    ids: u32,
    pub defaults: Bounds,
    /// What lay at and below the attempt when its round was judged.
    pub judged: BTreeMap<IssueId, Vec<(IssueId, String)>>,
    pub budget: u32,
    /// The kinds of transition there were.
    pub kinds: BTreeSet<&'static str>,
    /// What an agent got away with and must not have.
    pub broken: Option<String>,
}

pub type Check = Result<(), String>;

const AGENTS: [&str; 4] = ["ann", "bob", "cy", "dee"];

impl World {
    pub fn new(seed: u64, fault: Option<Fault>) -> World {
        let root: IssueId = "rg-root".parse().unwrap();
        let mut world = World {
            snapshot: Snapshot::default(),
            changes: Vec::new(),
            times: Vec::new(),
            root: root.clone(),
            rng: Rng::with_seed(seed),
            fault,
            now: 1_000_000,
            ids: 0,
            defaults: Bounds::default(),
            judged: BTreeMap::new(),
            budget: 30,
            kinds: BTreeSet::new(),
            broken: None,
        };
        let tags = ["kind:root", "proto:hierarchical-work-v1"].iter().map(|t| t.parse().unwrap()).collect();
        let new = create::NewIssue { title: "root".into(), tags, ..Default::default() };
        let made = create::create(&world.snapshot, &root, new, world.now).unwrap();
        world.carry_out(&made).unwrap();
        for _ in 0..world.rng.usize(2..8) {
            world.add_node(0.5);
        }
        for _ in 0..world.rng.usize(0..8) {
            world.add_edge();
        }
        world
    }

    /// The latest changes, for the report of a failed run.
    pub fn latest(&self, count: usize) -> String {
        let skip = self.changes.len().saturating_sub(count);
        let lines = self.changes[skip..].iter().filter(|change| change.name() != "posted");
        lines.map(|change| format!("{}\n", serde_json::to_string(change).unwrap())).collect()
    }

    pub fn id(&mut self) -> IssueId {
        self.ids += 1;
        format!("rg-{:03}", self.ids).parse().unwrap()
    }

    pub fn any(&mut self) -> Ix {
        self.rng.usize(0..self.snapshot.graph().len())
    }

    pub fn actor(&mut self) -> Actor {
        AGENTS[self.rng.usize(0..AGENTS.len())].parse().unwrap()
    }

    fn carry_out(&mut self, primitives: &[Primitive]) -> Result<(), String> {
        let author = Author { actor: Actor::engine(), at: self.now };
        let mut next = self.snapshot.clone();
        let mut changes = Vec::new();
        for primitive in primitives {
            if self.fault == Some(Fault::NoCycleCheck)
                && let Primitive::Serial { blocker: from, blocked: to } = primitive
            {
                let edge = Edge { from: from.clone(), kind: EdgeKind::Blocks, to: to.clone() };
                let change = Change::EdgeAdded { edge };
                next.fold(&change, self.now);
                changes.push(change);
                continue;
            }
            changes.extend(apply(&mut next, primitive, &author).map_err(|e| format!("{primitive:?}: {e}"))?);
        }
        let (rules, shifted) = (self.document_rules(), next.take_shifted());
        for document in brought_up_to_date_by(&rules, &next, changes.iter(), &shifted, self.now) {
            changes.extend(apply(&mut next, &document, &author).map_err(|e| format!("{document:?}: {e}"))?);
        }
        self.snapshot = next;
        self.times.extend(changes.iter().map(|_| self.now));
        self.changes.extend(changes);
        self.now += 1;
        Ok(())
    }

    /// The rules that find which documents a change touched.
    fn document_rules(&self) -> Vec<Rule> {
        Rule::ALL.into_iter().filter(|&rule| self.fault != Some(Fault::NoRule(rule))).collect()
    }

    /// An agent's act: refused is fine, carried out is fine.
    pub fn act(&mut self, act: Result<Vec<Primitive>, Refusal>) -> bool {
        act.is_ok_and(|primitives| !primitives.is_empty() && self.carry_out(&primitives).is_ok())
    }

    fn add_node(&mut self, gated: f64) {
        let parent = self.any();
        let parent = self.snapshot.graph().id(parent).clone();
        self.add_child(&parent, gated);
    }

    pub fn add_child(&mut self, parent: &IssueId, gated: f64) -> bool {
        let id = self.id();
        let mut tags: Tags = ["kind:goal", "ctx:clean"].iter().map(|t| t.parse().unwrap()).collect();
        let mut policy = Policy::default();
        if self.rng.f64() < gated {
            tags.insert("flow:review-gated-v1".parse().unwrap());
            policy.max_review_rounds = Some(self.rng.u32(1..4));
            policy.no_progress = Some(self.rng.choice([0, 2]).unwrap());
        }
        if self.rng.f64() < 0.2 {
            let choice = self.rng.choice(BY_TIMEOUT).unwrap().to_owned();
            policy.ask.remind = Some(self.rng.i64(0..9_000));
            policy.ask.due = self.rng.bool().then_some(4_000);
            policy.ask.timeout = self.rng.bool().then_some(AskTimeout { after: 20_000, choice });
        }
        if self.rng.f64() < 0.1 {
            tags = ["node:root"].iter().map(|t| t.parse().unwrap()).collect();
        }
        let new = create::NewIssue {
            title: id.to_string(),
            tags,
            policy,
            priority: Priority::try_from(self.rng.u8(1..6)).unwrap(),
            parent: Some(parent.clone()),
            ..Default::default()
        };
        let made = create::create(&self.snapshot, &id, new, self.now);
        self.act(made)
    }

    pub fn add_edge(&mut self) {
        let (a, b) = (self.any(), self.any());
        let graph = self.snapshot.graph();
        let (a, b) = (graph.id(a).clone(), graph.id(b).clone());
        let edge = edges::block(&self.snapshot, &a, &b);
        self.act(edge);
    }

    /// One tick. `None` when it acted; otherwise who must move.
    pub fn tick(&mut self) -> Result<Option<Decision>, String> {
        let root = self.snapshot.graph().ix(&self.root).unwrap();
        let decision = decide(&self.snapshot, root, self.now, &self.defaults);
        if decision != decide(&self.snapshot, root, self.now, &self.defaults) {
            return Err("decide gave two answers for one snapshot".into());
        }
        let Decision::Act(mut transition) = decision else { return Ok(Some(decision)) };
        self.kinds.insert(transition.kind());
        self.check_paused(&transition)?;
        match (self.fault, &transition) {
            (
                Some(Fault::NoFailedRound),
                Transition::NextRound { cause: Cause::AttemptFailed, .. }
                | Transition::Escalate { cause: Cause::AttemptFailed, .. },
            )
            | (Some(Fault::NoFailureAsk), Transition::EscalateFailure { .. }) => {
                return Ok(Some(Decision::Stuck("a rule is switched off".into())));
            }
            (Some(Fault::NoBound), Transition::Escalate { scope, round, cause, .. }) => {
                transition =
                    Transition::NextRound { scope: scope.clone(), failed: *round, cause: cause.clone() };
            }
            _ => {}
        }
        let mut ids = self.ids;
        let mut next_id = || {
            ids += 1;
            format!("rg-{ids:03}").parse().unwrap()
        };
        let mut forge = Forge {
            now: self.now,
            defaults: &self.defaults,
            asks: &AskPolicy::default(),
            next_id: &mut next_id,
        };
        let mut primitives = compile(&self.snapshot, &transition, &mut forge).ok_or("did not compile")?;
        self.ids = ids;
        self.spoil(&transition, &mut primitives);
        let (rounds, asks) = (self.snapshot.all_rounds().count(), self.snapshot.asks().count());
        self.carry_out(&primitives).map_err(|e| format!("{transition:?}: {e}"))?;
        let opened = self.snapshot.all_rounds().count() - rounds;
        let asked = self.snapshot.asks().count() - asks;
        if opened + asked > 1 {
            return Err(format!("{transition:?} opened {opened} rounds and {asked} asks at once"));
        }
        self.check_accept(&transition)?;
        Ok(None)
    }

    fn spoil(&self, transition: &Transition, primitives: &mut Vec<Primitive>) {
        let Transition::NextRound { .. } = transition else { return };
        if self.fault == Some(Fault::NoMoveOfBlockers) {
            let moved: Vec<IssueId> = primitives
                .iter()
                .filter_map(|p| match p {
                    Primitive::Undep { blocker, .. } => Some(blocker.clone()),
                    _ => None,
                })
                .collect();
            primitives.retain(|p| match p {
                Primitive::Undep { .. } => false,
                Primitive::Serial { blocker, .. } => !moved.contains(blocker),
                _ => true,
            });
        }
        if self.fault == Some(Fault::ReviewStaysNeedsWork) {
            for p in primitives.iter_mut() {
                if let Primitive::Close { outcome: outcome @ Outcome::Expanded, .. } = p {
                    *outcome = Outcome::NeedsWork;
                }
            }
        }
    }

    /// The work at and below a node that counts, with its state.
    pub fn below(&self, top: &IssueId) -> Vec<(IssueId, String)> {
        let graph = self.snapshot.graph();
        let ix = graph.ix(top).unwrap();
        let kept = graph.subtree(ix).into_iter().filter(|&ix| !self.snapshot.relation().let_go(ix));
        let each = kept.map(|ix| {
            let issue = graph.issue(ix);
            (issue.id.clone(), format!("{:?}", issue.state))
        });
        each.collect()
    }

    /// A pass counts only over the work as it was when it was judged.
    fn check_accept(&self, transition: &Transition) -> Check {
        let Transition::AcceptRound { scope, round } = transition else { return Ok(()) };
        let round = self.snapshot.round(scope, *round).unwrap();
        if self.judged.get(&round.review) != Some(&self.below(&round.attempt)) {
            return Err(format!("{scope} passed over work that changed after the verdict"));
        }
        Ok(())
    }

    /// What must hold after every step.
    pub fn check(&self) -> Check {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let (graph, relation) = (self.snapshot.graph(), self.snapshot.relation());
        if let Some(cycle) = Waits::of(graph).cycle() {
            return Err(format!("a circle of waiting: {cycle}"));
        }
        let documents = self.fault.is_none() || self.document_rules().len() < Rule::ALL.len();
        if let Some(stale) = documents.then(|| faults(&self.snapshot)).iter().flatten().next() {
            return Err(format!("a document was not brought up to date: {stale}"));
        }
        for round in self.snapshot.all_rounds() {
            let review = graph.get(&round.review).unwrap();
            if review.state.outcome().is_some_and(Outcome::unsuccessful) {
                return Err(format!("{} is closed as needs_work", review.id));
            }
            let scope = self.snapshot.scope(&round.scope).unwrap();
            if round.number > scope.bounds.max_rounds {
                return Err(format!("round {} of {}", round.number, scope.bounds.max_rounds));
            }
        }
        for scope in self.snapshot.scopes() {
            let found = open_asks(&self.snapshot, graph.ix(&scope.id).unwrap());
            let open = |ask: &&Ask| !graph.get(&ask.id).unwrap().state.closed();
            let due: BTreeSet<&IssueId> = self
                .snapshot
                .asks()
                .filter(|ask| ask.scope.as_ref() == Some(&scope.id))
                .filter(open)
                .map(|ask| &ask.id)
                .collect();
            if found.iter().map(|ask| &ask.id).collect::<BTreeSet<_>>() != due {
                return Err(format!("of the open asks {due:?} of {} only {found:?} are found", scope.id));
            }
        }
        for ix in graph.indices() {
            let issue = graph.issue(ix);
            if !issue.tags.review_gated() || !relation.resolved(ix) || relation.let_go(ix) {
                continue;
            }
            match self.snapshot.scope(&issue.id).and_then(|scope| scope.end) {
                Some(ScopeEnd::Passed) => {
                    let last = self.snapshot.last_round(&issue.id).unwrap();
                    if last.end != Some(RoundEnd::Passed) {
                        return Err(format!("{} was released without a pass", issue.id));
                    }
                }
                Some(ScopeEnd::Waived | ScopeEnd::Abandoned) => {}
                None => return Err(format!("{} was released without a pass or a human", issue.id)),
            }
        }
        Ok(())
    }

    /// Whether the next move is another tree's.
    fn elsewhere(&self, waiting: &Waiting) -> bool {
        let graph = self.snapshot.graph();
        let at = graph.ix(&waiting.issue).unwrap();
        graph.id(graph.root(at)) != &self.root
    }

    /// Runs until the root is final or a human must move, or says what went wrong.
    pub fn run(&mut self, answers: bool) -> Result<End, String> {
        for _ in 0..3_000 {
            self.check()?;
            if self.rng.f64() < 0.4 {
                self.meddle();
                self.check()?;
            }
            match self.tick()? {
                None => {}
                Some(Decision::Done) => return Ok(End::Final),
                Some(Decision::Stuck(why)) => {
                    let root = self.snapshot.graph().ix(&self.root).unwrap();
                    return Err(format!("stuck: {why} {:?}", stuck(&self.snapshot, root)));
                }
                Some(Decision::Wait(waiting)) if self.elsewhere(&waiting) => return Ok(End::Human),
                Some(Decision::Wait(waiting)) => {
                    let human = waiting.actor == Mover::Human;
                    if !human {
                        self.work(&waiting.issue)?;
                    } else if !answers || !self.human(&waiting.issue)? {
                        return Ok(End::Human);
                    }
                }
                Some(Decision::Act(_)) => unreachable!("a tick carries transitions out"),
            }
        }
        Err("no end in 3000 steps".into())
    }
}
