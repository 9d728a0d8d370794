//! What agents and humans do in the world, between ticks and when it is their turn. Whatever is refused
//! is fine; what is carried out must not break a property.

use roundgate::model::act::{answer, claim, close, create, edges, open, retry, update, verdict};
use roundgate::model::graph::Ix;
use roundgate::model::id::IssueId;
use roundgate::model::issue::{Claim, Outcome, Process, State};
use roundgate::model::primitive::Primitive;
use roundgate::model::readiness;
use roundgate::model::record::{Answer, AskKind, Opinion, Verdict};
use roundgate::model::refusal::Refusal;
use roundgate::model::tag::Tags;

use crate::world::{Check, Fault, World};

/// Tags that people may come to put on or take off.
const TAGS: [&str; 10] = [
    "flow:review-gated-v1",
    "flow:attempt",
    "flow:review",
    "node:agent",
    "node:root",
    "kind:goal",
    "kind:root",
    "kind:fork",
    "ctx:inherit",
    "proto:hierarchical-work-v1",
];

impl World {
    fn any_id(&mut self) -> IssueId {
        let ix = self.any();
        self.snapshot.graph().id(ix).clone()
    }

    /// Something random by somebody.
    pub fn meddle(&mut self) {
        if self.budget == 0 {
            return;
        }
        self.budget -= 1;
        match self.rng.u8(0..31) {
            0 => self.add_edge(),
            1 => {
                let id = self.any_id();
                self.add_child(&id, 0.3);
            }
            2 | 3 | 24 => self.reopen(),
            4 => {
                let (id, successor) = (self.any_id(), self.id());
                let act = retry::retry(&self.snapshot, &id, &successor, None, self.now);
                self.act(act);
            }
            5 | 6 => {
                let (id, to) = (self.any_id(), self.any_id());
                let to = Some(to).filter(|_| id == self.root || self.rng.f64() < 0.95);
                let act = edges::reparent(&self.snapshot, &id, to.as_ref());
                self.act(act);
            }
            7 => {
                let (id, cascade) = (self.any_id(), self.rng.bool());
                self.close(&id, Outcome::Skipped, cascade);
            }
            8 | 9 => {
                let id = self.any_id();
                let outcome = Outcome::ALL[self.rng.usize(0..5)];
                self.close(&id, outcome, false);
            }
            10 => self.now += 10_000,
            11 => {
                let ix = self.any();
                self.judge(ix);
            }
            12 => {
                let (id, actor) = (self.any_id(), self.actor());
                let act = verdict::withdraw(&self.snapshot, &id, &actor);
                self.act(act);
            }
            13 | 14 => self.retag(),
            15 => {
                let edges = self.snapshot.graph().edges();
                let Some(edge) = self.rng.choice(edges) else { return };
                let act = edges::unblock(&self.snapshot, &edge.from, &edge.to);
                self.act(act);
            }
            16 => self.ask_by_hand(),
            17 => self.pair_by_hand(),
            18 => {
                let asks: Vec<IssueId> = self.snapshot.asks().map(|ask| ask.id.clone()).collect();
                let Some(ask) = self.rng.choice(asks) else { return };
                if self.rng.bool() {
                    self.answer(&ask);
                } else {
                    let act = answer::withdraw(&self.snapshot, &ask, &"human".parse().unwrap());
                    self.act(act);
                }
            }
            19 => self.fence(),
            25 | 26 => self.keep_a_clock(),
            27 | 28 => drop(self.tangle()),
            29 | 30 => self.pause_or_resume(),
            _ => {
                let ix = self.any();
                self.claim(ix);
            }
        }
    }

