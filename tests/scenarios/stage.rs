//! Plays a scenario on the pure engine: acts, ticks, and what is expected of them, written down as a
//! transcript. The clock moves one second per step and otherwise only by `advance`.

use std::fmt::Write;

use roundgate::engine::{Decision, Transition, decide, pass, status};
use roundgate::model::act::{answer, claim, close, create, edges, open, packet, retry, update, verdict};
use roundgate::model::apply::{Author, apply};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Millis, Outcome, Policy, Priority};
use roundgate::model::primitive::Primitive;
use roundgate::model::readiness::{hindrances, ready};
use roundgate::model::record::{Answer, Bounds, Opinion, Verdict};
use roundgate::model::refusal::Refusal;
use roundgate::model::snapshot::Snapshot;
use roundgate::model::tag::Tag;
use roundgate::model::waits::Waits;

use crate::script::{Act, Deed, Expect, Line, Node, Script, Step};
use crate::{naming, transcript};

/// Why an act has no effect.
enum Halt {
    /// The rules refuse it.
    Refused(Box<Refusal>),
    /// The scenario itself makes no sense.
    Wrong(String),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Halt {
        Halt::Refused(Box::new(refusal))
    }
}

impl From<String> for Halt {
    fn from(why: String) -> Halt {
        Halt::Wrong(why)
    }
}

struct Stage {
    snapshot: Snapshot,
    root: Option<IssueId>,
    now: Millis,
    defaults: Bounds,
    out: String,
    /// The tree and the rest of the state, as they were shown last.
    shown: [String; 2],
    /// Whether the step before was an expectation, which then needs no gap after it.
    expecting: bool,
}

/// Plays a scenario and gives its transcript.
///
/// # Errors
/// `file:line: what went otherwise than the scenario says`.
pub fn play(file: &str, script: &Script) -> Result<String, String> {
    let mut stage = Stage {
        snapshot: Snapshot::default(),
        root: None,
        now: 1_800_000_000_000,
        defaults: Bounds::default(),
        out: String::new(),
        shown: Default::default(),
        expecting: false,
    };
    for line in &script.about {
        let _ = writeln!(stage.out, "# {line}");
    }
    for line in &script.steps {
        stage.step(line).map_err(|why| {
            format!("{file}:{}: {why}\n  in: {}\n{}", line.number, line.text, stage.state().concat())
        })?;
    }
    stage.show();
    Ok(stage.out)
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e| format!("{text:?}: {e}"))
}

impl Stage {
    fn step(&mut self, line: &Line) -> Result<(), String> {
        self.now += 1_000;
        let building =
            matches!(&line.step, Step::Act(Act { deed: Deed::Create(_) | Deed::Block { .. }, .. }));
        if !building && self.shown[0].is_empty() {
            self.show();
        }
        let after_expect = self.expecting && matches!(line.step, Step::Expect(_));
        self.expecting = matches!(line.step, Step::Expect(_));
        let gap = if building && self.shown[0].is_empty() || after_expect { "" } else { "\n" };
        let _ = writeln!(self.out, "{gap}> {}", line.text);
        match &line.step {
            Step::Tick => self.tick().map(drop),
            Step::TickUntilWait => {
                for _ in 0..100 {
                    if !self.tick()? {
                        return Ok(());
                    }
                    self.now += 1_000;
                }
                Err("no end in 100 ticks".to_owned())
            }
            Step::Advance(span) => {
                self.now += span;
                Ok(())
            }
            Step::Expect(expect) => self.expect(expect),
            Step::Act(act) => match self.act(act) {
                Ok(done) if done.is_empty() => Err("nothing to do; say `expect unchanged`".to_owned()),
                Ok(_) if building && self.shown[0].is_empty() => Ok(()),
                Ok(done) => {
                    self.list(&done);
                    Ok(())
                }
                Err(Halt::Refused(refusal)) => Err(format!("refused ({}): {refusal}", refusal.code())),
                Err(Halt::Wrong(why)) => Err(why),
            },
        }
    }

