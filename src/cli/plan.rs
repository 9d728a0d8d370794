//! `roundgate plan ...`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::Context;
use crate::app::plan::{self, PlanReport};
use crate::app::{AppError, Session, place};
use crate::store::StoreError;
use crate::store::sqlite::Sqlite;

#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Check a plan, and change nothing
    Check(CheckArgs),
    /// Turn a plan into issues; applying it again changes nothing
    Apply(ApplyArgs),
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The plan (TOML)
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// The plan (TOML)
    file: PathBuf,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(context: &Context, command: PlanCommand) -> Result<u8, AppError> {
    match command {
        PlanCommand::Check(args) => check(context, &args.file),
        PlanCommand::Apply(args) => apply(context, &args),
    }
}

fn check(context: &Context, file: &Path) -> Result<u8, AppError> {
    let plan = plan::read(file)?;
    let (goals, workers) = (plan.file.goals.len(), plan.file.workers.len());
    if context.json() {
        context.print_json(
            &json!({ "ok": true, "root": plan.file.root.key, "goals": goals, "workers": workers }),
        )?;
    } else {
        context.line(&format!("{}: {goals} goals, {workers} workers, no faults", file.display()));
    }
    Ok(0)
}

/// The session of a command that may come first of all: with no store in reach, one is made here.
pub fn session_or_new(context: &Context) -> Result<(PathBuf, Session), AppError> {
    match context.store_folder() {
        Ok(folder) if place::is_store(&folder) => {
            let session = context.session_at(&folder, Sqlite::open(&folder)?)?;
            Ok((folder, session))
        }
        Ok(_) | Err(AppError::NoStore(_)) => {
            let folder = context.new_store_folder()?;
            let store = match place::init(&folder) {
                Ok(store) => {
                    context.say(&format!("made a store in {}", folder.display()));
                    store
                }
                // Somebody else made it since: then it is there, which is all that is wanted.
                Err(AppError::Store(StoreError::Exists { .. })) => Sqlite::open(&folder)?,
                Err(other) => return Err(other),
            };
            let session = context.session_at(&folder, store)?;
            Ok((folder, session))
        }
        Err(other) => Err(other),
    }
}

fn apply(context: &Context, args: &ApplyArgs) -> Result<u8, AppError> {
    let plan = plan::read(&args.file)?;
    if args.dry_run {
        let report = plan::preview(&mut context.session()?, &plan)?;
        return print(context, &report, false, true);
    }
    let (_, mut session) = session_or_new(context)?;
    let done = plan::apply(&mut session, &plan)?;
    print(context, &done.value, done.changed, false)
}

fn print(context: &Context, report: &PlanReport, changed: bool, dry_run: bool) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(report, changed)?;
        return Ok(0);
    }
    let would = if dry_run { "would be " } else { "" };
    for (what, keys) in
        [("created", &report.created), ("updated", &report.updated), ("unchanged", &report.unchanged)]
    {
        let would = if what == "unchanged" { "" } else { would };
        keys.iter().for_each(|key| context.line(&format!("{would}{what}  {}  {key}", report.ids[key])));
    }
    report.gone.iter().for_each(|key| context.line(&format!("not in the plan any more, and kept: {key}")));
    Ok(0)
}
