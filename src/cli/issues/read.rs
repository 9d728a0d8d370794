//! `roundgate issues get`, `list`, `search`, `children` and `ready`

use clap::Args;

use super::words::{RoleArg, StatusArg};
use crate::app::AppError;
use crate::app::issues::{self, Filter, Paged};
use crate::app::pause;
use crate::app::view::IssueView;
use crate::cli::context::Context;
use crate::cli::pause::paused_line;
use crate::cli::render::{RowsArgs, issue_block, issue_row, page_table, table};
use crate::model::search::Query;
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
    page: PageArgs,
}

pub fn list(context: &Context, args: ListArgs) -> Result<u8, AppError> {
    let status = args.status.map(StatusArg::word);
    let filter = Filter { status, tags: args.tags, root: args.root, ..args.page.filter(context) };
    print_page(context, issues::list(&context.session()?, &filter)?, "no issues")
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Whole words, all of which the title or the body has; a "phrase" in double quotes stands side by
    /// side in one of them, and `word*` may go on
    query: Query,
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
    page: PageArgs,
}

pub fn search(context: &Context, args: SearchArgs) -> Result<u8, AppError> {
    let status = args.status.map(StatusArg::word);
    let filter = Filter { status, tags: args.tags, root: args.root, ..args.page.filter(context) };
    print_page(context, issues::search(&context.session()?, &args.query, &filter)?, "nothing found")
}

/// Which page of a list to show.
#[derive(Debug, Args)]
struct PageArgs {
    /// Only what comes behind this issue, where that is now: the last one of the page before
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    #[command(flatten)]
    rows: RowsArgs,
}

impl PageArgs {
    fn filter(self, context: &Context) -> Filter {
        Filter { after: self.after, limit: self.rows.wanted(context.json()), ..Filter::default() }
    }
}

fn print_page(context: &Context, page: Paged<IssueView>, nothing: &str) -> Result<u8, AppError> {
    if context.json() {
        context.print_json(&page.rows)?;
    } else {
        let rows = page.rows.iter().map(issue_row).collect();
        context.print(&page_table(&HEADER, rows, page.more, nothing));
    }
    Ok(0)
}

#[derive(Debug, Args)]
pub struct ChildrenArgs {
    /// The parent's id or a unique prefix
    id: String,
    /// Only children with this tag; may be given more than once
    #[arg(long = "tag")]
    tags: Vec<Tag>,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn children(context: &Context, args: ChildrenArgs) -> Result<u8, AppError> {
    let found = issues::children(&context.session()?, &args.id, &args.tags)?;
    if context.json() {
        let shown = args.rows.shown_in_json(found.len());
        context.print_json(&found[..shown].to_vec())?;
    } else {
        let rows = found.iter().map(issue_row).collect();
        context.print(&table(&HEADER, rows, args.rows, "no children"));
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
    page: PageArgs,
}

pub fn ready(context: &Context, args: ReadyArgs) -> Result<u8, AppError> {
    let role = args.role.map(RoleArg::role);
    let filter = Filter { tags: args.tags, root: args.root, role, ..args.page.filter(context) };
    let session = context.session()?;
    let page = issues::ready(&session, &filter)?;
    if context.json() {
        context.print_json(&page.rows)?;
        return Ok(0);
    }
    if page.rows.is_empty() {
        let paused = pause::list(&session, filter.root.as_deref())?;
        paused.iter().for_each(|pause| context.say(&paused_line(pause)));
    }
    let rows = page.rows.iter().map(|ready| {
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
    let header = ["ID", "PRIO", "ROLE", "ROUND", "TITLE"];
    context.print(&page_table(&header, rows.collect(), page.more, "nothing is ready"));
    Ok(0)
}
