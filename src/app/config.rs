//! The configuration: `config.toml` beside the database. Every key has a default, a unit and a range.

mod asks;
mod notify;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::AppError;
use crate::interop::duration::parse_duration;
use crate::model::duty::AskPolicy;
use crate::model::issue::Millis;
use crate::model::quote::quoted;
use crate::model::record::Bounds;
use crate::store::StoreError;
use crate::store::sqlite::Synchronous;

pub use notify::Notify;

/// The file's name inside the store's folder.
pub const FILE: &str = "config.toml";
/// How long to wait for others who change it.
const PATIENCE: Duration = Duration::from_secs(10);

/// What can be configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The bounds of scopes that set none.
    pub bounds: Bounds,
    /// What is wanted of asks where no issue says.
    pub asks: AskPolicy,
    /// How long a claim by hand lasts, in milliseconds.
    pub lease: Millis,
    /// How long a runner's claim lasts between two renewals, in milliseconds.
    pub runner_lease: Millis,
    /// How much a worker may print on stdout, in bytes.
    pub output_cap: u64,
    /// When a commit is on the disk.
    pub synchronous: Synchronous,
    /// Who is told what humans are asked, and how.
    pub notify: Notify,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            bounds: Bounds::default(),
            asks: AskPolicy::default(),
            lease: 60 * 60 * 1000,
            runner_lease: 5 * 60 * 1000,
            output_cap: 4 << 20,
            synchronous: Synchronous::Full,
            notify: Notify::default(),
        }
    }
}

/// One key of the configuration, for `config list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub key: &'static str,
    /// Its value, as it would be written.
    pub value: String,
    /// Whether the file sets it.
    pub set: bool,
    /// What it means, with its unit and range.
    pub about: &'static str,
}

const KEYS: [(&str, &str); 17] = [
    ("max_review_rounds", "rounds of a scope before a human is asked (1 to 100)"),
    ("no_progress", "equal failures in a row before a human is asked early (0 is off, to 100)"),
    ("step_retries", "lost or failed steps tried again before a human is asked (0 to 100)"),
    ("allow_self_review", "whether who worked on an attempt may judge it (true or false)"),
    ("ask_assignee", "who is to answer asks; anybody may (an actor, or nothing)"),
    ("ask_due", "how long there is for an answer (a duration such as 2d; 0 is for ever)"),
    ("ask_remind", "the time between two reminders of an ask (a duration such as 1d; 0 is none)"),
    ("ask_timeout", "after how long nobody's answer is ask_default (a duration such as 7d; 0 is never)"),
    ("ask_default", "what nobody's answer is (stop-and-handoff, accept, abandon, skip, or nothing)"),
    ("lease", "how long a claim by hand lasts (a duration such as 1h)"),
    ("runner_lease", "how long a runner's claim lasts unless renewed (a duration such as 5m)"),
    ("output_cap", "how much a worker may print on stdout (bytes, 1024 to 1073741824)"),
    (
        "synchronous",
        "full: a change survives a power cut; normal: faster, the latest may be lost (full or normal)",
    ),
    ("notify.command", "the program that is told what humans are asked (an argument vector; [] is nobody)"),
    ("notify.time_limit", "how long it may take for one notification (a duration such as 10s, to 10m)"),
    (
        "notify.retry",
        "how long the first retry waits; each further one twice as long (a duration such as 30s)",
    ),
    ("notify.retry_ceiling", "how long a retry waits at most (a duration such as 15m)"),
];

/// The file of a store.
pub fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Reads the configuration of a store; a missing file means defaults.
///
/// # Errors
/// When the file cannot be read, is not TOML, or has a key or value that is not known.
pub fn load(folder: &Path) -> Result<Config, AppError> {
    let config = configured(folder, &document(folder)?, None)?;
    asks::check(&config.asks).map_err(|problem| AppError::Config { file: file(folder), problem })?;
    Ok(config)
}

