//! Heartbeats and cron entries: made, listed, changed, enabled, disabled, triggered, deleted.

use super::view::{HeartbeatView, TriggeredView};
use crate::app::due::ahead;
use crate::app::session::{Work, resolve_root};
use crate::app::{AppError, Changed, Session, tick};
use crate::model::act::heartbeat as act;
use crate::model::frontier::List;
use crate::model::issue::{Millis, check_text};
use crate::model::primitive::Primitive;
use crate::model::record::{
    Ceiling, HEARTBEAT_PREFIX, Heartbeat, HeartbeatId, HeartbeatKind, Overlap, Rhythm, Trigger,
};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::schedule::{self, ScheduleError};

/// The interval of a heartbeat unless told otherwise.
pub const INTERVAL: Millis = 15_000;
/// The shortest interval.
pub const SHORTEST: Millis = 1_000;
/// How long a heartbeat goes on unless told otherwise: 90 days.
pub const HEARTBEAT_LASTS: Millis = 90 * 24 * 60 * 60 * 1000;
/// How long a cron entry goes on unless told otherwise: 366 days.
pub const CRON_LASTS: Millis = 366 * 24 * 60 * 60 * 1000;

/// When something is to be due, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// Each so many milliseconds, [`SHORTEST`] at least; 0 is only on trigger.
    Every(Millis),
    /// Once.
    At {
        /// The moment, or a local time.
        text: String,
        /// The zone of a local time; otherwise UTC.
        zone: Option<String>,
    },
    /// Whenever a local time fits.
    Cron {
        /// The expression.
        expr: String,
        /// Its zone; otherwise the one it had, or UTC.
        zone: Option<String>,
    },
    /// At the same local times of another zone.
    Zone(String),
}

/// What is wanted of a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct New {
    /// Which of the two.
    pub kind: HeartbeatKind,
    /// The root, or an issue below it.
    pub root: String,
    /// A name; otherwise the root's title.
    pub title: Option<String>,
    /// Why it is there.
    pub reason: String,
    /// When it is due.
    pub when: When,
    /// How long it goes on, in milliseconds.
    pub lasts: Option<Millis>,
    /// How many due times it has.
    pub max_ticks: Option<u32>,
    /// What happens to due times that overtake a tick.
    pub overlap: Overlap,
}

/// What is to be different.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Update {
    /// Another name.
    pub title: Option<String>,
    /// Another reason.
    pub reason: Option<String>,
    /// Another rhythm.
    pub when: Option<When>,
    /// Another length, in milliseconds.
    pub lasts: Option<Millis>,
    /// Another number of due times.
    pub max_ticks: Option<u32>,
    /// Another policy.
    pub overlap: Option<Overlap>,
}

fn rhythm(when: When, before: Option<&Rhythm>, now: Millis) -> Result<Rhythm, AppError> {
    let (known, kept) = match before {
        Some(Rhythm::Cron { expr, zone }) => (Some(expr), zone.as_str()),
        _ => (None, "UTC"),
    };
    Ok(match when {
        When::Every(0) => Rhythm::Triggered,
        When::Every(interval) if interval < SHORTEST => return Err(ScheduleError::TooShort(interval).into()),
        When::Every(interval) => Rhythm::Every { interval },
        When::At { text, zone } => Rhythm::At { at: ahead(&text, zone.as_deref(), now)? },
        When::Cron { expr, zone } => {
            Rhythm::Cron { expr: expr.trim().to_owned(), zone: zone.unwrap_or_else(|| kept.to_owned()) }
        }
        When::Zone(zone) => {
            let expr = known.ok_or_else(|| AppError::Usage("only local times have a zone".to_owned()))?;
            Rhythm::Cron { expr: expr.clone(), zone }
        }
    })
}

