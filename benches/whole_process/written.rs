//! How many rows a command wrote, and about how many bytes: what its floor has to write, too.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The tables that follow from the events: each event writes one row of one of them. What is written
/// beyond that, such as counters in other rows, is not counted, which makes the floor lower.
const PROJECTED: [&str; 10] = [
    "posts",
    "annotations",
    "reserved_ids",
    "finished_roots",
    "plans",
    "asks",
    "rounds",
    "scopes",
    "edges",
    "issues",
];

/// What a command wrote.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    /// New or changed rows.
    pub rows: u64,
    /// Their length.
    pub bytes: u64,
}

/// How much was in a store.
#[derive(Debug)]
pub struct Before {
    events: i64,
    others: BTreeMap<String, i64>,
}

impl Before {
    /// Counts what is there now.
    pub fn of(file: &Path) -> Result<Before> {
        let conn = open(file)?;
        let events = conn.query_row("SELECT coalesce(max(seq), 0) FROM events", (), |row| row.get(0))?;
        Ok(Before { events, others: others(&conn)? })
    }

    /// What was written since.
    pub fn since(&self, file: &Path) -> Result<Written> {
        let conn = open(file)?;
        let (events, bytes): (i64, i64) = conn.query_row(
            "SELECT count(*), coalesce(sum(length(change) + length(actor) + length(cause) + 64), 0)
             FROM events WHERE seq > ?1",
            (self.events,),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        // A table may have fewer rows than before: what was taken out was written, too, but not counted.
        let new =
            |(table, count): (&String, &i64)| (count - self.others.get(table).copied().unwrap_or(0)).max(0);
        let others: i64 = others(&conn)?.iter().map(new).sum();
        // A row of a table is about as long as the event it follows from.
        let (rows, bytes) = (2 * events + others, 2 * bytes + 300 * others);
        Ok(Written { rows: u64::try_from(rows)?, bytes: u64::try_from(bytes)? })
    }
}

/// Reading leaves the file as it is.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// The rows of every table that neither is `events` nor follows from them.
fn others(conn: &Connection) -> Result<BTreeMap<String, i64>> {
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let names = tables.query_map((), |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    let other = |name: &String| {
        name != "events" && !name.starts_with("sqlite_") && !PROJECTED.contains(&name.as_str())
    };
    let counted = names.into_iter().filter(other).map(|name| {
        let rows = conn.query_row(&format!("SELECT count(*) FROM \"{name}\""), (), |row| row.get(0))?;
        Ok((name, rows))
    });
    counted.collect()
}
