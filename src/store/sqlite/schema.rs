//! What the database file must be: whose it is, which version, and every statement of its schema.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction};

use super::chain::{Hash, hex};
use super::fault::Stopped;
use crate::store::StoreError;

/// Marks a file as a roundgate store: `rgdb` in ASCII.
const APPLICATION_ID: i64 = 0x7267_6462;

/// What SQL cannot compute of a migration.
pub(super) type Step = fn(&Transaction<'_>) -> Result<(), Stopped>;

/// One step from a version of the schema to the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Its statements. The file is frozen once it was released.
    pub sql: &'static str,
    /// What SQL cannot compute, after the statements of all migrations. It writes rows, and no schema.
    pub step: Option<Step>,
    /// The [`fingerprint`] of the whole schema once this was applied. A test says what it must be.
    pub fingerprint: &'static str,
}

/// Every migration, oldest first. The schema's version is how many there are.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("../../../migrations/0001_initial.sql"),
        step: None,
        fingerprint: "ee49b0cb09cfbffe41b96a0973051468ed57c040c81f15a76ed77f44c9213c8d",
    },
    Migration {
        sql: include_str!("../../../migrations/0002_frontier.sql"),
        step: Some(super::derived::rebuild),
        fingerprint: "5d3071ac4a340ac3e21e58e3c5b6b38da442385f0c0df593c6a7ee783135760c",
    },
    Migration {
        sql: include_str!("../../../migrations/0003_operations.sql"),
        step: None,
        fingerprint: "6e8343f0deafe9cb77ff4aa72b158f16cf3e8badf183265393fbd62a21a50a0e",
    },
    Migration {
        sql: include_str!("../../../migrations/0004_compacted.sql"),
        step: None,
        fingerprint: "b338ddcfd7c28e04a3ce9df71060782e1da3c974581dbd157bbaade1fcebc464",
    },
    Migration {
        sql: include_str!("../../../migrations/0005_schedule.sql"),
        step: None,
        fingerprint: "f7e9b0b11a3cab0bc6e0558a17eba1e43741510fadb0212dcd2410ba2abbc99b",
    },
    Migration {
        sql: include_str!("../../../migrations/0006_plan_said.sql"),
        step: None,
        fingerprint: "26b42c6e56b8d11fa9290b162a7b69d5a953fb8d33afec780ba66702eea96067",
    },
    Migration {
        sql: include_str!("../../../migrations/0007_documents.sql"),
        step: None,
        fingerprint: "c6c4b56acf24e8dd99db2966c51aaf8ffe11fdcdf869786b90071e40521bb519",
    },
    Migration {
        sql: include_str!("../../../migrations/0008_outbox.sql"),
        step: None,
        fingerprint: "8872424e2ebae49c4f395ca0d24b294acf9a728fd84e88076a231a0a8beccd1d",
    },
    Migration {
        sql: include_str!("../../../migrations/0009_paused.sql"),
        step: None,
        fingerprint: "86e15d8eaea51612a3ca749be97eefbaa8693fc8eceb77bbc0b8220badc81457",
    },
    Migration {
        sql: include_str!("../../../migrations/0010_duties.sql"),
        step: None,
        fingerprint: "521ef0a812a3734e8d93cf3e1f7c4d8232c398c1956aabcd64170f6e3e75e4ee",
    },
    Migration {
        sql: include_str!("../../../migrations/0011_search.sql"),
        step: Some(super::derived::rebuild),
        fingerprint: "9cc8102938cb91ae5e5f3f7cfd36944880ac897033e1ada724bfa55409991d06",
    },
    Migration {
        sql: include_str!("../../../migrations/0012_keys.sql"),
        step: None,
        fingerprint: "8c268a9177267ab6c45298e845ca0015817db6f9c8205b74bfcb6810ca06a469",
    },
];

