//! From the first event to the last: whether they follow each other, whether the chain holds, and what
//! they come to.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::chain::{Hash, Head};
use super::compact::{self, Kept};
use super::fault::Stopped;
use super::row;
use crate::model::change::{Change, Event};
use crate::model::compaction::Compaction;
use crate::model::operation::OperationId;
use crate::model::record::Post;
use crate::model::snapshot::Snapshot;
use crate::store::StoreError;

/// What all events come to.
#[derive(Debug)]
pub(super) struct Replayed {
    pub head: Head,
    pub snapshot: Snapshot,
    pub posts: Vec<(u64, Post)>,
    pub operations: Vec<(OperationId, u32, u64)>,
    pub compactions: Vec<(u64, Compaction)>,
}

/// Why the events cannot be trusted. Nothing behind the first such place was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// Numbers are missing.
    Gap { due: u64, found: u64 },
    /// A row is not what it was when it was written.
    Chain { seq: u64 },
    /// A row, though it is as it was written, cannot be read or does not fit those before it.
    Row { seq: u64, why: String },
}

impl Broken {
    /// The fault in words.
    pub(super) fn describe(&self) -> String {
        match self {
            Broken::Gap { due, found } => format!("event {due} is missing; the next is {found}"),
            Broken::Chain { seq } => {
                format!("event {seq} is not what was written, or the one before it is not")
            }
            Broken::Row { seq, why } => format!("event {seq}: {why}"),
        }
    }
}

/// Replays every event; `each` sees one after the other, once it is known to be sound.
pub(super) fn replay(
    conn: &Connection,
    mut each: impl FnMut(&Event) -> Result<(), Stopped>,
) -> Result<Result<Replayed, Broken>, Stopped> {
    let mut made = Replayed {
        head: Head::NONE,
        snapshot: Snapshot::default(),
        posts: Vec::new(),
        operations: Vec::new(),
        compactions: Vec::new(),
    };
    let kept = compact::kept(conn)?;
    let mut statement = conn.prepare(&row::EVENTS.select("ORDER BY seq"))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        match sound(row, made.head, &kept)? {
            Ok((event, hash)) => {
                if let Err(why) = fits(&made.snapshot, &event.change) {
                    return Ok(Err(Broken::Row { seq: event.seq, why }));
                }
                each(&event)?;
                made.head = Head { seq: event.seq, hash };
                made.snapshot.fold(&event.change, event.at);
                match event.change {
                    Change::Posted { post } => made.posts.push((event.seq, post)),
                    Change::OperationDone { operation } => {
                        made.operations.push((operation.id, operation.step, event.seq));
                    }
                    Change::Compacted { compaction } => made.compactions.push((event.seq, *compaction)),
                    _ => {}
                }
            }
            Err(broken) => return Ok(Err(broken)),
        }
    }
    Ok(Ok(made))
}

/// The event of a row that follows `last`, and its hash. The chain is looked at before anything in the
/// row is understood. Where the bulk of an event was moved, its hash is taken as it is, for the next event
/// proves it; what is left of it has a digest of its own.
fn sound(
    row: &Row<'_>,
    last: Head,
    kept: &BTreeMap<u64, Kept>,
) -> Result<Result<(Event, Hash), Broken>, Stopped> {
    let due = last.seq + 1;
    let link = match row::link_from(row) {
        Ok(link) => link,
        Err(why) => return Ok(Err(Broken::Row { seq: due, why: said(&why) })),
    };
    if link.seq != due {
        return Ok(Err(Broken::Gap { due, found: link.seq }));
    }
    let as_written = match kept.get(&due) {
        None => row::due_hash(row, last.hash)? == link.hash,
        Some(kept) => row::due_hash(row, link.hash)? == kept.digest,
    };
    if !as_written {
        return Ok(Err(Broken::Chain { seq: due }));
    }
    Ok(match row::event_from(row) {
        Ok(event) => Ok((event, link.hash)),
        Err(why) => Err(Broken::Row { seq: due, why: said(&why) }),
    })
}

/// What is wrong, without the words that every message of damage has.
fn said(error: &StoreError) -> String {
    match error {
        StoreError::Damaged { what } => what.clone(),
        other => other.to_string(),
    }
}

/// Folding takes on trust that an id comes once, that a parent is there, and that nothing moves below
/// itself.
fn fits(snapshot: &Snapshot, change: &Change) -> Result<(), String> {
    let graph = snapshot.graph();
    let there = |id| graph.ix(id).ok_or_else(|| format!("{id} is named, and there is no such issue"));
    match change {
        Change::IssueCreated { issue, parent } => {
            if graph.ix(&issue.id).is_some() {
                return Err(format!("{} is there already", issue.id));
            }
            parent.as_ref().map(there).transpose()?;
        }
        Change::ParentSet { id, after: Some(parent), .. } => {
            let (child, parent) = (there(id)?, there(parent)?);
            if graph.at_or_below(parent, child) {
                return Err(format!("{id} would lie below itself"));
            }
        }
        Change::EdgeAdded { edge } | Change::EdgeRemoved { edge } => {
            there(&edge.from)?;
            there(&edge.to)?;
        }
        Change::HeartbeatSet { after, .. } => {
            there(&after.root)?;
        }
        Change::DocumentSet { edit } => {
            there(edit.document().0)?;
        }
        _ => {}
    }
    Ok(())
}

/// The first thing that the tables and the events say differently. Even the order of neighbours
/// counts: the rules may see it.
pub(super) fn difference(tables: &Snapshot, events: &Snapshot) -> Option<String> {
    let (stored, made) = (tables.graph(), events.graph());
    if stored.len() != made.len() {
        return Some(format!("there are {} issues, and the events make {}", stored.len(), made.len()));
    }
    if let Some(ix) = made.indices().find(|&ix| stored.node(ix) != made.node(ix)) {
        return Some(format!("{} or its neighbours are not as the events left them", made.id(ix)));
    }
    let lists = [
        ("scopes", tables.scopes().eq(events.scopes())),
        ("rounds", tables.all_rounds().eq(events.all_rounds())),
        ("asks", tables.asks().eq(events.asks())),
        ("plans", tables.plans().eq(events.plans())),
        ("heartbeats", tables.heartbeats().eq(events.heartbeats())),
        ("notices", tables.notices().eq(events.notices())),
        ("finished roots", tables.finished_roots().eq(events.finished_roots())),
        ("reserved ids", tables.reserved().eq(events.reserved())),
        ("annotations", tables.annotations() == events.annotations()),
        ("documents", tables.same_documents(events)),
    ];
    if let Some((name, _)) = lists.iter().find(|(_, same)| !same) {
        return Some(format!("the {name} are not as the events left them"));
    }
    (tables != events).then(|| "the tables are not as the events left them".to_owned())
}
