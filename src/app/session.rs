//! A session with a store: one actor, one clock, one configuration. Every mutation goes through
//! [`Session::change`] or [`Session::change_whole`], every question through [`Session::look`], and those about
//! all there is through [`Session::read`].

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::AppError;
use super::ambient::{Clock, IdStream, Ids};
use super::config::{self, Config};
use super::operation::Ongoing;
use super::place;
use crate::engine::{Forge, Transition, compile, decide, pass, status};
use crate::model::act::notice;
use crate::model::apply::{Author, apply_all};
use crate::model::change::{Change, Event};
use crate::model::duty::AskPolicy;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::Bounds;
use crate::model::snapshot::Snapshot;
use crate::store::{Extent, Revision, Store};

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
    /// The operation that what is changed belongs to.
    pub operation: Option<Ongoing>,
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
    notifies: bool,
    /// What is wanted of an ask where no issue says.
    pub asks: AskPolicy,
    tick: bool,
    pass: Option<(IssueId, Transition)>,
    events: Vec<Event>,
}

/// What a transaction begins with, beside what the store has.
struct Beginning {
    clock: Clock,
    actor: Actor,
    ids: Ids,
    cause: String,
    notifies: bool,
    asks: AskPolicy,
}

impl Beginning {
    /// The moment is that of the call, when nobody else can write any more: a lease does not run while
    /// its claim waits for others.
    fn work(&self, snapshot: Snapshot, base: Revision) -> Work {
        Work {
            snapshot,
            now: self.clock.now(),
            actor: self.actor.clone(),
            ids: self.ids.stream(base),
            base,
            cause: self.cause.clone(),
            notifies: self.notifies,
            asks: self.asks.clone(),
            tick: false,
            pass: None,
            events: Vec::new(),
        }
    }
}

