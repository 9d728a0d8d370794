//! Is the store what was written to it, and does what is in it make sense?
//!
//! The store looks at its bytes, chain and tables; what the issues say to each other is looked at here.
//! A repair makes again what follows from the events, and nothing else.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::backup::free_name;
use super::notify::undelivered;
use super::{AppError, Session, config, place};
use crate::engine::{review_gated, status};
use crate::model::issue::{Millis, Outcome};
use crate::model::snapshot::Snapshot;
use crate::model::waits::Waits;
use crate::store::StoreError;
use crate::store::sqlite::{self, Finding, Repair};

/// How many faults of one sort are named.
const NAMED: usize = 20;

/// What one check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Nothing wrong.
    Ok,
    /// Something wrong.
    Fault,
    /// Not looked at, because of what another check found.
    Unchecked,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckView {
    /// Its name.
    pub name: &'static str,
    /// What it found.
    pub health: Health,
    /// In words.
    pub detail: String,
}

/// What `doctor` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The store's folder.
    pub store: PathBuf,
    /// The number of the last event, where all of them are sound.
    pub revision: Option<u64>,
    /// Whether an older program left it as it is: then it was not looked at further.
    #[serde(skip)]
    pub older: bool,
    /// Whether no check found anything wrong.
    pub sound: bool,
    /// Every check, in the order in which they were made.
    pub checks: Vec<CheckView>,
    /// What was repaired, in words.
    pub repaired: Vec<String>,
    /// The copy of the store as it was before the repair.
    pub backup: Option<PathBuf>,
}

/// What `--fix` makes again.
const TABLES: [&str; 7] = ["integrity", "references", "tables", "derived", "search", "posts", "operations"];

impl Diagnosis {
    /// Whether a check found something wrong.
    pub fn faulty(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && check.health == Health::Fault)
    }

    /// Whether the store itself is what was written to it, whatever lies beside it.
    pub fn store_sound(&self) -> bool {
        let beside = ["archive", "configuration"];
        self.checks.iter().all(|check| check.health != Health::Fault || beside.contains(&check.name))
    }

    /// Whether `--fix` would change something for the better.
    pub fn fixable(&self) -> bool {
        let again = TABLES.iter().chain(&["mark"]).any(|name| self.faulty(name));
        self.older || (self.revision.is_some() && again)
    }
}

/// Looks at a store. Writes nothing.
///
/// # Errors
/// When there is no store, or it cannot be looked at. Damage is no error, but what this is for.
pub fn examine(folder: &Path) -> Result<Diagnosis, AppError> {
    let examined = sqlite::examine(folder, &place::options(&configured(folder)))?;
    let mut checks: Vec<CheckView> = examined.checks.iter().map(stored).collect();
    match &examined.snapshot {
        Some(snapshot) => {
            checks.extend(graph(snapshot));
            checks.push(outbox(snapshot));
        }
        None => checks.extend(["waiting", "rounds", "asks", "reviews", "documents", "outbox"].map(|name| {
            CheckView { name, health: Health::Unchecked, detail: "the tables cannot be read".to_owned() }
        })),
    }
    checks.push(configuration(folder));
    Ok(Diagnosis {
        store: folder.to_owned(),
        revision: examined.revision,
        older: examined.older,
        sound: !checks.iter().any(|check| check.health == Health::Fault),
        checks,
        repaired: Vec::new(),
        backup: None,
    })
}

/// Looks at an archive of a compaction as well.
///
/// # Errors
/// When it cannot be read.
pub fn examine_archive(found: &mut Diagnosis, archive: &Path) -> Result<(), AppError> {
    let there = |source| AppError::File { what: format!("read {}", archive.display()), source };
    archive.metadata().map_err(there)?;
    let finding = match found.store_sound() {
        true => sqlite::check_archive(&found.store, archive, &place::options(&configured(&found.store)))?,
        false => Finding::Unchecked("the store itself is not sound".to_owned()),
    };
    let check = stored(&sqlite::Check { name: "archive", finding });
    found.sound &= check.health != Health::Fault;
    found.checks.push(check);
    Ok(())
}

/// Every other command stops at a configuration that it cannot read.
fn configuration(folder: &Path) -> CheckView {
    let fault = config::load(folder).err().map(|error| error.to_string());
    found("configuration", "every key of config.toml is known, and has a value", fault.into_iter().collect())
}

/// A configuration that cannot be read is no reason not to look at the store.
fn configured(folder: &Path) -> config::Config {
    config::load(folder).unwrap_or_default()
}

