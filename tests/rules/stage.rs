//! A stage for the rules: issues are put on it by name, actors act on it, ticks go by. Issues have
//! one-word names; what the engine makes is called `t-1`, `t-2` and so on.

use roundgate::engine::{Decision, Forge, Transition, compile, decide};
use roundgate::model::act::{answer, claim, close, create, edges, open, retry, update, verdict};
use roundgate::model::apply::{Author, apply};
use roundgate::model::duty::AskPolicy;
use roundgate::model::graph::{EdgeKind, Ix};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Issue, Millis, Outcome, Policy};
use roundgate::model::primitive::Primitive;
use roundgate::model::readiness::{hindrances, ready};
use roundgate::model::record::{Answer, Ask, Bounds, Opinion, Round, ScopeEnd, Verdict};
use roundgate::model::refusal::Refusal;
use roundgate::model::snapshot::Snapshot;
use roundgate::model::tag::Tags;

/// How long a claim lasts here.
pub const LEASE: Millis = 1_000;

/// A snapshot with people around it.
#[derive(Default)]
pub struct Stage {
    pub snapshot: Snapshot,
    pub now: Millis,
    made: u32,
}

pub type Done = Result<bool, Refusal>;

pub fn id(name: &str) -> IssueId {
    name.parse().unwrap()
}

pub fn who(name: &str) -> Actor {
    name.parse().unwrap()
}

pub fn tags(words: &str) -> Tags {
    words.split_whitespace().map(|tag| tag.parse().unwrap()).collect()
}

impl Stage {
    /// An empty root called `root`.
    pub fn with_root() -> Stage {
        let mut stage = Stage { now: 1_000_000, ..Stage::default() };
        stage.add("root", None, "kind:root").unwrap();
        stage
    }

    /// A root with a review-gated goal `s` below it, whose first round is open: `t-1` and `t-2`.
    pub fn with_round() -> Stage {
        Stage::with_bounds(Policy::default())
    }

    /// The same with bounds.
    pub fn with_bounds(policy: Policy) -> Stage {
        let mut stage = Stage::with_root();
        stage.gated_with("s", "root", policy);
        assert_eq!(stage.tick(), "open_round");
        stage
    }

    /// The same with one round, which failed: a human is asked in `t-3`.
    pub fn with_exhausted_rounds() -> Stage {
        let mut stage = Stage::with_bounds(Policy { max_review_rounds: Some(1), ..Policy::default() });
        stage.close("t-1", Outcome::Success, "ann").unwrap();
        stage.judge("t-2", Opinion::NeedsWork, "bob").unwrap();
        assert_eq!(stage.tick(), "escalate");
        stage
    }

    pub fn act(&mut self, act: Result<Vec<Primitive>, Refusal>) -> Done {
        let primitives = act?;
        let author = Author { actor: Actor::engine(), at: self.now };
        let mut next = self.snapshot.clone();
        for primitive in &primitives {
            apply(&mut next, primitive, &author)?;
        }
        self.snapshot = next;
        self.now += 1;
        Ok(!primitives.is_empty())
    }

    pub fn add(&mut self, name: &str, parent: Option<&str>, words: &str) -> Done {
        self.create(name, parent, words, Policy::default())
    }

    pub fn create(&mut self, name: &str, parent: Option<&str>, words: &str, policy: Policy) -> Done {
        let (tags, parent) = (tags(words), parent.map(id));
        let new = create::NewIssue { title: name.to_owned(), tags, parent, policy, ..Default::default() };
        let made = create::create(&self.snapshot, &id(name), new, self.now);
        self.act(made)
    }

    /// A plain goal.
    pub fn goal(&mut self, name: &str, parent: &str) {
        self.add(name, Some(parent), "kind:goal").unwrap();
    }

    /// A review-gated goal.
    pub fn gated(&mut self, name: &str, parent: &str) {
        self.gated_with(name, parent, Policy::default());
    }

    pub fn gated_with(&mut self, name: &str, parent: &str, policy: Policy) {
        self.create(name, Some(parent), "kind:goal flow:review-gated-v1", policy).unwrap();
    }

