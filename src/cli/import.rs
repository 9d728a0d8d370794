//! `roundgate import`

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::output::line;
use crate::app::{AppError, import};
use crate::model::counted::counted;

/// The largest file that is read whole, in bytes (1 GiB).
const MAX_FILE_BYTES: u64 = 1 << 30;

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file's format
    #[arg(long, value_enum)]
    format: FormatArg,
    /// The file (- for stdin)
    file: PathBuf,
    /// Report what would be imported, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum FormatArg {
    /// The JSONL export of beads
    Beads,
}

/// Reads a file, or stdin for `-`.
pub fn read_file(context: &Context, file: &Path) -> Result<Vec<u8>, AppError> {
    let error = |source: std::io::Error| AppError::File { what: format!("read {}", file.display()), source };
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes))
    };
    let length = read.map_err(error)?;
    if length as u64 > MAX_FILE_BYTES {
        return Err(AppError::Usage(format!("{} is larger than 1 GiB", file.display())));
    }
    context.asks_for(&bytes);
    Ok(bytes)
}

pub fn run(context: &Context, args: ImportArgs) -> Result<u8, AppError> {
    let FormatArg::Beads = args.format;
    let bytes = read_file(context, &args.file)?;
    let mut session = if args.dry_run { context.session()? } else { context.session_to_write()? };
    let done = import::beads(&mut session, &args.file, &bytes, args.dry_run)?;
    let report = &done.value;
    if context.json() {
        context.print_changed(report, done.changed)?;
        return Ok(0);
    }
    let would = if args.dry_run { "would import" } else { "imported" };
    context.line(&format!(
        "{would} {}: {} created, {} unchanged, {} stale, {} reserved",
        counted(report.lines, "line"),
        report.created,
        report.unchanged,
        report.stale,
        counted(report.reserved, "id")
    ));
    context.line(&format!(
        "  {}, {}, {}, {}",
        counted(report.parents, "parent"),
        counted(report.edges, "edge"),
        counted(report.comments, "comment"),
        counted(report.annotations, "annotation")
    ));
    for (kind, odd) in &report.odd {
        let examples: Vec<String> = odd.examples.iter().map(|text| line(text).into_owned()).collect();
        context.line(&format!("  {:<24} {:>6}  {}", kind, odd.count, examples.join("; ")));
    }
    if !done.changed && !args.dry_run {
        context.line("nothing changed");
    }
    Ok(0)
}
