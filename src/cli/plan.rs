//! `roundgate plan ...`

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::Context;
use crate::app::plan::{self, Applied};
use crate::app::{AppError, Session, config, place};
use crate::model::counted::counted;
use crate::store::StoreError;
use crate::store::memory::Memory;
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
        let (goals, workers) = (counted(goals, "goal"), counted(workers, "worker"));
        context.line(&format!("{}: {goals}, {workers}, no faults", file.display()));
    }
    Ok(0)
}

/// The session of a command that may come first of all.
pub struct Opened {
    pub session: Session,
    pub folder: PathBuf,
    /// Whether there was no store in reach, so that one was made here.
    pub made: bool,
}

/// Opens the store in reach; without one, makes it here.
pub fn session_or_new(context: &Context) -> Result<Opened, AppError> {
    let to_write = |folder| -> Result<Opened, AppError> {
        let mut opened = opened(context, folder)?;
        opened.session.bring_up_to_date()?;
        context.begin_operation(&mut opened.session);
        Ok(opened)
    };
    if let Some(folder) = in_reach(context)? {
        return to_write(folder);
    }
    let folder = context.new_store_folder()?;
    let store = match place::init(&folder) {
        Ok(store) => store,
        // Somebody else made it since: then it is there, which is all that is wanted.
        Err(AppError::Store(StoreError::Exists { .. })) => return to_write(folder),
        Err(other) => return Err(other),
    };
    context.say(&format!("made a store in {}", folder.display()));
    let mut session = context.session_at(store, config::load(&folder)?)?;
    context.begin_operation(&mut session);
    Ok(Opened { session, folder, made: true })
}

/// The same for a preview: the store that would be made is one in memory.
fn session_or_pretended(context: &Context) -> Result<Opened, AppError> {
    if let Some(folder) = in_reach(context)? {
        return opened(context, folder);
    }
    let folder = context.new_store_folder()?;
    if folder.exists() && !folder.is_dir() {
        // No store can be made there; opening says why.
        Sqlite::open(&folder)?;
    }
    context.say(&format!("would make a store in {}", folder.display()));
    let session = context.session_at(Memory::new(), config::load(&folder)?)?;
    Ok(Opened { session, folder, made: true })
}

fn opened(context: &Context, folder: PathBuf) -> Result<Opened, AppError> {
    if context.is_above(&folder)? {
        context.say(&format!("in the store {}", folder.display()));
    }
    Ok(Opened { session: context.session_in(&folder)?, folder, made: false })
}

fn in_reach(context: &Context) -> Result<Option<PathBuf>, AppError> {
    match context.store_folder() {
        Ok(folder) => Ok(Some(folder).filter(|folder| place::is_or_was_store(folder))),
        Err(AppError::NoStore(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn apply(context: &Context, args: &ApplyArgs) -> Result<u8, AppError> {
    let plan = plan::read(&args.file)?;
    if args.dry_run {
        let opened = session_or_pretended(context)?;
        let report = plan::preview(&opened.session, &plan)?;
        let new_store = opened.made.then_some(opened.folder);
        return print(context, &Applied { report, new_store }, false, true);
    }
    context.asks_for(format!("{plan:?}").as_bytes());
    let Opened { mut session, folder, made } = session_or_new(context)?;
    let done = plan::apply_in(&mut session, &plan, made.then_some(folder))?;
    print(context, &done.value, done.changed, false)
}

fn print(context: &Context, applied: &Applied, changed: bool, dry_run: bool) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(applied, changed)?;
        return Ok(0);
    }
    let report = &applied.report;
    let would = if dry_run { "would be " } else { "" };
    for (what, keys) in
        [("created", &report.created), ("updated", &report.updated), ("unchanged", &report.unchanged)]
    {
        let would = if what == "unchanged" { "" } else { would };
        keys.iter().for_each(|key| context.line(&format!("{would}{what}  {}  {key}", report.ids[key])));
    }
    if report.workers_updated {
        context.line(&format!("{would}updated  the workers of {}", report.root));
    }
    report.gone.iter().for_each(|key| context.line(&format!("not in the plan any more, and kept: {key}")));
    Ok(0)
}
