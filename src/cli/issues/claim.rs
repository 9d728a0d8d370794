//! `roundgate issues claim`, `renew` and `release`

use clap::{ArgGroup, Args};

use super::words::{RoleArg, acted};
use crate::app::issues::{self, Claiming, Filter};
use crate::app::view::IssueView;
use crate::app::{AppError, Changed};
use crate::cli::context::Context;
use crate::interop::duration::parse_duration;
use crate::model::issue::Millis;
use crate::model::tag::Tag;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["id", "next"])))]
pub struct ClaimArgs {
    /// The issue's id or a unique prefix
    id: Option<String>,
    /// Take the first ready issue
    #[arg(long)]
    next: bool,
    /// With --next: only issues at or below this one
    #[arg(long, value_name = "ID", requires = "next")]
    root: Option<String>,
    /// With --next: only attempts, or only reviews
    #[arg(long, value_enum, requires = "next")]
    role: Option<RoleArg>,
    /// With --next: only issues with this tag
    #[arg(long = "tag", requires = "next")]
    tags: Vec<Tag>,
    /// How long the lease lasts, such as 30m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    lease: Option<Millis>,
}

pub fn claim(context: &Context, args: ClaimArgs) -> Result<u8, AppError> {
    let mut session = context.session_to_write()?;
    let claiming = Claiming { lease: args.lease, runner: None };
    let claimed = match args.id {
        Some(id) => issues::claim(&mut session, &id, &claiming)?,
        None => {
            let role = args.role.map(RoleArg::role);
            let filter = Filter { tags: args.tags, root: args.root, role, ..Filter::default() };
            issues::claim_next(&mut session, &filter, &claiming)?
        }
    };
    held(context, "claimed", &claimed)
}

fn held(context: &Context, verb: &str, done: &Changed<IssueView>) -> Result<u8, AppError> {
    if let Some(claim) = &done.value.claim {
        let until = crate::cli::render::moment(claim.expires_at);
        context.say(&format!("held by {} until {until}, fencing number {}", claim.actor, claim.epoch));
    }
    acted(context, verb, &done.value, done.changed)
}

#[derive(Debug, Args)]
pub struct RenewArgs {
    /// The issue's id or a unique prefix
    id: String,
    /// How long the lease lasts from now, such as 30m
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    lease: Option<Millis>,
    /// The fencing number of the claim
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
}

pub fn renew(context: &Context, args: RenewArgs) -> Result<u8, AppError> {
    let done = issues::renew(&mut context.session_to_write()?, &args.id, args.epoch, args.lease, None)?;
    held(context, "renewed", &done)
}

#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// The issue's id or a unique prefix
    id: String,
    /// The fencing number of the claim
    #[arg(long, value_name = "N")]
    epoch: Option<u64>,
}

pub fn release(context: &Context, args: ReleaseArgs) -> Result<u8, AppError> {
    let done = issues::release(&mut context.session_to_write()?, &args.id, args.epoch)?;
    acted(context, "released", &done.value, done.changed)
}
