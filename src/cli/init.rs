//! `roundgate init`

use clap::Args;
use serde_json::json;

use super::context::Context;
use crate::app::{AppError, config, place};
use crate::store::StoreError;

#[derive(Debug, Args)]
pub struct InitArgs {}

pub fn run(context: &Context, _: InitArgs) -> Result<u8, AppError> {
    context.no_operation("a store is made once, and made again nothing changes")?;
    let folder = context.new_store_folder()?;
    let changed = match place::init(&folder) {
        Ok(_) => true,
        Err(AppError::Store(StoreError::Exists { .. })) => {
            // It must still be a store: opening says so, or says what it is.
            place::open(&folder, &config::load(&folder)?)?;
            false
        }
        Err(other) => return Err(other),
    };
    if context.json() {
        context.print_json(&json!({ "store": folder.display().to_string(), "changed": changed }))?;
    } else if changed {
        context.line(&format!("made a store in {}", folder.display()));
    } else {
        context.line(&format!("there is already a store in {}; nothing changed", folder.display()));
    }
    Ok(0)
}
