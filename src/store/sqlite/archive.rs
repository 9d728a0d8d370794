//! Archives: files with whole events, as they were before their bulk was moved out of the store. One JSON
//! object a line, in the order of the events. Each line can be held against the chain.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chain::{Hash, hex};
use super::column;
use super::fault::{Stopped, explain_io};
use super::load;
use crate::model::change::Change;
use crate::model::compaction::{Compaction, thin};
use crate::store::StoreError;

/// The largest archive that is read back, in bytes.
const LARGEST: u64 = 4 << 30;

/// One event as it was written, to the letter: its hash is a hash of this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub seq: i64,
    pub at: i64,
    pub actor: String,
    pub cause: String,
    pub tick: Option<i64>,
    pub subject: Option<String>,
    pub change: String,
}

impl Line {
    /// The columns of a row of events that are hashed, in their order.
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<Line> {
        Ok(Line {
            seq: row.get(0)?,
            at: row.get(1)?,
            actor: row.get(2)?,
            cause: row.get(3)?,
            tick: row.get(4)?,
            subject: row.get(5)?,
            change: row.get(6)?,
        })
    }

    /// The hash that the event must have after the one with the hash `before`.
    pub(super) fn hash(&self, before: Hash) -> Hash {
        let tick = self.tick.map_or(ValueRef::Null, ValueRef::Integer);
        let subject = self.subject.as_ref().map_or(ValueRef::Null, |id| ValueRef::Text(id.as_bytes()));
        let row = [
            ValueRef::Integer(self.seq),
            ValueRef::Integer(self.at),
            ValueRef::Text(self.actor.as_bytes()),
            ValueRef::Text(self.cause.as_bytes()),
            tick,
            subject,
            ValueRef::Text(self.change.as_bytes()),
        ];
        before.then(row.into_iter())
    }

    /// The same event with what is left of it; `None` where nothing could go, or nothing would be gained.
    pub(super) fn thinned(&self) -> Result<Option<Line>, StoreError> {
        let damaged = |why: String| StoreError::Damaged { what: format!("event {}: {why}", self.seq) };
        let change: Change = serde_json::from_str(&self.change).map_err(|e| damaged(e.to_string()))?;
        let Some(left) = thin(&change) else { return Ok(None) };
        let change = column::json_text(&left)?;
        Ok((change.len() < self.change.len()).then(|| Line { change, ..self.clone() }))
    }
}

/// Writes an archive, syncs it, and gives its SHA-256.
pub(super) fn write(path: &Path, lines: &[Line]) -> Result<String, StoreError> {
    let written = || -> std::io::Result<()> {
        let mut out = BufWriter::new(fs::File::options().write(true).truncate(true).open(path)?);
        for line in lines {
            serde_json::to_writer(&mut out, line)?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        out.get_ref().sync_all()
    };
    written().map_err(|e| explain_io(path, "write", e))?;
    Ok(hex(&Sha256::digest(read_bytes(path)?)))
}

/// Reads an archive, and its SHA-256.
pub(super) fn read(path: &Path) -> Result<(Vec<Line>, String), StoreError> {
    let bytes = read_bytes(path)?;
    let foreign = |reason: String| StoreError::Foreign {
        path: path.to_owned(),
        reason: format!("as an archive, {reason}"),
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| foreign(error.to_string()))?;
    let line = |(n, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| foreign(format!("line {}: {error}", n + 1)))
    };
    let lines = text.lines().enumerate().map(line).collect::<Result<_, _>>()?;
    Ok((lines, hex(&Sha256::digest(&bytes))))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    let length = fs::metadata(path).map_err(|e| explain_io(path, "look at", e))?.len();
    if length > LARGEST {
        let reason = format!("it is larger than {LARGEST} bytes");
        return Err(StoreError::Foreign { path: path.to_owned(), reason });
    }
    fs::read(path).map_err(|e| explain_io(path, "read", e))
}

/// Holds an archive against the chain of a store: every line must be the event whose hash the store
/// kept. Gives the first one that is not.
pub(super) fn contradiction(conn: &Connection, lines: &[Line]) -> Result<Option<String>, Stopped> {
    for line in lines {
        let seq = u64::try_from(line.seq).unwrap_or(0);
        let Some(own) = load::link(conn, seq)? else {
            return Ok(Some(format!("there is no event {seq}")));
        };
        let before = match seq {
            1 => Some(Hash::START),
            _ => load::link(conn, seq - 1)?.map(|link| link.hash),
        };
        if before.is_none_or(|before| line.hash(before) != own.hash) {
            return Ok(Some(format!("event {seq} is not the one that was committed")));
        }
    }
    Ok(None)
}

/// The same of an archive that a compaction made, all of which it must have.
pub(super) fn contradiction_of(
    conn: &Connection,
    made: &Compaction,
    compaction: u64,
    lines: &[Line],
) -> Result<Option<String>, Stopped> {
    if lines.len() as u64 != made.events {
        return Ok(Some(format!("it has {} events, and {} were moved", lines.len(), made.events)));
    }
    let mut statement = conn.prepare("SELECT seq FROM compacted WHERE compaction = ?1 ORDER BY seq")?;
    let moved = statement.query_map((i64::try_from(compaction).unwrap_or(i64::MAX),), |row| row.get(0))?;
    let moved = moved.collect::<rusqlite::Result<Vec<i64>>>()?;
    if lines.iter().map(|line| line.seq).ne(moved) {
        return Ok(Some("it has other events than those that were moved".to_owned()));
    }
    contradiction(conn, lines)
}
