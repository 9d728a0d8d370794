//! A disk that can lose power: what was written to it is known step by step, and what of it would be
//! left after a cut at any of the steps can be made up.
//!
//! What a sync has covered is safe. Of everything since then any part may be on the disk, whatever was
//! written first, each sector of 512 bytes with or without the new bytes; where a file grew, there may be
//! anything in what was not written. A name that was taken away or made may be there or not, unless the
//! folder was synced.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fastrand::Rng;

use crate::vfs::{Answer, Disk, Op};

/// What is written as a whole or not at all.
const SECTOR: usize = 512;

/// Something that happened, to the file of a name.
#[derive(Debug, Clone)]
pub enum Step {
    Create(String),
    Write(String, usize, Vec<u8>),
    Truncate(String, usize),
    Sync(String),
    Delete(String, bool),
    /// The program was told that everything up to this event is committed, and this was in its mark.
    Acknowledged(u64, Vec<u8>),
}

impl Step {
    /// Whether it happened to a file whose name begins like this.
    pub fn happened_to(&self, prefix: &str) -> bool {
        match self {
            Step::Create(name) | Step::Sync(name) => name.starts_with(prefix),
            Step::Write(name, ..) | Step::Truncate(name, _) | Step::Delete(name, _) => {
                name.starts_with(prefix)
            }
            Step::Acknowledged(..) => false,
        }
    }

    /// Whether it is one of the rarer ones, around which a cut is more telling.
    pub fn telling(&self) -> bool {
        match self {
            Step::Write(name, offset, _) => !name.ends_with("-wal") || *offset == 0,
            Step::Acknowledged(..) | Step::Sync(_) => false,
            Step::Create(_) | Step::Truncate(..) | Step::Delete(..) => true,
        }
    }
}

/// Writes down what happens to the files of a folder. Nothing is really synced: that would only take
/// time.
#[derive(Debug, Default)]
pub struct Recorder {
    steps: Mutex<Vec<Step>>,
    /// The planted bug: syncs are told to have happened, and have not.
    lies: bool,
}

impl Recorder {
    /// One that ignores every sync.
    pub fn lying() -> Recorder {
        Recorder { lies: true, ..Recorder::default() }
    }

    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program was told that its change is made.
    pub fn acknowledged(&self, folder: &Path, revision: u64) {
        let mark = fs::read(folder.join(MARK)).unwrap();
        self.steps().push(Step::Acknowledged(revision, mark));
    }

    /// Everything that happened.
    pub fn take(&self) -> Vec<Step> {
        std::mem::take(&mut self.steps())
    }
}

/// The file that is written without SQLite and without a sync.
pub const MARK: &str = "roundgate.mark";

impl Disk for Recorder {
    fn asked(&self, file: &Path, op: Op<'_>) -> Answer {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let size = |size| usize::try_from(size).unwrap();
        let (step, answer) = match op {
            Op::Create => (Step::Create(name), Answer::Do),
            Op::Write(offset, bytes) => (Step::Write(name, size(offset), bytes.to_vec()), Answer::Do),
            Op::Truncate(to) => (Step::Truncate(name, size(to)), Answer::Do),
            Op::Sync if self.lies => return Answer::Pretend,
            Op::Sync => (Step::Sync(name), Answer::Pretend),
            Op::Delete(for_good) => (Step::Delete(name, for_good), Answer::Do),
        };
        self.steps().push(step);
        answer
    }
}

/// Nothing is written down, and nothing is synced.
pub struct Quick;

impl Disk for Quick {
    fn asked(&self, _: &Path, op: Op<'_>) -> Answer {
        if matches!(op, Op::Sync) { Answer::Pretend } else { Answer::Do }
    }
}

/// A file without its name.
#[derive(Debug, Clone, Default)]
struct Content {
    safe: Vec<u8>,
    unsafe_yet: Vec<Unsafe>,
    /// Whether its name is not safe either; its first sync makes it so.
    new: bool,
}

#[derive(Debug, Clone)]
enum Unsafe {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// A disk at one moment.
#[derive(Debug, Clone, Default)]
pub struct Platter {
    contents: Vec<Content>,
    /// As a program sees them.
    names: BTreeMap<String, usize>,
    safe_names: BTreeMap<String, usize>,
    unsafe_names: Vec<(String, Option<usize>)>,
    /// The last event that was acknowledged.
    pub acknowledged: u64,
    /// Every content that the mark has had, the oldest first.
    pub marks: Vec<Vec<u8>>,
}

/// What is left after a cut: the bytes of each file.
pub type Image = BTreeMap<String, Vec<u8>>;

impl Platter {
    /// A disk on which the files of a folder are safe, with so many events in them.
    pub fn holding(files: &Image, acknowledged: u64) -> Platter {
        let mut platter = Platter { acknowledged, ..Platter::default() };
        for (name, bytes) in files {
            platter.names.insert(name.clone(), platter.contents.len());
            platter.contents.push(Content { safe: bytes.clone(), ..Content::default() });
        }
        platter.safe_names = platter.names.clone();
        platter
    }

