//! Keeps what is derived: after the events of a transaction, for every issue whose derived values
//! changed; and all of it anew.

use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use super::fault::Stopped;
use super::{load, row};
use crate::model::frontier::{Deriving, List};
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::snapshot::Snapshot;
use crate::model::source::Derived;
use crate::store::StoreError;

/// The issues whose derived values changed, with the new ones. The snapshot has all facts of the
/// transaction folded in.
pub(super) fn changed(snapshot: &Snapshot) -> Vec<(Ix, Derived)> {
    let touched = snapshot.graph().touched().into_iter();
    let mut deriving = Deriving::of(snapshot);
    let now = touched.map(|ix| (ix, deriving.derived(ix)));
    now.filter(|(ix, now)| snapshot.graph().stored(*ix) != Some(now)).collect()
}

/// Writes what changed.
pub(super) fn write(
    conn: &Connection,
    snapshot: &Snapshot,
    changed: &[(Ix, Derived)],
) -> Result<(), Stopped> {
    let graph = snapshot.graph();
    for (ix, now) in changed {
        let issue = graph.issue(*ix);
        put(conn, &issue.id, issue.created_at, graph.stored(*ix), now)?;
    }
    Ok(())
}

fn put(
    conn: &Connection,
    id: &IssueId,
    created_at: Millis,
    stored: Option<&Derived>,
    now: &Derived,
) -> Result<(), Stopped> {
    let place = |derived: &Derived| (derived.root.clone(), derived.depth, derived.priority);
    let moved = stored.is_some_and(|stored| place(stored) != place(now));
    for list in List::ALL {
        let was = stored.filter(|stored| stored.lists.has(list));
        let (is, stays) = (now.lists.has(list), !moved);
        if let Some(was) = was.filter(|_| !(is && stays)) {
            run(conn, &row::FRONTIER.delete(), row::entry_row(list, was, created_at, id)?)?;
        }
        if is && !(was.is_some() && stays) {
            run(conn, &row::FRONTIER.insert_once(), row::entry_row(list, now, created_at, id)?)?;
        }
    }
    run(conn, &row::STANDING.upsert(), row::standing_row(id, now)?)
}

fn run(conn: &Connection, statement: &str, values: Vec<Value>) -> Result<(), Stopped> {
    conn.prepare_cached(statement)?.execute(params_from_iter(values))?;
    Ok(())
}

/// Makes all of it again from the tables.
pub(super) fn rebuild(tx: &Transaction<'_>) -> Result<(), Stopped> {
    for table in [&row::FRONTIER, &row::STANDING] {
        tx.execute(&format!("DELETE FROM {}", table.name), ())?;
    }
    let snapshot = load::snapshot(tx)?;
    let graph = snapshot.graph();
    let mut deriving = Deriving::of(&snapshot);
    for ix in graph.indices() {
        let issue = graph.issue(ix);
        put(tx, &issue.id, issue.created_at, None, &deriving.derived(ix))?;
    }
    Ok(())
}

/// The first thing that is derived and is not what it should be.
pub(super) fn difference(conn: &Connection, snapshot: &Snapshot) -> Result<Option<String>, Stopped> {
    let graph = snapshot.graph();
    let mut deriving = Deriving::of(snapshot);
    let mut entries: i64 = 0;
    for (id, stored) in load::derived(conn)? {
        let Some(ix) = graph.ix(&id) else {
            return Ok(Some(format!("{id} has a standing, and there is no such issue")));
        };
        if stored != deriving.derived(ix) {
            return Ok(Some(format!("what is derived of {id} is not what follows from the tables")));
        }
        for list in List::ALL.into_iter().filter(|list| stored.lists.has(*list)) {
            entries += 1;
            let entry = row::entry_row(list, &stored, graph.issue(ix).created_at, &id)?;
            if !load::has_entry(conn, entry)? {
                return Ok(Some(format!("{id} is missing from the list {list:?}")));
            }
        }
    }
    let counted = |table: &str| -> rusqlite::Result<i64> {
        conn.query_row(&format!("SELECT count(*) FROM {table}"), (), |row| row.get(0))
    };
    Ok(if counted("standing")? != graph.len() as i64 {
        Some("an issue has no standing".to_owned())
    } else if counted("frontier")? != entries {
        Some("an issue is on a list that it should not be on".to_owned())
    } else {
        None
    })
}

/// What a store keeps of each issue of a whole snapshot, by index.
pub(super) fn of_whole(conn: &Connection, snapshot: &Snapshot) -> Result<Vec<Derived>, Stopped> {
    let mut found: Vec<Option<Derived>> = vec![None; snapshot.graph().len()];
    for (id, derived) in load::derived(conn)? {
        if let Some(ix) = snapshot.graph().ix(&id) {
            found[ix] = Some(derived);
        }
    }
    let missing = || StoreError::Damaged { what: "an issue has no standing".to_owned() };
    Ok(found.into_iter().collect::<Option<Vec<Derived>>>().ok_or_else(missing)?)
}