/// Looks at a store, makes again what follows from its events where that is not as it should be, and
/// looks again. The store as it was is kept in a copy first.
///
/// # Errors
/// As [`examine`]; and when the events themselves are damaged: then nothing is written.
pub fn fix(folder: &Path, now: Millis) -> Result<Diagnosis, AppError> {
    let options = place::options(&configured(folder));
    let mut before = examine(folder)?;
    let mut upgraded = None;
    if before.older {
        upgraded = sqlite::upgrade(folder, &options)?;
        before = examine(folder)?;
    }
    let repair =
        Repair { tables: TABLES.iter().any(|name| before.faulty(name)), mark: before.faulty("mark") };
    if before.revision.is_none() {
        // A newer store is no damaged one.
        if let Err(newer @ AppError::Store(StoreError::Newer { .. })) =
            place::open(folder, &configured(folder))
        {
            return Err(newer);
        }
        let fault = before.checks.iter().find(|check| check.health == Health::Fault);
        let fault = fault.map_or_else(String::new, |check| format!("{}: {}", check.name, check.detail));
        let what = format!("only what follows from sound events can be repaired, and {fault}");
        return Err(StoreError::Damaged { what }.into());
    }
    let mut repaired = Vec::new();
    let mut backup = None;
    if let Some(done) = upgraded {
        repaired.push(format!("the schema was brought from {} to {}", done.from, done.to));
        backup = Some(done.backup);
    }
    if repair == Repair::default() {
        if sqlite::refresh_mark(folder, &options)? {
            repaired.push("the mark was written".to_owned());
        }
    } else {
        let kept = folder.join(free_name(folder, "before-repair", now));
        let copied = sqlite::repair(folder, &kept, repair, &options)?.file;
        backup = backup.or(Some(copied));
        if repair.tables {
            repaired.push("the tables were made again from the events".to_owned());
        }
        if repair.mark {
            let said = before.checks.iter().find(|check| check.name == "mark");
            let said = said.map_or("", |check| check.detail.as_str());
            repaired.push(format!("the mark was set to the last event there is; until now: {said}"));
        }
    }
    let mut after = examine(folder)?;
    let mut faulty = after.checks.iter().filter(|check| check.health == Health::Fault);
    if faulty.next().is_some_and(|check| check.name == "documents") && faulty.next().is_none() {
        // A change like any other, which undoes nothing.
        Session::of_engine(folder, now)?.renew_documents("doctor --fix")?;
        repaired.push("the status documents were brought up to date".to_owned());
        after = examine(folder)?;
    }
    Ok(Diagnosis { repaired, backup, ..after })
}

fn stored(check: &sqlite::Check) -> CheckView {
    let (health, detail) = match &check.finding {
        Finding::Sound(detail) => (Health::Ok, detail),
        Finding::Fault(detail) => (Health::Fault, detail),
        Finding::Unchecked(detail) => (Health::Unchecked, detail),
    };
    CheckView { name: check.name, health, detail: detail.clone() }
}

fn graph(snapshot: &Snapshot) -> Vec<CheckView> {
    vec![
        found("waiting", "nothing waits for itself", waiting(snapshot)),
        found("rounds", "the rounds and the graph say the same", rounds(snapshot)),
        found("asks", "every ask is an issue", asks(snapshot)),
        found("reviews", "no failed review is left closed as one", reviews(snapshot)),
        found("documents", "the status documents say what the issues say", status::faults(snapshot)),
    ]
}

fn found(name: &'static str, sound: &str, mut faults: Vec<String>) -> CheckView {
    if faults.is_empty() {
        return CheckView { name, health: Health::Ok, detail: sound.to_owned() };
    }
    let more = faults.len().saturating_sub(NAMED);
    faults.truncate(NAMED);
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
    CheckView { name, health: Health::Fault, detail: faults.join("; ") }
}

fn waiting(snapshot: &Snapshot) -> Vec<String> {
    let cycle = Waits::of(snapshot.graph()).cycle();
    cycle.map(|cycle| format!("a circle of waiting: {cycle}")).into_iter().collect()
}

/// What was not delivered is no damage, but whoever looks here wants to know.
fn outbox(snapshot: &Snapshot) -> CheckView {
    let waiting = undelivered(snapshot);
    let last =
        waiting.last_failure.map_or_else(String::new, |failure| format!("; last failure: {}", failure.why));
    let sound = match waiting.count {
        0 => "everything was delivered".to_owned(),
        many => format!("{many} undelivered{last}"),
    };
    let lost = snapshot.notices().filter(|notice| snapshot.ask(&notice.id.ask).is_none());
    let faults = lost.map(|notice| format!("{} is about no ask", notice.id));
    found("outbox", &sound, faults.collect())
}

/// Scopes that still go on; what became of the rounds of the others is history.
fn rounds(snapshot: &Snapshot) -> Vec<String> {
    let faults = snapshot.scopes().filter_map(|scope| {
        let Some(ix) = snapshot.graph().ix(&scope.id) else {
            return Some(format!("the scope {} is no issue", scope.id));
        };
        let goes_on = scope.end.is_none() && review_gated::live(snapshot, ix);
        let why = review_gated::contradiction(snapshot, scope).filter(|_| goes_on)?;
        Some(format!("{}: {why}", scope.id))
    });
    faults.collect()
}

fn asks(snapshot: &Snapshot) -> Vec<String> {
    let graph = snapshot.graph();
    let faults = snapshot.asks().flat_map(|ask| {
        let itself = match graph.get(&ask.id) {
            None => Some(format!("the ask {} is no issue", ask.id)),
            Some(issue) if !issue.tags.ask() => Some(format!("{} has no kind:ask", ask.id)),
            Some(_) => None,
        };
        let named = ask.scope.iter().chain(&ask.about).filter(|id| graph.ix(id).is_none());
        let named = named.map(|id| format!("{} names {id}, and there is no such issue", ask.id));
        itself.into_iter().chain(named).collect::<Vec<_>>()
    });
    faults.collect()
}

fn reviews(snapshot: &Snapshot) -> Vec<String> {
    let closed = |round: &&crate::model::record::Round| {
        let review = snapshot.graph().get(&round.review);
        review.and_then(|issue| issue.state.outcome()) == Some(Outcome::NeedsWork)
    };
    let faults = snapshot.all_rounds().filter(closed);
    faults.map(|round| format!("{} is closed as needs_work", round.review)).collect()
}