    /// Closed work comes back, work that was just judged above all.
    fn reopen(&mut self) {
        let graph = self.snapshot.graph();
        let judged =
            self.snapshot.all_rounds().filter(|round| round.verdict.is_some() && round.end.is_none());
        let attempts = judged.filter_map(|round| graph.ix(&round.attempt));
        let mut closed: Vec<Ix> = attempts.flat_map(|ix| graph.subtree(ix).into_iter().skip(1)).collect();
        if closed.is_empty() {
            closed = graph.indices().collect();
        }
        closed.retain(|&ix| graph.issue(ix).state.closed());
        let Some(ix) = self.rng.choice(closed) else { return };
        let actor = self.actor();
        let id = self.snapshot.graph().id(ix).clone();
        let act = if self.fault == Some(Fault::NoDecidedGuard)
            && self.snapshot.graph().issue(ix).state.closed()
            && self.snapshot.round_of(&id).is_none()
            && self.snapshot.scope(&id).is_none()
            && self.snapshot.ask(&id).is_none()
        {
            Ok(vec![Primitive::Open { id }])
        } else {
            open::open(&self.snapshot, &id, &actor)
        };
        self.act(act);
    }

    fn retag(&mut self) {
        let id = self.any_id();
        let mut update = update::Update::default();
        if self.rng.f64() < 0.15 {
            let tags: Tags =
                ["kind:ask", "ctx:human", "actor:user"].iter().map(|t| t.parse().unwrap()).collect();
            update.tags = Some(tags);
        } else if self.rng.f64() < 0.5 {
            update.add_tags = vec!["flow:review-gated-v1".parse().unwrap()];
        } else {
            let mut tag = || TAGS[self.rng.usize(0..TAGS.len())].parse().unwrap();
            (update.add_tags, update.remove_tags) = (vec![tag()], vec![tag()]);
        }
        let act = update::update(&self.snapshot, &id, &update, self.now);
        self.act(act);
    }

    fn ask_by_hand(&mut self) {
        let (parent, id) = (self.any_id(), self.id());
        let new = create::NewIssue {
            title: "which one?".into(),
            tags: ["kind:ask".parse().unwrap()].into_iter().collect(),
            parent: Some(parent),
            choices: vec!["left".into(), "retry".into()],
            ..Default::default()
        };
        let act = create::create(&self.snapshot, &id, new, self.now);
        self.act(act);
    }

    /// An attempt and a review as somebody may put them into a scope, not always in the right shape.
    pub fn pair_by_hand(&mut self) {
        let graph = self.snapshot.graph();
        let waiting: Vec<IssueId> = graph
            .issues()
            .filter(|issue| issue.tags.review_gated() && self.snapshot.scope(&issue.id).is_none())
            .map(|issue| issue.id.clone())
            .collect();
        let Some(scope) = self.rng.choice(waiting) else { return };
        let (attempt, review) = (self.id(), self.id());
        let extra = if self.rng.f64() < 0.3 { " flow:review-gated-v1" } else { "" };
        let mut make = |id: &IssueId, words: &str| {
            let tags = words.split_whitespace().map(|t| t.parse().unwrap()).collect();
            let parent = Some(scope.clone());
            let new = create::NewIssue { title: id.to_string(), tags, parent, ..Default::default() };
            let act = create::create(&self.snapshot, id, new, self.now);
            self.act(act)
        };
        make(&attempt, &format!("kind:spawn flow:attempt{extra}"));
        let extra = if extra.is_empty() { "" } else { " flow:escalation" };
        make(&review, &format!("kind:fork ctx:inherit flow:review{extra}"));
        let act = edges::block(&self.snapshot, &attempt, &review);
        self.act(act);
    }

    /// Release and renewal with right and wrong fencing numbers.
    fn fence(&mut self) {
        let held = self
            .snapshot
            .graph()
            .issues()
            .filter_map(|issue| Some((issue.id.clone(), issue.state.claim()?.clone())));
        let held: Vec<(IssueId, Claim)> = held.collect();
        let Some((id, claim)) = self.rng.choice(held) else { return };
        let epoch = claim.epoch - self.rng.u64(0..2);
        let actor = if self.rng.bool() { claim.actor.clone() } else { self.actor() };
        let wish = claim::Wish {
            actor: actor.clone(),
            now: self.now,
            lease: 5_000,
            runner: None,
            step_retries: self.defaults.step_retries,
        };
        let act = match self.rng.u8(0..3) {
            0 => claim::release(&self.snapshot, &id, &actor, Some(epoch), true),
            1 => claim::release(&self.snapshot, &id, &actor, Some(epoch), false),
            _ => {
                let worker = Process { boot_id: "boot".into(), pid: 1, started: 1, pid_namespace: None };
                claim::renew(&self.snapshot, &id, &wish, Some(epoch), Some(worker))
            }
        };
        let allowed = actor == claim.actor && epoch == claim.epoch;
        if self.act(act) != allowed {
            self.broken = Some(format!("{id}: {actor} with {epoch}, held as {claim:?}"));
        }
    }