    /// One step further.
    pub fn go_on(&mut self, step: &Step) {
        match step {
            Step::Create(name) => {
                self.names.insert(name.clone(), self.contents.len());
                self.unsafe_names.push((name.clone(), Some(self.contents.len())));
                self.contents.push(Content { new: true, ..Content::default() });
            }
            Step::Write(name, offset, bytes) => {
                self.content(name).unsafe_yet.push(Unsafe::Write(*offset, bytes.clone()));
            }
            Step::Truncate(name, size) => self.content(name).unsafe_yet.push(Unsafe::Truncate(*size)),
            Step::Sync(name) => {
                let content = self.content(name);
                let all = std::mem::take(&mut content.unsafe_yet);
                all.iter().for_each(|change| put(&mut content.safe, change, |_| true));
                if std::mem::take(&mut content.new) {
                    self.sync_names();
                }
            }
            Step::Delete(name, for_good) => {
                self.names.remove(name);
                self.unsafe_names.push((name.clone(), None));
                if *for_good {
                    self.sync_names();
                }
            }
            Step::Acknowledged(revision, mark) => {
                self.acknowledged = *revision;
                self.marks.push(mark.clone());
            }
        }
    }

    fn content(&mut self, name: &str) -> &mut Content {
        &mut self.contents[self.names[name]]
    }

    fn sync_names(&mut self) {
        for (name, content) in std::mem::take(&mut self.unsafe_names) {
            set(&mut self.safe_names, &name, content);
        }
    }

    /// What might be left if the power went now, without the mark.
    pub fn cut(&self, rng: &mut Rng) -> Image {
        let mut names = self.safe_names.clone();
        for (name, content) in &self.unsafe_names[..rng.usize(0..=self.unsafe_names.len())] {
            set(&mut names, name, *content);
        }
        let luck = Luck::new(rng);
        names.into_iter().map(|(name, content)| (name, left(&self.contents[content], luck, rng))).collect()
    }

    /// What might be left of the mark: any of its contents, half a new one over an old one, or nothing.
    pub fn cut_mark(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        let at = match rng.u8(0..4) {
            0 => return None,
            1 => rng.usize(0..=self.marks.len()),
            _ => self.marks.len(),
        };
        let mut mark = self.marks[..at].last()?.clone();
        if rng.u8(0..10) == 0 {
            mark.truncate(rng.usize(0..mark.len()));
        }
        Some(mark)
    }
}

fn set(names: &mut BTreeMap<String, usize>, name: &str, content: Option<usize>) {
    match content {
        Some(content) => names.insert(name.to_owned(), content),
        None => names.remove(name),
    };
}

/// Carries a change out in the sectors that have it.
fn put(bytes: &mut Vec<u8>, change: &Unsafe, mut has: impl FnMut(usize) -> bool) {
    match change {
        Unsafe::Truncate(size) if has(0) => bytes.resize(*size, 0),
        Unsafe::Truncate(_) => {}
        Unsafe::Write(offset, new) => {
            let mut from = 0;
            while from < new.len() {
                let sector = (offset + from) / SECTOR;
                let to = new.len().min((sector + 1) * SECTOR - offset);
                if has(sector) {
                    bytes.resize(bytes.len().max(offset + to), 0);
                    bytes[offset + from..offset + to].copy_from_slice(&new[from..to]);
                }
                from = to;
            }
        }
    }
}

/// In which way the disk was unlucky.
#[derive(Debug, Clone, Copy)]
enum Luck {
    /// Nothing unsafe is there.
    None,
    /// All of it is.
    All,
    /// What came first, and some sectors of what came next.
    First,
    /// Any of the changes, each whole.
    Changes(f64),
    /// Any of the sectors.
    Sectors(f64),
    /// All but one change, or one sector of it.
    AllBut { whole: bool },
}

impl Luck {
    fn new(rng: &mut Rng) -> Luck {
        let part = [0.1, 0.5, 0.9, 0.98][rng.usize(0..4)];
        match rng.u8(0..12) {
            0 => Luck::None,
            1 => Luck::All,
            2..5 => Luck::First,
            5..7 => Luck::Changes(part),
            7..9 => Luck::Sectors(part),
            _ => Luck::AllBut { whole: rng.bool() },
        }
    }
}

/// What is left of one file.
fn left(content: &Content, luck: Luck, rng: &mut Rng) -> Vec<u8> {
    let all = &content.unsafe_yet;
    let mut bytes = content.safe.clone();
    let one = rng.usize(0..=all.len());
    for (n, change) in all.iter().enumerate() {
        let whole = match luck {
            Luck::None => false,
            Luck::All | Luck::Sectors(_) => true,
            Luck::First => n <= one,
            Luck::Changes(part) => rng.f64() < part,
            Luck::AllBut { whole } => n != one || !whole,
        };
        let torn = match luck {
            Luck::Sectors(part) => Some(part),
            Luck::First | Luck::AllBut { .. } if n == one => Some(0.5),
            _ => None,
        };
        if whole {
            put(&mut bytes, change, |_| torn.is_none_or(|part| rng.f64() < part));
        }
    }
    // A file may have got its new size, and what was there before in place of its new bytes.
    let grew = all.iter().any(|change| match change {
        Unsafe::Write(offset, new) => offset + new.len() > content.safe.len(),
        Unsafe::Truncate(_) => false,
    });
    if grew && rng.u8(0..4) == 0 {
        let pages = rng.usize(1..4);
        bytes.extend(std::iter::repeat_with(|| rng.u8(..)).take(pages * 4096));
    }
    bytes
}

/// The files of a folder, without what is only memory.
pub fn files(folder: &Path) -> Image {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    named
        .filter(|(name, _)| !name.ends_with("-shm"))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}
