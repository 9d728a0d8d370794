//! Moves the bulk of old events out of the store into an archive. The archive is written, synced and held
//! against the chain before anything is taken away; then everything changes in one transaction.
//!
//! An event keeps its row, its hash and what folding needs of it. So the chain goes on over it, and the
//! tables can still be made again without the archive.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::archive::{self, Line};
use super::backup::{give_name, new_file, temporary};
use super::chain::{Hash, Head, hex};
use super::check::Finding;
use super::fault::Stopped;
use super::open::{self, Handle, Options};
use super::place::Place;
use super::{load, mark, migrate, persist, row, schema, settle};
use crate::model::change::{Change, Event};
use crate::model::compaction::Compaction;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::store::{Revision, StoreError};

/// What can be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movable {
    /// How many events lose some of their text.
    pub events: u64,
    /// How many bytes of text that is.
    pub bytes: u64,
}

/// What was moved, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// How much.
    pub moved: Movable,
    /// The archive.
    pub archive: PathBuf,
    /// The number of the event that records it.
    pub revision: Revision,
}

/// An event that is on its way out, and what is left of it.
struct Leaving {
    whole: Line,
    left: Line,
    hash: Hash,
}

/// What could be moved of the events of these issues. Writes nothing.
///
/// # Errors
/// When the store cannot be read.
pub fn compactable(
    folder: &Path,
    issues: &BTreeSet<IssueId>,
    options: &Options,
) -> Result<Movable, StoreError> {
    let handle = open::open(Place::in_folder(folder)?, options)?;
    let started = Instant::now();
    let read = || -> Result<Movable, Stopped> {
        let tx = handle.conn.unchecked_transaction()?;
        schema::current(&tx, &handle.place.file)?;
        Ok(movable(&leaving(&tx, issues)?))
    };
    read().map_err(|stopped| stopped.explain(&handle.place.file, "read the store", started))
}

/// Moves the bulk of the events of these issues to a new file. `None` when there is nothing to move.
///
/// # Errors
/// [`StoreError::Taken`] when the file is there already; and when it, or the store, cannot be written:
/// then the store is as it was.
pub fn compact(
    folder: &Path,
    issues: &BTreeSet<IssueId>,
    file: &Path,
    author: (&Actor, Millis),
    options: &Options,
) -> Result<Option<Compacted>, StoreError> {
    let target = new_file(file)?;
    let mut handle = open::open(Place::in_folder(folder)?, options)?;
    migrate::bring_up_to_date(&mut handle)?;
    let started = Instant::now();
    let Handle { conn, place, wrote } = &mut handle;
    let done = carry_out(conn, &place.file, issues, &target, author);
    let done = done.map_err(|stopped| stopped.explain(&place.file, "compact the store", started))?;
    Ok(done.map(|(moved, head)| {
        *wrote = true;
        // The change is made, whatever becomes of the mark.
        mark::write(place, head).ok();
        Compacted { moved, archive: target.file, revision: head.seq }
    }))
}

fn carry_out(
    conn: &Connection,
    path: &Path,
    issues: &BTreeSet<IssueId>,
    target: &Place,
    (actor, at): (&Actor, Millis),
) -> Result<Option<(Movable, Head)>, Stopped> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    schema::current(&tx, path)?;
    let leaving = leaving(&tx, issues)?;
    if leaving.is_empty() {
        return Ok(None);
    }
    let whole: Vec<Line> = leaving.iter().map(|one| one.whole.clone()).collect();
    let unnamed = temporary(&target.folder)?;
    let sha256 = archive::write(&unnamed, &whole)?;
    let (again, found) = archive::read(&unnamed)?;
    let wrong = archive::contradiction(&tx, &again)?;
    if wrong.is_some() || again != whole || found != sha256 {
        let what = wrong.unwrap_or_else(|| "it does not read back as it was written".to_owned());
        return Err(StoreError::Damaged { what: format!("the archive is not sound: {what}") }.into());
    }
    let head = load::head(&tx)?;
    let seq = head.seq + 1;
    for one in &leaving {
        tx.prepare_cached("UPDATE events SET change = ?2 WHERE seq = ?1")?
            .execute((one.whole.seq, &one.left.change))?;
        let digest = one.left.hash(one.hash);
        tx.prepare_cached("INSERT INTO compacted(seq, compaction, digest) VALUES (?1, ?2, ?3)")?
            .execute((one.whole.seq, i64::try_from(seq).unwrap_or(i64::MAX), digest.bytes()))?;
        if let Ok(Change::Posted { post }) = serde_json::from_str(&one.left.change) {
            tx.prepare_cached("UPDATE posts SET body = ?2 WHERE seq = ?1")?
                .execute((one.whole.seq, &post.body))?;
        }
    }
    let compaction = Compaction {
        archive: target.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        sha256,
        events: leaving.len() as u64,
        left: digest_of(&kept(&tx)?, seq),
    };
    let change = Change::Compacted { compaction: Box::new(compaction) };
    let event = Event { seq, at, actor: actor.clone(), cause: "compact".to_owned(), tick: None, change };
    let head = Head { seq, hash: persist::event(&tx, &event, head.hash)? };
    // From here on the archive stays: a commit that reports an error may have happened, and then it is
    // the only one that has these events.
    give_name(unnamed, target)?;
    settle::commit(conn, tx, head)?;
    Ok(Some((movable(&leaving), head)))
}