    pub fn block(&mut self, blocker: &str, blocked: &str) -> Done {
        let act = edges::block(&self.snapshot, &id(blocker), &id(blocked));
        self.act(act)
    }

    pub fn unblock(&mut self, blocker: &str, blocked: &str) -> Done {
        let act = edges::unblock(&self.snapshot, &id(blocker), &id(blocked));
        self.act(act)
    }

    pub fn supersede(&mut self, new: &str, old: &str) -> Done {
        self.act(Ok(vec![Primitive::Supersede { new: id(new), old: id(old) }]))
    }

    pub fn move_to(&mut self, child: &str, parent: &str) -> Done {
        let act = edges::reparent(&self.snapshot, &id(child), Some(&id(parent)));
        self.act(act)
    }

    pub fn close(&mut self, name: &str, outcome: Outcome, actor: &str) -> Done {
        self.close_as(name, Some(outcome), actor, false, None)
    }

    pub fn cascade(&mut self, name: &str, actor: &str) -> Done {
        self.close_as(name, Some(Outcome::Skipped), actor, true, None)
    }

    pub fn close_as(
        &mut self,
        name: &str,
        outcome: Option<Outcome>,
        actor: &str,
        cascade: bool,
        epoch: Option<u64>,
    ) -> Done {
        let reason = Some("so it went".to_owned());
        let closing = close::Closing { outcome, reason, cascade, actor: who(actor), epoch, now: self.now };
        let act = close::close(&self.snapshot, &id(name), &closing);
        self.act(act)
    }

    pub fn open(&mut self, name: &str) -> Done {
        let act = open::open(&self.snapshot, &id(name), &who("ann"));
        self.act(act)
    }

    pub fn wish(&self, actor: &str) -> claim::Wish {
        claim::Wish {
            actor: who(actor),
            now: self.now,
            lease: LEASE,
            runner: None,
            step_retries: Bounds::default().step_retries,
        }
    }

    pub fn claim(&mut self, name: &str, actor: &str) -> Done {
        let act = claim::claim(&self.snapshot, &id(name), &self.wish(actor));
        self.act(act)
    }

    pub fn release(&mut self, name: &str, actor: &str, epoch: Option<u64>) -> Done {
        let act = claim::release(&self.snapshot, &id(name), &who(actor), epoch, false);
        self.act(act)
    }

    pub fn judge(&mut self, review: &str, opinion: Opinion, actor: &str) -> Done {
        self.judge_for(review, opinion, actor, "no tests")
    }

    pub fn judge_for(&mut self, review: &str, opinion: Opinion, actor: &str, reason: &str) -> Done {
        let (by, reason) = (who(actor), reason.to_owned());
        let verdict = Verdict { opinion, reason, by, at: self.now, evidence: Vec::new() };
        let act = verdict::judge(&self.snapshot, &id(review), verdict, false);
        self.act(act)
    }

    pub fn withdraw(&mut self, review: &str, actor: &str) -> Done {
        let act = verdict::withdraw(&self.snapshot, &id(review), &who(actor));
        self.act(act)
    }

    pub fn answer(&mut self, ask: &str, choice: &str) -> Done {
        let (choice, by) = (choice.to_owned(), who("hugh"));
        let note = "so be it".to_owned();
        self.answer_with(ask, Answer { choice, note, by, at: self.now, rounds: None, with_dependents: false })
    }

    pub fn answer_with(&mut self, ask: &str, answer: Answer) -> Done {
        let act = answer::answer(&self.snapshot, &id(ask), answer);
        self.act(act)
    }

    pub fn withdraw_answer(&mut self, ask: &str, actor: &str) -> Done {
        let act = answer::withdraw(&self.snapshot, &id(ask), &who(actor));
        self.act(act)
    }

    pub fn retag(&mut self, name: &str, add: &str, remove: &str) -> Done {
        let update = update::Update {
            add_tags: tags(add).iter().cloned().collect(),
            remove_tags: tags(remove).iter().cloned().collect(),
            ..update::Update::default()
        };
        self.update(name, update)
    }

    pub fn update(&mut self, name: &str, update: update::Update) -> Done {
        let act = update::update(&self.snapshot, &id(name), &update, self.now);
        self.act(act)
    }

