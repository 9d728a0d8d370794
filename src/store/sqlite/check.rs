//! Whether a store is what was written to it. Reads only; everything in one transaction, so that
//! nobody's commit falls between two checks.

use std::path::Path;
use std::time::Instant;

use rusqlite::Connection;

use super::derived;
use super::fault::Stopped;
use super::mark::{self, Mark};
use super::open::{self, Access, Handle, Options};
use super::place::Place;
use super::replay::{self, Broken, Replayed, difference};
use super::{compact, load, operation, row, schema, search};
use crate::model::record::Post;
use crate::model::snapshot::Snapshot;
use crate::store::{Revision, StoreError};

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What was found.
    pub finding: Finding,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nothing wrong.
    Sound(String),
    /// Something wrong.
    Fault(String),
    /// It could not be looked at, because of what another check found.
    Unchecked(String),
}

/// What an examination found.
#[derive(Debug, Default)]
pub struct Examined {
    /// Every check, in the order in which they were made.
    pub checks: Vec<Check>,
    /// What the tables say, where they can be read.
    pub snapshot: Option<Snapshot>,
    /// The number of the last event, where all of them are sound.
    pub revision: Option<Revision>,
    /// Whether it is as an older program left it, so that it was not looked at further.
    pub older: bool,
}

impl Examined {
    /// Whether nothing is wrong.
    pub fn sound(&self) -> bool {
        !self.checks.iter().any(|check| matches!(check.finding, Finding::Fault(_)))
    }

    /// Whether the check of this name found something wrong.
    pub fn faulty(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && matches!(check.finding, Finding::Fault(_)))
    }

    /// The first thing that is wrong.
    pub fn first_fault(&self) -> Option<String> {
        self.checks.iter().find_map(|check| match &check.finding {
            Finding::Fault(what) => Some(format!("{}: {what}", check.name)),
            _ => None,
        })
    }

    fn add(&mut self, name: &'static str, finding: Finding) {
        self.checks.push(Check { name, finding });
    }
}

/// Examines the store in a folder, whatever state it is in. Writes nothing.
///
/// # Errors
/// When there is no store, or it cannot be looked at: it is busy, or its folder cannot be read.
/// Damage is no error, but a finding.
pub fn examine(folder: &Path, options: &Options) -> Result<Examined, StoreError> {
    let place = Place::in_folder(folder)?;
    let mark = mark::read(&place);
    let mut found = Examined::default();
    let handle = match open::open_for(place, options, Access::Unmarked) {
        Ok(handle) => handle,
        Err(
            damage @ (StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::Damaged { .. }
            | StoreError::Sqlite { .. }),
        ) => {
            found.add("schema", Finding::Fault(said(&damage)));
            return Ok(found);
        }
        Err(other) => return Err(other),
    };
    let started = Instant::now();
    if let Err(stopped) = schema::current(&handle.conn, &handle.place.file) {
        let error = stopped.explain(&handle.place.file, "read the store", started);
        found.older = matches!(error, StoreError::Older { .. });
        found.add("schema", Finding::Fault(said(&error)));
        return Ok(found);
    }
    found.add("schema", Finding::Sound("it is a store of this version".to_owned()));
    examine_open(&handle, Some(&mark), found)
}

/// The same for an open store, or for a copy, which has no mark.
pub(super) fn examine_open(
    handle: &Handle,
    mark: Option<&Mark>,
    mut found: Examined,
) -> Result<Examined, StoreError> {
    let started = Instant::now();
    let path = &handle.place.file;
    let explained = |stopped: Stopped| stopped.explain(path, "read the store", started);
    let tx = handle.conn.unchecked_transaction().map_err(|e| explained(e.into()))?;
    let at = At { path, started };

    found.add("integrity", at.finding(integrity(&tx))?);
    found.add("references", at.finding(references(&tx))?);
    let replayed = match replay::replay(&tx, |_| Ok(())) {
        Ok(replayed) => replayed,
        Err(stopped) => Err(Broken::Row { seq: 0, why: at.fault(stopped)? }),
    };
    add_events(&mut found, &replayed);
    if let Some(mark) = mark {
        found.add("mark", at.finding(marked(&tx, mark))?);
    }
    match load::snapshot(&tx) {
        Ok(snapshot) => {
            let finding = match &replayed {
                Ok(made) => match difference(&snapshot, &made.snapshot) {
                    None => Finding::Sound(format!("{}, as the events left them", snapshot.graph().len())),
                    Some(what) => Finding::Fault(what),
                },
                Err(_) => unreplayed(),
            };
            found.add("tables", finding);
            found.add("derived", at.finding(derivation(&tx, &snapshot))?);
            found.add("search", at.finding(search::check(&tx))?);
            found.snapshot = Some(snapshot);
        }
        Err(stopped) => found.add("tables", Finding::Fault(at.fault(stopped)?)),
    }
    let posts = match &replayed {
        Ok(made) => at.finding(posts(&tx, &made.posts))?,
        Err(_) => unreplayed(),
    };
    found.add("posts", posts);
    let operations = match &replayed {
        Ok(made) => at.finding(operation::check(&tx, &made.operations))?,
        Err(_) => unreplayed(),
    };
    found.add("operations", operations);
    let archives = match &replayed {
        Ok(made) => at.finding(compact::kept(&tx).map(|kept| compact::check(&kept, &made.compactions)))?,
        Err(_) => unreplayed(),
    };
    found.add("archives", archives);
    found.revision = replayed.ok().map(|made| made.head.seq);
    Ok(found)
}