impl Work {
    /// Carries primitives out on the snapshot, and puts what somebody is to be told of it into the outbox.
    ///
    /// # Errors
    /// When the snapshot does not allow one of them; then the whole transaction is dropped.
    pub fn apply(&mut self, primitives: &[Primitive]) -> Result<(), AppError> {
        let author = Author { actor: self.actor.clone(), at: self.now };
        let mut made = apply_all(&mut self.snapshot, primitives, &author)?;
        if self.notifies {
            let told = notice::caused_by(&self.snapshot, &made, self.now);
            made.extend(apply_all(&mut self.snapshot, &told, &author)?);
        }
        for change in made {
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
        let Work { snapshot, ids, now, asks, .. } = self;
        compiled(snapshot, transition, ids, (*now, defaults, asks))
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
        let shifted = self.snapshot.take_shifted();
        let changes = self.events.iter().map(|event| &event.change);
        let documents = status::brought_up_to_date(&self.snapshot, changes, &shifted, self.now);
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

/// The primitives of a transition that was decided on a snapshot, with what they need from outside: ids, the
/// moment, and what is configured.
///
/// # Errors
/// When it was decided on another one.
pub(super) fn compiled(
    snapshot: &Snapshot,
    transition: &Transition,
    ids: &mut IdStream,
    (now, defaults, asks): (Millis, &Bounds, &AskPolicy),
) -> Result<Vec<Primitive>, AppError> {
    let mut next_id = || ids.next(snapshot);
    let mut forge = Forge { now, defaults, asks, next_id: &mut next_id };
    compile(snapshot, transition, &mut forge).ok_or_else(|| AppError::Broken {
        transition: transition.kind().to_owned(),
        why: "what it was decided on is not there".to_owned(),
    })
}

impl Session {
    /// A session in which the engine acts, at the store in a folder.
    ///
    /// # Errors
    /// When there is no store, or it cannot be opened.
    pub fn of_engine(folder: &Path, now: Millis) -> Result<Session, AppError> {
        let config = config::load(folder)?;
        Ok(Session {
            store: Box::new(place::open(folder, &config)?),
            clock: Clock::Frozen(now),
            ids: Ids::new(None),
            actor: Actor::engine(),
            config,
            operation: None,
        })
    }

    /// A consistent snapshot of everything. Writes nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(&self) -> Result<Snapshot, AppError> {
        Ok(self.store.snapshot()?.0)
    }

    /// Makes the store ready to be written. What an older program left knows no documents; they are
    /// written once, and from then on with each change.
    ///
    /// # Errors
    /// When it cannot be brought up to date.
    pub fn bring_up_to_date(&mut self) -> Result<(), AppError> {
        if self.store.bring_up_to_date()? {
            self.renew_documents("upgrade")?;
        }
        Ok(())
    }

    /// Gives every document the text that follows from the issues.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn renew_documents(&mut self, cause: &str) -> Result<(), AppError> {
        self.change_whole(cause, |work| {
            work.actor = Actor::engine();
            let renewed = status::renewed(&work.snapshot, work.now);
            work.apply(&renewed)
        })?;
        Ok(())
    }

    /// Answers a question from a snapshot of what can move, which costs what it looks at. Writes nothing.
    ///
    /// # Errors
    /// What `question` says, or when the store cannot be read.
    pub fn look<T>(&self, question: impl FnOnce(&Snapshot) -> Result<T, AppError>) -> Result<T, AppError> {
        let (mut question, mut answer) = (Some(question), None);
        self.store.look(&mut |snapshot, _| answer = question.take().map(|question| question(snapshot)))?;
        answer.unwrap_or_else(|| Err(not_run("a question")))
    }

    /// One transaction: reads, lets `act` decide and apply, and commits what that made. A refused act
    /// leaves the store as it was. What is not on a list, `act` must know the id of.
    ///
    /// In an operation, what `act` gives is recorded in the same transaction, also when it changes
    /// nothing; and where that was done before, it is given again and `act` is not called.
    ///
    /// # Errors
    /// What `act` says, or what the store says of the commit; [`AppError::OperationUsed`].
    pub fn change<T: Serialize + DeserializeOwned>(
        &mut self,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<Changed<T>, AppError> {
        self.transact(Extent::Frontier, cause, act)
    }

    /// The same for an act that walks over all there is.
    ///
    /// # Errors
    /// As for [`Session::change`].
    pub fn change_whole<T: Serialize + DeserializeOwned>(
        &mut self,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<Changed<T>, AppError> {
        self.transact(Extent::Whole, cause, act)
    }

    /// What an act would do: read, decided and applied as in [`Session::change`], and dropped. Writes
    /// nothing and holds no writer up.
    ///
    /// # Errors
    /// What `act` says, or when the store cannot be read.
    pub fn rehearse<T>(
        &self,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let beginning = self.beginning(cause);
        let (mut act, mut done) = (Some(act), None);
        self.store.look(&mut |snapshot, base| {
            done = act.take().map(|act| act(&mut beginning.work(snapshot.clone(), base)));
        })?;
        done.unwrap_or_else(|| Err(not_run(cause)))
    }

    /// The same for an act that walks over all there is.
    ///
    /// # Errors
    /// As for [`Session::rehearse`].
    pub fn rehearse_whole<T>(
        &self,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let (snapshot, base) = self.store.snapshot()?;
        act(&mut self.beginning(cause).work(snapshot, base))
    }

    fn beginning(&self, cause: &str) -> Beginning {
        Beginning {
            clock: self.clock.clone(),
            actor: self.actor.clone(),
            ids: self.ids.clone(),
            cause: cause.to_owned(),
            notifies: self.config.notify.configured(),
            asks: self.config.asks.clone(),
        }
    }

    fn transact<T: Serialize + DeserializeOwned>(
        &mut self,
        extent: Extent,
        cause: &str,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<Changed<T>, AppError> {
        let Some(step) = self.operation.as_mut().map(Ongoing::advance) else {
            return self.commit(extent, cause, None, act);
        };
        if let Some(done) = step.reply(self.store.as_ref())? {
            return Ok(done);
        }
        self.commit(extent, cause, Some(&step), act).or_else(|error| {
            // The same call may have been carried out since, and may be why this one was not.
            match step.reply(self.store.as_ref()) {
                Ok(Some(done)) => Ok(done),
                Err(used @ AppError::OperationUsed { .. }) => Err(used),
                _ => Err(error),
            }
        })
    }

    fn commit<T: Serialize>(
        &mut self,
        extent: Extent,
        cause: &str,
        step: Option<&Ongoing>,
        act: impl FnOnce(&mut Work) -> Result<T, AppError>,
    ) -> Result<Changed<T>, AppError> {
        let mut act = Some(act);
        let mut outcome: Option<Result<T, AppError>> = None;
        let mut changed = false;
        let beginning = self.beginning(cause);
        let defaults = self.config.bounds.clone();
        self.store.transact(extent, &mut |snapshot, base| {
            let act = act.take()?;
            let mut work = beginning.work(std::mem::take(snapshot), base);
            let mut result = act(&mut work).and_then(|value| work.follow_up(&defaults).map(|()| value));
            let now = work.now;
            *snapshot = work.snapshot;
            let mut events = work.events;
            changed = result.is_ok() && !events.is_empty();
            if let (Some(step), Ok(value)) = (step, &result) {
                let recorded = serde_json::to_value(value).map(|reply| Event {
                    seq: base + events.len() as u64 + 1,
                    at: now,
                    actor: beginning.actor.clone(),
                    cause: cause.to_owned(),
                    tick: None,
                    change: Change::OperationDone { operation: Box::new(step.record(changed, reply)) },
                });
                match recorded {
                    Ok(event) => events.push(event),
                    Err(error) => {
                        result = Err(AppError::Usage(format!("cannot be written as JSON: {error}")));
                    }
                }
            }
            let committed = result.is_ok().then_some(events);
            outcome = Some(result);
            committed
        })?;
        match outcome {
            Some(result) => result.map(|value| Changed { value, changed }),
            None => Err(not_run(cause)),
        }
    }
}

fn not_run(cause: &str) -> AppError {
    let why = "the store did not run the transaction".to_owned();
    AppError::Broken { transition: cause.to_owned(), why }
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
    let candidates = snapshot.graph().starting_with(text, COUNTED);
    match candidates.as_slice() {
        [] => Err(AppError::NoIssue(text.to_owned())),
        [one] => Ok(one.clone()),
        many => {
            let mut named: Vec<String> = many.iter().take(NAMED).map(|id| id.to_string()).collect();
            if many.len() > named.len() {
                let more = many.len() - named.len();
                let at_least = if many.len() == COUNTED { "at least " } else { "" };
                named.push(format!("and {at_least}{more} more"));
            }
            Err(AppError::Ambiguous { prefix: text.to_owned(), candidates: named })
        }
    }
}

/// How many of the ids that a prefix may mean are counted, and how many are named.
const COUNTED: usize = 1_000;
const NAMED: usize = 8;

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
