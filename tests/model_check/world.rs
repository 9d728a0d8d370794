//! The world that is searched: a snapshot, three agents who each know what they were told, and how much
//! may still go wrong. Time stands still: a lease is out or it is not, and that it runs out is a move.

use roundgate::model::act::create;
use roundgate::model::apply::{Author, apply_all};
use roundgate::model::graph::Ix;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Issue, Millis, Policy};
use roundgate::model::primitive::Primitive;
use roundgate::model::record::Bounds;
use roundgate::model::snapshot::Snapshot;

/// The moment at which everything happens.
pub const NOW: Millis = 1_000_000;
/// How long a lease lasts from then on.
pub const LEASE: Millis = 1_000;
/// How many agents there are.
pub const AGENTS: usize = 3;
/// Who they are. The rules know no difference between them, and neither does the search.
const NAMES: [&str; AGENTS] = ["ann", "bob", "cy"];

/// The name of an agent.
pub fn agent(number: usize) -> Actor {
    NAMES[number].parse().unwrap()
}

/// Which agent this is, if it is one.
pub fn agent_number(actor: &Actor) -> Option<usize> {
    NAMES.iter().position(|name| *name == actor.as_str())
}

/// Who answers.
pub fn human() -> Actor {
    "human".parse().unwrap()
}

/// Who judges where every agent had a hand in the attempt: one for each review, who did nothing else.
pub fn stranger(review: &IssueId) -> Actor {
    format!("stranger-{review}").parse().unwrap()
}

pub fn id(name: &str) -> IssueId {
    name.parse().unwrap()
}

pub fn root() -> IssueId {
    id("root")
}

/// What an agent was told when it got an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub issue: IssueId,
    pub epoch: u64,
}

/// How much may still happen of what could go on for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// Agents that die, or give up a step as failed.
    pub crashes: u8,
    /// Agents that are alive and slower than their lease.
    pub slow: u8,
    /// Extra rounds from a human.
    pub grants: u8,
    /// Successors of what failed.
    pub retries: u8,
    /// What a human skips with all below it.
    pub skips: u8,
    /// What a human reopens.
    pub reopenings: u8,
    /// Attempts that are expanded into a scope of their own.
    pub plans: u8,
}

impl Left {
    /// The same as numbers, in a fixed order.
    pub fn counts(&self) -> [u8; 7] {
        let Left { crashes, slow, grants, retries, skips, reopenings, plans } = *self;
        [crashes, slow, grants, retries, skips, reopenings, plans]
    }
}

/// A piece of work that is there from the beginning.
#[derive(Debug, Clone)]
pub struct Work {
    pub name: &'static str,
    /// The most rounds, where it is review-gated.
    pub rounds: Option<u32>,
    /// What must be resolved before.
    pub after: Option<&'static str>,
}

/// What a search begins with.
#[derive(Debug, Clone)]
pub struct Setup {
    pub name: &'static str,
    pub work: Vec<Work>,
    /// Lost steps that are tried again before a human is asked.
    pub step_retries: u32,
    /// How many equal failures in a row ask a human early; none is 0.
    pub no_progress: u32,
    /// The most rounds of a scope into which an attempt is expanded.
    pub inner_rounds: u32,
    pub left: Left,
    /// A fault in the program, to show that the search finds it.
    pub bug: Option<Bug>,
}

/// A fault to plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A claim does not look whether somebody holds the issue.
    ClaimIgnoresHolder,
    /// Who lost an issue to somebody else can still close it.
    FenceIgnored,
    /// A failed round is followed by two.
    RoundTwice,
    /// A failed review stays closed as needs_work.
    ReviewStaysNeedsWork,
    /// A verdict is lost with the agent that gave it.
    VerdictDropped,
    /// A failed round starts another, whatever the bound says.
    BoundIgnored,
    /// When the rounds are used up, the last one passes.
    BoundPasses,
    /// A round whose attempt failed does not end.
    FailedRoundForgotten,
    /// The first pass ends everything.
    FinalTooSoon,
    /// The silence of a human is taken for a yes.
    AskExpires,
    /// A lost step is counted again when its release is said again.
    RetryCounted,
    /// What waits for a scope does not wait for it.
    BlockerForgotten,
}

/// One state of the world.
#[derive(Debug, Clone)]
pub struct State {
    pub snapshot: Snapshot,
    pub jobs: [Option<Job>; AGENTS],
    pub left: Left,
}

impl Setup {
    pub fn defaults(&self) -> Bounds {
        Bounds { no_progress: self.no_progress, step_retries: self.step_retries, ..Bounds::default() }
    }

    /// How everything begins.
    pub fn first(&self) -> State {
        let mut state = State { snapshot: Snapshot::default(), jobs: Default::default(), left: self.left };
        state.add(&root(), None, "kind:root proto:hierarchical-work-v1", Policy::default());
        for work in &self.work {
            let tags = if work.rounds.is_some() { "kind:goal flow:review-gated-v1" } else { "kind:goal" };
            let policy = Policy { max_review_rounds: work.rounds, ..Policy::default() };
            state.add(&id(work.name), Some(root()), tags, policy);
        }
        for (work, after) in self.work.iter().filter_map(|work| Some((work, work.after?))) {
            let edge = Primitive::Serial { blocker: id(after), blocked: id(work.name) };
            state.apply(&[edge], &human()).unwrap();
        }
        state
    }
}

impl State {
    fn add(&mut self, name: &IssueId, parent: Option<IssueId>, tags: &str, policy: Policy) {
        let primitives = self.new_issue(name, parent, tags, policy).unwrap();
        self.apply(&primitives, &human()).unwrap();
    }

    /// The primitives of a new issue.
    pub fn new_issue(
        &self,
        name: &IssueId,
        parent: Option<IssueId>,
        tags: &str,
        policy: Policy,
    ) -> Option<Vec<Primitive>> {
        let tags = tags.split_whitespace().map(|tag| tag.parse().unwrap()).collect();
        let new = create::NewIssue { title: name.to_string(), tags, policy, parent, ..Default::default() };
        create::create(&self.snapshot, name, new, NOW).ok()
    }

    /// Carries primitives out. Where that fails, the state is none any more.
    pub fn apply(&mut self, primitives: &[Primitive], actor: &Actor) -> Result<(), String> {
        let author = Author { actor: actor.clone(), at: NOW };
        let done = apply_all(&mut self.snapshot, primitives, &author);
        done.map(drop).map_err(|error| error.to_string())
    }

    pub fn issue(&self, id: &IssueId) -> &Issue {
        self.snapshot.graph().get(id).unwrap()
    }

    pub fn ix(&self, id: &IssueId) -> Ix {
        self.snapshot.graph().ix(id).unwrap()
    }

    /// Whether what an agent was told is still so.
    pub fn current(&self, job: &Job) -> bool {
        self.issue(&job.issue).state.claim().is_some_and(|claim| claim.epoch == job.epoch)
    }

    /// The job of an agent that still is one.
    pub fn at_work(&self, agent: usize) -> Option<&Job> {
        self.jobs[agent].as_ref().filter(|job| self.current(job))
    }
}