fn unreplayed() -> Finding {
    Finding::Unchecked("the events cannot be replayed".to_owned())
}

fn add_events(found: &mut Examined, replayed: &Result<Replayed, Broken>) {
    let behind = || Finding::Unchecked("nothing behind the fault was looked at".to_owned());
    let (events, chain) = match replayed {
        Ok(made) => {
            let events = format!("{}, numbered without gaps", made.head.seq);
            (Finding::Sound(events), Finding::Sound("every event is as it was written".to_owned()))
        }
        Err(broken @ Broken::Chain { .. }) => (behind(), Finding::Fault(broken.describe())),
        Err(broken) => (Finding::Fault(broken.describe()), behind()),
    };
    found.add("events", events);
    found.add("chain", chain);
}

/// Where and since when, to explain what stopped.
struct At<'p> {
    path: &'p Path,
    started: Instant,
}

impl At<'_> {
    /// What stopped as a fault of the store, unless it is none.
    fn fault(&self, stopped: Stopped) -> Result<String, StoreError> {
        match stopped.explain(self.path, "read the store", self.started) {
            busy @ (StoreError::Busy { .. } | StoreError::ReadOnly { .. } | StoreError::Full) => Err(busy),
            other => Ok(said(&other)),
        }
    }

    fn finding(&self, found: Result<Finding, Stopped>) -> Result<Finding, StoreError> {
        match found {
            Ok(finding) => Ok(finding),
            Err(stopped) => self.fault(stopped).map(Finding::Fault),
        }
    }
}

fn said(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { what } => what.clone(),
        StoreError::Sqlite { what, source } => format!("cannot {what}: {source}"),
        other => other.to_string(),
    }
}

/// SQLite's own check: the shape of the file, and that indexes and constraints hold.
pub(super) fn integrity(conn: &Connection) -> Result<Finding, Stopped> {
    let mut statement = conn.prepare("PRAGMA integrity_check(20)")?;
    let found = statement.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    Ok(match found.as_slice() {
        [ok] if ok == "ok" => Finding::Sound("SQLite finds nothing".to_owned()),
        found => Finding::Fault(found.join("; ").replace('\n', " ")),
    })
}

/// Rows that refer to rows that are not there.
pub(super) fn references(conn: &Connection) -> Result<Finding, Stopped> {
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query(())?;
    let mut dangling: Vec<String> = Vec::new();
    let mut more = 0;
    while let Some(row) = rows.next()? {
        if dangling.len() == 20 {
            more += 1;
            continue;
        }
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        dangling.push(format!("a row of {table} names one of {parent} that is not there"));
    }
    if more > 0 {
        dangling.push(format!("and {more} more"));
    }
    Ok(match dangling.is_empty() {
        true => Finding::Sound("no row names one that is not there".to_owned()),
        false => Finding::Fault(dangling.join("; ")),
    })
}

fn marked(conn: &Connection, mark: &Mark) -> Result<Finding, Stopped> {
    if let Some(what) = mark::contradiction(conn, mark)? {
        return Ok(Finding::Fault(what));
    }
    let last = load::head(conn)?.seq;
    Ok(Finding::Sound(match mark {
        Mark::At(mark) if mark.seq == last => format!("at the last event, {last}"),
        Mark::At(mark) => format!("at event {} of {last}; the next commit brings it up to date", mark.seq),
        Mark::Missing if last == 0 => "there is none, and no event".to_owned(),
        Mark::Missing => "there is none; the next commit writes it".to_owned(),
        Mark::Garbled => "it cannot be read; the next commit writes it anew".to_owned(),
    }))
}

/// What is kept beside the issues follows from the tables.
fn derivation(conn: &Connection, snapshot: &Snapshot) -> Result<Finding, Stopped> {
    Ok(match derived::difference(conn, snapshot)? {
        Some(what) => Finding::Fault(what),
        None => Finding::Sound("it is what follows from the tables".to_owned()),
    })
}

/// Posts are no part of a snapshot, so they are held against the events by themselves.
fn posts(conn: &Connection, made: &[(u64, Post)]) -> Result<Finding, Stopped> {
    let mut statement = conn.prepare(&row::POSTS.select("ORDER BY seq"))?;
    let mut rows = statement.query(())?;
    let mut due = made.iter();
    while let Some(row) = rows.next()? {
        let stored = row::numbered_post_from(row)?;
        if due.next() != Some(&stored) {
            let what = format!("post {} is not as its event left it, or one before it is missing", stored.0);
            return Ok(Finding::Fault(what));
        }
    }
    Ok(match due.next() {
        None => Finding::Sound(format!("{}, as the events left them", made.len())),
        Some((seq, _)) => Finding::Fault(format!("post {seq} is missing")),
    })
}