    pub fn claim(&mut self, ix: Ix) {
        let id = self.snapshot.graph().id(ix).clone();
        let wish = claim::Wish {
            actor: self.actor(),
            now: self.now,
            lease: 5_000,
            runner: None,
            step_retries: self.defaults.step_retries,
        };
        let unopened = readiness::waits_for_tick(&self.snapshot, ix);
        let (free, paused) = (self.is_open(ix), self.snapshot.relation().paused(ix));
        let act = if self.fault == Some(Fault::NoUnopenedGuard) && unopened {
            let open = self.snapshot.graph().issue(ix).state == State::Open;
            let claim = Claim {
                actor: wish.actor,
                epoch: 1,
                expires_at: self.now + 5_000,
                runner: None,
                worker: None,
            };
            if open { Ok(vec![Primitive::Claim { id, claim }]) } else { return }
        } else if self.fault == Some(Fault::NoPauseGuard) && paused {
            claim::claim(&self.unpaused(), &id, &wish)
        } else {
            claim::claim(&self.snapshot, &id, &wish)
        };
        let about = self.snapshot.graph().id(ix).clone();
        if self.act(act) && free && paused {
            self.broken = Some(format!("{about} was claimed while it was paused"));
        }
    }

    pub fn close(&mut self, id: &IssueId, outcome: Outcome, cascade: bool) -> bool {
        let held = self.snapshot.graph().get(id).and_then(|issue| issue.state.claim());
        let actor = held.map(|claim| claim.actor.clone());
        let actor = actor.unwrap_or_else(|| self.actor());
        let ix = self.snapshot.graph().ix(id).unwrap();
        if self.fault == Some(Fault::NoUnopenedGuard)
            && readiness::waits_for_tick(&self.snapshot, ix)
            && outcome == Outcome::Success
            && self.snapshot.graph().children(ix).is_empty()
        {
            let by = Some(actor);
            return self.act(Ok(vec![Primitive::Close { id: id.clone(), outcome, reason: None, by }]));
        }
        let reason = Some(["no tests", "broken build", "wrong"][self.rng.usize(0..3)].to_owned());
        let closing =
            close::Closing { outcome: Some(outcome), reason, cascade, actor, epoch: None, now: self.now };
        let act = close::close(&self.snapshot, id, &closing);
        self.remember(id, act)
    }

    pub fn judge(&mut self, ix: Ix) -> bool {
        let id = self.snapshot.graph().id(ix).clone();
        let by = self.actor();
        let opinion = if self.rng.f64() < 0.55 { Opinion::Pass } else { Opinion::NeedsWork };
        let reason = ["no tests", "broken build", "wrong", ""][self.rng.usize(0..4)].to_owned();
        let verdict = Verdict { opinion, reason, by, at: self.now, evidence: vec![] };
        let act = match (self.fault, self.snapshot.review_round(&id)) {
            (Some(Fault::VerdictWithoutAttempt), Some(round)) if !round.decided() => {
                let judged = roundgate::model::record::Round { verdict: Some(verdict), ..round.clone() };
                Ok(vec![Primitive::SetRound { round: Box::new(judged) }])
            }
            _ => verdict::judge(&self.snapshot, &id, verdict, false),
        };
        self.remember(&id, act)
    }

