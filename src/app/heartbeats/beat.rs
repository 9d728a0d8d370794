//! One pass of the clock: ticks what is due, and records what was skipped and what is over. An idle tick
//! writes nothing into the store.

use std::collections::BTreeMap;

use serde::Serialize;

use super::seen::Seen;
use crate::app::tick::{self, TickView};
use crate::app::{AppError, Session, Work};
use crate::engine::{Decision, decide};
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::{Gap, Halt, Halted, Heartbeat, HeartbeatId, Overlap};
use crate::schedule::{self, Due, Reached, ScheduleError};
use crate::store::{EventQuery, Revision};

/// How long a busy store is left alone, in milliseconds.
pub const RETRY: Millis = 1_000;

/// Something that happened in a pass. Idle ticks are nothing that happens.
#[derive(Debug)]
pub enum Happened {
    /// A tick applied a transition.
    Ticked {
        /// What it did.
        tick: Box<TickView>,
    },
    /// Due times passed without a tick.
    Skipped {
        /// Which.
        gap: Gap,
    },
    /// It is over.
    Over {
        /// What ended it, in words.
        why: &'static str,
    },
    /// Its root is stuck, and was not when it was looked at before.
    Stuck {
        /// Why.
        why: String,
    },
    /// The clock was set back.
    SetBack {
        /// From where on due times count.
        from: Millis,
    },
    /// It could not be done.
    Failed {
        /// Why not.
        error: AppError,
    },
}

/// What happened, and to which heartbeat.
#[derive(Debug)]
pub struct HappenedView {
    /// The heartbeat.
    pub heartbeat: HeartbeatId,
    /// Its root.
    pub root: IssueId,
    /// The due time it was about.
    pub due_at: Option<Millis>,
    /// What happened.
    pub happened: Happened,
}

impl Serialize for HappenedView {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("heartbeat", self.heartbeat.as_str())?;
        map.serialize_entry("root", self.root.as_str())?;
        map.serialize_entry("due_at", &self.due_at)?;
        map.serialize_entry("what", self.happened.word())?;
        match &self.happened {
            Happened::Ticked { tick } => map.serialize_entry("tick", tick)?,
            Happened::Skipped { gap } => map.serialize_entry("gap", gap)?,
            Happened::Over { why } => map.serialize_entry("why", why)?,
            Happened::Stuck { why } => map.serialize_entry("why", why)?,
            Happened::SetBack { from } => map.serialize_entry("from", from)?,
            Happened::Failed { error } => {
                map.serialize_entry("code", error.code())?;
                map.serialize_entry("why", &error.to_string())?;
            }
        }
        map.end()
    }
}

impl Happened {
    /// What happened, in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Happened::Ticked { .. } => "ticked",
            Happened::Skipped { .. } => "skipped",
            Happened::Over { .. } => "over",
            Happened::Stuck { .. } => "stuck",
            Happened::SetBack { .. } => "clock_set_back",
            Happened::Failed { .. } => "failed",
        }
    }
}

/// What ended a heartbeat, in words.
fn ending(reached: Reached) -> &'static str {
    match reached {
        Reached::Time => "it has reached its time, and begins anew when enabled",
        Reached::Ticks => "it has reached its number of ticks, and begins anew when enabled",
        Reached::Once => "it was to be due once",
    }
}

/// What one pass did.
#[derive(Debug, Default)]
pub struct Pass {
    /// What happened, in the order in which it did.
    pub happened: Vec<HappenedView>,
    /// When something is due next, or to be tried again.
    pub next: Option<Millis>,
    /// How many ticks there were, idle ones and failed ones among them.
    pub ticks: usize,
}

/// Whoever ticks what is due, from pass to pass.
#[derive(Debug, Default)]
pub struct Beats {
    /// The latest due times that were ticked for.
    pub seen: Seen,
    /// Of those whose due times queue up, until when these came while ticks were at work. What came later,
    /// came while nobody was there.
    at_work: BTreeMap<HeartbeatId, Millis>,
    stuck: BTreeMap<HeartbeatId, String>,
    revision: Revision,
}

impl Beats {
    /// Goes on from what is remembered.
    pub fn new(seen: Seen) -> Self {
        Beats { seen, ..Beats::default() }
    }

