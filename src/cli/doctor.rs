//! `roundgate doctor`

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::output::line;
use crate::app::config::Config;
use crate::app::doctor::{self, Diagnosis, Health};
use crate::app::{AppError, place};
use crate::store::StoreError;

/// The exit code when nothing is wrong but the configuration.
const CONFIGURATION: u8 = 2;
/// The exit code for a store that is not sound.
const DAMAGED: u8 = 7;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0 when everything is sound, 2 when only the configuration is not, and 7 otherwise."
)]
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
    Ok(match (found.sound, found.store_sound() && !found.faulty("archive")) {
        (true, _) => 0,
        (_, true) => CONFIGURATION,
        _ => DAMAGED,
    })
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
    let verdict = if found.store_sound() { "is sound" } else { "is NOT sound" };
    context.line(&format!("the store in {} {verdict}", found.store.display()));
    hints(context, found, fix).iter().for_each(|hint| context.say(&format!("hint: {hint}")));
}

/// The way out of each sort of fault.
fn hints(context: &Context, found: &Diagnosis, fix: bool) -> Vec<String> {
    let mut hints = Vec::new();
    if found.fixable() && !fix {
        hints.push(format!(
            "{} makes again what follows from the events, and brings an older store up to date",
            context.call("doctor --fix")
        ));
    } else if !found.store_sound() && found.store.join(place::DATABASE).exists() {
        hints.push(match place::open(&found.store, &Config::default()) {
            Err(AppError::Store(StoreError::Newer { .. })) => {
                "use the roundgate that wrote it, or a newer one".to_owned()
            }
            _ => format!(
                "{} puts a backup in place, and keeps this one aside",
                context.call("restore FILE --force")
            ),
        });
    }
    if found.faulty("archive") {
        hints.push("name the archive that compact --archive wrote of this very store".to_owned());
    }
    if found.faulty("configuration") {
        let set = context.call("config set KEY VALUE");
        hints.push(format!("mend that line, or set its key anew: {set}"));
    }
    hints
}
