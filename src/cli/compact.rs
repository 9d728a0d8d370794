//! `roundgate compact`

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use crate::app::compact::{self, CompactView, Idle};
use crate::app::{AppError, place};
use crate::interop::duration::parse_duration;
use crate::model::counted::counted;
use crate::model::issue::Millis;

#[derive(Debug, Args)]
#[command(after_help = "Without --yes it shows what would be moved, and changes nothing.")]
pub struct CompactArgs {
    /// Only roots that are final and unchanged for so long
    #[arg(long, value_name = "DURATION", default_value = "90d", value_parser = parse_duration)]
    older_than: Millis,
    /// The archive: a new file, which the store's history is not whole without
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Move it
    #[arg(long)]
    yes: bool,
    /// Show what would be moved, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

pub fn run(context: &Context, args: CompactArgs) -> Result<u8, AppError> {
    context.no_operation("what is moved once is not there to be moved again")?;
    let (folder, now) = (context.store_folder()?, context.clock()?.now());
    let idle = Idle { since: now.saturating_sub(args.older_than) };
    if args.yes && args.archive.is_none() {
        return Err(AppError::Usage("--yes wants an --archive to move it to".to_owned()));
    }
    let view = match args.archive.filter(|_| args.yes) {
        Some(archive) => {
            let name = archive.file_name().map(|name| name.to_string_lossy().into_owned());
            if name.is_some_and(|name| name.starts_with(place::DATABASE)) {
                return Err(AppError::Usage("that is what a store calls its own files".to_owned()));
            }
            compact::compact(&folder, idle, &archive, &context.actor()?, now)?
        }
        None => compact::preview(&folder, idle)?,
    };
    if context.json() {
        context.print_json(&view)?;
        return Ok(0);
    }
    print(context, &view);
    Ok(0)
}

fn print(context: &Context, view: &CompactView) {
    let CompactView { roots, issues, events, bytes, .. } = view;
    let (events, bytes) = (counted(*events, "event"), counted(*bytes, "byte"));
    let (issues, roots) = (counted(*issues, "issue"), counted(*roots, "idle root"));
    let what = format!("{events}, {bytes}, of {issues} in {roots}");
    match &view.archive {
        Some(archive) => {
            context.line(&format!("moved {what} to {}", archive.display()));
            let doctor = context.call("doctor --archive").arg(archive);
            context.say(&format!("keep that file: {doctor} holds it against the store"));
        }
        None if view.events == 0 => context.line("there is nothing to move"),
        None => {
            context.line(&format!("would move {what}"));
            context.say("hint: --archive FILE --yes does it");
        }
    }
}