    fn list(&mut self, primitives: &[Primitive]) {
        for primitive in primitives {
            let _ = writeln!(self.out, "  {}", transcript::primitive(primitive));
        }
    }

    fn decide(&self) -> Result<Decision, String> {
        let root = self.root.as_ref().and_then(|root| self.snapshot.graph().ix(root));
        let root = root.ok_or("there is no root yet")?;
        Ok(decide(&self.snapshot, root, self.now, &self.defaults))
    }

    fn state(&self) -> [String; 2] {
        let decision = self.decide().map_or_else(|why| why, |decision| transcript::decision(&decision));
        let rest = transcript::standing(&self.snapshot, self.root.as_ref(), &decision);
        [transcript::tree(&self.snapshot), rest]
    }

    /// Writes the state down, as far as it is not as it was when it was shown last.
    fn show(&mut self) {
        let state = self.state();
        for (now, before) in state.iter().zip(&self.shown) {
            if now != before {
                self.out.push_str(now);
            }
        }
        self.shown = state;
    }

    /// One tick; whether it did something.
    fn tick(&mut self) -> Result<bool, String> {
        let decision = self.decide()?;
        let _ = writeln!(self.out, "{}", transcript::decision(&decision));
        let Decision::Act(transition) = decision else {
            self.show();
            return Ok(false);
        };
        let primitives = naming::compile(&self.snapshot, &transition, self.now, &self.defaults)?;
        let before = self.snapshot.all_rounds().count() + self.snapshot.asks().count();
        self.carry_out(&primitives, &Actor::engine()).map_err(|e| format!("{transition:?}: {e}"))?;
        self.list(&primitives);
        self.say(&transition)?;
        let opened = self.snapshot.all_rounds().count() + self.snapshot.asks().count() - before;
        if opened > 1 {
            return Err(format!("one tick opened {opened} rounds and asks"));
        }
        self.show();
        Ok(true)
    }

    fn carry_out(&mut self, primitives: &[Primitive], actor: &Actor) -> Result<(), Refusal> {
        let author = Author { actor: actor.clone(), at: self.now };
        let mut next = self.snapshot.clone();
        let mut changes = Vec::new();
        for primitive in primitives {
            changes.extend(apply(&mut next, primitive, &author)?);
        }
        let shifted = next.take_shifted();
        for document in status::brought_up_to_date(&next, changes.iter(), &shifted, self.now) {
            apply(&mut next, &document, &author)?;
        }
        self.snapshot = next;
        self.check();
        Ok(())
    }

    /// What a tick says of what it did.
    fn say(&mut self, transition: &Transition) -> Result<(), String> {
        let next = self.decide()?;
        let root = self.root.as_ref().and_then(|root| self.snapshot.graph().ix(root));
        let post = pass(&self.snapshot, root.ok_or("there is no root yet")?, transition, &next);
        self.list(&[post]);
        Ok(())
    }

    /// What must hold whatever happens: S3's critical invariant, the bound, and no circle of waiting.
    fn check(&self) {
        let graph = self.snapshot.graph();
        assert_eq!(Waits::of(graph).cycle(), None);
        assert_eq!(status::faults(&self.snapshot), [""; 0]);
        for round in self.snapshot.all_rounds() {
            let outcome = graph.get(&round.review).and_then(|review| review.state.outcome());
            assert!(!outcome.is_some_and(Outcome::unsuccessful), "{} stays closed as failed", round.review);
            let bound = self.snapshot.scope(&round.scope).map(|scope| scope.bounds.max_rounds);
            assert!(bound.is_some_and(|bound| round.number <= bound), "{} is over its bound", round.review);
        }
    }

    /// The id behind a name: the id itself, or the last part of it where only one has it.
    fn id(&self, name: &str) -> Result<IssueId, String> {
        let graph = self.snapshot.graph();
        let id: IssueId = parsed(name)?;
        if graph.ix(&id).is_some() {
            return Ok(id);
        }
        let suffix = format!(".{name}");
        let mut found = graph.issues().filter(|issue| issue.id.as_str().ends_with(&suffix));
        match (found.next(), found.next()) {
            (Some(issue), None) => Ok(issue.id.clone()),
            (Some(a), Some(b)) => Err(format!("{name} may be {} or {}", a.id, b.id)),
            _ => Err(format!("there is no {name}")),
        }
    }

