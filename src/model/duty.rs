//! Who is to answer an ask, by when, and what happens should nobody: what a scope wants of the asks in it,
//! and what an ask has become of that. Data and arithmetic; no clock.

use serde::{Deserialize, Serialize};

use super::id::Actor;
use super::issue::Millis;

/// What happens to an ask that nobody answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskTimeout {
    /// How long after it was asked, in milliseconds; 0 is never.
    pub after: Millis,
    /// The choice that is then made.
    pub choice: String,
}

impl AskTimeout {
    /// An ask waits for as long as it takes.
    pub fn never() -> Self {
        AskTimeout { after: 0, choice: String::new() }
    }
}

/// What an issue wants of the asks in it. What is not set, the nearest ancestor that sets it decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskPolicy {
    /// Who is to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Actor>,
    /// How long there is for an answer, in milliseconds; 0 is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Millis>,
    /// The time between two reminders, in milliseconds; 0 is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remind: Option<Millis>,
    /// What happens to an ask that nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<AskTimeout>,
}

impl AskPolicy {
    /// Whether it wants nothing.
    pub fn is_empty(&self) -> bool {
        *self == AskPolicy::default()
    }

    /// This, and what it leaves open from another.
    pub fn or(self, other: &AskPolicy) -> AskPolicy {
        AskPolicy {
            assignee: self.assignee.or_else(|| other.assignee.clone()),
            due: self.due.or(other.due),
            remind: self.remind.or(other.remind),
            timeout: self.timeout.or_else(|| other.timeout.clone()),
        }
    }
}

/// The choice that is made should nobody answer by then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fallback {
    /// When.
    pub at: Millis,
    /// Which.
    pub choice: String,
    /// Since when it is so; 0 is since the ask is there.
    #[serde(default, skip_serializing_if = "unknown")]
    pub since: Millis,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn unknown(since: &Millis) -> bool {
    *since == 0
}

/// The latest reminder of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// How many there were, this one among them.
    pub count: u32,
    /// The moment it was due.
    pub due: Millis,
    /// How many were due before it and never came: nobody ticked.
    pub skipped: u64,
}

/// Who is to answer one ask, and by when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duty {
    /// Who is to answer. Anybody may.
    pub assignee: Option<Actor>,
    /// Since when: reminders count from here where it is never due.
    pub since: Millis,
    /// When it is due.
    pub due_at: Option<Millis>,
    /// The time between two reminders, in milliseconds.
    pub remind_every: Option<Millis>,
    /// The choice that is made should nobody answer.
    pub default: Option<Fallback>,
    /// The latest reminder of this rhythm.
    pub reminder: Option<Reminder>,
    /// How many reminders there were in others before.
    #[serde(default, skip_serializing_if = "none_yet")]
    pub earlier: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn none_yet(reminders: &u32) -> bool {
    *reminders == 0
}

impl Duty {
    /// Nothing but a beginning.
    pub fn since(since: Millis) -> Self {
        Duty {
            assignee: None,
            since,
            due_at: None,
            remind_every: None,
            default: None,
            reminder: None,
            earlier: 0,
        }
    }

    /// How many reminders there were, in all rhythms: none has the number of another.
    pub fn reminders(&self) -> u32 {
        self.reminder.map_or(self.earlier, |last| last.count)
    }

    /// Lets reminders begin anew.
    pub fn begin_anew(&mut self, now: Millis) {
        self.earlier = self.reminders();
        self.since = now;
        self.reminder = None;
    }

    /// Whether there is anything to remember of it.
    pub fn is_empty(&self) -> bool {
        *self == Duty::since(self.since)
    }

    /// The first moment at which somebody is to be reminded: when it is due, or one interval after it was
    /// asked.
    fn first_reminder(&self) -> Option<Millis> {
        self.due_at.or_else(|| Some(self.since.saturating_add(self.remind_every?)))
    }

    /// When the next reminder is due.
    pub fn next_reminder(&self) -> Option<Millis> {
        match (self.reminder, self.remind_every) {
            (None, _) => self.first_reminder(),
            (Some(last), Some(every)) => Some(last.due.saturating_add(every)),
            (Some(_), None) => None,
        }
    }

