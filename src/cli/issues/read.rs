//! `roundgate issues get`, `list`, `children` and `ready`

use clap::Args;

use super::words::{RoleArg, StatusArg};
use crate::app::AppError;
use crate::app::issues::{self, Filter};
use crate::app::pause;
use crate::app::view::IssueView;
use crate::cli::context::Context;
use crate::cli::pause::paused_line;
use crate::cli::render::{RowsArgs, issue_block, issue_row, table};
use crate::model::tag::Tag;

const HEADER: [&str; 5] = ["ID", "PRIO", "STATUS", "HELD BY", "TITLE"];

#[derive(Debug, Args)]
pub struct GetArgs {
    /// The issue's id or a unique prefix
    id: String,
}

pub fn get(context: &Context, args: GetArgs) -> Result<u8, AppError> {
    let issue = issues::get(&context.session()?, &args.id)?;
    if context.json() {
        context.print_json(&issue)?;
    } else {
        context.print(&issue_block(&issue));
    }
    Ok(0)
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only issues with this status
    #[arg(long, value_enum)]
    status: Option<StatusArg>,
    /// Only issues with this tag; may be given more than once
    #[arg(long = "tag")]
    tags: Vec<Tag>,
    /// Only issues at or below this one
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn list(context: &Context, args: ListArgs) -> Result<u8, AppError> {
    let status = args.status.map(|status| match status {
        StatusArg::Open => "open".to_owned(),
        StatusArg::InProgress => "in_progress".to_owned(),
        StatusArg::Closed => "closed".to_owned(),
    });
    let filter = Filter { status, tags: args.tags, root: args.root, role: None };
    print(context, issues::list(&context.session()?, &filter)?, args.rows, "no issues")
}

#[derive(Debug, Args)]
pub struct ChildrenArgs {
    /// The parent's id or a unique prefix
    id: String,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn children(context: &Context, args: ChildrenArgs) -> Result<u8, AppError> {
    let found = issues::children(&context.session()?, &args.id)?;
    print(context, found, args.rows, "no children")
}

fn print(context: &Context, found: Vec<IssueView>, rows: RowsArgs, nothing: &str) -> Result<u8, AppError> {
    if context.json() {
        let shown = rows.shown_in_json(found.len());
        context.print_json(&found[..shown].to_vec())?;
    } else {
        context.print(&table(&HEADER, found.iter().map(issue_row).collect(), rows, nothing));
    }
    Ok(0)
}

#[derive(Debug, Args)]
pub struct ReadyArgs {
    /// Only issues at or below this one
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    /// Only issues with this tag; may be given more than once
    #[arg(long = "tag")]
    tags: Vec<Tag>,
    /// Only attempts, or only reviews
    #[arg(long, value_enum)]
    role: Option<RoleArg>,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn ready(context: &Context, args: ReadyArgs) -> Result<u8, AppError> {
    let role = args.role.map(RoleArg::role);
    let filter = Filter { status: None, tags: args.tags, root: args.root, role };
    let session = context.session()?;
    let found = issues::ready(&session, &filter)?;
    if context.json() {
        let shown = args.rows.shown_in_json(found.len());
        context.print_json(&found[..shown].to_vec())?;
        return Ok(0);
    }
    if found.is_empty() {
        let paused = pause::list(&session, filter.root.as_deref())?;
        paused.iter().for_each(|pause| context.say(&paused_line(pause)));
    }
    let rows = found.iter().map(|ready| {
        let round = ready.round.map_or(String::new(), |round| round.to_string());
        let issue = &ready.issue;
        vec![
            issue.id.clone(),
            format!("p{}", issue.priority),
            ready.role.unwrap_or_default().to_owned(),
            round,
            issue.title.clone(),
        ]
    });
    context.print(&table(
        &["ID", "PRIO", "ROLE", "ROUND", "TITLE"],
        rows.collect(),
        args.rows,
        "nothing is ready",
    ));
    Ok(0)
}
