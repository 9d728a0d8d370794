//! `roundgate issues open`, `close` and `retry`

use clap::Args;
use serde_json::json;

use super::words::acted;
use crate::app::AppError;
use crate::app::issues::{self, CloseWish};
use crate::cli::context::Context;
use crate::cli::output::line;
use crate::model::counted::{counted, if_one};
use crate::model::id::IssueId;
use crate::model::issue::Outcome;

#[derive(Debug, Args)]
pub struct OpenArgs {
    /// The issue's id or a unique prefix
    id: String,
}

pub fn open(context: &Context, args: OpenArgs) -> Result<u8, AppError> {
    let done = issues::open(&mut context.session_to_write()?, &args.id)?;
    acted(context, "opened", &done.value, done.changed)
}

#[derive(Debug, Args)]
pub struct CloseArgs {
    /// The issue's id or a unique prefix
    id: String,
    /// success (unless told otherwise), failure, needs_work, skipped or expanded
    #[arg(long)]
    outcome: Option<Outcome>,
    /// Why; a skip wants one, and so does needs_work on a review
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    reason: Option<String>,
    /// With --outcome skipped: skip what is open below, too
    #[arg(long)]
    cascade: bool,
    /// Show what --cascade would skip, and change nothing
    #[arg(long, requires = "cascade")]
    dry_run: bool,
    /// The fencing number of the claim
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
}

pub fn close(context: &Context, args: CloseArgs) -> Result<u8, AppError> {
    if args.cascade && args.outcome != Some(Outcome::Skipped) {
        return Err(AppError::Usage("--cascade goes with --outcome skipped".to_owned()));
    }
    let wish =
        CloseWish { outcome: args.outcome, reason: args.reason, cascade: args.cascade, epoch: args.epoch };
    let mut session = if args.dry_run { context.session()? } else { context.session_to_write()? };
    if args.dry_run {
        return would_skip(context, &issues::cascade_preview(&session, &args.id, &wish)?);
    }
    let done = issues::close(&mut session, &args.id, &wish)?;
    if done.value.verdict && done.changed {
        context.say("the verdict is recorded; the next tick acts on it");
        return acted(context, "judged", &done.value.issue, true);
    }
    if wish.cascade && done.changed {
        let (skipped, were) = (done.value.skipped, if_one(done.value.skipped, "was", "were"));
        context.say(&format!("{} below {were} skipped, too", counted(skipped, "open issue")));
    }
    if wish.outcome == Some(Outcome::Skipped) && done.value.open_below > 0 {
        let count = done.value.open_below;
        let (issues, stay) =
            (counted(count, "issue"), if_one(count, "stays open and is", "stay open and are"));
        let them = if_one(count, "it", "them");
        context.say(&format!("{issues} below {stay} let go; --cascade skips {them}, too"));
    }
    acted(context, "closed", &done.value.issue, done.changed)
}

/// What an act would skip, and that nothing was changed.
pub fn would_skip(context: &Context, issues: &[(IssueId, String)]) -> Result<u8, AppError> {
    if context.json() {
        let ids: Vec<String> = issues.iter().map(|(id, _)| id.to_string()).collect();
        context.print_json(&json!({ "would_skip": ids }))?;
        return Ok(0);
    }
    context.say(&format!("{} further issues would be skipped, too; nothing was changed", issues.len()));
    issues.iter().for_each(|(id, title)| context.line(&format!("would skip {id}  {}", line(title))));
    Ok(0)
}

#[derive(Debug, Args)]
pub struct RetryArgs {
    /// The failed issue's id or a unique prefix
    id: String,
    /// What the successor should know
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,
}

pub fn retry(context: &Context, args: RetryArgs) -> Result<u8, AppError> {
    let done = issues::retry(&mut context.session_to_write()?, &args.id, args.note)?;
    acted(context, "created", &done.value, done.changed)
}
