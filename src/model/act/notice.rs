//! The outbox: which facts are to be told to somebody, and what becomes of a notice. Who is told, and how,
//! is no matter of the rules.

use crate::model::change::{Change, Field};
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Millis, Outcome};
use crate::model::primitive::Primitive;
use crate::model::record::{Failure, Notice, NoticeEnd, NoticeId, NoticeKind};
use crate::model::snapshot::Snapshot;

/// What is to be told of a fact. Whatever else is to be told, is told by a line here.
fn told_of<'c>(snapshot: &Snapshot, change: &'c Change) -> Option<(&'c IssueId, NoticeKind, u32)> {
    match change {
        Change::AskOpened { ask } => Some((&ask.id, NoticeKind::Asked, 1)),
        Change::AskReminded { id, duty } => {
            let reminder = duty.reminder?;
            let is_over = duty.due_at == Some(reminder.due);
            let kind = if is_over { NoticeKind::Due } else { NoticeKind::Reminder };
            Some((id, kind, reminder.count))
        }
        Change::AnswerSet { id, after: Some(answer), .. } if answer.by == Actor::engine() => {
            Some((id, NoticeKind::Timeout, 1))
        }
        Change::IssueChanged { id, after, .. } => {
            // An ask that is skipped with no answer went away.
            let skipped = |field: &Field| matches!(field, Field::State(state) if state.outcome() == Some(Outcome::Skipped));
            let unanswered = snapshot.ask(id).is_some_and(|ask| ask.answer.is_none());
            (unanswered && after.iter().any(skipped)).then_some((id, NoticeKind::Moot, 1))
        }
        _ => None,
    }
}

/// Puts what is to be told of these facts into the outbox, to be applied in their transaction.
pub fn caused_by(snapshot: &Snapshot, changes: &[Change], at: Millis) -> Vec<Primitive> {
    let told = changes.iter().filter_map(|change| told_of(snapshot, change));
    let ids = told.map(|(ask, kind, number)| NoticeId { ask: ask.clone(), kind, number });
    let new = ids.filter(|id| snapshot.notice(id).is_none());
    new.map(|id| set(Notice::new(id, at))).collect()
}

/// Gives it to a sender until a moment. Then somebody else may send it.
pub fn take(notice: &Notice, sender: &Actor, until: Millis) -> Notice {
    Notice {
        sender: Some(sender.clone()),
        due_at: until,
        attempts: notice.attempts.saturating_add(1),
        ..notice.clone()
    }
}

/// It was not delivered, and may be tried again from a moment on. Nothing, when by now somebody else sends
/// it.
pub fn fail(snapshot: &Snapshot, sent: &Notice, failure: Failure, again_at: Millis) -> Vec<Primitive> {
    let current = snapshot.notice(&sent.id).filter(|current| current.attempts == sent.attempts);
    let failed = current.map(|current| Notice {
        sender: None,
        due_at: again_at,
        failures: current.failures.saturating_add(1),
        failure: Some(failure),
        ..current.clone()
    });
    failed.map(set).into_iter().collect()
}

/// Whoever was sending it stopped, and nothing is known to be wrong with it. As for [`fail`].
pub fn give_back(snapshot: &Snapshot, sent: &Notice, now: Millis) -> Vec<Primitive> {
    let current = snapshot.notice(&sent.id).filter(|current| current.attempts == sent.attempts);
    let free = current.map(|current| Notice { sender: None, due_at: now, ..current.clone() });
    free.map(set).into_iter().collect()
}

/// It was delivered: whoever else sends it by now does so in vain. Nothing, when it has ended already.
pub fn deliver(snapshot: &Snapshot, id: &NoticeId) -> Vec<Primitive> {
    let current = snapshot.notice(id).map(|_| end(id, NoticeEnd::Delivered));
    current.into_iter().collect()
}

/// Lets it be tried again, as if it had never failed; an empty list when nothing keeps it, or when somebody
/// is sending it right now. `held` says that what another failed of keeps it, too: then it goes in front.
pub fn retry(notice: &Notice, held: bool, now: Millis) -> Vec<Primitive> {
    if notice.sender.is_some() && notice.due_at > now {
        return Vec::new();
    }
    let due_at = if held { Notice::AT_ONCE } else { notice.due_at.min(now) };
    let after = Notice { sender: None, due_at, failures: 0, failure: None, ..notice.clone() };
    if after == *notice { Vec::new() } else { vec![set(after)] }
}

/// Gives it up.
pub fn give_up(notice: &Notice) -> Primitive {
    end(&notice.id, NoticeEnd::Dropped)
}

/// Records it as it is from now on.
pub fn set(notice: Notice) -> Primitive {
    Primitive::SetNotice { notice: Box::new(notice) }
}

fn end(id: &NoticeId, end: NoticeEnd) -> Primitive {
    Primitive::EndNotice { id: id.clone(), end }
}
