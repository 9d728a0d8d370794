//! Whole commands, timed as processes on stores of several sizes, as ratios to what a bare SQLite
//! program needs for as much on the same file with the same settings.
//!
//! `cargo bench --bench whole_process -- --sizes 1000,100000 --only tick,ready`
//!
//! The executable calls itself for the floors, for making stores and for reading peak memory, so that
//! the process that starts the others stays small.

mod floor;
mod import;
mod machine;
mod measure;
mod operations;
mod report;
mod stores;
mod unit;
mod written;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use nix::sys::resource::{UsageWho, getrusage};

use measure::Call;
use operations::{ALL, Bench, Operation};
use report::Section;
use stores::{Beside, Kept, Spec};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the imports are called among the commands.
const IMPORT: &str = "import";

/// Times whole roundgate processes against a bare SQLite program
#[derive(Debug, Parser)]
struct Arguments {
    /// Issues of the stores, smallest first
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    sizes: Vec<usize>,
    /// What lies beside that in further stores of the first size: below, roots, wide, or none
    #[arg(long, value_delimiter = ',', default_value = "below,roots,wide")]
    beside: Vec<String>,
    #[arg(long, value_delimiter = ',', help = format!("Only these commands: {}", known().join(", ")))]
    only: Vec<String>,
    /// How often each command runs
    #[arg(long, default_value_t = 31)]
    runs: usize,
    /// Issues of the imports
    #[arg(long, value_delimiter = ',', default_value = "10000,100000")]
    import_sizes: Vec<usize>,
    /// How often each import runs
    #[arg(long, default_value_t = 3)]
    import_runs: usize,
    /// Where the stores are made and kept
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The program to measure, instead of the one built beside this
    #[arg(long)]
    program: Option<PathBuf>,
    /// Given by cargo bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let done = match words.first().and_then(|word| word.to_str()) {
        Some(floor::WORD) => texts(&words[1..]).and_then(|words| floor::run(&words)),
        Some("--peak") => peak(&words[1..]),
        Some("--make") => texts(&words[1..]).and_then(|words| make(&words)),
        _ => bench(&Arguments::parse()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn texts(words: &[OsString]) -> Result<Vec<String>> {
    let text = |word: &OsString| word.to_str().map(str::to_owned);
    words.iter().map(text).collect::<Option<_>>().ok_or_else(|| "an argument is not UTF-8".into())
}

/// Runs a command and prints how much memory it had at most, in KiB.
fn peak(words: &[OsString]) -> Result<()> {
    let (program, arguments) = words.split_first().ok_or("nothing to run")?;
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(format!("{words:?} ended with {status}").into());
    }
    println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(())
}

/// Makes one store.
fn make(words: &[String]) -> Result<()> {
    let [dir, name] = words else { return Err("--make takes a folder and a name".into()) };
    let spec = Spec::named(name).ok_or_else(|| format!("there is no store {name}"))?;
    stores::make(dir.as_ref(), spec)
}

fn bench(arguments: &Arguments) -> Result<()> {
    let dir = match &arguments.dir {
        Some(dir) => dir.clone(),
        None => std::env::temp_dir().join("roundgate-bench"),
    };
    std::fs::create_dir_all(&dir)?;
    let bench = Bench {
        program: arguments.program.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_roundgate").into()),
        own: std::env::current_exe()?,
        dir,
        runs: arguments.runs.max(1),
    };
    let (operations, imports) = wanted(&arguments.only)?;
    let mut sections = Vec::new();

    println!("{}.\n", machine::describe(&bench.dir));
    let (inserts, starts) = import::references(&bench)?;
    println!("{}", report::references(&inserts, &starts));
    if !operations.is_empty() {
        for spec in specs(arguments)? {
            let section = Section { measured: Vec::new(), kept: kept(&bench, spec)? };
            let section = Section { measured: bench.measure(&section.kept, &operations)?, ..section };
            println!("{}", report::section(&section)?);
            sections.push(section);
        }
        println!("{}", report::growth(&sections));
    }
    if imports {
        let runs = arguments.import_runs.max(1);
        let imports = arguments.import_sizes.iter().map(|&issues| import::measure(&bench, issues, runs));
        println!("{}", report::imports(&imports.collect::<Result<Vec<_>>>()?));
    }
    Ok(())
}

/// What can be measured.
fn known() -> Vec<&'static str> {
    ALL.iter().map(|one| one.word()).chain([IMPORT]).collect()
}

/// The commands to measure, and whether imports are among them.
fn wanted(only: &[String]) -> Result<(Vec<Operation>, bool)> {
    let named = |word: &str| only.is_empty() || only.iter().any(|one| one == word);
    let known = known();
    if let Some(unknown) = only.iter().find(|word| !known.contains(&word.as_str())) {
        return Err(format!("there is no command {unknown} here").into());
    }
    Ok((ALL.into_iter().filter(|one| named(one.word())).collect(), named(IMPORT)))
}

fn specs(arguments: &Arguments) -> Result<Vec<Spec>> {
    let plain = arguments.sizes.iter().map(|&size| Spec { size, beside: Beside::Nothing });
    let mut specs: Vec<Spec> = plain.collect();
    let first = *arguments.sizes.first().ok_or("--sizes needs a size")?;
    for word in arguments.beside.iter().filter(|word| *word != "none") {
        let name = format!("{first}-{word}");
        specs.push(Spec::named(&name).ok_or_else(|| format!("nothing is called {word} here"))?);
    }
    Ok(specs)
}

/// A store, made unless it is there.
fn kept(bench: &Bench, spec: Spec) -> Result<Kept> {
    eprintln!("{}", spec.title());
    if let Some(kept) = Kept::find(&bench.dir, spec) {
        return Ok(kept);
    }
    eprintln!("  making it");
    let words = ["--make".into(), bench.dir.clone().into_os_string(), spec.name().into()];
    Call::of(&bench.own, words).output()?;
    Kept::find(&bench.dir, spec).ok_or_else(|| "the store that was just made is not there".into())
}