/// The schema of this program.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Makes the schema in an empty database.
pub(super) fn create(conn: &mut Connection) -> Result<(), Stopped> {
    let tx = conn.transaction()?;
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    apply(&tx, MIGRATIONS, 0)?;
    Ok(tx.commit()?)
}

/// Applies the migrations behind the first `from`, and makes sure of what has become of the schema.
pub(super) fn apply(tx: &Transaction<'_>, migrations: &[Migration], from: usize) -> Result<(), Stopped> {
    let due = migrations.get(from..).unwrap_or_default();
    due.iter().try_for_each(|migration| tx.execute_batch(migration.sql))?;
    // Not in between: what reads and writes rows here knows the newest schema only.
    due.iter().filter_map(|migration| migration.step).try_for_each(|step| step(tx))?;
    if !is_schema(tx, migrations)? {
        let what = "a migration did not make the schema that it should".to_owned();
        return Err(StoreError::Unfit { what }.into());
    }
    Ok(tx.pragma_update(None, "user_version", migrations.len() as i64)?)
}

/// Refuses what is not a store of this version or an older one, to the letter: a trigger somebody added
/// would run with every write, and a dropped check would let in what no row can mean. Where nobody can
/// write, SQLite does not say what its journal would be.
pub(super) fn check(conn: &Connection, path: &Path, frozen: bool) -> Result<(), Stopped> {
    // Version and schema are of one moment: between two reads somebody may bring the store up to date.
    let moment = conn.unchecked_transaction()?;
    check_against(&moment, path, MIGRATIONS)?;
    moment.finish()?;
    if frozen {
        return Ok(());
    }
    let journal: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if journal != "wal" {
        return Err(foreign(path, format!("its journal mode is {journal}, not wal")));
    }
    Ok(())
}

/// The version of a store, which must have the schema of that version, word for word.
pub(super) fn check_against(
    conn: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<usize, Stopped> {
    let application: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION_ID {
        return Err(foreign(path, "it is the SQLite database of another program".to_owned()));
    }
    let (found, known) = (version(conn)?, migrations.len() as i64);
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known }.into());
    }
    let own = usize::try_from(found).ok().filter(|&found| found > 0);
    let Some(own) = own.and_then(|found| migrations.get(..found)) else {
        return Err(foreign(path, format!("there is no schema {found}")));
    };
    if !is_schema(conn, own)? {
        return Err(foreign(path, "its schema was changed".to_owned()));
    }
    Ok(own.len())
}

/// Refuses a store that is older, or was made newer while it was open. To be asked in every
/// transaction: a program that stays must not go on in a schema that it does not know.
pub(super) fn current(conn: &Connection, path: &Path) -> Result<(), Stopped> {
    let (found, known) = (version(conn)?, VERSION);
    let path = || path.to_owned();
    match found {
        VERSION => Ok(()),
        ..VERSION => Err(StoreError::Older { path: path(), found, known }.into()),
        _ => Err(StoreError::Newer { path: path(), found, known }.into()),
    }
}

/// The version that the file gives itself.
pub(super) fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA user_version")?.query_row((), |row| row.get(0))
}

fn foreign(path: &Path, reason: String) -> Stopped {
    StoreError::Foreign { path: path.to_owned(), reason }.into()
}

/// Whether a database has the schema that the migrations make. The fingerprint says so at once. Where
/// it differs, another SQLite may have written the same statements in another way (it writes what it
/// alters, and the tables of a full text search), so this one is asked what it makes of them.
fn is_schema(conn: &Connection, migrations: &[Migration]) -> rusqlite::Result<bool> {
    let found = statements(conn)?;
    let known = migrations.last().map_or("", |last| last.fingerprint);
    Ok(fingerprint(&found) == known || found == made(migrations)?)
}

