//! Sending what is due: taken in one transaction, sent outside of any, marked in another. Whoever dies in
//! between leaves a lease that runs out, and then it is sent again: at least once, with the same id.

use serde::Serialize;

use super::packet::Packet;
use crate::app::config::Notify;
use crate::app::{AppError, Session};
use crate::model::act::notice as act;
use crate::model::issue::Millis;
use crate::model::quote::disturbs;
use crate::model::record::{Failure, Notice, NoticeId};
use crate::model::snapshot::Snapshot;
use crate::model::source::Outbox;

/// How long a sender has beyond the time limit, to be started, ended, and to write down what came of it.
const SLACK: Millis = 60 * 1000;
/// How long nothing else is tried after a failure, at most.
const PAUSE: Millis = 5 * 60 * 1000;
/// How many are sent in one go, at most.
const MOST: usize = 100;
/// How much of a failure is kept, in characters.
const MOST_WHY: usize = 300;

/// What came of one notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The notifier took it.
    Delivered,
    /// It did not, and why.
    Failed(String),
    /// The sender itself was asked to end.
    Stopped,
}

/// One that was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unsent {
    /// Which.
    pub id: String,
    /// Why.
    pub why: String,
}

/// What was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// What was delivered.
    pub delivered: Vec<String>,
    /// What was not; nothing else is tried then.
    pub failed: Option<Unsent>,
    /// When the next is due, in epoch milliseconds.
    pub next_at: Option<Millis>,
}

/// What is to be done about the outbox.
enum Next {
    Empty,
    Later(Millis),
    Now(NoticeId),
}

impl Next {
    /// When that is.
    fn at(&self, now: Millis) -> Option<Millis> {
        match self {
            Next::Empty => None,
            Next::Later(at) => Some(*at),
            Next::Now(_) => Some(now),
        }
    }
}

/// Sends what is due, until one fails, all are sent, or the time limit of one has gone by. Nothing, where no
/// notifier is configured. `send` is called outside of every transaction.
///
/// # Errors
/// When the store cannot be read or written. What `send` says is none.
pub fn send_due(session: &mut Session, send: &mut dyn FnMut(&Packet) -> Delivery) -> Result<Sent, AppError> {
    if !session.config.notify.configured() {
        return Ok(Sent::default());
    }
    // Sending is no part of an operation: a retry sends what is due then.
    let operation = session.operation.take();
    let sent = one_after_the_other(session, send);
    session.operation = operation;
    sent
}

fn one_after_the_other(
    session: &mut Session,
    send: &mut dyn FnMut(&Packet) -> Delivery,
) -> Result<Sent, AppError> {
    let terms = session.config.notify.clone();
    let mut sent = Sent::default();
    let started = session.clock.now();
    for _ in 0..MOST {
        let now = session.clock.now();
        let id = match next(session, &terms, now)? {
            Next::Empty => return Ok(sent),
            Next::Later(at) => return Ok(Sent { next_at: Some(at), ..sent }),
            Next::Now(_) if now.abs_diff(started) >= terms.time_limit.unsigned_abs() => {
                return Ok(Sent { next_at: Some(now), ..sent });
            }
            Next::Now(id) => id,
        };
        let Some((notice, packet)) = take(session, &id, &terms)? else { continue };
        match send(&packet) {
            Delivery::Delivered => {
                session.change("notify deliver", |work| {
                    let ended = act::deliver(&work.snapshot, &notice.id);
                    work.apply(&ended)
                })?;
                sent.delivered.push(notice.id.to_string());
            }
            Delivery::Failed(why) => {
                let why = one_line(&why);
                fail(session, &notice, &why, &terms)?;
                let failed = Some(Unsent { id: notice.id.to_string(), why });
                return Ok(Sent { failed, next_at: next(session, &terms, now)?.at(now), ..sent });
            }
            Delivery::Stopped => {
                session.change("notify stop", |work| {
                    let freed = act::give_back(&work.snapshot, &notice, work.now);
                    work.apply(&freed)
                })?;
                return Ok(sent);
            }
        }
    }
    Ok(Sent { next_at: Some(session.clock.now()), ..sent })
}

