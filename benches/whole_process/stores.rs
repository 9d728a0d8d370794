//! The stores that are measured: a live part that is always the same, and more or less beside it.
//! They are made once and kept; what changes a store runs on a copy.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use roundgate::app::place::DATABASE;
use roundgate::model::change::{Change, Event};
use roundgate::model::graph::{Edge, EdgeKind};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::Issue;
use roundgate::model::tag::{Kind, PROTOCOL, Tags};
use roundgate::store::sqlite::{Options, Sqlite, Synchronous};
use roundgate::store::{Extent, Revision, Store};
use serde::{Deserialize, Serialize};

use super::unit::{self, BODY, PLAYED_AT, Play, Unit};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Goes up when stores are made in another way; then the kept ones are made again.
const EDITION: u32 = 2;
/// How many events are written in one transaction.
const BATCH: usize = 200_000;
/// How many open issues stand behind one block.
pub const BEHIND: usize = 100_000;
/// How many live issues the root has in which ticks apply transitions, where it has many.
pub const WIDE: usize = 10_000;

/// What lies beside the live part and the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// [`BEHIND`] open issues below one container that is blocked.
    BelowABlock,
    /// [`BEHIND`] roots that one issue blocks.
    RootsBehindABlock,
    /// [`WIDE`] live issues in the root in which ticks apply transitions.
    Wide,
}

/// Which store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Live part and history, in issues.
    pub size: usize,
    /// What else there is.
    pub beside: Beside,
}

impl Spec {
    /// A word for it: the name of its folder, too.
    pub fn name(self) -> String {
        let Spec { size, beside } = self;
        match beside {
            Beside::Nothing => format!("{size}"),
            Beside::BelowABlock => format!("{size}-below"),
            Beside::RootsBehindABlock => format!("{size}-roots"),
            Beside::Wide => format!("{size}-wide"),
        }
    }

    /// The store with this name.
    pub fn named(name: &str) -> Option<Spec> {
        let (size, beside) = match name.split_once('-') {
            None => (name, Beside::Nothing),
            Some((size, "below")) => (size, Beside::BelowABlock),
            Some((size, "roots")) => (size, Beside::RootsBehindABlock),
            Some((size, "wide")) => (size, Beside::Wide),
            Some(_) => return None,
        };
        Some(Spec { size: size.parse().ok()?, beside })
    }

    /// For the report.
    pub fn title(self) -> String {
        let size = grouped(self.size);
        match self.beside {
            Beside::Nothing => format!("{size} issues"),
            Beside::BelowABlock => {
                format!("{size} issues, and {} open ones below a blocked container", grouped(BEHIND))
            }
            Beside::RootsBehindABlock => {
                format!("{size} issues, and {} roots that one issue blocks", grouped(BEHIND))
            }
            Beside::Wide => format!("{size} issues, and {} live ones in the ticked root", grouped(WIDE)),
        }
    }
}

/// A number with its thousands apart.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// What there is to know about a store to measure it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Facts {
    edition: u32,
    /// How many issues there are in all.
    pub issues: usize,
    /// How many events.
    pub events: Revision,
    /// The root in which no tick has anything to do.
    pub idle_root: String,
    /// The root in which ticks apply transitions.
    pub moving_root: String,
    /// Goals that may be claimed.
    pub goals: Vec<String>,
}

/// A store that was made before.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Which.
    pub spec: Spec,
    /// Its folder.
    pub folder: PathBuf,
    /// What there is to know.
    pub facts: Facts,
}

impl Kept {
    /// The store, if it is there and this program can read it; one of an older schema is made again.
    pub fn find(dir: &Path, spec: Spec) -> Option<Kept> {
        let folder = dir.join(spec.name());
        let text = fs::read_to_string(folder.join("facts.json")).ok()?;
        let facts: Facts = serde_json::from_str(&text).ok()?;
        let usable = facts.edition == EDITION
            && Sqlite::open(&folder).and_then(|store| store.look(&mut |_, _| ())).is_ok();
        usable.then_some(Kept { spec, folder, facts })
    }

    /// How large the database is, in bytes.
    pub fn bytes(&self) -> Result<u64> {
        Ok(fs::metadata(self.folder.join(DATABASE))?.len())
    }

    /// A copy in another folder, on the disk and not only on its way there.
    pub fn copy(&self, to: &Path) -> Result<PathBuf> {
        copy(&self.folder, to)
    }
}

/// Copies a store nobody has open.
pub fn copy(from: &Path, to: &Path) -> Result<PathBuf> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        fs::copy(entry.path(), &copied)?;
        fs::File::open(&copied)?.sync_all()?;
    }
    Ok(to.to_owned())
}

/// Makes a store, in place of whatever has its name.
pub fn make(dir: &Path, spec: Spec) -> Result<()> {
    let unfinished = dir.join(format!("{}.part", spec.name()));
    let folder = dir.join(spec.name());
    for old in [&unfinished, &folder] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    let store = Sqlite::init_with(&unfinished, &options)?;
    let mut writer = Writer { store, waiting: Vec::new(), written: 0, given: 0 };
    let mut facts = fill(&mut writer, spec)?;
    drop(writer);
    if spec.beside == Beside::Wide {
        widen(&unfinished, &options, &mut facts)?;
    }
    fs::write(unfinished.join("facts.json"), serde_json::to_string_pretty(&facts)?)?;
    fs::File::open(unfinished.join(DATABASE))?.sync_all()?;
    fs::rename(&unfinished, &folder)?;
    Ok(())
}