    /// Notes what was judged, so that a later pass can be held against it.
    pub fn remember(&mut self, id: &IssueId, act: Result<Vec<Primitive>, Refusal>) -> bool {
        let attempt = self.snapshot.review_round(id).map(|round| round.attempt.clone());
        let before = attempt.map(|attempt| self.below(&attempt));
        let done = self.act(act);
        if let (true, Some(before)) = (done, before) {
            self.judged.insert(id.clone(), before);
        }
        done
    }

    /// A worker or reviewer does the piece of work that the engine waits for.
    pub fn work(&mut self, id: &IssueId) -> Check {
        let ix = self.snapshot.graph().ix(id).unwrap();
        if self.snapshot.review_round(id).is_some() {
            for _ in 0..20 {
                if self.judge(ix) {
                    return Ok(());
                }
            }
            // Everybody may have worked below the attempt: then a stranger judges.
            let verdict = Verdict {
                opinion: Opinion::Pass,
                reason: String::new(),
                by: format!("stranger-{}", self.now).parse().unwrap(),
                at: self.now,
                evidence: vec![],
            };
            if self.snapshot.graph().issue(ix).state.claim().is_some() {
                self.now += 10_000;
                return Ok(());
            }
            let act = verdict::judge(&self.snapshot, id, verdict, false);
            return if self.remember(id, act) { Ok(()) } else { Err(format!("nobody may judge {id}")) };
        }
        let small = self.snapshot.graph().len() < 70;
        match self.rng.u8(0..12) {
            0 | 1 if small => {
                self.claim(ix);
                for _ in 0..self.rng.usize(1..4) {
                    self.add_child(id, 0.3);
                }
                self.close(id, Outcome::Expanded, false);
            }
            2 => drop(self.close(id, Outcome::Failure, false)),
            3 => drop(self.close(id, Outcome::NeedsWork, false)),
            4 => drop(self.close(id, Outcome::Skipped, self.rng.clone().bool())),
            5 => self.claim(ix),
            _ => drop(self.close(id, Outcome::Success, false)),
        }
        self.now += 3_000;
        Ok(())
    }

    /// A human answers the ask.
    pub fn answer(&mut self, id: &IssueId) -> bool {
        let Some(ask) = self.snapshot.ask(id) else { return false };
        let tired = ask.kind == AskKind::Failure || self.snapshot.graph().len() > 70;
        let pick = if tired { ask.choices.len() - 1 } else { self.rng.usize(0..ask.choices.len()) };
        let choice = ask.choices[pick].id.clone();
        let given = Answer {
            rounds: (choice == answer::EXTRA_ROUND && self.rng.bool()).then_some(2),
            with_dependents: choice == answer::ABANDON && self.rng.bool(),
            choice,
            note: "so be it".into(),
            by: "human".parse().unwrap(),
            at: self.now,
        };
        let act = answer::answer(&self.snapshot, id, given);
        self.act(act)
    }

    /// A human does what the engine waits for; `false` when that is to bring in work.
    pub fn human(&mut self, id: &IssueId) -> Result<bool, String> {
        let graph = self.snapshot.graph();
        let ix = graph.ix(id).unwrap();
        if graph.issue(ix).pause.is_some() {
            return Ok(self.resume(id));
        }
        if graph.issue(ix).tags.container() && graph.children(ix).is_empty() {
            return Ok(false);
        }
        if self.answer(id) {
            return Ok(true);
        }
        let upwards: Vec<IssueId> = graph_path(self, ix);
        if upwards.iter().any(|up| self.close(up, Outcome::Skipped, true)) {
            return Ok(true);
        }
        let act = open::open(&self.snapshot, id, &"human".parse().unwrap());
        if self.act(act) {
            Ok(true)
        } else if self.left_by_an_import(ix) {
            Ok(false)
        } else {
            Err(format!("a human is waited for on {id} and can do nothing"))
        }
    }
}

fn graph_path(world: &World, ix: Ix) -> Vec<IssueId> {
    let graph = world.snapshot.graph();
    graph.self_and_ancestors(ix).map(|up| graph.id(up).clone()).collect()
}
