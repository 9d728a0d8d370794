//! The contract of every backend.

use std::path::PathBuf;

use thiserror::Error;

use crate::model::change::{Change, Event};
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::operation::{Operation, OperationId};
use crate::model::record::Post;
use crate::model::snapshot::Snapshot;

/// The number of the last event of a store; 0 when it has none.
pub type Revision = u64;

/// How much of the graph a transaction works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it, in memory.
    Whole,
    /// What it asks for, piece by piece.
    Frontier,
}

/// Which events to read, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Only those about this issue.
    pub subject: Option<IssueId>,
    /// Only those after this one.
    pub after: Revision,
    /// The first so many of what is left; all of it when `None`.
    pub first: Option<usize>,
    /// The latest so many of what is left; all of it when `None`.
    pub last: Option<usize>,
}

/// Which posts to read, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostQuery {
    /// Only those of this topic.
    pub topic: Option<String>,
    /// The latest so many; all of them when `None`.
    pub last: Option<usize>,
}

/// A topic of the forum and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// How many posts it has.
    pub posts: u64,
    /// When the latest was written.
    pub last_at: Millis,
}

/// What a store must do.
pub trait Store {
    /// A consistent snapshot of everything the rules read, and its revision. Writes nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError>;

    /// Makes the store ready to be written: what an older program left is brought to what this one
    /// works with. [`Store::transact`] does so by itself; for whoever reads first and writes then. Says
    /// whether there was anything to do.
    ///
    /// # Errors
    /// When it cannot be written, or not be brought up to date; then it is as it was.
    fn bring_up_to_date(&mut self) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Reads at one moment. `read` gets a snapshot of what can move: it loads from the store what it is
    /// asked for, and only what is on a list is found without knowing its id. Writes nothing.
    ///
    /// # Errors
    /// When the store cannot be read, or the snapshot was asked for what only a whole one has.
    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError>;

    /// One write transaction. `work` is called at most once, with the snapshot as it is while nobody
    /// else can write, as much of it as was asked for. `Some(events)` commits them, all or none: they are
    /// numbered from the revision plus one without gaps, and folding them over that snapshot gives the
    /// next one; those that `work` has not folded into it are folded after it. `None`, and an empty list,
    /// leave the store as it was, to the byte.
    ///
    /// Returns the revision after the transaction.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when others wrote for longer than the deadline; then nothing was applied.
    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError>;

    /// The events a query asks for.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError>;

    /// The posts a query asks for.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn posts(&self, query: &PostQuery) -> Result<Vec<Post>, StoreError>;

    /// A step of an operation with the event that recorded it, once it was carried out. The events of a
    /// transaction may record one ([`Change::OperationDone`]), and no step is recorded twice: a second
    /// transaction with it is refused ([`StoreError::Unfit`]), whatever else it has.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn operation(&self, id: &OperationId, step: u32) -> Result<Option<(Event, Operation)>, StoreError> {
        let all = self.events(&EventQuery::default())?.into_iter().filter_map(recorded);
        Ok(all.into_iter().find(|(_, done)| done.id == *id && done.step == step))
    }

    /// The topics whose name starts with a prefix, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn topics(&self, prefix: &str) -> Result<Vec<Topic>, StoreError>;
}

/// What an event recorded of an operation, if it did, beside the event.
pub(super) fn recorded(event: Event) -> Option<(Event, Operation)> {
    let operation = match &event.change {
        Change::OperationDone { operation } => operation.as_ref().clone(),
        _ => return None,
    };
    Some((event, operation))
}

/// Why a store cannot do what was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no database where one was expected.
    #[error("there is no store at {}", .path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There was a store, and its database is gone.
    #[error(
        "the database of the store in {} is gone: {revision} events were committed to it ({})",
        .path.display(),
        .mark.file_name().unwrap_or_default().display()
    )]
    Lost {
        /// The store's folder.
        path: PathBuf,
        /// How many events it had.
        revision: Revision,
        /// The file that says so.
        mark: PathBuf,
    },
    /// There is already a store.
    #[error("there is already a store at {}", .path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// The file is something else, or was tampered with.
    #[error("{} is not a roundgate store: {reason}", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The store was written by a newer program.
    #[error("{} has schema {found}, and this program knows schemas up to {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// The store was written by an older program, and only what writes brings it up to date.
    #[error("{} has schema {found}, and this program works with schema {known}", .path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The one that is needed.
        known: i64,
    },
    /// A new file was asked for, and something has its name.
    #[error("{} is there already", .path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// The file system cannot keep a store.
    #[error("{} is on {kind}, where locks and syncs cannot be relied on: a store there can lose data", .path.display())]
    Network {
        /// The folder.
        path: PathBuf,
        /// The sort of file system.
        kind: &'static str,
    },
    /// A stored row does not say anything the program understands.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// Which row, and what is wrong with it.
        what: String,
    },
    /// The linked SQLite is known to lose data.
    #[error("SQLite {found} can lose committed data (the WAL-reset bug); 3.51.3 or newer is needed")]
    OldSqlite {
        /// The linked version.
        found: &'static str,
    },
    /// A change that the store cannot hold: a wrong number, something that is not there or that may
    /// be there only once. The model lets none of these through, so this is a fault of the program.
    #[error("a change does not fit the store: {what}; nothing was written")]
    Unfit {
        /// What does not fit.
        what: String,
    },
    /// Others wrote for longer than the deadline.
    #[error("the store is busy: others held it for {waited_ms} ms; nothing was written")]
    Busy {
        /// How long was waited, in milliseconds.
        waited_ms: u64,
    },
    /// A commit reported an error, and nobody can tell now whether it happened.
    #[error(
        "the commit reported an error, and whether it happened cannot be told now: event {seq} is there, or not"
    )]
    Unsettled {
        /// The last event it had.
        seq: Revision,
        /// The error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file or folder cannot be written.
    #[error("{} cannot be written: {reason}", .path.display())]
    ReadOnly {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// No room is left.
    #[error("the disk is full; nothing was written")]
    Full,
    /// A write failed where files may not grow past a limit.
    #[error(
        "files may not grow past {bytes} bytes here (ulimit -f), and a write failed; nothing was written"
    )]
    Limit {
        /// The limit.
        bytes: u64,
    },
    /// Reading or writing failed in another way.
    #[error("cannot {what}")]
    Io {
        /// What was tried, with the path.
        what: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// SQLite failed in another way.
    #[error("cannot {what}")]
    Sqlite {
        /// What was tried.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: rusqlite::Error,
    },
}
