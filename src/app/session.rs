//! A session with a store: one actor, one clock, one configuration. Every mutation goes through
//! [`Session::change`], every question through [`Session::read`].

use super::AppError;
use super::ambient::{Clock, IdStream, Ids};
use super::config::Config;
use crate::engine::{Forge, Transition, compile, decide, pass, status};
use crate::model::apply::{Author, apply};
use crate::model::change::Event;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;
use crate::store::{Revision, Store};

/// One actor at one store.
pub struct Session {
    /// The store.
    pub store: Box<dyn Store>,
    /// Where the time comes from.
    pub clock: Clock,
    /// Where new ids come from.
    pub ids: Ids,
    /// Who acts.
    pub actor: Actor,
    /// The configuration.
    pub config: Config,
}

/// What a change gave, and whether it changed anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<T> {
    /// The result.
    pub value: T,
    /// Whether the store changed.
    pub changed: bool,
}

/// One transaction at work: a snapshot that is changed by primitives, and the events that makes.
pub struct Work {
    /// The snapshot as it would be after the commit.
    pub snapshot: Snapshot,
    /// The moment of the transaction.
    pub now: Millis,
    /// Who acts.
    pub actor: Actor,
    ids: IdStream,
    base: Revision,
    cause: String,
    tick: bool,
    pass: Option<(IssueId, Transition)>,
    events: Vec<Event>,
}

impl Work {
    /// Carries primitives out on the snapshot.
    ///
    /// # Errors
    /// When the snapshot does not allow one of them; then the whole transaction is dropped.
    pub fn apply(&mut self, primitives: &[Primitive]) -> Result<(), AppError> {
        let author = Author { actor: self.actor.clone(), at: self.now };
        for primitive in primitives {
            for change in apply(&mut self.snapshot, primitive, &author)? {
                let seq = self.base + self.events.len() as u64 + 1;
                self.events.push(Event {
                    seq,
                    at: self.now,
                    actor: self.actor.clone(),
                    cause: self.cause.clone(),
                    tick: self.tick.then_some(self.base + 1),
                    change,
                });
            }
        }
        Ok(())
    }

    /// An id that was never used.
    pub fn new_id(&mut self) -> IssueId {
        self.ids.next(&self.snapshot)
    }

    /// The primitives of a transition that was decided on this snapshot.
    ///
    /// # Errors
    /// When it was decided on another one.
    pub fn compile(
        &mut self,
        transition: &Transition,
        defaults: &Bounds,
    ) -> Result<Vec<Primitive>, AppError> {
        let Work { snapshot, ids, now, .. } = self;
        let mut next_id = || ids.next(snapshot);
        let mut forge = Forge { now: *now, defaults, next_id: &mut next_id };
        compile(snapshot, transition, &mut forge).ok_or_else(|| AppError::Broken {
            transition: transition.kind().to_owned(),
            why: "what it was decided on is not there".to_owned(),
        })
    }

    /// Once everything is done, a post about this transition goes to the topic of the root.
    pub fn tell(&mut self, root: IssueId, transition: Transition) {
        self.pass = Some((root, transition));
    }

    /// What follows from what was done, before it is committed: the documents, and after them the post
    /// about a tick (S3, tick contract, steps 5 and 6). Where nothing was done, nothing follows.
    fn follow_up(&mut self, defaults: &Bounds) -> Result<(), AppError> {
        if self.events.is_empty() {
            return Ok(());
        }
        let changes = self.events.iter().map(|event| &event.change);
        let documents = status::brought_up_to_date(&self.snapshot, changes, self.now);
        self.apply(&documents)?;
        let Some((root, transition)) = self.pass.take() else { return Ok(()) };
        let Some(ix) = self.snapshot.graph().ix(&root) else { return Ok(()) };
        let next = decide(&self.snapshot, ix, self.now, defaults);
        let post = pass(&self.snapshot, ix, &transition, &next);
        self.apply(&[post])
    }

    /// From here on, what is applied is part of a tick with this cause, and the engine is its author.
    pub fn as_tick(&mut self, cause: String) {
        self.cause = cause;
        self.tick = true;
        self.actor = Actor::engine();
    }
}

impl Session {
    /// A consistent snapshot. Writes nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(&self) -> Result<Snapshot, AppError> {
        Ok(self.store.snapshot()?.0)
    }

    /// One transaction: reads, lets `act` decide and apply, and commits what that made. A refused act
    /// leaves the store as it was.
    ///
    /// # Errors
    /// What `act` says, or what the store says of the commit.
    pub fn change<T>(
        &mut self,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<Changed<T>, AppError> {
        let mut act = Some(act);
        let mut outcome: Option<Result<T, AppError>> = None;
        let mut changed = false;
        let (now, actor, ids) = (self.clock.now(), self.actor.clone(), self.ids.clone());
        let defaults = self.config.bounds.clone();
        self.store.transact(&mut |snapshot, base| {
            let act = act.take()?;
            let ids = ids.stream(&snapshot, base);
            let mut work = Work {
                snapshot,
                now,
                actor: actor.clone(),
                ids,
                base,
                cause: cause.to_owned(),
                tick: false,
                pass: None,
                events: Vec::new(),
            };
            let result = act(&mut work).and_then(|value| work.follow_up(&defaults).map(|()| value));
            let events = result.is_ok().then_some(work.events);
            outcome = Some(result);
            changed = events.as_ref().is_some_and(|events| !events.is_empty());
            events
        })?;
        match outcome {
            Some(result) => result.map(|value| Changed { value, changed }),
            None => Err(AppError::Broken {
                transition: cause.to_owned(),
                why: "the store did not run the transaction".to_owned(),
            }),
        }
    }
}

/// The issue that an id or a unique prefix names; an exact match wins.
///
/// # Errors
/// When there is none, or more than one.
pub fn resolve(snapshot: &Snapshot, text: &str) -> Result<IssueId, AppError> {
    let id: IssueId = text.parse().map_err(|source| AppError::BadId { text: shown(text), source })?;
    if snapshot.graph().ix(&id).is_some() {
        return Ok(id);
    }
    let matching = snapshot.graph().issues().filter(|issue| issue.id.as_str().starts_with(text));
    let mut candidates: Vec<&IssueId> = matching.map(|issue| &issue.id).collect();
    candidates.sort();
    match candidates.as_slice() {
        [] => Err(AppError::NoIssue(text.to_owned())),
        [one] => Ok((*one).clone()),
        many => {
            let mut named: Vec<String> = many.iter().take(8).map(|id| id.to_string()).collect();
            if many.len() > named.len() {
                named.push(format!("and {} more", many.len() - named.len()));
            }
            Err(AppError::Ambiguous { prefix: text.to_owned(), candidates: named })
        }
    }
}

/// The root of the issue that an id or a unique prefix names.
///
/// # Errors
/// When there is none, or more than one.
pub fn resolve_root(snapshot: &Snapshot, text: &str) -> Result<IssueId, AppError> {
    let (id, graph) = (resolve(snapshot, text)?, snapshot.graph());
    Ok(graph.ix(&id).map_or(id, |ix| graph.id(graph.root(ix)).clone()))
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}
