//! Operations by their names: finding one, and whether the table of them is as the events left it.

use rusqlite::Connection;

use super::check::Finding;
use super::fault::Stopped;
use super::row;
use crate::model::change::Event;
use crate::model::operation::OperationId;

/// The event that recorded a step of an operation.
pub(super) fn find(conn: &Connection, id: &OperationId, step: u32) -> Result<Option<Event>, Stopped> {
    let sql = row::EVENTS.select("WHERE seq = (SELECT seq FROM operations WHERE id = ?1 AND step = ?2)");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query((id.as_str(), step))?;
    match rows.next()? {
        Some(row) => Ok(Some(row::event_from(row)?)),
        None => Ok(None),
    }
}

/// Operations are no part of a snapshot, so they are held against the events by themselves.
pub(super) fn check(conn: &Connection, made: &[(OperationId, u32, u64)]) -> Result<Finding, Stopped> {
    let mut statement = conn.prepare(&row::OPERATIONS.select("ORDER BY seq"))?;
    let mut rows = statement.query(())?;
    let mut due = made.iter();
    while let Some(row) = rows.next()? {
        let stored = row::operation_from(row)?;
        if due.next() != Some(&stored) {
            let (id, step, seq) = stored;
            return Ok(Finding::Fault(format!("step {step} of {id} is not what event {seq} says")));
        }
    }
    Ok(match due.next() {
        None => Finding::Sound(format!("{}, as the events left them", made.len())),
        Some((id, step, seq)) => Finding::Fault(format!("step {step} of {id}, event {seq}, is missing")),
    })
}
