//! `roundgate doctor`

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::output::line;
use crate::app::doctor::{self, Diagnosis, Health};
use crate::app::{AppError, place};

/// The exit code for a store that is not sound.
const DAMAGED: u8 = 7;

#[derive(Debug, Args)]
#[command(after_help = "Exit code 0 when the store is sound, 7 when it is not.")]
pub struct DoctorArgs {
    /// Make again what follows from the events (tables, indexes, mark), after a backup beside the store
    #[arg(long)]
    fix: bool,
    /// Hold an archive of compact against the store, too; may be given again
    #[arg(long, value_name = "FILE")]
    archive: Vec<PathBuf>,
}

pub fn run(context: &Context, args: DoctorArgs) -> Result<u8, AppError> {
    if args.fix {
        context.no_operation("a repair makes the tables again, and what is sound is left alone")?;
    }
    let folder = context.store_folder()?;
    let mut found =
        if args.fix { doctor::fix(&folder, context.clock()?.now())? } else { doctor::examine(&folder)? };
    for archive in &args.archive {
        doctor::examine_archive(&mut found, archive)?;
    }
    if context.json() {
        context.print_json(&found)?;
    } else {
        print(context, &found, args.fix);
    }
    Ok(if found.sound { 0 } else { DAMAGED })
}

fn print(context: &Context, found: &Diagnosis, fix: bool) {
    for check in &found.checks {
        let health = match check.health {
            Health::Ok => "ok",
            Health::Fault => "FAULT",
            Health::Unchecked => "unchecked",
        };
        context.line(&format!("{health:<9}  {:<10}  {}", check.name, line(&check.detail)));
    }
    for what in &found.repaired {
        context.line(&format!("repaired: {}", line(what)));
    }
    if let Some(backup) = &found.backup {
        context.line(&format!("the store as it was is kept in {}", backup.display()));
    }
    if fix && found.repaired.is_empty() && found.sound {
        context.line("nothing to repair");
    }
    let verdict = if found.sound { "is sound" } else { "is NOT sound" };
    context.line(&format!("the store in {} {verdict}", found.store.display()));
    if !found.sound && !fix && (found.revision.is_some() || found.older) {
        context.say("hint: roundgate doctor --fix makes again what follows from the events, and brings an older store up to date");
    } else if !found.sound && found.store.join(place::DATABASE).exists() {
        context.say("hint: roundgate restore FILE --force puts a backup in place, and keeps this one aside");
    }
}