    /// The reminder that is due by now. Of several it is the latest, and it counts the others as skipped.
    pub fn due_reminder(&self, now: Millis) -> Option<Reminder> {
        let first = self.next_reminder().filter(|&due| due <= now)?;
        let more = self.remind_every.filter(|&every| every > 0).map_or(0, |every| (now - first) / every);
        let skipped = u64::try_from(more).unwrap_or(0);
        let due = first.saturating_add(more.saturating_mul(self.remind_every.unwrap_or(0)));
        Some(Reminder { count: self.reminders().saturating_add(1), due, skipped })
    }

    /// When there is something to do about it next.
    pub fn next(&self) -> Option<Millis> {
        let timeout = self.default.as_ref().map(|default| default.at);
        [self.next_reminder(), timeout].into_iter().flatten().min()
    }

    /// The same after its time stood still from one moment to another. What was said in between is later
    /// by what was left of that.
    pub fn later(&self, from: Millis, until: Millis) -> Duty {
        let stood = |since: Millis| until.saturating_sub(from.max(since)).max(0);
        let later = |at: Millis| at.saturating_add(stood(self.since));
        let default = self.default.as_ref().map(|default| Fallback {
            at: default.at.saturating_add(stood(default.since)),
            since: if default.since == 0 { 0 } else { default.since.saturating_add(stood(default.since)) },
            ..default.clone()
        });
        Duty {
            since: later(self.since),
            due_at: self.due_at.map(later),
            default,
            reminder: self.reminder.map(|last| Reminder { due: later(last.due), ..last }),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn duty(due_at: Option<Millis>, remind_every: Option<Millis>) -> Duty {
        Duty { due_at, remind_every, ..Duty::since(1_000) }
    }

    fn reminded(mut duty: Duty, now: Millis) -> (Duty, Option<Reminder>) {
        let reminder = duty.due_reminder(now);
        duty.reminder = reminder.or(duty.reminder);
        (duty, reminder)
    }

    #[test]
    fn one_that_is_due_is_reminded_of_once_or_once_an_interval() {
        let (once, first) = reminded(duty(Some(5_000), None), 5_000);
        assert_eq!(first, Some(Reminder { count: 1, due: 5_000, skipped: 0 }));
        assert_eq!(once.next_reminder(), None);
        let (often, _) = reminded(duty(Some(5_000), Some(100)), 5_050);
        assert_eq!((often.next_reminder(), often.due_reminder(5_099)), (Some(5_100), None));
        let (_, second) = reminded(often, 5_100);
        assert_eq!(second, Some(Reminder { count: 2, due: 5_100, skipped: 0 }));
    }

    #[test]
    fn one_that_is_never_due_is_reminded_of_from_its_beginning() {
        assert_eq!(duty(None, Some(100)).next_reminder(), Some(1_100));
        assert_eq!(duty(None, None).next_reminder(), None);
    }

    #[test]
    fn after_a_pause_of_the_machine_there_is_one_reminder_and_the_others_are_counted() {
        let (after, found) = reminded(duty(None, Some(100)), 1_499);
        assert_eq!(found, Some(Reminder { count: 1, due: 1_400, skipped: 3 }));
        assert_eq!(after.next_reminder(), Some(1_500));
    }

    #[test]
    fn what_stands_still_is_later_by_that_and_keeps_its_rhythm() {
        let default = Some(Fallback { at: 9_000, choice: "skip".to_owned(), since: 1_000 });
        let (begun, _) = reminded(Duty { default, ..duty(Some(5_000), Some(100)) }, 5_000);
        let later = begun.later(6_000, 6_050);
        assert_eq!((later.next_reminder(), later.due_at, later.since), (Some(5_150), Some(5_050), 1_050));
        assert_eq!(later.default.unwrap().at, 9_050);
    }

    #[test]
    fn what_was_said_while_time_stood_still_is_later_by_the_rest() {
        let default = Some(Fallback { at: 9_000, choice: "skip".to_owned(), since: 1_030 });
        let later = Duty { default, ..duty(Some(5_000), None) }.later(900, 1_050);
        assert_eq!((later.due_at, later.default.unwrap().at), (Some(5_050), 9_020));
    }

    #[test]
    fn a_new_rhythm_goes_on_counting() {
        let (mut often, _) = reminded(duty(Some(5_000), Some(100)), 5_000);
        often.begin_anew(6_000);
        often.due_at = Some(7_000);
        assert_eq!(often.due_reminder(7_000), Some(Reminder { count: 2, due: 7_000, skipped: 0 }));
    }
}
