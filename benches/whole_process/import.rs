//! An import of many issues at once into an empty store, and what the same rows cost a bare program.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use roundgate::app::place::DATABASE;
use roundgate::store::sqlite::Sqlite;

use super::floor;
use super::measure::Times;
use super::operations::{Bench, text};
use super::stores::copy;
use super::unit::BODY;
use super::written::{Before, Written};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What came of one import.
#[derive(Debug, Clone)]
pub struct Imported {
    /// How many issues.
    pub issues: usize,
    /// How long it took.
    pub command: Times,
    /// How long its floor took.
    pub floor: Times,
    /// What it wrote.
    pub written: Written,
    /// The most memory it had, in KiB.
    pub peak_kib: u64,
}

/// Imports so many issues, a few times.
pub fn measure(bench: &Bench, issues: usize, runs: usize) -> Result<Imported> {
    let (empty, bare) = (empty(bench)?, bare(bench)?);
    let file = bench.dir.join("import.jsonl");
    std::fs::write(&file, lines(issues)?)?;
    let (work, scratch) = (bench.dir.join("work"), bench.dir.join("scratch"));
    let arguments = ["import", "--format", "beads", text(&file)?, "--json"].map(str::to_owned).to_vec();
    let command = bench.command(&work, arguments);

    copy(&empty, &work)?;
    let before = Before::of(&work.join(DATABASE))?;
    let peak_kib = bench.peak_kib(&command)?;
    let written = before.since(&work.join(DATABASE))?;
    let (rows, bytes) = (written.rows.to_string(), written.bytes.to_string());
    let scratch_file = scratch.join(DATABASE);
    let floor = bench.floor(&[floor::COMMIT, text(&scratch_file)?, &rows, &bytes]);

    let (mut commands, mut floors) = (Times::default(), Times::default());
    for _ in 0..runs {
        copy(&empty, &work)?;
        commands.add(command.timed()?);
        copy(&bare, &scratch)?;
        floors.add(floor.timed()?);
    }
    std::fs::remove_dir_all(&work)?;
    std::fs::remove_dir_all(&scratch)?;
    std::fs::remove_file(&file)?;
    Ok(Imported { issues, command: commands, floor: floors, written, peak_kib })
}

/// How long one committed insert into an empty store takes, and how long a process that does nothing.
pub fn references(bench: &Bench) -> Result<(Times, Times)> {
    let scratch = copy(&bare(bench)?, &bench.dir.join("scratch"))?;
    let file = scratch.join(DATABASE);
    let insert = bench.floor(&[floor::COMMIT, text(&file)?, "1", "200"]);
    let start = bench.floor(&[floor::START]);
    insert.timed()?;
    let (mut inserts, mut starts) = (Times::default(), Times::default());
    for _ in 0..bench.runs {
        inserts.add(insert.timed()?);
        starts.add(start.timed()?);
    }
    std::fs::remove_dir_all(&scratch)?;
    Ok((inserts, starts))
}

fn empty(bench: &Bench) -> Result<std::path::PathBuf> {
    made(&bench.dir.join("empty"))
}

/// An empty store with the table of the floors.
fn bare(bench: &Bench) -> Result<std::path::PathBuf> {
    let folder = made(&bench.dir.join("bare"))?;
    floor::prepare(&folder.join(DATABASE))?;
    Ok(folder)
}

fn made(folder: &Path) -> Result<std::path::PathBuf> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    drop(Sqlite::init(folder)?);
    Ok(folder.to_owned())
}

/// An export of another tracker: epics of 20 tasks, of which each third waits for the one before it.
fn lines(issues: usize) -> Result<String> {
    let mut text = String::new();
    for n in 0..issues {
        let epic = n - n % 20;
        let (kind, status) =
            if n == epic { ("epic", "open") } else { ("task", ["open", "closed", "closed"][n % 3]) };
        let link = |to: usize, kind: &str| {
            format!(r#"{{"issue_id":"job-{n}","depends_on_id":"job-{to}","type":"{kind}"}}"#)
        };
        let mut links = Vec::new();
        if n != epic {
            links.push(link(epic, "parent-child"));
        }
        if n % 3 == 0 && n > epic + 1 {
            links.push(link(n - 1, "blocks"));
        }
        let links = links.join(",");
        writeln!(
            text,
            r#"{{"id":"job-{n}","title":"Job {n} of a larger piece of work","description":"{BODY}","status":"{status}","priority":2,"issue_type":"{kind}","created_at":"2026-01-16T17:13:09Z","updated_at":"2026-01-16T17:13:46Z","dependencies":[{links}]}}"#
        )?;
    }
    Ok(text)
}