/// Makes one.
///
/// # Errors
/// When the rhythm makes no sense, the root is final, or has a heartbeat already.
pub fn create(session: &mut Session, new: New) -> Result<Changed<HeartbeatView>, AppError> {
    session.change(&format!("{} create", group(new.kind)), |work| {
        let rhythm = rhythm(new.when, None, work.now)?;
        let root = resolve_root(&work.snapshot, &new.root)?;
        let title = work.snapshot.graph().get(&root).map(|issue| issue.title.clone()).unwrap_or_default();
        let lasts = match new.kind {
            HeartbeatKind::Heartbeat => HEARTBEAT_LASTS,
            HeartbeatKind::Cron => CRON_LASTS,
        };
        let heartbeat = Heartbeat {
            id: new_id(work),
            kind: new.kind,
            root,
            title: new.title.unwrap_or(title),
            reason: new.reason,
            rhythm,
            ceiling: Ceiling { lasts: new.lasts.unwrap_or(lasts), ticks: new.max_ticks },
            overlap: new.overlap,
            anchor: work.now,
            halted: None,
            last_run: None,
            skipped: 0,
            gap: None,
            trigger: None,
            created_by: work.actor.clone(),
            created_at: work.now,
        };
        schedule::check(&heartbeat, work.now)?;
        comes(&heartbeat, work.now)?;
        let id = heartbeat.id.clone();
        work.apply(&act::create(&work.snapshot, heartbeat)?)?;
        shown(work, &id)
    })
}

/// Refuses what would be over before it is due for the first time.
fn comes(heartbeat: &Heartbeat, now: Millis) -> Result<(), AppError> {
    let never = schedule::due(heartbeat, None, now, false)?.next.is_none();
    match heartbeat.rhythm {
        Rhythm::Every { .. } | Rhythm::Cron { .. } if never => Err(ScheduleError::OverBefore.into()),
        _ => Ok(()),
    }
}

/// How a kind's group of commands is called.
fn group(kind: HeartbeatKind) -> &'static str {
    match kind {
        HeartbeatKind::Heartbeat => "heartbeats",
        HeartbeatKind::Cron => "cron",
    }
}

fn new_id(work: &mut Work) -> HeartbeatId {
    loop {
        let issue = work.new_id();
        let random = issue.as_str().trim_start_matches("rg-");
        if let Ok(id) = format!("{HEARTBEAT_PREFIX}{random}").parse::<HeartbeatId>()
            && work.snapshot.heartbeat(&id).is_none()
        {
            return id;
        }
    }
}

/// The one that an id, a unique prefix, or an issue of its root names.
fn resolve(snapshot: &Snapshot, kind: HeartbeatKind, text: &str) -> Result<Heartbeat, AppError> {
    let mut found = if text.starts_with(HEARTBEAT_PREFIX) {
        let exact = text.parse().ok().and_then(|id| snapshot.heartbeat(&id));
        exact.map_or_else(|| starting_with(snapshot, text), |exact| vec![exact])
    } else {
        snapshot.heartbeats_of(&resolve_root(snapshot, text)?)
    };
    found.retain(|heartbeat| heartbeat.kind == kind);
    match found.as_slice() {
        [] => {
            let kind = match kind {
                HeartbeatKind::Heartbeat => "heartbeat",
                HeartbeatKind::Cron => "cron entry",
            };
            let text = text.chars().take(60).collect();
            Err(Refusal::NoHeartbeat { kind, text }.into())
        }
        [one] => Ok((*one).clone()),
        many => Err(AppError::Ambiguous {
            prefix: text.to_owned(),
            candidates: many.iter().take(8).map(|heartbeat| heartbeat.id.to_string()).collect(),
        }),
    }
}

fn starting_with<'s>(snapshot: &'s Snapshot, text: &str) -> Vec<&'s Heartbeat> {
    let mut found = snapshot.heartbeats_on(List::Clocked, None);
    found.retain(|heartbeat| heartbeat.id.as_str().starts_with(text));
    found
}

fn shown(work: &Work, id: &HeartbeatId) -> Result<HeartbeatView, AppError> {
    let found = work.snapshot.heartbeat(id).map(|heartbeat| HeartbeatView::of(heartbeat, work.now));
    found.ok_or_else(|| Refusal::NoHeartbeat { kind: "heartbeat", text: id.to_string() }.into())
}

/// All of a kind, by id: everywhere or of one root, enabled, disabled or both.
///
/// # Errors
/// When the root is not there.
pub fn list(
    session: &Session,
    kind: HeartbeatKind,
    root: Option<&str>,
    enabled: Option<bool>,
) -> Result<Vec<HeartbeatView>, AppError> {
    session.look(|snapshot| {
        let mut found = match root {
            Some(text) => snapshot.heartbeats_of(&resolve_root(snapshot, text)?),
            None => snapshot.heartbeats_on(List::Clocked, None),
        };
        found.retain(|heartbeat| {
            heartbeat.kind == kind && enabled.is_none_or(|enabled| enabled == heartbeat.enabled())
        });
        let now = session.clock.now();
        Ok(found.into_iter().map(|heartbeat| HeartbeatView::of(heartbeat, now)).collect())
    })
}

