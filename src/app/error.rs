//! Everything a use case can fail with, and what sort of failure it is.

use std::io::ErrorKind;
use std::path::PathBuf;

use thiserror::Error;

use crate::interop::beads::ParseError;
use crate::interop::plan_file::PlanError;
use crate::model::apply::ApplyError;
use crate::model::id::{Actor, ActorError, IdError, IssueId};
use crate::model::operation::OperationId;
use crate::model::refusal::{Class, Refusal};
use crate::schedule::ScheduleError;
use crate::store::StoreError;

/// Why a use case failed.
#[derive(Debug, Error)]
pub enum AppError {
    /// The rules forbid it.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A text is not an id.
    #[error("{text:?} is not an issue id: {source}")]
    BadId {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: IdError,
    },
    /// A text is not an actor's name.
    #[error("{text:?} cannot be an actor: {source}")]
    BadActor {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: ActorError,
    },
    /// No issue has this id or prefix.
    #[error("there is no issue {0}")]
    NoIssue(String),
    /// There is no such document.
    #[error("there is no document {0}")]
    NoDocument(String),
    /// More than one issue has this prefix.
    #[error("{prefix} is ambiguous: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The first issues it could be.
        candidates: Vec<String>,
    },
    /// A value that no command takes.
    #[error("{0}")]
    Usage(String),
    /// A plan file is not acceptable.
    #[error("{}", plan_errors(.file, .errors))]
    Plan {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, in the order of the file.
        errors: Vec<PlanError>,
    },
    /// A plan wants to change what has already begun.
    #[error("the plan cannot be applied: {}", .0.join("; "))]
    PlanConflict(Vec<String>),
    /// An import file is not acceptable.
    #[error("{}: {source}", .file.display())]
    Import {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: ParseError,
    },
    /// A file cannot be read or written.
    #[error("cannot {what}: {source}")]
    File {
        /// What was tried, with the path.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The configuration is not acceptable.
    #[error("{}: {problem}", .file.display())]
    Config {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no store to be found.
    #[error("there is no store here or in any folder above {}", .0.display())]
    NoStore(PathBuf),
    /// A store is where a backup should go.
    #[error("there is a store in {}", .0.display())]
    StoreInPlace(PathBuf),
    /// Something cannot be a schedule.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Another process ticks what is due at this store.
    #[error("another heartbeats run is at work on {}", .0.display())]
    ClockRuns(PathBuf),
    /// What has the lock of whoever ticks what is due is no such process of this machine.
    #[error("another program has locked {}", .0.display())]
    ClockLocked(PathBuf),
    /// A signal asked the process to end, and what it waited for had not come by then.
    #[error("stopped: {0}")]
    Stopped(Box<AppError>),
    /// What must have the store to itself found others who have it open.
    #[error(
        "others have the store open, idle or not: waited {waited_ms} ms to be alone with it; nothing was written"
    )]
    InUse {
        /// How long was waited, in milliseconds.
        waited_ms: u64,
        /// The process that ticks what is due there, if one does.
        clock: Option<u32>,
    },
    /// While a process was at work, another database took the place of its own.
    #[error("another database is in {} now: this process went on in the old one no further", .0.display())]
    DatabaseReplaced(PathBuf),
    /// Nothing in the outbox is meant.
    #[error("there is no notification {0} that was not delivered")]
    NoNotice(String),
    /// A notification was not delivered.
    #[error("{id} was not delivered: {why}")]
    NotDelivered {
        /// Which.
        id: String,
        /// Why.
        why: String,
    },
    /// A root has no worker for what must be done.
    #[error("{root} has no worker for the role {role}")]
    NoWorker {
        /// The root.
        root: IssueId,
        /// The role.
        role: String,
    },
    /// A file beside the store does not tell of a worker, as its name says.
    #[error("{} does not tell of a worker: {problem}", .file.display())]
    WorkerFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An operation's id was used for another request.
    #[error("operation {id} is another request: {cause} by {actor}, event {seq}")]
    OperationUsed {
        /// The operation.
        id: OperationId,
        /// What it did.
        cause: String,
        /// Who did it.
        actor: Actor,
        /// The event that recorded it.
        seq: u64,
    },
    /// An operation was carried out, and its reply cannot be read back.
    #[error("operation {id} was carried out (event {seq}), but another release wrote its reply: {source}")]
    ReplyUnreadable {
        /// The operation.
        id: OperationId,
        /// The event that recorded it.
        seq: u64,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// What was asked for is done, and stdout did not take all of what there is to say of it.
    #[error("cannot print the whole result")]
    Unprinted(#[source] std::io::Error),
    /// A transition did not do what it must; nothing was written.
    #[error("the transition {transition} was not applied, because it would break the graph: {why}")]
    Broken {
        /// The transition's kind.
        transition: String,
        /// What would break.
        why: String,
    },
}

fn plan_errors(file: &std::path::Path, errors: &[PlanError]) -> String {
    let lines = errors
        .iter()
        .map(|error| format!("{}:{}:{}: {}", file.display(), error.line, error.column, error.complaint()));
    lines.collect::<Vec<_>>().join("\n")
}

impl From<ApplyError> for AppError {
    fn from(error: ApplyError) -> Self {
        AppError::Refusal(error.into())
    }
}

impl AppError {
    /// The exit code of section 9.
    pub fn exit_code(&self) -> u8 {
        match self {
            AppError::Refusal(refusal) => match refusal.class() {
                Class::Invalid => 2,
                Class::NotFound => 3,
                Class::Conflict => 4,
                Class::Refused => 5,
                Class::NotYet => 6,
            },
            AppError::Store(error) => match error {
                StoreError::Busy { .. } => 6,
                StoreError::Missing { .. } => 3,
                StoreError::Exists { .. } | StoreError::Taken { .. } => 4,
                StoreError::Lost { .. }
                | StoreError::Foreign { .. }
                | StoreError::Newer { .. }
                | StoreError::Older { .. }
                | StoreError::Damaged { .. }
                | StoreError::OldSqlite { .. } => 7,
                StoreError::ReadOnly { .. } | StoreError::Network { .. } => 5,
                _ => 1,
            },
            AppError::BadId { .. }
            | AppError::NoIssue(_)
            | AppError::NoDocument(_)
            | AppError::NoNotice(_)
            | AppError::NoStore(_) => 3,
            AppError::Ambiguous { .. }
            | AppError::StoreInPlace(_)
            | AppError::OperationUsed { .. }
            | AppError::ClockRuns(_)
            | AppError::ClockLocked(_) => 4,
            AppError::Stopped(_) => 130,
            AppError::BadActor { .. }
            | AppError::Usage(_)
            | AppError::Plan { .. }
            | AppError::Import { .. }
            | AppError::Config { .. }
            | AppError::Schedule(_)
            | AppError::NoWorker { .. }
            | AppError::WorkerFile { .. } => 2,
            AppError::PlanConflict(_) => 5,
            AppError::DatabaseReplaced(_) => 7,
            AppError::InUse { .. } => 6,
            AppError::File { source, .. } => match source.kind() {
                ErrorKind::NotFound => 3,
                ErrorKind::InvalidData | ErrorKind::IsADirectory | ErrorKind::NotADirectory => 2,
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => 5,
                _ => 1,
            },
            AppError::Unprinted(_) => 1,
            AppError::Broken { .. } | AppError::ReplyUnreadable { .. } | AppError::NotDelivered { .. } => 1,
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            AppError::Refusal(refusal) => refusal.code(),
            AppError::Store(StoreError::Busy { .. }) | AppError::InUse { .. } => "busy",
            AppError::Store(StoreError::Missing { .. }) | AppError::NoStore(_) => "no_store",
            AppError::Store(StoreError::Lost { .. }) => "store_lost",
            AppError::Store(StoreError::Exists { .. }) => "store_exists",
            AppError::Store(StoreError::ReadOnly { .. }) => "read_only",
            AppError::Store(StoreError::Taken { .. }) => "file_exists",
            AppError::Store(StoreError::Network { .. }) => "network_fs",
            AppError::Store(StoreError::Unsettled { .. }) => "commit_unsettled",
            AppError::Store(StoreError::Full) => "disk_full",
            AppError::Store(StoreError::Limit { .. }) => "size_limit",
            AppError::Store(StoreError::Newer { .. }) => "newer_store",
            AppError::Store(StoreError::Older { .. }) => "older_store",
            AppError::Store(StoreError::Foreign { .. }) => "not_a_store",
            AppError::Store(StoreError::Damaged { .. }) => "damaged",
            AppError::Store(_) => "store",
            AppError::BadId { .. }
            | AppError::NoIssue(_)
            | AppError::NoDocument(_)
            | AppError::NoNotice(_) => "not_found",
            AppError::NotDelivered { .. } => "not_delivered",
            AppError::Ambiguous { .. } => "ambiguous",
            AppError::StoreInPlace(_) => "store_exists",
            AppError::BadActor { .. } | AppError::Usage(_) => "usage",
            AppError::Schedule(_) => "schedule",
            AppError::ClockRuns(_) | AppError::ClockLocked(_) => "clock_runs",
            AppError::Stopped(_) => "stopped",
            AppError::DatabaseReplaced(_) => "database_replaced",
            AppError::Plan { .. } => "plan",
            AppError::PlanConflict(_) => "plan_conflict",
            AppError::Import { .. } => "import",
            AppError::File { .. } => "file",
            AppError::Config { .. } => "config",
            AppError::NoWorker { .. } => "no_worker",
            AppError::WorkerFile { .. } => "worker_file",
            AppError::OperationUsed { .. } => "operation_used",
            AppError::ReplyUnreadable { .. } => "reply_unreadable",
            AppError::Unprinted(_) => "unprinted",
            AppError::Broken { .. } => "broken",
        }
    }

    /// Whether the same call may succeed later without anything else being done.
    pub fn retryable(&self) -> bool {
        match self {
            AppError::Refusal(refusal) => refusal.class() == Class::NotYet,
            AppError::Stopped(waited) => waited.retryable(),
            AppError::Store(StoreError::Busy { .. })
            | AppError::InUse { .. }
            | AppError::NotDelivered { .. } => true,
            _ => false,
        }
    }
}