/// The schema as the file has it, sorted. What `ANALYZE` adds is let through, and so are the indexes
/// that follow from a table's own constraints: they have no text. As bytes, for in a damaged file a
/// statement need not be text.
fn statements(conn: &Connection) -> rusqlite::Result<Vec<Vec<u8>>> {
    let mut rows = conn.prepare(
        "SELECT CAST(coalesce(sql, type) AS BLOB) FROM sqlite_schema
         WHERE NOT (type = 'index' AND sql IS NULL)
           AND NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))",
    )?;
    let mut found = rows.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<Vec<u8>>>>()?;
    found.sort();
    Ok(found)
}

/// The schema as SQLite has it after the migrations, in memory and without a row.
fn made(migrations: &[Migration]) -> rusqlite::Result<Vec<Vec<u8>>> {
    let conn = Connection::open_in_memory()?;
    for migration in migrations {
        conn.execute_batch(migration.sql)?;
    }
    statements(&conn)
}

/// SHA-256 of the statements of a schema, in hexadecimal digits.
fn fingerprint(statements: &[Vec<u8>]) -> String {
    let texts = statements.iter().map(|statement| ValueRef::Text(statement));
    hex(Hash::START.then(texts).bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created() -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        create(&mut conn).unwrap();
        conn
    }

    #[test]
    fn each_fingerprint_is_that_of_the_schema_its_migration_leaves() {
        for (n, migration) in MIGRATIONS.iter().enumerate() {
            let due = fingerprint(&made(&MIGRATIONS[..=n]).unwrap());
            assert_eq!(migration.fingerprint, due, "of migration {}", n + 1);
        }
    }

    #[test]
    fn a_new_store_has_the_schema_of_its_version() {
        let conn = created();
        assert_eq!(version(&conn).unwrap(), VERSION);
        assert_eq!(statements(&conn).unwrap(), made(MIGRATIONS).unwrap());
    }

    #[test]
    fn a_fingerprint_that_another_sqlite_would_have_is_no_change_of_the_schema() {
        let odd = Migration { fingerprint: "of another SQLite", ..MIGRATIONS[0] };
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(odd.sql).unwrap();
        assert!(is_schema(&conn, &[odd]).unwrap());
        conn.execute_batch("CREATE INDEX more ON events(at)").unwrap();
        assert!(!is_schema(&conn, &[odd]).unwrap());
    }

    #[test]
    fn altered_tables_and_full_text_searches_are_known_word_for_word() {
        const MORE: Migration = Migration {
            sql: "ALTER TABLE posts ADD COLUMN extra TEXT;
                  CREATE VIRTUAL TABLE found USING fts5(body, content='', contentless_delete=1);",
            step: None,
            fingerprint: "",
        };
        let migrations = [MIGRATIONS, &[MORE]].concat();
        let mut conn = created();
        assert!(!is_schema(&conn, &migrations).unwrap());
        let tx = conn.transaction().unwrap();
        apply(&tx, &migrations, MIGRATIONS.len()).unwrap();
        tx.commit().unwrap();
        assert!(is_schema(&conn, &migrations).unwrap());
        conn.execute_batch("INSERT INTO found(rowid, body) VALUES (1, 'words to be found')").unwrap();
        assert!(is_schema(&conn, &migrations).unwrap(), "rows are no schema");
        conn.execute_batch("ALTER TABLE posts ADD COLUMN another TEXT").unwrap();
        assert!(!is_schema(&conn, &migrations).unwrap());
    }

    #[test]
    fn a_statement_that_is_no_text_any_more_is_a_change_of_the_schema() {
        let conn = created();
        conn.execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = CAST(CAST(sql AS BLOB) || x'ff' AS TEXT) WHERE name = 'posts';",
        )
        .unwrap();
        assert!(!is_schema(&conn, MIGRATIONS).unwrap());
    }

    #[test]
    fn what_analyze_adds_is_no_change_of_the_schema() {
        let conn = created();
        conn.execute_batch("ANALYZE").unwrap();
        assert!(is_schema(&conn, MIGRATIONS).unwrap());
    }

    #[test]
    fn there_are_no_triggers_and_no_views() {
        let count = "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')";
        assert_eq!(created().query_row(count, (), |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}
