//! What the database file must be: whose it is, which version, and every statement of its schema.

use std::path::Path;

use rusqlite::Connection;

use super::fault::Stopped;
use crate::store::StoreError;

/// Marks a file as a roundgate store: `rgdb` in ASCII.
const APPLICATION_ID: i64 = 0x7267_6462;

/// Every migration, oldest first. The schema's version is how many there are.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../migrations/0001_initial.sql"),
    include_str!("../../../migrations/0006_documents.sql"),
];

/// The newest schema this program knows.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Makes the schema in an empty database.
pub(super) fn create(conn: &mut Connection) -> rusqlite::Result<()> {
    let tx = conn.transaction()?;
    for migration in MIGRATIONS {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", VERSION)?;
    tx.commit()
}

/// Refuses what is not a store of this version, to the letter: a trigger somebody added would run
/// with every write, and a dropped check would let in what no row can mean.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<(), Stopped> {
    let foreign = |reason: String| Err(Stopped::Store(StoreError::Foreign { path: path.to_owned(), reason }));
    let pragma =
        |name: &str| -> rusqlite::Result<i64> { conn.pragma_query_value(None, name, |row| row.get(0)) };
    if pragma("application_id")? != APPLICATION_ID {
        return foreign("it is the SQLite database of another program".to_owned());
    }
    let found = pragma("user_version")?;
    if found > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: VERSION }.into());
    }
    if found < 1 {
        return foreign(format!("there is no schema {found}"));
    }
    if stored_statements(conn)? != expected_statements() {
        return foreign("its schema was changed".to_owned());
    }
    let journal: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if journal != "wal" {
        return foreign(format!("its journal mode is {journal}, not wal"));
    }
    Ok(())
}

/// The schema as the file has it, sorted. What `ANALYZE` adds is let through, and so are the indexes
/// that follow from a table's own constraints: they have no text.
fn stored_statements(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut rows = conn.prepare(
        "SELECT coalesce(sql, type) FROM sqlite_schema
         WHERE NOT (type = 'index' AND sql IS NULL)
           AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))",
    )?;
    let mut found = rows.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    found.sort();
    Ok(found)
}

/// The schema as the migrations have it, sorted. SQLite keeps the text of a statement as it was
/// written, from its CREATE to the end, so the two can be compared without running anything.
fn expected_statements() -> Vec<String> {
    let statement = |chunk: &str| {
        let at = chunk.lines().position(|line| line.starts_with("CREATE "))?;
        Some(chunk.lines().skip(at).collect::<Vec<_>>().join("\n"))
    };
    let mut expected: Vec<String> =
        MIGRATIONS.iter().flat_map(|migration| migration.split(";\n").filter_map(statement)).collect();
    expected.sort();
    expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_keeps_the_migrations_word_for_word() {
        let mut conn = Connection::open_in_memory().unwrap();
        create(&mut conn).unwrap();
        assert_eq!(stored_statements(&conn).unwrap(), expected_statements());
        assert_eq!(expected_statements().len(), 21);
    }

    #[test]
    fn what_analyze_adds_is_no_change_of_the_schema() {
        let mut conn = Connection::open_in_memory().unwrap();
        create(&mut conn).unwrap();
        conn.execute_batch("ANALYZE").unwrap();
        assert_eq!(stored_statements(&conn).unwrap(), expected_statements());
    }

    #[test]
    fn there_are_no_triggers_and_no_views() {
        let loose = |s: &String| !(s.starts_with("CREATE TABLE ") || s.contains("INDEX "));
        assert!(!expected_statements().iter().any(loose));
    }
}
