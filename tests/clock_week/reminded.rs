//! When somebody must have been reminded, and when nobody's answer is due: worked out from what was wished
//! for and from when each root was ticked, and held against what the store has.

use std::collections::BTreeMap;

use roundgate::model::change::{Change, Event};
use roundgate::model::duty::{AskPolicy, AskTimeout};
use roundgate::model::id::Actor;
use roundgate::model::issue::Millis;
use roundgate::model::record::AskKind;

use crate::{DAY, HOUR};

/// What somebody wished for an ask, before there was one.
#[derive(Debug, Clone, Copy)]
pub struct Wish {
    pub due: Option<Millis>,
    pub every: Option<Millis>,
    pub timeout: Option<Millis>,
}

impl Wish {
    /// One of some, by a number.
    pub fn of(number: u8) -> Self {
        let pick = |n: u8, of: [Option<Millis>; 3]| of[usize::from(n % 3)];
        Wish {
            due: pick(number, [None, Some(3 * HOUR), Some(20 * HOUR + 1)]),
            every: pick(number / 3, [None, Some(5 * HOUR), Some(DAY + HOUR)]),
            timeout: pick(number / 9, [Some(20 * HOUR), Some(2 * DAY + 7), None]),
        }
    }

    pub fn policy(self) -> AskPolicy {
        AskPolicy {
            assignee: "hugh".parse().ok(),
            due: self.due,
            remind: self.every,
            timeout: self.timeout.map(|after| AskTimeout { after, choice: "skip".to_owned() }),
        }
    }
}

/// A tick of a root, and what it did: a word and an ask, or nothing.
#[derive(Debug, Clone)]
pub struct Tick {
    pub at: Millis,
    pub root: String,
    pub did: Option<(String, String)>,
}

/// An ask as it must be.
#[derive(Debug)]
struct Expected {
    root: String,
    asked: Millis,
    wish: Wish,
    reminded: u32,
    /// How many moments at which somebody was to be reminded are behind it.
    behind: i64,
    answered: bool,
}

impl Expected {
    /// The moment at which somebody is to be reminded for the n-th time, counted from 0.
    fn moment(&self, n: i64) -> Option<Millis> {
        match (self.wish.due, self.wish.every) {
            (Some(due), None) => Some(self.asked + due).filter(|_| n == 0),
            (Some(due), Some(every)) => Some(self.asked + due + n * every),
            (None, every) => Some(self.asked + (n + 1) * every?),
        }
    }

    fn overdue(&self, now: Millis) -> bool {
        !self.answered && self.moment(self.behind).is_some_and(|moment| moment <= now)
    }

    fn over(&self, now: Millis) -> bool {
        !self.answered && self.wish.timeout.is_some_and(|after| self.asked + after <= now)
    }

    /// Somebody is reminded now: of which moment, how many were skipped, and whether that was the due time.
    fn remind(&mut self, now: Millis) -> (Millis, u64, bool) {
        let mut skipped = 0;
        while self.moment(self.behind + 1).is_some_and(|next| next <= now) {
            self.behind += 1;
            skipped += 1;
        }
        let moment = self.moment(self.behind).unwrap();
        self.behind += 1;
        self.reminded += 1;
        (moment, skipped, self.wish.due.is_some_and(|due| self.asked + due == moment))
    }
}

/// Everything that is to be told, as it follows from the wishes and the ticks.
#[derive(Debug, Default)]
pub struct Followed {
    /// The ids of the notifications.
    pub told: Vec<String>,
    pub reminders: usize,
    pub skipped: u64,
    pub timeouts: usize,
    /// What the store has otherwise than it follows.
    pub complaints: Vec<String>,
}

/// Follows the ticks. A wish is under the issue that was made: the ask itself, or what failed.
pub fn follow(events: &[Event], ticks: &[Tick], wishes: &BTreeMap<String, (String, Wish)>) -> Followed {
    let mut asks: BTreeMap<String, Expected> = BTreeMap::new();
    let mut followed = Followed::default();
    for event in events {
        let Change::AskOpened { ask } = &event.change else { continue };
        let about = if ask.kind == AskKind::Question { Some(&ask.id) } else { ask.about.as_ref() };
        let (root, wish) = wishes[about.unwrap().as_str()].clone();
        let expected = Expected { root, asked: event.at, wish, reminded: 0, behind: 0, answered: false };
        asks.insert(ask.id.to_string(), expected);
        followed.told.push(format!("{}:asked:1", ask.id));
    }
    let mut found: BTreeMap<(Millis, String), &Change> = BTreeMap::new();
    for event in events {
        let (id, engines) = match &event.change {
            Change::AskReminded { id, .. } => (id, true),
            Change::AnswerSet { id, after: Some(answer), .. } => (id, answer.by == Actor::engine()),
            _ => continue,
        };
        if engines && found.insert((event.at, id.to_string()), &event.change).is_some() {
            followed.complaints.push(format!("{id} twice at {}", event.at));
        }
    }
    for tick in ticks {
        let theirs = |ask: &&Expected| ask.root == tick.root && ask.asked <= tick.at;
        let over = asks.values().filter(theirs).any(|ask| ask.over(tick.at));
        let overdue = asks.values().filter(theirs).any(|ask| ask.overdue(tick.at));
        let (did, id) = tick.did.clone().unwrap_or_default();
        let recorded = found.remove(&(tick.at, id.clone()));
        match (did.as_str(), asks.get_mut(&id), recorded) {
            ("remind", Some(ask), Some(Change::AskReminded { duty, .. }))
                if !over && ask.overdue(tick.at) =>
            {
                let (due, skipped, is_due) = ask.remind(tick.at);
                let reminder = duty.reminder.unwrap();
                if (reminder.due, reminder.skipped, reminder.count) != (due, skipped, ask.reminded) {
                    followed.complaints.push(format!("{id} is reminded as {reminder:?}, not of {due}"));
                }
                let kind = if is_due { "due" } else { "reminder" };
                followed.told.push(format!("{id}:{kind}:{}", ask.reminded));
                followed.reminders += 1;
                followed.skipped += skipped;
            }
            ("time_out", Some(ask), Some(Change::AnswerSet { .. })) if ask.over(tick.at) => {
                ask.answered = true;
                followed.told.push(format!("{id}:timeout:1"));
                followed.timeouts += 1;
            }
            ("remind" | "time_out", ..) => followed.complaints.push(format!("no reason for {tick:?}")),
            // Reminders come last: only a tick with nothing to do shows that none was due.
            ("", ..) if over || overdue => followed.complaints.push(format!("nothing came of {tick:?}")),
            _ => {}
        }
    }
    followed.complaints.extend(found.keys().map(|(at, id)| format!("{id} at {at} by no tick")));
    followed
}