    /// What an act did. One that is refused leaves everything as it was.
    fn act(&mut self, act: &Act) -> Result<Vec<Primitive>, Halt> {
        let before = self.snapshot.clone();
        let done = self.attempt(act);
        if done.is_err() {
            self.snapshot = before;
        }
        done
    }

    fn attempt(&mut self, act: &Act) -> Result<Vec<Primitive>, Halt> {
        let actor: Actor = parsed(&act.actor)?;
        let new: Vec<(String, Node)> = match &act.deed {
            Deed::Expand { into } => into.iter().map(|name| (name.clone(), part(name, &act.issue))).collect(),
            _ => Vec::new(),
        };
        let mut done = Vec::new();
        for (name, node) in &new {
            let made = self.create(name, node)?;
            self.carry_out(&made, &actor)?;
            done.extend(made);
        }
        let primitives = match &act.deed {
            Deed::Create(node) => self.create(&act.issue, node)?,
            deed => self.deed(&self.id(&act.issue)?, &actor, deed)?,
        };
        self.carry_out(&primitives, &actor)?;
        done.extend(primitives);
        if self.root.is_none() {
            self.root = Some(self.id(&act.issue)?);
        }
        Ok(done)
    }

    fn create(&self, name: &str, node: &Node) -> Result<Vec<Primitive>, Halt> {
        let tags = node.tags.iter().map(|tag| parsed(tag)).collect::<Result<_, _>>()?;
        let id: IssueId = parsed(name)?;
        let new = create::NewIssue {
            title: node.title.clone(),
            body: node.body.clone(),
            tags,
            priority: node.priority.as_deref().map(parsed::<Priority>).transpose()?.unwrap_or_default(),
            parent: node.parent.as_deref().map(|parent| self.id(parent)).transpose()?,
            policy: Policy {
                max_review_rounds: node.max,
                no_progress: node.no_progress,
                step_retries: node.step_retries,
                allow_self_review: node.self_review,
                max_review_rounds_posted: None,
                ask: Default::default(),
            },
            choices: node.choices.clone(),
            ..Default::default()
        };
        let mut primitives = create::create(&self.snapshot, &id, new, self.now)?;
        for blocker in &node.after {
            primitives.push(Primitive::Serial { blocker: self.id(blocker)?, blocked: id.clone() });
        }
        Ok(primitives)
    }