/// What a document says of every key but one.
fn configured(folder: &Path, document: &DocumentMut, but: Option<&str>) -> Result<Config, AppError> {
    let mut config = Config::default();
    let problem = |problem| AppError::Config { file: file(folder), problem };
    for (key, item) in document.iter().filter(|(key, _)| Some(*key) != but) {
        let Some(table) = section(key, item) else {
            text_of(key, item).and_then(|text| put(&mut config, key, &text)).map_err(problem)?;
            continue;
        };
        for (below, item) in table.iter() {
            let key = format!("{key}.{below}");
            if Some(key.as_str()) != but {
                text_of(&key, item).and_then(|text| put(&mut config, &key, &text)).map_err(problem)?;
            }
        }
    }
    Ok(config)
}

/// The keys of a section, which are written with its name and a dot before them.
fn section<'i>(key: &str, item: &'i Item) -> Option<&'i dyn TableLike> {
    item.as_table_like().filter(|_| key == notify::SECTION)
}

/// What a key is set to, as text. Only a command is made of parts.
fn text_of(key: &str, item: &Item) -> Result<String, String> {
    match item.as_value() {
        Some(Value::Array(_)) if key != notify::COMMAND => Err(format!("{key} is one value, not an array")),
        Some(value) if !value.is_inline_table() => Ok(plain(value)),
        // Another complaint is due where there is no such key.
        _ if !keys().any(|known| known == key) => Ok(String::new()),
        _ => Err(format!("{} is one value, not a table", quoted(key))),
    }
}

/// What the file says of a key.
fn found<'d>(document: &'d DocumentMut, key: &str) -> Option<&'d Item> {
    match key.split_once('.') {
        Some((section, below)) => document.get(section)?.as_table_like()?.get(below),
        None => document.get(key),
    }
}

/// Every key with its value.
///
/// # Errors
/// As [`load`].
pub fn list(folder: &Path) -> Result<Vec<Entry>, AppError> {
    let (config, document) = (load(folder)?, document(folder)?);
    let entries = KEYS.into_iter().map(|(key, about)| Entry {
        key,
        value: get(&config, key).unwrap_or_default(),
        set: found(&document, key).is_some(),
        about,
    });
    Ok(entries.collect())
}

/// The right to change the file, which whoever else changes it waits for: what is written is made of what was
/// read. The file itself is another after each change, so the lock is on the folder.
fn alone(folder: &Path) -> Result<File, AppError> {
    let failed = |source| AppError::File { what: format!("lock {}", folder.display()), source };
    let opened = File::open(folder).map_err(failed)?;
    let started = Instant::now();
    loop {
        match flock(&opened, FlockOperation::NonBlockingLockExclusive).map_err(std::io::Error::from) {
            Ok(()) => return Ok(opened),
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(failed(error)),
            Err(_) if started.elapsed() >= PATIENCE => {
                let waited_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
                return Err(StoreError::Busy { waited_ms }.into());
            }
            Err(_) => std::thread::sleep(Duration::from_millis(5).mul_f64(0.5 + fastrand::f64())),
        }
    }
}

/// Writes one key; says whether that changed the file. Comments and order stay as they are.
///
/// # Errors
/// When the key or the value is not known, or the file cannot be written; [`StoreError::Busy`] when others
/// were at it for 10 seconds.
pub fn set(folder: &Path, key: &str, text: &str) -> Result<bool, AppError> {
    let _alone = alone(folder)?;
    let mut document = document(folder)?;
    // The value that goes may be what is wrong.
    let mut config = configured(folder, &document, Some(key))?;
    put(&mut config, key, text).map_err(AppError::Usage)?;
    // What is wrong together may be so by what is set, or was before.
    asks::check(&config.asks).map_err(|problem| match asks::get(&config.asks, key) {
        Some(_) => AppError::Usage(problem),
        None => AppError::Config { file: file(folder), problem },
    })?;
    let before = document.to_string();
    let mut wanted = match (text.parse::<i64>(), text.parse::<bool>()) {
        _ if key == asks::ASSIGNEE => Value::from(text),
        (Ok(number), _) => Value::from(number),
        (_, Ok(truth)) => Value::from(truth),
        _ => notify::vector(text).filter(|_| key == notify::COMMAND).unwrap_or_else(|| Value::from(text)),
    };
    // A comment at the end of the line belongs to the value that is replaced.
    if let Some(old) = found(&document, key).and_then(Item::as_value) {
        *wanted.decor_mut() = old.decor().clone();
    }
    match key.split_once('.') {
        Some((section, below)) => {
            let table = document.entry(section).or_insert_with(toml_edit::table);
            if let Some(table) = table.as_table_like_mut() {
                table.insert(below, Item::Value(wanted));
            }
        }
        None => document[key] = Item::Value(wanted),
    }
    let after = document.to_string();
    if before == after {
        return Ok(false);
    }
    let write = || -> std::io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, after.as_bytes())?;
        temporary.persist(file(folder)).map_err(|error| error.error)?;
        Ok(())
    };
    let what = format!("write {}", file(folder).display());
    write().map_err(|source| AppError::File { what, source })?;
    Ok(true)
}

