//! A heartbeat or cron entry, as programs read it.

use serde::{Deserialize, Serialize};

use crate::app::tick::TickView;
use crate::app::view::Word;
use crate::model::issue::Millis;
use crate::model::record::{Gap, Heartbeat, Rhythm, Trigger};
use crate::schedule;

/// What ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingView {
    /// When it is over at the latest, in epoch milliseconds.
    pub ends_at: Millis,
    /// How long it goes on each time it is enabled, in milliseconds.
    pub lasts_ms: Millis,
    /// How many due times it has, where that is bounded.
    pub max_ticks: Option<u32>,
}

/// Why it does not beat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaltedView {
    /// `by_hand`, `final`, `ceiling` or `spent`.
    pub why: Word,
    /// Who.
    pub by: String,
    /// When, in epoch milliseconds.
    pub at: Millis,
    /// What there is to say about it.
    pub note: String,
}

/// A heartbeat or cron entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatView {
    /// Its id.
    pub id: String,
    /// `heartbeat` or `cron`.
    pub kind: Word,
    /// The root that it ticks.
    pub root: String,
    /// A name for people.
    pub title: String,
    /// Why it is there.
    pub reason: String,
    /// Whether it beats.
    pub enabled: bool,
    /// Why not, when it does not.
    pub disabled: Option<HaltedView>,
    /// The interval in milliseconds; 0 is only on trigger, null another rhythm.
    pub every_ms: Option<Millis>,
    /// The one moment, in epoch milliseconds.
    pub at_ms: Option<Millis>,
    /// The cron expression.
    pub expr: Option<String>,
    /// Its zone.
    pub tz: Option<String>,
    /// `skip` or `queue`.
    pub overlap: Word,
    /// What ends it.
    pub ceiling: CeilingView,
    /// Since when its due times count, in epoch milliseconds.
    pub anchor: Millis,
    /// When it is due next, in epoch milliseconds.
    pub next_due_at: Option<Millis>,
    /// The due time of the latest tick that recorded something.
    pub last_run_at: Option<Millis>,
    /// How many due times nobody ticked for.
    pub skipped: u64,
    /// The latest gap.
    pub last_gap: Option<Gap>,
    /// The latest trigger.
    pub triggered: Option<Trigger>,
    /// Who made it.
    pub created_by: String,
    /// When it was made, in epoch milliseconds.
    pub created_at: Millis,
}

impl HeartbeatView {
    pub(super) fn of(heartbeat: &Heartbeat, now: Millis) -> Self {
        // What this program cannot read is not due here; whoever runs it is told why.
        let due = schedule::due(heartbeat, None, now, false).ok();
        let (every_ms, at_ms, cron) = match &heartbeat.rhythm {
            Rhythm::Triggered => (Some(0), None, None),
            Rhythm::Every { interval } => (Some(*interval), None, None),
            Rhythm::At { at } => (None, Some(*at), None),
            Rhythm::Cron { expr, zone } => (None, None, Some((expr.clone(), zone.clone()))),
        };
        let (expr, tz) = cron.unzip();
        HeartbeatView {
            id: heartbeat.id.to_string(),
            kind: heartbeat.kind.as_str().into(),
            root: heartbeat.root.to_string(),
            title: heartbeat.title.clone(),
            reason: heartbeat.reason.clone(),
            enabled: heartbeat.enabled(),
            disabled: heartbeat.halted.as_ref().map(|halted| HaltedView {
                why: halted.why.as_str().into(),
                by: halted.by.to_string(),
                at: halted.at,
                note: halted.note.clone(),
            }),
            every_ms,
            at_ms,
            expr,
            tz,
            overlap: heartbeat.overlap.as_str().into(),
            ceiling: CeilingView {
                ends_at: heartbeat.anchor.saturating_add(heartbeat.ceiling.lasts),
                lasts_ms: heartbeat.ceiling.lasts,
                max_ticks: heartbeat.ceiling.ticks,
            },
            anchor: heartbeat.anchor,
            next_due_at: due.and_then(|due| due.next).filter(|_| heartbeat.enabled()),
            last_run_at: heartbeat.last_run,
            skipped: heartbeat.skipped,
            last_gap: heartbeat.gap.clone(),
            triggered: heartbeat.trigger.clone(),
            created_by: heartbeat.created_by.to_string(),
            created_at: heartbeat.created_at,
        }
    }
}

/// What a trigger did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggeredView {
    /// The heartbeat, as it is now.
    #[serde(flatten)]
    pub heartbeat: HeartbeatView,
    /// The tick.
    pub tick: TickView,
}
