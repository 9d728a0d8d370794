//! `roundgate asks assign`

use clap::Args;

use super::print_changed;
use crate::app::AppError;
use crate::app::asks::{self, AssignWish};
use crate::cli::context::Context;
use crate::cli::due::{DueArg, when};
use crate::cli::issues::{duration, interval};
use crate::model::id::Actor;
use crate::model::issue::Millis;

#[derive(Debug, Args)]
pub struct AssignArgs {
    /// The ask's id or a unique prefix
    ask: String,
    /// Who is to answer; anybody may
    #[arg(long, value_name = "ACTOR")]
    to: Option<Actor>,
    /// Nobody in particular
    #[arg(long, conflicts_with = "to")]
    to_anybody: bool,
    /// How long there is from now, such as 2d, or a moment, such as 2026-12-05T09:00
    #[arg(long, value_name = "WHEN", value_parser = when)]
    due: Option<DueArg>,
    /// The zone of a moment without an offset, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", requires = "due")]
    tz: Option<String>,
    /// It is never due
    #[arg(long, conflicts_with = "due")]
    no_due: bool,
    /// The time between two reminders, from the due time on or else from now (0 is none)
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    remind: Option<Millis>,
    /// How long from now until nobody's answer is --default
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "default")]
    timeout: Option<Millis>,
    /// One of its choices, and none that opens rounds or tries again
    #[arg(long, value_name = "CHOICE", requires = "timeout")]
    default: Option<String>,
    /// It waits for as long as it takes
    #[arg(long, conflicts_with = "timeout")]
    no_timeout: bool,
}

pub fn run(context: &Context, args: AssignArgs) -> Result<u8, AppError> {
    let due = args.due.map(|due| due.due(args.tz)).transpose()?;
    let wish = AssignWish {
        to: args.to.map(Some).or(args.to_anybody.then_some(None)),
        due: due.map(Some).or(args.no_due.then_some(None)),
        remind: args.remind.map(|every| Some(every).filter(|&every| every > 0)),
        timeout: args.timeout.zip(args.default).map(Some).or(args.no_timeout.then_some(None)),
    };
    if wish == AssignWish::default() {
        return Err(AppError::Usage(
            "say what is to be different: --to, --due, --remind or --timeout".to_owned(),
        ));
    }
    let done = asks::assign(&mut context.session_to_write()?, &args.ask, wish)?;
    print_changed(context, "assigned", &done)
}