    pub fn retry(&mut self, name: &str, successor: &str) -> Done {
        let act = retry::retry(&self.snapshot, &id(name), &id(successor), None, self.now);
        self.act(act)
    }

    pub fn decision(&self) -> Decision {
        decide(&self.snapshot, self.ix("root"), self.now, &Bounds::default())
    }

    /// One tick: the kind of its transition, or `wait`, `done`, `stuck`.
    pub fn tick(&mut self) -> &'static str {
        match self.decision() {
            Decision::Act(transition) => self.carry_out(&transition),
            Decision::Wait(_) => "wait",
            Decision::Done => "done",
            Decision::Stuck(_) => "stuck",
        }
    }

    fn carry_out(&mut self, transition: &Transition) -> &'static str {
        let mut made = self.made;
        let mut next_id = || {
            made += 1;
            id(&format!("t-{made}"))
        };
        let bounds = Bounds::default();
        let mut forge =
            Forge { now: self.now, defaults: &bounds, asks: &AskPolicy::default(), next_id: &mut next_id };
        let primitives = compile(&self.snapshot, transition, &mut forge).unwrap();
        self.made = made;
        self.act(Ok(primitives)).unwrap();
        transition.kind()
    }

    /// Ticks until nothing happens any more: the kinds in order, with how it stopped at the end.
    pub fn ticks(&mut self) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        loop {
            assert!(kinds.len() < 100, "no end: {kinds:?}");
            kinds.push(self.tick());
            if ["wait", "done", "stuck"].contains(&kinds[kinds.len() - 1]) {
                return kinds;
            }
        }
    }

    /// Whom the last tick waits for, and on what.
    pub fn waits_on(&self) -> String {
        match self.decision() {
            Decision::Wait(waiting) => format!("{} {}", waiting.actor.as_str(), waiting.issue),
            other => format!("{other:?}"),
        }
    }

    pub fn ix(&self, name: &str) -> Ix {
        self.snapshot.graph().ix(&id(name)).unwrap()
    }

    pub fn issue(&self, name: &str) -> &Issue {
        self.snapshot.graph().issue(self.ix(name))
    }

    pub fn status(&self, name: &str) -> &'static str {
        let state = &self.issue(name).state;
        state.outcome().map_or(state.status(), Outcome::as_str)
    }

    pub fn ready(&self, name: &str) -> bool {
        ready(&self.snapshot, self.ix(name))
    }

    /// Why it is not ready, as codes.
    pub fn why(&self, name: &str) -> Vec<&'static str> {
        hindrances(&self.snapshot, self.ix(name)).iter().map(|hindrance| hindrance.code()).collect()
    }

    pub fn resolved(&self, name: &str) -> bool {
        self.snapshot.relation().resolved(self.ix(name))
    }

    pub fn let_go(&self, name: &str) -> bool {
        self.snapshot.relation().let_go(self.ix(name))
    }

    pub fn is_final(&self, name: &str) -> bool {
        self.snapshot.relation().is_final(self.ix(name))
    }

    pub fn blocks(&self, blocker: &str, blocked: &str) -> bool {
        self.snapshot.graph().has_edge(self.ix(blocker), EdgeKind::Blocks, self.ix(blocked))
    }

    pub fn supersedes(&self, new: &str, old: &str) -> bool {
        self.snapshot.graph().has_edge(self.ix(new), EdgeKind::Supersedes, self.ix(old))
    }

    pub fn parent(&self, name: &str) -> Option<&str> {
        let graph = self.snapshot.graph();
        graph.parent(self.ix(name)).map(|up| graph.id(up).as_str())
    }

    pub fn round(&self, number: u32) -> &Round {
        self.snapshot.round(&id("s"), number).unwrap()
    }

    pub fn rounds(&self) -> usize {
        self.snapshot.rounds(&id("s")).count()
    }

    pub fn ended(&self, scope: &str) -> Option<ScopeEnd> {
        self.snapshot.scope(&id(scope)).unwrap().end
    }

    pub fn ask(&self, name: &str) -> &Ask {
        self.snapshot.ask(&id(name)).unwrap()
    }
}
