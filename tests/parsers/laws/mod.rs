//! What holds of every text that a parser is given: it does not panic, what it accepts is printed and read
//! as the same again, the store takes what it accepts, and a refusal says in a few words what is wrong.
//!
//! `fuzz/` is built with these files, too: they know nothing of tests.

mod config;
pub mod durations;
mod import;
mod names;
mod packets;
mod plan;
mod replies;
mod schedule;
mod tags;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::{AppError, Session};
use roundgate::model::issue::Millis;
use roundgate::store::Store;
use roundgate::store::memory::Memory;
use roundgate::store::sqlite::Sqlite;

/// A law that was broken, in words.
pub type Held = Result<(), String>;

/// When everything happens: the third of December 2026.
pub const NOW: Millis = 1_796_256_000_000;
/// The longest refusal: an error is a line or a few, and not its input.
const LONGEST_REFUSAL: usize = 2_000;

/// A parser, and what holds of it.
pub struct Target {
    pub name: &'static str,
    pub law: fn(&[u8], Behind) -> Held,
    /// Words that mean something to it, put into inputs.
    pub words: &'static [&'static str],
}

/// Every parser of something that comes from outside.
pub const TARGETS: [Target; 9] = [
    config::TARGET,
    durations::TARGET,
    import::TARGET,
    names::TARGET,
    packets::TARGET,
    plan::TARGET,
    replies::TARGET,
    schedule::TARGET,
    tags::TARGET,
];

/// Which store takes what was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// The reference, which costs little.
    Memory,
    /// The real one.
    Disk,
}

impl Behind {
    /// Does something in a new store.
    fn session<T>(self, act: impl FnOnce(&mut Session) -> Result<T, String>) -> Result<T, String> {
        let folder = Folder::new()?;
        let store: Box<dyn Store> = match self {
            Behind::Memory => Box::new(Memory::new()),
            Behind::Disk => {
                Box::new(Sqlite::init(&folder.path().join(".roundgate")).map_err(|error| error.to_string())?)
            }
        };
        act(&mut Session {
            store,
            clock: Clock::Frozen(NOW),
            ids: Ids::new(Some(1)),
            actor: "fuzz".parse().map_err(|error: roundgate::model::id::ActorError| error.to_string())?,
            config: Config::default(),
            operation: None,
        })
    }
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("roundgate-laws-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Folder(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder left behind in the folder for such things hurts nobody.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn hold(holds: bool, why: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(why()) }
}

/// A refusal says something, and does not say its whole input.
fn speaks(refusal: &impl fmt::Display) -> Held {
    let text = refusal.to_string();
    hold(!text.trim().is_empty(), || "a refusal says nothing".to_owned())?;
    let length = text.chars().count();
    hold(length <= LONGEST_REFUSAL, || {
        format!("a refusal of {length} characters: {}...", text.chars().take(80).collect::<String>())
    })
}

/// What a parser accepted, the store takes.
fn taken<T>(done: Result<T, AppError>) -> Result<T, String> {
    done.map_err(|error| format!("accepted, and then refused: {error}"))
}

/// The text of an input.
fn text(input: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(input)
}
