//! The facts about the outbox: a notice set or ended.

use super::ApplyError;
use crate::model::change::Change;
use crate::model::record::{Notice, NoticeEnd, NoticeId};
use crate::model::snapshot::Snapshot;

/// A notice as it is from now on; no fact when it was so before.
pub(super) fn set(snapshot: &Snapshot, notice: &Notice) -> Result<Vec<Change>, ApplyError> {
    let ask = &notice.id.ask;
    if snapshot.ask(ask).is_none() {
        return Err(ApplyError::NoAsk(ask.clone()));
    }
    let before = snapshot.notice(&notice.id);
    if before == Some(notice) {
        return Ok(Vec::new());
    }
    let before = before.cloned().map(Box::new);
    Ok(vec![Change::NoticeSet { before, after: Box::new(notice.clone()) }])
}

/// A notice less.
pub(super) fn end(snapshot: &Snapshot, id: &NoticeId, end: NoticeEnd) -> Result<Vec<Change>, ApplyError> {
    let notice = snapshot.notice(id).ok_or_else(|| ApplyError::NoNotice(id.clone()))?;
    Ok(vec![Change::NoticeEnded { notice: Box::new(notice.clone()), end }])
}