/// The value of a key, as it would be written.
pub fn get(config: &Config, key: &str) -> Option<String> {
    Some(match key {
        "max_review_rounds" => config.bounds.max_rounds.to_string(),
        "no_progress" => config.bounds.no_progress.to_string(),
        "step_retries" => config.bounds.step_retries.to_string(),
        "allow_self_review" => config.bounds.allow_self_review.to_string(),
        "lease" => duration(config.lease),
        "runner_lease" => duration(config.runner_lease),
        "output_cap" => config.output_cap.to_string(),
        "synchronous" => config.synchronous.as_str().to_owned(),
        _ => return asks::get(&config.asks, key).or_else(|| notify::get(&config.notify, key)),
    })
}

/// The names of all keys.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.into_iter().map(|(key, _)| key)
}

fn put(config: &mut Config, key: &str, text: &str) -> Result<(), String> {
    match key {
        "max_review_rounds" => config.bounds.max_rounds = number(key, text, 1, 100)?,
        "no_progress" => config.bounds.no_progress = number(key, text, 0, 100)?,
        "step_retries" => config.bounds.step_retries = number(key, text, 0, 100)?,
        "allow_self_review" => {
            config.bounds.allow_self_review =
                text.parse().map_err(|_| format!("{key} is true or false, not {}", quoted(text)))?;
        }
        "lease" => config.lease = length(key, text)?,
        "runner_lease" => config.runner_lease = length(key, text)?,
        "output_cap" => config.output_cap = number(key, text, 1024, 1 << 30)?.into(),
        "synchronous" => {
            config.synchronous = [Synchronous::Full, Synchronous::Normal]
                .into_iter()
                .find(|known| known.as_str() == text)
                .ok_or_else(|| format!("{key} is full or normal, not {}", quoted(text)))?;
        }
        _ if asks::put(&mut config.asks, key, text)? => {}
        _ if notify::put(&mut config.notify, key, text)? => {}
        _ => {
            let known: Vec<&str> = keys().collect();
            return Err(format!("{} is not a key; the keys are {}", quoted(key), known.join(", ")));
        }
    }
    Ok(())
}

fn number(key: &str, text: &str, low: u32, high: u32) -> Result<u32, String> {
    let parsed = text.parse::<u32>().ok().filter(|n| (low..=high).contains(n));
    parsed.ok_or_else(|| format!("{key} is a number from {low} to {high}, not {}", quoted(text)))
}

fn length(key: &str, text: &str) -> Result<Millis, String> {
    parse_duration(text).map_err(|error| format!("{key} is a duration such as 5m: {error}"))
}

/// A duration in the largest unit that says it exactly.
pub fn duration(millis: Millis) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let fit = units.into_iter().find(|(unit, _)| millis >= *unit && millis % unit == 0);
    fit.map_or_else(|| format!("{millis}ms"), |(unit, name)| format!("{}{name}", millis / unit))
}

fn document(folder: &Path) -> Result<DocumentMut, AppError> {
    let file = file(folder);
    // Whoever reads a named pipe waits for its other end, and a device has none.
    if fs::metadata(&file).is_ok_and(|meta| !meta.is_file()) {
        return Err(AppError::Config { file, problem: "it is not a file".to_owned() });
    }
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        // Where the folder is a file, opening the store says so.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => String::new(),
        Err(source) => {
            return Err(AppError::File { what: format!("read {}", file.display()), source });
        }
    };
    text.parse::<DocumentMut>().map_err(|error| AppError::Config { file, problem: not_toml(&text, &error) })
}

fn not_toml(text: &str, error: &toml_edit::TomlError) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("line {}: {}", before.matches('\n').count() + 1, error.message().replace('\n', ", "))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        other => other.to_string().trim().to_owned(),
    }
}
