//! `roundgate config ...`

use clap::Subcommand;
use serde_json::json;

use super::context::Context;
use super::render::{RowsArgs, table};
use crate::app::{AppError, config, place};
use crate::model::quote::quoted;
use crate::store::sqlite::Sqlite;

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print one value
    Get {
        /// The key
        key: String,
    },
    /// Write one value
    Set {
        /// The key
        key: String,
        /// The value
        value: String,
    },
    /// Every key, its value and what it means
    List,
}

pub fn run(context: &Context, command: ConfigCommand) -> Result<u8, AppError> {
    let folder = context.store_folder()?;
    if !place::is_store(&folder) {
        // It was named, and not looked at, or its database is gone: opening says which.
        Sqlite::open(&folder)?;
    }
    match command {
        ConfigCommand::Get { key } => {
            let value = config::get(&config::load(&folder)?, &key).ok_or_else(|| {
                let known: Vec<&str> = config::keys().collect();
                AppError::Usage(format!("{} is not a key; the keys are {}", quoted(&key), known.join(", ")))
            })?;
            if context.json() {
                context.print_json(&json!({ "key": key, "value": value }))?;
            } else {
                context.line(&value);
            }
        }
        ConfigCommand::Set { key, value } => {
            context.no_operation("the configuration is a file, and setting a value again changes nothing")?;
            let changed = config::set(&folder, &key, &value)?;
            if context.json() {
                context.print_json(&json!({ "key": key, "value": value, "changed": changed }))?;
            } else {
                let what = if changed { "set" } else { "unchanged" };
                context.line(&format!("{what} {key} = {value}"));
            }
        }
        ConfigCommand::List => {
            let entries = config::list(&folder)?;
            if context.json() {
                let each = entries.iter().map(|entry| {
                    json!({ "key": entry.key, "value": entry.value, "set": entry.set, "about": entry.about })
                });
                context.print_json(&each.collect::<Vec<_>>())?;
            } else {
                let rows = entries.into_iter().map(|entry| {
                    let origin = if entry.set { "file" } else { "default" };
                    vec![entry.key.to_owned(), entry.value, origin.to_owned(), entry.about.to_owned()]
                });
                let everything = RowsArgs { all: true, limit: None };
                context.print(&table(&["KEY", "VALUE", "FROM", "WHAT"], rows.collect(), everything, ""));
            }
        }
    }
    Ok(0)
}
