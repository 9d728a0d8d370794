//! What the same work costs a bare program: it opens the file with the same settings, reads one row or
//! commits as many rows as the measured command did, and closes it. The least that can be asked for.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use roundgate::model::frontier::List;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The word that makes this executable a floor.
pub const WORD: &str = "--as-floor";

/// The first argument after the word.
pub const START: &str = "start";
/// Reads one issue by its id.
pub const SELECT: &str = "select";
/// Reads what is ready in a root.
pub const LIST: &str = "list";
/// Commits rows.
pub const COMMIT: &str = "commit";

/// Gives a copy of a store the table that [`COMMIT`] fills. It is then a store no more.
pub fn prepare(file: &Path) -> Result<()> {
    let conn = open(file)?;
    conn.execute_batch(
        "CREATE TABLE floor(n INTEGER PRIMARY KEY, name TEXT NOT NULL, body TEXT NOT NULL) STRICT;
         CREATE INDEX floor_by_name ON floor(name);",
    )?;
    conn.close().map_err(|(_, error)| error)?;
    std::fs::File::open(file)?.sync_all()?;
    Ok(())
}

/// Does what the arguments after [`WORD`] say.
pub fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [START] => Ok(()),
        [SELECT, file, id] => select(Path::new(file), id),
        [LIST, file, root] => list(Path::new(file), root),
        [COMMIT, file, rows, bytes] => commit(Path::new(file), rows.parse()?, bytes.parse()?),
        other => Err(format!("no such floor: {other:?}").into()),
    }
}

/// As `store/sqlite/open.rs` opens it, without its checks.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let conn = Connection::open_with_flags(file, flags)?;
    conn.busy_timeout(Duration::from_secs(10))?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cell_size_check", true)?;
    Ok(conn)
}

fn select(file: &Path, id: &str) -> Result<()> {
    let conn = open(file)?;
    let title: String = conn.query_row("SELECT title FROM issues WHERE id = ?1", (id,), |row| row.get(0))?;
    if title.is_empty() {
        return Err("an issue without a title".into());
    }
    conn.close().map_err(|(_, error)| error.into())
}

fn list(file: &Path, root: &str) -> Result<()> {
    let conn = open(file)?;
    let sql = "SELECT i.* FROM frontier f CROSS JOIN issues i ON i.id = f.id
         WHERE f.list = ?1 AND f.root = ?2 ORDER BY f.level, f.priority, f.created_at, f.id";
    let mut columns = 0;
    {
        let mut select = conn.prepare(sql)?;
        let width = select.column_count();
        let mut rows = select.query((List::Ready as i64, root))?;
        while let Some(row) = rows.next()? {
            for at in 0..width {
                columns += usize::from(row.get_ref(at)? != ValueRef::Null);
            }
        }
    }
    if columns == 0 {
        return Err("nothing is ready".into());
    }
    conn.close().map_err(|(_, error)| error.into())
}

fn commit(file: &Path, rows: u64, bytes: usize) -> Result<()> {
    let mut conn = open(file)?;
    let each = bytes / usize::try_from(rows.max(1))?;
    let body = "x".repeat(each.saturating_sub(16));
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    {
        let mut insert = tx.prepare("INSERT INTO floor(name, body) VALUES (?1, ?2)")?;
        for n in 0..rows {
            let name = format!("rg-{:08x}", n.wrapping_mul(0x9e37_79b1) & 0xffff_ffff);
            insert.execute(params![name, body])?;
        }
    }
    tx.commit()?;
    conn.close().map_err(|(_, error)| error.into())
}