    /// Whether somebody has written since the last pass began.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn news(&self, session: &Session) -> Result<bool, AppError> {
        let query = EventQuery { after: self.revision, last: Some(1), ..EventQuery::default() };
        Ok(!session.store.events(&query)?.is_empty())
    }

    /// Ticks everything that is due, each root at most once for each heartbeat. What fails is reported and
    /// does not stop the others.
    ///
    /// # Errors
    /// When the store cannot be read at all.
    pub fn pass(&mut self, session: &mut Session) -> Result<Pass, AppError> {
        let last = EventQuery { last: Some(1), ..EventQuery::default() };
        self.revision = session.store.events(&last)?.last().map_or(0, |event| event.seq);
        let beating: Vec<Heartbeat> = session.look(|snapshot| {
            self.seen.keep(|id| snapshot.heartbeat(id).is_some());
            Ok(snapshot.beating().into_iter().cloned().collect())
        })?;
        let now = session.clock.now();
        let mut pass = Pass::default();
        let mut waiting: Vec<(Heartbeat, Due)> = Vec::new();
        for heartbeat in beating {
            match self.due(&heartbeat, now) {
                Ok(due) => waiting.push((heartbeat, due)),
                Err(error) => self.unreadable(&heartbeat, error.into(), &mut pass),
            }
        }
        waiting.sort_by_key(|(_, due)| due.at.unwrap_or(Millis::MAX));
        for (heartbeat, due) in &waiting {
            self.beat(session, heartbeat, due, &mut pass);
            pass.next = [pass.next, due.next].into_iter().flatten().min();
        }
        let ended = session.clock.now();
        let queues = waiting.iter().filter(|(heartbeat, _)| heartbeat.overlap == Overlap::Queue);
        let at_work = queues.map(|(heartbeat, due)| {
            let kept =
                self.at_work.get(&heartbeat.id).filter(|&&until| left_behind(heartbeat, due, until, now));
            (heartbeat.id.clone(), kept.copied().unwrap_or(ended))
        });
        self.at_work = at_work.collect();
        Ok(pass)
    }

    /// What is due: one after the other of those that came while ticks were at work, else one for all.
    fn due(&self, heartbeat: &Heartbeat, now: Millis) -> Result<Due, ScheduleError> {
        let seen = self.seen.last(&heartbeat.id);
        let queued = match self.at_work.get(&heartbeat.id) {
            Some(&until) => schedule::due(heartbeat, seen, until.min(now), true)?.at.is_some(),
            None => false,
        };
        schedule::due(heartbeat, seen, now, queued)
    }

    fn unreadable(&mut self, heartbeat: &Heartbeat, error: AppError, pass: &mut Pass) {
        let why = error.to_string();
        if self.stuck.insert(heartbeat.id.clone(), why.clone()) != Some(why) {
            pass.happened.push(about(heartbeat, None, Happened::Failed { error }));
        }
    }

    fn beat(&mut self, session: &mut Session, heartbeat: &Heartbeat, due: &Due, pass: &mut Pass) {
        if let Some(from) = due.restarted {
            self.seen.note(&heartbeat.id, from);
            pass.happened.push(about(heartbeat, None, Happened::SetBack { from }));
        }
        if due.at.is_none() && due.over.is_none() {
            return;
        }
        pass.ticks += usize::from(due.at.is_some());
        let done = match self.carry_out(session, heartbeat, due) {
            Err(error) if error.retryable() => {
                pass.happened.push(about(heartbeat, due.at, Happened::Failed { error }));
                // What the store was too busy for is tried again, before its next due time.
                let again = session.clock.now().saturating_add(RETRY);
                pass.next = Some(pass.next.map_or(again, |next| next.min(again)));
                return;
            }
            Err(error) => {
                pass.happened.push(about(heartbeat, due.at, Happened::Failed { error }));
                // The tick failed whole; what it was to record is recorded alone.
                record_alone(session, heartbeat, due)
            }
            done => done,
        };
        match done {
            Ok(happened) => {
                pass.happened.extend(happened.into_iter().map(|what| about(heartbeat, due.at, what)));
                if let Some(at) = due.at {
                    self.seen.note(&heartbeat.id, at);
                }
            }
            // What has no record is not over: the next one records it.
            Err(error) => pass.happened.push(about(heartbeat, due.at, Happened::Failed { error })),
        }
    }

    /// Ticks, where there is something to do or to record.
    fn carry_out(
        &mut self,
        session: &mut Session,
        heartbeat: &Heartbeat,
        due: &Due,
    ) -> Result<Vec<Happened>, AppError> {
        let (now, defaults) = (session.clock.now(), session.config.bounds.clone());
        let (root, decision) = session.look(|snapshot| {
            let graph = snapshot.graph();
            let ix =
                graph.ix(&heartbeat.root).ok_or_else(|| AppError::NoIssue(heartbeat.root.to_string()))?;
            let root = graph.root(ix);
            Ok((graph.id(root).clone(), decide(snapshot, root, now, &defaults)))
        })?;
        let mut happened = Vec::new();
        match &decision {
            Decision::Stuck(why) => {
                if self.stuck.insert(heartbeat.id.clone(), why.clone()).as_ref() != Some(why) {
                    happened.push(Happened::Stuck { why: why.clone() });
                }
            }
            _ => {
                self.stuck.remove(&heartbeat.id);
            }
        }
        let acts = due.at.is_some() && matches!(decision, Decision::Act(_));
        if !acts && due.skipped.is_none() && due.over.is_none() {
            return Ok(happened);
        }
        let mut done = Vec::new();
        session.change("heartbeats run", |work| {
            if !still_due(work, heartbeat, due) {
                return Ok(());
            }
            if due.at.is_some() {
                let tick = tick::act(work, &root, &defaults)?;
                if tick.applied {
                    done.push(Happened::Ticked { tick: Box::new(tick) });
                }
            }
            done.extend(record(work, heartbeat, due)?);
            Ok(())
        })?;
        happened.extend(done);
        Ok(happened)
    }
}

