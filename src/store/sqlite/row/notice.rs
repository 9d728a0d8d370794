//! The outbox.

use rusqlite::Row;
use rusqlite::types::Value;

use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::record::{Failure, Notice, NoticeId};
use crate::store::StoreError;

pub(in super::super) static NOTICES: Table = Table {
    name: "notices",
    key: &["id"],
    columns: &[
        "id",
        "ask",
        "kind",
        "number",
        "created_at",
        "due_at",
        "sender",
        "attempts",
        "failures",
        "failed_at",
        "failure",
    ],
};

pub(in super::super) fn notice_row(notice: &Notice) -> Result<Vec<Value>, StoreError> {
    let failure = notice.failure.as_ref();
    Ok(vec![
        column::text(notice.id.to_string()),
        column::text(notice.id.ask.as_str()),
        column::text(notice.id.kind.as_str()),
        column::int(notice.id.number)?,
        column::int(notice.created_at)?,
        column::int(notice.due_at)?,
        column::maybe_text(notice.sender.as_ref().map(|sender| sender.as_str())),
        column::int(notice.attempts)?,
        column::int(notice.failures)?,
        failure.map_or(Ok(Value::Null), |failure| column::int(failure.at))?,
        column::maybe_text(failure.map(|failure| &failure.why)),
    ])
}

/// What tells a notice from others.
pub(in super::super) fn notice_key(id: &NoticeId) -> Vec<Value> {
    vec![column::text(id.to_string())]
}

pub(in super::super) fn notice_from(row: &Row<'_>) -> Result<Notice, StoreError> {
    let mut row = Columns::of(row, &NOTICES);
    let id: NoticeId = row.parsed()?;
    (0..3).for_each(|_| row.skip());
    let (created_at, due_at, sender) = (row.int()?, row.int()?, row.maybe_actor()?);
    let (attempts, failures) = (row.int()?, row.int()?);
    let failed_at = row.maybe_int()?;
    let why = row.maybe_text()?.map(str::to_owned);
    let failure = failed_at.zip(why).map(|(at, why)| Failure { at, why });
    Ok(Notice { id, created_at, due_at, sender, attempts, failures, failure })
}