/// One of them.
///
/// # Errors
/// When it is not there.
pub fn get(session: &Session, kind: HeartbeatKind, text: &str) -> Result<HeartbeatView, AppError> {
    let heartbeat = session.look(|snapshot| resolve(snapshot, kind, text))?;
    Ok(HeartbeatView::of(&heartbeat, session.clock.now()))
}

/// Finds one, and does what `act` says.
fn alter(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
    verb: &str,
    act: impl FnOnce(&Work, &Heartbeat) -> Result<Vec<Primitive>, AppError>,
) -> Result<Changed<HeartbeatView>, AppError> {
    session.change(&format!("{} {verb}", group(kind)), |work| {
        let heartbeat = resolve(&work.snapshot, kind, text)?;
        let primitives = act(work, &heartbeat)?;
        work.apply(&primitives)?;
        shown(work, &heartbeat.id)
    })
}

/// Changes one.
///
/// # Errors
/// When it is not there, or would make no sense.
pub fn update(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
    update: Update,
) -> Result<Changed<HeartbeatView>, AppError> {
    alter(session, kind, text, "update", |work, before| {
        let other = update.when.map(|when| rhythm(when, Some(&before.rhythm), work.now)).transpose()?;
        let ceiling = Ceiling {
            lasts: update.lasts.unwrap_or(before.ceiling.lasts),
            ticks: update.max_ticks.or(before.ceiling.ticks),
        };
        let after = Heartbeat {
            title: update.title.unwrap_or_else(|| before.title.clone()),
            reason: update.reason.unwrap_or_else(|| before.reason.clone()),
            rhythm: other.unwrap_or_else(|| before.rhythm.clone()),
            overlap: update.overlap.unwrap_or(before.overlap),
            ceiling,
            ..before.clone()
        };
        schedule::check(&after, work.now)?;
        if after.rhythm != before.rhythm {
            comes(&Heartbeat { anchor: work.now, last_run: None, ..after.clone() }, work.now)?;
        }
        Ok(act::update(before, after, work.now)?)
    })
}

/// Lets one beat, from now on.
///
/// # Errors
/// When it is not there, its root is final, or its one moment is over.
pub fn enable(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
) -> Result<Changed<HeartbeatView>, AppError> {
    alter(session, kind, text, "enable", |work, heartbeat| {
        Ok(act::enable(&work.snapshot, heartbeat, work.now)?)
    })
}

/// Keeps one from beating.
///
/// # Errors
/// When it is not there.
pub fn disable(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
    note: &str,
) -> Result<Changed<HeartbeatView>, AppError> {
    alter(session, kind, text, "disable", |work, heartbeat| {
        Ok(act::disable(heartbeat, &work.actor, work.now, note)?)
    })
}

/// Takes one away, and gives it as it was. Its history stays.
///
/// # Errors
/// When it is not there.
pub fn delete(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
) -> Result<Changed<HeartbeatView>, AppError> {
    session.change(&format!("{} delete", group(kind)), |work| {
        let heartbeat = resolve(&work.snapshot, kind, text)?;
        work.apply(&act::remove(&heartbeat.id))?;
        Ok(HeartbeatView { next_due_at: None, ..HeartbeatView::of(&heartbeat, work.now) })
    })
}

/// One tick of its root, now, whether or not it is enabled and due. Who wanted it is kept.
///
/// # Errors
/// When it is not there, or the tick fails.
pub fn trigger(
    session: &mut Session,
    kind: HeartbeatKind,
    text: &str,
    reason: &str,
) -> Result<TriggeredView, AppError> {
    check_text("reason", reason).map_err(Refusal::from)?;
    let defaults = session.config.bounds.clone();
    let done = session.change(&format!("{} trigger", group(kind)), |work| {
        let heartbeat = resolve(&work.snapshot, kind, text)?;
        let trigger = Trigger { by: work.actor.clone(), at: work.now, reason: reason.to_owned() };
        let root = resolve_root(&work.snapshot, heartbeat.root.as_str())?;
        let id = heartbeat.id.clone();
        let triggered = Heartbeat { trigger: Some(trigger), ..heartbeat };
        work.apply(&[Primitive::SetHeartbeat { heartbeat: Box::new(triggered) }])?;
        let tick = tick::act(work, &root, &defaults)?;
        Ok(TriggeredView { heartbeat: shown(work, &id)?, tick })
    })?;
    Ok(done.value)
}