fn fill(writer: &mut Writer, spec: Spec) -> Result<Facts> {
    let (idle, moving) = (unit::idle()?, unit::moving()?);
    let (history, loose) = (unit::history()?, unit::loose()?);
    let settled = spec.size.saturating_sub(idle.issues() + moving.issues());
    for _ in 0..settled / history.issues() {
        writer.unit(&history)?;
    }
    for _ in 0..settled % history.issues() {
        writer.unit(&loose)?;
    }
    let idle_ids = writer.unit(&idle)?;
    let moving_ids = writer.unit(&moving)?;
    match spec.beside {
        Beside::Nothing | Beside::Wide => {}
        Beside::BelowABlock => {
            let blocker = writer.goal("What everything waits for", None)?;
            let container = writer.issue("Later", Tags::new().with(Kind::Root.tag()), None)?;
            writer.blocks(&blocker, &container)?;
            for n in 0..BEHIND {
                writer.goal(&format!("Step {n} of what comes later"), Some(&container))?;
            }
        }
        Beside::RootsBehindABlock => {
            let blocker = writer.goal("What everything waits for", None)?;
            for n in 0..BEHIND {
                let root = writer.goal(&format!("Job {n} of those that come later"), None)?;
                writer.blocks(&blocker, &root)?;
            }
        }
    }
    writer.flush()?;
    // The goals are behind the root and ten scopes of three issues; one in ten waits for another.
    let goals = idle_ids[31..].iter().enumerate().filter(|(n, _)| n % 10 != 9);
    Ok(Facts {
        edition: EDITION,
        issues: writer.given,
        events: writer.written,
        idle_root: idle_ids[0].clone(),
        moving_root: moving_ids[0].clone(),
        goals: goals.map(|(_, id)| id.clone()).collect(),
    })
}

/// Opens scopes in the root in which ticks apply transitions, until [`WIDE`] issues live in it.
fn widen(folder: &Path, options: &Options, facts: &mut Facts) -> Result<()> {
    let mut play = Play::at(Box::new(Sqlite::open_with(folder, options)?))?;
    // A scope, its attempt and its review.
    for n in 0..(WIDE - unit::moving()?.issues()) / 3 {
        play.scope(&format!("Component {n} of those that go on"), &facts.moving_root)?;
    }
    play.session.store.look(&mut |snapshot, revision| {
        facts.issues = snapshot.counts().0;
        facts.events = revision;
    })?;
    Ok(())
}

/// Writes events in large batches.
struct Writer {
    store: Sqlite,
    waiting: Vec<Event>,
    written: Revision,
    given: usize,
}

impl Writer {
    /// Ids look as random as real ones, so that they fall anywhere into the indexes.
    fn new_id(&mut self) -> String {
        const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
        self.given += 1;
        // Odd, so that no two numbers below 2^30 become the same.
        let mut bits = (self.given as u64).wrapping_mul(0x2545_f491) & ((1 << 30) - 1);
        let mut id = String::from("rg-");
        for _ in 0..6 {
            id.push(char::from(ALPHABET[(bits & 31) as usize]));
            bits >>= 5;
        }
        id
    }

    fn revision(&self) -> Revision {
        self.written + self.waiting.len() as Revision
    }

    fn unit(&mut self, unit: &Unit) -> Result<Vec<String>> {
        let ids: Vec<String> = (0..unit.issues()).map(|_| self.new_id()).collect();
        self.waiting.extend(unit.events_as(&ids, self.revision())?);
        self.flush_if_full()?;
        Ok(ids)
    }

    fn goal(&mut self, title: &str, parent: Option<&IssueId>) -> Result<IssueId> {
        self.issue(title, Tags::new().with(Kind::Goal.tag()), parent)
    }

    fn issue(&mut self, title: &str, tags: Tags, parent: Option<&IssueId>) -> Result<IssueId> {
        let id: IssueId = self.new_id().parse()?;
        let tags = tags.with(PROTOCOL).completed();
        let issue =
            Issue { body: BODY.to_owned(), ..Issue::new(id.clone(), title.to_owned(), tags, PLAYED_AT) };
        self.event(Change::IssueCreated { issue: Box::new(issue), parent: parent.cloned() })?;
        Ok(id)
    }

    fn blocks(&mut self, from: &IssueId, to: &IssueId) -> Result<()> {
        let edge = Edge { from: from.clone(), kind: EdgeKind::Blocks, to: to.clone() };
        self.event(Change::EdgeAdded { edge })
    }

    fn event(&mut self, change: Change) -> Result<()> {
        let actor: Actor = "ann".parse()?;
        let cause = "issues create".to_owned();
        self.waiting.push(Event {
            seq: self.revision() + 1,
            at: PLAYED_AT,
            actor,
            cause,
            tick: None,
            change,
        });
        self.flush_if_full()
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.waiting.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let mut events = Some(std::mem::take(&mut self.waiting));
        self.written = self.store.transact(Extent::Frontier, &mut |_, _| events.take())?;
        Ok(())
    }
}
