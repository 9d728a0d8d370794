//! `roundgate backup` and `roundgate restore`

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use crate::app::{AppError, backup as app};

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The new file; never one that is there already
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup
    file: PathBuf,
    /// Also where there is a store: its database is kept beside it, under a name with the time
    #[arg(long)]
    force: bool,
}

pub fn backup(context: &Context, args: BackupArgs) -> Result<u8, AppError> {
    context.no_operation("a backup is a file of its own, and is never written over")?;
    let made = app::backup(&context.store_folder()?, &args.file)?;
    if context.json() {
        context.print_json(&made)?;
    } else {
        context.line(&format!(
            "made {} at revision {}, {} bytes, and verified it",
            made.file.display(),
            made.revision,
            made.bytes
        ));
        if let Some(stale) = &made.stale {
            let fix = context.call("doctor --fix");
            context.line(&format!("nothing is lost, but {fix} has something to make again: {stale}"));
        }
    }
    Ok(0)
}

pub fn restore(context: &Context, args: RestoreArgs) -> Result<u8, AppError> {
    context.no_operation("a restore takes the store itself away, and its operations with it")?;
    let folder = match context.store_folder() {
        Err(AppError::NoStore(_)) => context.new_store_folder()?,
        found => found?,
    };
    let done = app::restore(&folder, &args.file, args.force, context.clock()?.now())?;
    if context.json() {
        context.print_json(&done)?;
        return Ok(0);
    }
    context.line(&format!("the store in {} is at revision {}", done.store.display(), done.revision));
    if let Some(kept) = &done.kept {
        context.line(&format!("the database that was there is kept as {}", kept.display()));
    }
    Ok(0)
}
