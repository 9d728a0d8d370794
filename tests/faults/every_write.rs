//! Each verb, with each of its writes failing, or the program killed there: the store is wholly as before
//! or wholly as after, it is sound, and the verb called again does its work once.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use roundgate::app::doctor;
use roundgate::model::change::Event;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Store};
use rusqlite::ffi;

use crate::bench::{Bench, Kept, Line};
use crate::verbs::VERBS;
use crate::vfs::{Answer, Disk, Op, watch};

/// What goes wrong at the write that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nothing.
    None,
    /// It fails, and the next succeeds.
    Fails,
    /// The disk is full, and stays so.
    Full,
    /// The program is killed before it.
    Killed,
    /// The program is killed in the middle of it.
    Torn,
    /// The planted bug: it does not happen, and nobody is told.
    Lies,
}

impl Fault {
    const REAL: [Fault; 4] = [Fault::Fails, Fault::Full, Fault::Killed, Fault::Torn];

    fn word(self) -> String {
        format!("{self:?}")
    }
}

/// Counts what happens to the files, and lets it go wrong.
struct Faulty {
    fault: Fault,
    at: usize,
    seen: AtomicUsize,
}

impl Disk for Faulty {
    fn asked(&self, file: &Path, op: Op<'_>) -> Answer {
        let n = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let fine = if matches!(op, Op::Sync) { Answer::Pretend } else { Answer::Do };
        if n < self.at || (n > self.at && self.fault != Fault::Full) {
            return fine;
        }
        match (self.fault, op) {
            (Fault::None, _) => fine,
            (Fault::Full, Op::Write(..)) => Answer::Fail(ffi::SQLITE_FULL),
            (Fault::Full, Op::Create) => Answer::Fail(ffi::SQLITE_CANTOPEN),
            (Fault::Full, _) => fine,
            (Fault::Fails, Op::Create) => Answer::Fail(ffi::SQLITE_CANTOPEN),
            (Fault::Fails, Op::Write(..)) => Answer::Fail(ffi::SQLITE_IOERR_WRITE),
            (Fault::Fails, Op::Truncate(_)) => Answer::Fail(ffi::SQLITE_IOERR_TRUNCATE),
            (Fault::Fails, Op::Sync) => Answer::Fail(ffi::SQLITE_IOERR_FSYNC),
            (Fault::Fails, Op::Delete(_)) => Answer::Fail(ffi::SQLITE_IOERR_DELETE),
            (Fault::Lies, _) => Answer::Pretend,
            (Fault::Torn, Op::Write(offset, bytes)) => {
                // The file is open in SQLite as well: its locks go with this process, which ends here.
                let half = fs::File::options().write(true).open(file).unwrap();
                std::os::unix::fs::FileExt::write_all_at(&half, &bytes[..bytes.len() / 2], offset).unwrap();
                killed()
            }
            (Fault::Torn | Fault::Killed, _) => killed(),
        }
    }
}

fn killed() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    unreachable!("nobody outlives that")
}

/// The variable that makes a process of this test the program, at a faulty disk.
const FAULT: &str = "ROUNDGATE_TEST_FAULT";
const WORDS: &str = "ROUNDGATE_TEST_WORDS";
/// Where it says how much happened to its files.
const COUNT: &str = "count";

/// Not a test, but what the others start: the program with a layer below SQLite.
#[test]
fn the_program_at_a_faulty_disk() {
    let Ok(fault) = std::env::var(FAULT) else { return };
    let (word, at) = fault.split_once(':').unwrap();
    let all = Fault::REAL.into_iter().chain([Fault::None, Fault::Lies]);
    let fault = all.into_iter().find(|fault| fault.word() == word).unwrap();
    let disk = Arc::new(Faulty { fault, at: at.parse().unwrap(), seen: AtomicUsize::new(0) });
    let words: Vec<String> = serde_json::from_str(&std::env::var(WORDS).unwrap()).unwrap();
    let words = std::iter::once("roundgate".to_owned()).chain(words);
    let here = std::env::current_dir().unwrap().canonicalize().unwrap();
    let watching = watch(&here.join(".roundgate"), disk.clone());
    let code = roundgate::cli::run_line(&words.map(Into::into).collect::<Vec<_>>());
    drop(watching);
    fs::write(here.join(COUNT), disk.seen.load(Ordering::SeqCst).to_string()).unwrap();
    std::process::exit(code.into());
}

/// Runs a line at a faulty disk. The exit code, unless it was killed, and what it said.
fn run(folder: &Path, line: &Line, fault: Fault, at: usize) -> (Option<i32>, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "every_write::the_program_at_a_faulty_disk", "--nocapture"]);
    line.set(&mut command, folder);
    command.env("ROUNDGATE_OPERATION", "the-operation");
    command.env(FAULT, format!("{}:{at}", fault.word()));
    command.env(WORDS, serde_json::to_string(&line.words).unwrap());
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// What is in a store in which nothing is wrong.
fn sound(folder: &Path) -> Result<Vec<Event>, String> {
    let store = folder.join(".roundgate");
    let diagnosis = doctor::examine(&store).map_err(|error| error.to_string())?;
    if !diagnosis.sound {
        let faults = diagnosis.checks.into_iter().filter(|check| check.health == doctor::Health::Fault);
        return Err(format!("{:?}", faults.collect::<Vec<_>>()));
    }
    let open = Sqlite::open(&store).map_err(|error| error.to_string())?;
    open.events(&EventQuery::default()).map_err(|error| error.to_string())
}