/// Whether due times came while nobody was there, behind one that was queued until then. A single one is
/// what the pass came for.
fn left_behind(heartbeat: &Heartbeat, due: &Due, until: Millis, now: Millis) -> bool {
    let paused = schedule::due(heartbeat, Some(until), now, false).is_ok_and(|found| found.skipped.is_some());
    paused && due.at.is_some_and(|at| at <= until)
}

fn about(heartbeat: &Heartbeat, due_at: Option<Millis>, happened: Happened) -> HappenedView {
    HappenedView { heartbeat: heartbeat.id.clone(), root: heartbeat.root.clone(), due_at, happened }
}

/// Whether nobody else has ticked for this due time, or disabled, changed or deleted the heartbeat.
fn still_due(work: &Work, heartbeat: &Heartbeat, due: &Due) -> bool {
    let Some(current) = work.snapshot.heartbeat(&heartbeat.id) else { return false };
    let caught_up = due.at.is_some_and(|at| schedule::caught_up(current, at, work.now));
    current.enabled() && current.rhythm == heartbeat.rhythm && !caught_up
}

fn record_alone(session: &mut Session, heartbeat: &Heartbeat, due: &Due) -> Result<Vec<Happened>, AppError> {
    if due.skipped.is_none() && due.over.is_none() {
        return Ok(Vec::new());
    }
    let mut done = Vec::new();
    session.change("heartbeats run", |work| {
        if still_due(work, heartbeat, due) {
            done = record(work, heartbeat, due)?;
        }
        Ok(())
    })?;
    Ok(done)
}

/// Writes down what a tick was for, what was skipped before it, and whether it was the last.
fn record(work: &mut Work, heartbeat: &Heartbeat, due: &Due) -> Result<Vec<Happened>, AppError> {
    let Some(current) = work.snapshot.heartbeat(&heartbeat.id) else { return Ok(Vec::new()) };
    let mut after = current.clone();
    let mut happened = Vec::new();
    after.last_run = due.at.or(after.last_run);
    if let Some(gap) = &due.skipped {
        after.skipped = after.skipped.saturating_add(gap.count);
        after.gap = Some(gap.clone());
        happened.push(Happened::Skipped { gap: gap.clone() });
    }
    // The tick may have found the root final; then that is why it stops.
    if let Some(reached) = due.over.filter(|_| after.enabled()) {
        let why = if reached == Reached::Once { Halt::Spent } else { Halt::Ceiling };
        let (by, note) = (work.actor.clone(), ending(reached).to_owned());
        after.halted = Some(Halted { why, by, at: work.now, note });
        happened.push(Happened::Over { why: ending(reached) });
    }
    work.apply(&[Primitive::SetHeartbeat { heartbeat: Box::new(after) }])?;
    Ok(happened)
}
