//! The commands that are measured, each side by side with its floor: one run of the command, one of the
//! floor, and so on, so that whatever else the machine does meets both.

use std::error::Error;
use std::path::{Path, PathBuf};

use roundgate::app::place::DATABASE;

use super::floor;
use super::measure::{Call, Times};
use super::stores::{Kept, copy};
use super::written::{Before, Written};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A tick that finds nothing to do.
    IdleTick,
    /// What may be worked on in a root.
    Ready,
    /// The same, beside a select of its rows.
    ReadyRows,
    /// What may be worked on next in a root.
    ReadyNext,
    /// Whether a root is final.
    Validate,
    /// Where everything stands.
    Status,
    /// A tick that opens the next round of a scope.
    Tick,
    /// A claim of one issue.
    Claim,
    /// The end of one issue.
    Close,
    /// A new issue.
    Create,
}

/// In the order in which they run: what only reads comes first, and an issue is closed by who holds it.
pub const ALL: [Operation; 10] = [
    Operation::IdleTick,
    Operation::Ready,
    Operation::ReadyRows,
    Operation::ReadyNext,
    Operation::Validate,
    Operation::Status,
    Operation::Tick,
    Operation::Claim,
    Operation::Close,
    Operation::Create,
];

impl Operation {
    /// Its word for `--only`.
    pub fn word(self) -> &'static str {
        match self {
            Operation::IdleTick => "idle-tick",
            Operation::Ready => "ready",
            Operation::ReadyRows => "ready-rows",
            Operation::ReadyNext => "ready-next",
            Operation::Validate => "validate",
            Operation::Status => "status",
            Operation::Tick => "tick",
            Operation::Claim => "claim",
            Operation::Close => "close",
            Operation::Create => "create",
        }
    }

    /// Its name in the report.
    pub fn title(self) -> &'static str {
        match self {
            Operation::IdleTick => "`tick` (idle)",
            Operation::Ready => "`issues ready --root`",
            Operation::ReadyRows => "the same, beside a select of its rows",
            Operation::ReadyNext => "`issues ready --root --limit 1`",
            Operation::Validate => "`issues validate`",
            Operation::Status => "`status`",
            Operation::Tick => "`tick` (a transition)",
            Operation::Claim => "`issues claim`",
            Operation::Close => "`issues close`",
            Operation::Create => "`issues create`",
        }
    }

    /// Whether it changes the store.
    pub fn writes(self) -> bool {
        matches!(self, Operation::Tick | Operation::Claim | Operation::Close | Operation::Create)
    }

    /// How often it can run on one copy of a store, the first and unmeasured run included.
    fn most_runs(self, kept: &Kept) -> usize {
        match self {
            Operation::Tick => 33,
            Operation::Claim | Operation::Close => kept.facts.goals.len(),
            _ => usize::MAX,
        }
    }

    /// The arguments of the n-th run.
    fn arguments(self, kept: &Kept, run: usize) -> Vec<String> {
        let facts = &kept.facts;
        let goal = || facts.goals[run].as_str();
        let words: Vec<&str> = match self {
            Operation::IdleTick => vec!["tick", "--root", &facts.idle_root],
            Operation::Ready | Operation::ReadyRows => vec!["issues", "ready", "--root", &facts.idle_root],
            Operation::ReadyNext => vec!["issues", "ready", "--root", &facts.idle_root, "--limit", "1"],
            Operation::Validate => vec!["issues", "validate", &facts.idle_root],
            Operation::Status => vec!["status"],
            Operation::Tick => vec!["tick", "--root", &facts.moving_root],
            Operation::Claim => vec!["issues", "claim", goal(), "--as", "cleo"],
            Operation::Close => vec!["issues", "close", goal(), "--as", "cleo", "--reason", "it is done"],
            Operation::Create => {
                vec!["issues", "create", "Look at one thing more", "--parent", &facts.idle_root]
            }
        };
        words.into_iter().chain(["--json"]).map(str::to_owned).collect()
    }
}

/// What came of measuring one command on one store.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Which command.
    pub operation: Operation,
    /// How long it took.
    pub command: Times,
    /// How long its floor took.
    pub floor: Times,
    /// What it wrote each time, if it writes.
    pub written: Option<Written>,
    /// The most memory it had, in KiB.
    pub peak_kib: u64,
}

/// The programs, and where copies may be made.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The measured program.
    pub program: PathBuf,
    /// This executable, which is the floor, too.
    pub own: PathBuf,
    /// Where stores and copies are.
    pub dir: PathBuf,
    /// How often each command runs.
    pub runs: usize,
}

impl Bench {
    /// A call of the measured program on a store.
    pub fn command(&self, store: &Path, arguments: Vec<String>) -> Call {
        let flag = ["--store".into(), store.as_os_str().to_owned()];
        Call::of(&self.program, arguments.into_iter().map(Into::into).chain(flag))
    }

    /// A call of a floor.
    pub fn floor(&self, words: &[&str]) -> Call {
        Call::of(&self.own, [floor::WORD].iter().chain(words))
    }

    /// Runs a call and says how much memory it had at most, in KiB. Another small process does that: a
    /// child counts what its parent had when it came into being.
    pub fn peak_kib(&self, call: &Call) -> Result<u64> {
        let words = ["--peak".into()].into_iter().chain(call.words());
        Ok(Call::of(&self.own, words).output()?.trim().parse()?)
    }

    /// Measures commands on one store.
    pub fn measure(&self, kept: &Kept, operations: &[Operation]) -> Result<Vec<Measured>> {
        let writes = operations.iter().any(|operation| operation.writes());
        let work = if writes { kept.copy(&self.dir.join("work"))? } else { kept.folder.clone() };
        let scratch = self.dir.join("scratch");
        if writes {
            copy(&kept.folder, &scratch)?;
            floor::prepare(&scratch.join(DATABASE))?;
        }
        let measured = operations.iter().map(|&operation| {
            eprintln!("  {}", operation.word());
            self.one(kept, operation, &work, &scratch)
        });
        let measured = measured.collect::<Result<_>>()?;
        if writes {
            std::fs::remove_dir_all(&work)?;
            std::fs::remove_dir_all(&scratch)?;
        }
        Ok(measured)
    }

    fn one(&self, kept: &Kept, operation: Operation, work: &Path, scratch: &Path) -> Result<Measured> {
        let (file, scratch) = (work.join(DATABASE), scratch.join(DATABASE));
        let command = |run| self.command(work, operation.arguments(kept, run));
        // The first run warms the caches, and shows what there is to count.
        let before = operation.writes().then(|| Before::of(&file)).transpose()?;
        let peak_kib = self.peak_kib(&command(0))?;
        let written = before.map(|before| before.since(&file)).transpose()?;
        let floor = match written {
            None => {
                let word = if operation == Operation::ReadyRows { floor::LIST } else { floor::SELECT };
                self.floor(&[word, text(&file)?, &kept.facts.idle_root])
            }
            Some(Written { rows, bytes }) => {
                let (rows, bytes) = (rows.to_string(), bytes.to_string());
                self.floor(&[floor::COMMIT, text(&scratch)?, &rows, &bytes])
            }
        };
        floor.timed()?;
        let (mut commands, mut floors) = (Times::default(), Times::default());
        for run in 1..=self.runs.min(operation.most_runs(kept) - 1) {
            commands.add(command(run).timed()?);
            floors.add(floor.timed()?);
        }
        Ok(Measured { operation, command: commands, floor: floors, written, peak_kib })
    }
}

/// A path as an argument.
pub fn text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()).into())
}