/// What came of all the faults.
#[derive(Debug, Default)]
struct Figures {
    faults: usize,
    before: usize,
    after: usize,
    /// So many were told that it failed, and it had not.
    untold: usize,
}

/// A verb, and the store before and after it.
struct Trial {
    name: &'static str,
    bench: Bench,
    kept: Kept,
    line: Line,
    before: Vec<Event>,
    after: Vec<Event>,
    writes: usize,
}

impl Trial {
    fn new((name, prepare): crate::verbs::Verb) -> Trial {
        let bench = Bench::new();
        let line = prepare(&bench);
        let before = sound(bench.path()).unwrap();
        let kept = Kept::of(&bench);
        let (code, said) = run(bench.path(), &line, Fault::None, 0);
        assert_eq!(code, Some(0), "{name}: {said}");
        let after = sound(bench.path()).unwrap();
        assert!(after.len() > before.len(), "{name} does nothing");
        if let Some(kind) = name.strip_prefix("tick: ") {
            let new = &after[before.len()..];
            assert!(new.iter().any(|event| event.cause.contains(kind)), "{name}: {new:?}");
        }
        let writes = fs::read_to_string(bench.path().join(COUNT)).unwrap().parse().unwrap();
        Trial { name, bench, kept, line, before, after, writes }
    }

    /// One fault, and what is there after it.
    fn suffer(&self, fault: Fault, at: usize, figures: &mut Figures) -> Result<(), String> {
        self.kept.put_back(&self.bench);
        let folder = self.bench.path();
        let (code, said) = run(folder, &self.line, fault, at);
        let complaint = |why: String| {
            format!("{}, {fault:?} at {at} of {} ({code:?}, {}): {why}", self.name, self.writes, said.trim())
        };
        let there = sound(folder).map_err(complaint)?;
        let applied = there == self.after;
        // The only verb that may be more than one transaction, each of which is whole.
        let between = self.name == "tick --all" && self.after.starts_with(&there);
        if !applied && there != self.before && !between {
            return Err(complaint(format!("{} events, neither as before nor as after", there.len())));
        }
        match (fault, code) {
            (Fault::Killed | Fault::Torn, None) => {}
            (_, Some(0)) if applied => {}
            (Fault::Fails | Fault::Full, Some(1 | 5)) if said.contains("error: ") => {}
            _ => return Err(complaint("that is no way to end".to_owned())),
        }
        figures.faults += 1;
        if applied {
            figures.after += 1;
            figures.untold += usize::from(code.is_some_and(|code| code != 0));
        } else {
            figures.before += 1;
        }
        let (code, said) = run(folder, &self.line, Fault::None, 0);
        if code != Some(0) || sound(folder).map_err(complaint)? != self.after {
            return Err(complaint(format!("called again: {code:?}, {}", said.trim())));
        }
        Ok(())
    }
}

/// Whether every fault is tried at every write, and not one of them in turn.
fn all() -> bool {
    std::env::var_os("ROUNDGATE_EVERY_WRITE").is_some_and(|value| value == "1")
}

/// One test for each of these parts, so that they are run side by side.
fn part(part: usize, parts: usize) {
    let mut figures = Figures::default();
    for &verb in VERBS.iter().skip(part).step_by(parts) {
        let trial = Trial::new(verb);
        for at in 1..=trial.writes {
            for (n, fault) in Fault::REAL.into_iter().enumerate() {
                if all() || (at + part) % 4 == n || at + 6 > trial.writes {
                    trial.suffer(fault, at, &mut figures).unwrap();
                }
            }
        }
    }
    eprintln!("{figures:?}");
    assert!(figures.before > 100 && figures.after > 20, "{figures:?}");
}

#[test]
fn whatever_write_fails_a_verb_is_done_or_not_done_first_half() {
    part(0, 2);
}

#[test]
fn whatever_write_fails_a_verb_is_done_or_not_done_second_half() {
    part(1, 2);
}

#[test]
fn a_write_that_is_lost_in_silence_is_noticed() {
    let trial = Trial::new(VERBS[0]);
    let mut figures = Figures::default();
    let tried = (1..=trial.writes).map(|at| trial.suffer(Fault::Lies, at, &mut figures));
    let noticed: Vec<String> = tried.filter_map(Result::err).collect();
    eprintln!("{} of {} noticed, such as: {}", noticed.len(), trial.writes, noticed[0]);
    assert!(noticed.len() > 5, "{noticed:#?}");
}
