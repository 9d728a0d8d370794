//! `roundgate ui ...`

use clap::{Args, Subcommand, ValueEnum};

use super::context::Context;
use super::output::{line, multiline};
use super::render::{RowsArgs, moment, table};
use crate::app::AppError;
use crate::app::ui::{self, EnvelopeView, Extent};

#[derive(Debug, Subcommand)]
pub enum UiCommand {
    /// List the documents
    List(ListArgs),
    /// Show one document, as JSON
    Get(NamedArgs),
    /// The documents in words
    Snapshot(SnapshotArgs),
    /// Take a document out of sight, until its text changes
    Remove(NamedArgs),
    /// The envelopes that set and removed documents
    Log(ListArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only documents of this root
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Debug, Args)]
pub struct NamedArgs {
    /// Such as ui:control-flow
    ui_id: String,
    /// The root, where several have such a document
    #[arg(long, value_name = "ID")]
    root: Option<String>,
}

#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// One line for each document, or several
    #[arg(value_enum, default_value = "compact")]
    extent: ExtentWord,
    /// Only documents of this root
    #[arg(long, value_name = "ID")]
    root: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ExtentWord {
    /// One line
    Compact,
    /// Several lines
    Multiline,
}

pub fn run(context: &Context, command: UiCommand) -> Result<u8, AppError> {
    match command {
        UiCommand::List(args) => list(context, &args),
        UiCommand::Get(args) => get(context, &args),
        UiCommand::Snapshot(args) => snapshot(context, &args),
        UiCommand::Remove(args) => remove(context, &args),
        UiCommand::Log(args) => log(context, &args),
    }
}

fn list(context: &Context, args: &ListArgs) -> Result<u8, AppError> {
    let found = ui::list(&context.session()?, args.root.as_deref())?;
    if context.json() {
        context.print_json(&found[..args.rows.shown_in_json(found.len())].to_vec())?;
        return Ok(0);
    }
    let rows = found.iter().map(|view| {
        vec![
            view.root.clone(),
            view.doc.ui_id.clone(),
            view.doc.revision.version.to_string(),
            view.doc.summary.clone(),
        ]
    });
    context.print(&table(
        &["ROOT", "DOCUMENT", "REVISION", "SUMMARY"],
        rows.collect(),
        args.rows,
        "no documents",
    ));
    Ok(0)
}

fn get(context: &Context, args: &NamedArgs) -> Result<u8, AppError> {
    let found = ui::get(&context.session()?, &args.ui_id, args.root.as_deref())?;
    context.print_json(&found)?;
    Ok(0)
}

fn snapshot(context: &Context, args: &SnapshotArgs) -> Result<u8, AppError> {
    let extent = match args.extent {
        ExtentWord::Compact => Extent::Compact,
        ExtentWord::Multiline => Extent::Multiline,
    };
    let found = ui::snapshot(&context.session()?, extent, args.root.as_deref())?;
    if context.json() {
        context.print_json(&found)?;
        return Ok(0);
    }
    for view in &found {
        let head = format!("{} {}", view.root, view.ui_id);
        match extent {
            Extent::Compact => context.line(&format!("{head}: {}", line(&view.text))),
            Extent::Multiline => {
                context.line(&format!("{head}\n  {}", multiline(&view.text).replace('\n', "\n  ")));
            }
        }
    }
    if found.is_empty() {
        context.line("no documents");
    }
    Ok(0)
}

fn remove(context: &Context, args: &NamedArgs) -> Result<u8, AppError> {
    let done = ui::remove(&mut context.session_to_write()?, &args.ui_id, args.root.as_deref())?;
    if context.json() {
        context.print_changed(&done.value, done.changed)?;
    } else {
        context
            .line(&format!("{} of {} is out of sight until its text changes", args.ui_id, done.value.root));
    }
    Ok(0)
}

fn log(context: &Context, args: &ListArgs) -> Result<u8, AppError> {
    // The latest are wanted, as `log` has it.
    let last = args.rows.wanted(context.json());
    let latest = ui::log(&context.session()?, args.root.as_deref(), last)?;
    if context.json() {
        context.print_json(&latest.rows)?;
        return Ok(0);
    }
    let everything = RowsArgs { all: true, limit: None };
    let rows = latest.rows.iter().map(row).collect();
    let header = ["SEQ", "WHEN", "ROOT", "ACTION", "DOCUMENT", "REVISION", "SUMMARY"];
    context.print(&table(&header, rows, everything, "no documents were set"));
    if latest.earlier > 0 {
        context.line(&format!("... and {} earlier; --all shows every envelope", latest.earlier));
    }
    Ok(0)
}

fn row(view: &EnvelopeView) -> Vec<String> {
    let [action, ui_id, revision, summary] = ui::told(&view.envelope);
    vec![view.seq.to_string(), moment(view.at), view.root.clone(), action, ui_id, revision, summary]
}
