//! A store as the first release left it: the first migration alone, and rows in it.

use std::fs;
use std::path::Path;

use roundgate::model::change::Change;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Extent, Store};
use rusqlite::Connection;

const FIRST: &str = include_str!("../../migrations/0001_initial.sql");

/// Writes the store in a folder anew with the first schema. What the first release had no place for must
/// not be in it, save documents, which are left out.
pub fn downgrade(folder: &Path) {
    forget_documents(folder);
    let (current, old) = (folder.join("roundgate.db"), folder.join("old.db"));
    let conn = Connection::open(&old).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    conn.execute_batch(FIRST).unwrap();
    conn.pragma_update(None, "application_id", 0x7267_6462).unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
    conn.execute("ATTACH ?1 AS current", (current.to_str().unwrap(),)).unwrap();
    for table in names(&conn, "SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns =
            names(&conn, &format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
        let copy = format!("INSERT INTO main.{table}({columns}) SELECT {columns} FROM current.{table}");
        conn.execute(&copy, ()).unwrap();
    }
    conn.execute("DETACH current", ()).unwrap();
    conn.close().unwrap();
    fs::rename(old, current).unwrap();
}

/// The same events without those about documents, numbered anew.
fn forget_documents(folder: &Path) {
    let about_documents = |change: &Change| change.name().starts_with("document_");
    let mut events = Sqlite::open(folder).unwrap().events(&EventQuery::default()).unwrap();
    if !events.iter().any(|event| about_documents(&event.change)) {
        return;
    }
    events.retain(|event| !about_documents(&event.change));
    let old: Vec<u64> = events.iter().map(|event| event.seq).collect();
    let new = |seq: u64| 1 + old.partition_point(|&before| before < seq) as u64;
    for event in &mut events {
        (event.seq, event.tick) = (new(event.seq), event.tick.map(new));
    }
    let fresh = folder.join("fresh");
    let mut store = Sqlite::init(&fresh).unwrap();
    store.transact(Extent::Frontier, &mut |_, _| Some(events.clone())).unwrap();
    drop(store);
    for name in ["roundgate.db", "roundgate.mark"] {
        fs::rename(fresh.join(name), folder.join(name)).unwrap();
    }
    fs::remove_dir_all(fresh).unwrap();
}

fn names(conn: &Connection, sql: &str) -> Vec<String> {
    let mut rows = conn.prepare(sql).unwrap();
    rows.query_map((), |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// The schema that a database says it has.
pub fn version(file: &Path) -> i64 {
    let conn = Connection::open(file).unwrap();
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}