fn movable(leaving: &[Leaving]) -> Movable {
    let bytes = leaving.iter().map(|one| one.whole.change.len() - one.left.change.len()).sum::<usize>();
    Movable { events: leaving.len() as u64, bytes: bytes as u64 }
}

/// The events about these issues, and the posts to their topics, that have something to lose and did
/// not lose it before.
fn leaving(conn: &Connection, issues: &BTreeSet<IssueId>) -> Result<Vec<Leaving>, Stopped> {
    let rest = "WHERE seq NOT IN (SELECT seq FROM compacted) ORDER BY seq";
    let mut statement = conn.prepare(&row::EVENTS.select(rest))?;
    let mut rows = statement.query(())?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let event = row::event_from(row)?;
        let about = match &event.change {
            Change::Posted { post } => {
                post.topic.strip_prefix("issue:").and_then(|id| id.parse::<IssueId>().ok())
            }
            other => other.subject().cloned(),
        };
        if !about.is_some_and(|id| issues.contains(&id)) {
            continue;
        }
        let whole = Line::of(row)?;
        if let Some(left) = whole.thinned()? {
            found.push(Leaving { whole, left, hash: row::link_from(row)?.hash });
        }
    }
    Ok(found)
}

/// What the store kept of an event whose bulk was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept {
    /// The event that recorded the compaction.
    compaction: u64,
    /// The digest of what is left.
    pub digest: Hash,
}

/// Every event whose bulk was moved, by its number.
pub(super) fn kept(conn: &Connection) -> Result<BTreeMap<u64, Kept>, Stopped> {
    let mut statement = conn.prepare(&row::COMPACTED.select("ORDER BY seq"))?;
    let mut rows = statement.query(())?;
    let mut found = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (seq, compaction, digest) = row::compacted_from(row)?;
        found.insert(seq, Kept { compaction, digest });
    }
    Ok(found)
}

/// One digest of what is left of all events of a compaction.
fn digest_of(kept: &BTreeMap<u64, Kept>, compaction: u64) -> String {
    let own = kept.iter().filter(|(_, one)| one.compaction == compaction);
    let digest = own.fold(Hash::START, |digest, (seq, one)| {
        let row =
            [ValueRef::Blob(one.digest.bytes()), ValueRef::Integer(i64::try_from(*seq).unwrap_or(i64::MAX))];
        digest.then(row.into_iter())
    });
    hex(digest.bytes())
}

/// Holds what was kept against the events that recorded the compactions.
pub(super) fn check(kept: &BTreeMap<u64, Kept>, made: &[(u64, Compaction)]) -> Finding {
    let known = |one: &Kept| made.iter().any(|(seq, _)| *seq == one.compaction);
    if let Some((seq, _)) = kept.iter().find(|(_, one)| !known(one)) {
        return Finding::Fault(format!("event {seq} is kept as moved, and no compaction moved it"));
    }
    for (seq, compaction) in made {
        let count = kept.values().filter(|one| one.compaction == *seq).count() as u64;
        if count != compaction.events || digest_of(kept, *seq) != compaction.left {
            let what = format!("what is left of the events that compaction {seq} moved was changed");
            return Finding::Fault(what);
        }
    }
    Finding::Sound(match made.len() {
        0 => "no event was moved to an archive".to_owned(),
        many => format!("{} events in {many} archives; doctor --archive FILE proves them", kept.len()),
    })
}

/// Holds an archive against the store whose events it has.
///
/// # Errors
/// When one of them cannot be read. What is wrong is no error, but a finding.
pub fn check_archive(folder: &Path, file: &Path, options: &Options) -> Result<Finding, StoreError> {
    let handle = open::open(Place::in_folder(folder)?, options)?;
    let (lines, sha256) = match archive::read(file) {
        Err(StoreError::Foreign { reason, .. }) => {
            return Ok(Finding::Fault(format!("{}: {reason}", file.display())));
        }
        read => read?,
    };
    let started = Instant::now();
    let read = || -> Result<Finding, Stopped> {
        let tx = handle.conn.unchecked_transaction()?;
        schema::current(&tx, &handle.place.file)?;
        let made = recorded(&tx)?;
        let Some((seq, compaction)) = made.iter().find(|(_, made)| made.sha256 == sha256) else {
            return Ok(Finding::Fault(format!("{}: no compaction of this store made it", file.display())));
        };
        Ok(match archive::contradiction_of(&tx, compaction, *seq, &lines)? {
            Some(what) => Finding::Fault(format!("{}: {what}", file.display())),
            None => {
                let count = lines.len();
                Finding::Sound(format!("{} proves {count} events of compaction {seq}", file.display()))
            }
        })
    };
    read().map_err(|stopped| stopped.explain(&handle.place.file, "read the store", started))
}

/// Every compaction, with the event that recorded it.
fn recorded(conn: &Connection) -> Result<Vec<(u64, Compaction)>, Stopped> {
    let rest = "WHERE seq IN (SELECT DISTINCT compaction FROM compacted) ORDER BY seq";
    let mut statement = conn.prepare(&row::EVENTS.select(rest))?;
    let mut rows = statement.query(())?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let event = row::event_from(row)?;
        if let Change::Compacted { compaction } = event.change {
            found.push((event.seq, *compaction));
        }
    }
    Ok(found)
}
