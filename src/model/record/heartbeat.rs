//! What the clock remembers: which roots are ticked when, how far that went, and why it stopped. One
//! record serves heartbeats and cron entries. Data only: due times are computed in `schedule`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;

/// How every heartbeat's id begins.
pub const HEARTBEAT_PREFIX: &str = "hb-";
/// Longest accepted heartbeat id, in bytes.
const MAX_BYTES: usize = 32;

/// The id of a heartbeat or cron entry: `hb-` plus a short random text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HeartbeatId(Arc<str>);

/// A text that is no heartbeat's id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a heartbeat's id is hb- and small letters and digits, {MAX_BYTES} bytes at most")]
pub struct HeartbeatIdError;

impl HeartbeatId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HeartbeatId {
    type Err = HeartbeatIdError;

    fn from_str(text: &str) -> Result<Self, HeartbeatIdError> {
        let rest = text.strip_prefix(HEARTBEAT_PREFIX).ok_or(HeartbeatIdError)?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if rest.is_empty() || text.len() > MAX_BYTES || !rest.chars().all(fits) {
            return Err(HeartbeatIdError);
        }
        Ok(HeartbeatId(text.into()))
    }
}

impl TryFrom<String> for HeartbeatId {
    type Error = HeartbeatIdError;

    fn try_from(text: String) -> Result<Self, HeartbeatIdError> {
        text.parse()
    }
}

impl From<HeartbeatId> for String {
    fn from(id: HeartbeatId) -> String {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for HeartbeatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which of the two it is. A root has at most one heartbeat, and as many cron entries as it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatKind {
    /// The root's own clock; while it is disabled, `tick --all` leaves the root alone.
    Heartbeat,
    /// A further one, at certain times.
    Cron,
}

impl HeartbeatKind {
    /// The kind's word.
    pub fn as_str(self) -> &'static str {
        match self {
            HeartbeatKind::Heartbeat => "heartbeat",
            HeartbeatKind::Cron => "cron",
        }
    }
}

/// When it is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rhythm", rename_all = "snake_case")]
pub enum Rhythm {
    /// Never by itself, only on trigger.
    Triggered,
    /// At the anchor plus n times the interval, in milliseconds.
    Every {
        /// The interval; more than 0.
        interval: Millis,
    },
    /// Once.
    At {
        /// The moment.
        at: Millis,
    },
    /// Whenever a local time fits.
    Cron {
        /// The expression: minute, hour, day, month, day of the week.
        expr: String,
        /// The zone's name, such as `Europe/Berlin`.
        zone: String,
    },
}

/// What ends it, so that nothing goes on for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ceiling {
    /// How long after the anchor it goes on, in milliseconds.
    pub lasts: Millis,
    /// How many due times after the anchor it has, where that is bounded, too.
    pub ticks: Option<u32>,
}

/// What happens to due times that come while the tick before is still at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// One tick for all of them; the others are recorded as skipped.
    Skip,
    /// One tick for each of them, one after the other.
    Queue,
}

impl Overlap {
    /// The policy's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Overlap::Skip => "skip",
            Overlap::Queue => "queue",
        }
    }
}

/// Why it does not beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Halt {
    /// Somebody disabled it.
    ByHand,
    /// Its root is final. A reopening below the root enables it again.
    Final,
    /// It reached its ceiling.
    Ceiling,
    /// It was due once, and that was it.
    Spent,
}

impl Halt {
    /// The reason's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Halt::ByHand => "by_hand",
            Halt::Final => "final",
            Halt::Ceiling => "ceiling",
            Halt::Spent => "spent",
        }
    }
}

/// Since when it does not beat, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halted {
    /// Why.
    pub why: Halt,
    /// Who, or the engine.
    pub by: Actor,
    /// When.
    pub at: Millis,
    /// What there is to say about it.
    pub note: String,
}

/// Due times at which nobody ticked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// How many.
    pub count: u64,
    /// Whether there were more than anybody wants to count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The first of them.
    pub first: Millis,
    /// The last of them.
    pub last: Millis,
}

/// A tick that somebody wanted at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Millis,
    /// What for.
    pub reason: String,
}

/// A heartbeat or a cron entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Its id.
    pub id: HeartbeatId,
    /// Which of the two it is.
    pub kind: HeartbeatKind,
    /// The root that it ticks.
    pub root: IssueId,
    /// A name for people.
    pub title: String,
    /// Why it is there.
    pub reason: String,
    /// When it is due.
    pub rhythm: Rhythm,
    /// What ends it.
    pub ceiling: Ceiling,
    /// What happens to due times that overtake a tick.
    pub overlap: Overlap,
    /// Since when its due times count: when it was made, enabled, or given another rhythm.
    pub anchor: Millis,
    /// Why it does not beat, when it does not.
    pub halted: Option<Halted>,
    /// The latest due time that a recorded tick was for. Idle ticks record nothing.
    pub last_run: Option<Millis>,
    /// How many due times were skipped in all.
    pub skipped: u64,
    /// The latest gap.
    pub gap: Option<Gap>,
    /// The latest trigger.
    pub trigger: Option<Trigger>,
    /// Who made it.
    pub created_by: Actor,
    /// When it was made.
    pub created_at: Millis,
}

impl Heartbeat {
    /// Whether it beats.
    pub fn enabled(&self) -> bool {
        self.halted.is_none()
    }

    /// Whether ticks over the whole store leave its root alone: the root's own heartbeat was disabled by
    /// hand, or reached its ceiling.
    pub fn silences_root(&self) -> bool {
        let stopped =
            self.halted.as_ref().is_some_and(|halted| matches!(halted.why, Halt::ByHand | Halt::Ceiling));
        self.kind == HeartbeatKind::Heartbeat && stopped
    }

    /// Lets it begin anew at a moment.
    pub fn start(&mut self, at: Millis) {
        self.halted = None;
        self.anchor = at;
        self.last_run = None;
    }
}