/// Looks for the first that is due. While the latest failure waits for its retry, nothing is tried but what
/// somebody named: one notifier serves all, and most likely it would fail again.
fn next(session: &Session, terms: &Notify, now: Millis) -> Result<Next, AppError> {
    session.look(|snapshot| {
        let Some(first) = snapshot.outbox(Outbox::FirstDue, 1).pop() else { return Ok(Next::Empty) };
        if first.due_at == Notice::AT_ONCE {
            return Ok(Next::Now(first.id));
        }
        if !due(&first, terms, now) {
            return Ok(Next::Later(first.due_at));
        }
        let failed = snapshot.outbox(Outbox::LastFailed, 1).pop();
        Ok(failed.and_then(|failed| paused(&failed, now)).map_or(Next::Now(first.id), Next::Later))
    })
}

/// Whether it may be sent. What waits longer than anything can was written before the clock was set back.
fn due(notice: &Notice, terms: &Notify, now: Millis) -> bool {
    let longest = terms.retry_ceiling.max(terms.time_limit.saturating_add(SLACK));
    notice.due_at <= now || notice.due_at > now.saturating_add(longest)
}

/// Whether one waits because another failed.
pub(super) fn held_by_another(snapshot: &Snapshot, notice: &Notice, now: Millis) -> bool {
    let last = snapshot.outbox(Outbox::LastFailed, 2).into_iter().find(|failed| failed.id != notice.id);
    last.and_then(|failed| paused(&failed, now)).is_some()
}

/// Until when nothing is tried because this one failed.
fn paused(failed: &Notice, now: Millis) -> Option<Millis> {
    let failure = failed.failure.as_ref().filter(|failure| failure.at <= now)?;
    Some(failed.due_at.min(failure.at.saturating_add(PAUSE))).filter(|&until| until > now)
}

/// Takes one for this sender, unless somebody else was first.
fn take(session: &mut Session, id: &NoticeId, terms: &Notify) -> Result<Option<(Notice, Packet)>, AppError> {
    let lease = terms.time_limit.saturating_add(SLACK);
    let taken = session.change("notify take", |work| {
        let free = work.snapshot.notice(id).filter(|notice| due(notice, terms, work.now));
        let Some(taken) = free.map(|free| act::take(free, &work.actor, work.now.saturating_add(lease)))
        else {
            return Ok(None);
        };
        let packet = Packet::of(&work.snapshot, &taken);
        work.apply(&[act::set(taken.clone())])?;
        Ok(packet.map(|packet| (taken, packet)))
    })?;
    Ok(taken.value)
}

/// Writes down that it was not delivered, and when it is tried again.
fn fail(session: &mut Session, notice: &Notice, why: &str, terms: &Notify) -> Result<(), AppError> {
    session.change("notify fail", |work| {
        let again_at = work.now.saturating_add(terms.back_off(notice.failures.saturating_add(1)));
        let failure = Failure { at: work.now, why: why.to_owned() };
        let failed = act::fail(&work.snapshot, notice, failure, again_at);
        work.apply(&failed)
    })?;
    Ok(())
}

/// A text as it can be kept and shown: one line, not long, and nothing in it that a terminal obeys.
fn one_line(text: &str) -> String {
    let plain = text.replace(disturbs, " ");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST_WHY) {
        Some((cut, _)) => format!("{}...", &words[..cut]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_it_failed_is_one_short_line_with_nothing_that_a_terminal_obeys() {
        assert_eq!(
            one_line(" it\texited\nwith 3:\u{1b}[31m \u{7}no\0 \u{202e}way"),
            "it exited with 3: [31m no way"
        );
        let long = one_line(&"é".repeat(5_000));
        assert_eq!(long.chars().count(), MOST_WHY + 3);
        assert_eq!(one_line(&"x".repeat(MOST_WHY)), "x".repeat(MOST_WHY));
    }
}