    fn deed(&self, id: &IssueId, actor: &Actor, deed: &Deed) -> Result<Vec<Primitive>, Halt> {
        let (snapshot, now, by) = (&self.snapshot, self.now, actor.clone());
        let closing = |outcome, reason, cascade| {
            let closing = close::Closing { outcome, reason, cascade, actor: by.clone(), epoch: None, now };
            close::close(snapshot, id, &closing)
        };
        let judge = |opinion: Opinion, reason: &str, posted: bool| {
            let reason = reason.to_owned();
            let verdict = Verdict { opinion, reason, by: by.clone(), at: now, evidence: Vec::new() };
            verdict::judge(snapshot, id, verdict, posted)
        };
        let given = |choice: &str, note: &str, rounds: Option<u32>, with_dependents: bool| {
            let (choice, note) = (choice.to_owned(), note.to_owned());
            let given = Answer { choice, note, by: by.clone(), at: now, rounds, with_dependents };
            answer::answer(snapshot, id, given)
        };
        let primitives = match deed {
            Deed::Create(_) => unreachable!("a new issue has no id to look up"),
            Deed::Block { blocked } => edges::block(snapshot, id, &self.id(blocked)?)?,
            Deed::Unblock { blocked } => edges::unblock(snapshot, id, &self.id(blocked)?)?,
            Deed::Claim { lease } => {
                let wish = claim::Wish {
                    actor: actor.clone(),
                    now,
                    lease: *lease,
                    runner: None,
                    step_retries: self.defaults.step_retries,
                };
                claim::claim(snapshot, id, &wish)?
            }
            Deed::Release { lost } => claim::release(snapshot, id, actor, None, *lost)?,
            Deed::Close { outcome, reason, cascade } => closing(*outcome, reason.clone(), *cascade)?,
            Deed::Expand { .. } => closing(Some(Outcome::Expanded), None, false)?,
            Deed::Judge { opinion, note } => judge(*opinion, note, false)?,
            Deed::Packet { body } => {
                let post = Primitive::Post { topic: verdict::topic(id), body: body.clone() };
                let effect = if snapshot.ask(id).is_some() {
                    packet::answer(body)?.map(|(choice, note)| given(&choice, &note, None, false))
                } else {
                    packet::verdict(body)?.map(|(opinion, reason)| judge(opinion, &reason, true))
                };
                let effect = effect.transpose()?.unwrap_or_default();
                std::iter::once(post).chain(effect).collect()
            }
            Deed::Answer { choice, note, rounds, with_dependents } => {
                given(choice, note, *rounds, *with_dependents)?
            }
            Deed::Withdraw if snapshot.ask(id).is_some() => answer::withdraw(snapshot, id, actor)?,
            Deed::Withdraw => verdict::withdraw(snapshot, id, actor)?,
            Deed::Reopen => open::open(snapshot, id, actor)?,
            Deed::Retry { successor } => retry::retry(snapshot, id, &parsed(successor)?, None, now)?,
            Deed::Move { parent } => edges::reparent(snapshot, id, Some(&self.id(parent)?))?,
            Deed::Tag { tag } => {
                let add_tags = vec![parsed::<Tag>(tag)?];
                update::update(snapshot, id, &update::Update { add_tags, ..Default::default() }, now)?
            }
        };
        Ok(primitives)
    }

    fn expect(&mut self, expect: &Expect) -> Result<(), String> {
        let (graph, relation) = (self.snapshot.graph(), self.snapshot.relation());
        let find = |name: &str| self.id(name).map(|id| graph.ix(&id).expect("it was just found"));
        let holds = match expect {
            Expect::Ready { issue, is } => {
                let ix = find(issue)?;
                let why = hindrances(&self.snapshot, ix);
                for hindrance in &why {
                    let _ = writeln!(self.out, "  {}", hindrance.text());
                }
                ready(&self.snapshot, ix) == *is
            }
            Expect::Resolved { issue, is } => relation.resolved(find(issue)?) == *is,
            Expect::Final { is } => {
                let root = self.root.as_ref().and_then(|root| graph.ix(root));
                root.is_some_and(|root| relation.is_final(root)) == *is
            }
            Expect::Attempts { scope, count } => self.snapshot.rounds(&self.id(scope)?).count() == *count,
            Expect::Waits { actor, issue } => match self.decide()? {
                Decision::Wait(w) => w.actor.as_str() == actor && w.issue == self.id(issue)?,
                _ => false,
            },
            Expect::Refused(act) => match self.act(act) {
                Err(Halt::Refused(refusal)) => {
                    let _ = writeln!(self.out, "  refused ({}): {refusal}", refusal.code());
                    true
                }
                Err(Halt::Wrong(why)) => return Err(why),
                Ok(_) => false,
            },
            Expect::Unchanged(act) => match self.act(act) {
                Err(Halt::Refused(refusal)) => return Err(format!("refused: {refusal}")),
                Err(Halt::Wrong(why)) => return Err(why),
                Ok(done) => done.is_empty(),
            },
        };
        if holds { Ok(()) } else { Err("it is not so".to_owned()) }
    }
}

/// A child that an expansion makes.
fn part(name: &str, parent: &str) -> Node {
    Node {
        title: format!("Part {name}"),
        tags: vec!["kind:spawn".into(), "ctx:clean".into(), "proto:hierarchical-work-v1".into()],
        parent: Some(parent.to_owned()),
        after: Vec::new(),
        priority: None,
        body: String::new(),
        choices: Vec::new(),
        max: None,
        no_progress: None,
        step_retries: None,
        self_review: None,
    }
}
