//! `roundgate asks assign`

use clap::Args;

use super::print_changed;
use crate::app::AppError;
use crate::app::asks::{self, AssignWish};
use crate::cli::context::{Context, named_actor};
use crate::cli::due::{DueArg, when_if_ever};
use crate::cli::issues::interval;
use crate::model::id::Actor;
use crate::model::issue::Millis;

#[derive(Debug, Args)]
pub struct AssignArgs {
    /// The ask's id or a unique prefix
    ask: String,
    /// Who is to answer; anybody may
    #[arg(long, value_name = "ACTOR", value_parser = somebody)]
    to: Option<Actor>,
    /// Nobody in particular
    #[arg(long, conflicts_with = "to")]
    to_anybody: bool,
    /// How long there is from now, such as 2d (0 is for ever), or a moment, such as 2026-12-05T09:00, or
    /// 2026-12-05 for the end of that day
    #[arg(long, value_name = "WHEN", value_parser = when_if_ever)]
    due: Option<DueArg>,
    /// The zone of a day, or of a moment without an offset, such as Europe/Berlin; otherwise UTC
    #[arg(long, value_name = "ZONE", requires = "due")]
    tz: Option<String>,
    /// It is never due
    #[arg(long, conflicts_with = "due")]
    no_due: bool,
    /// The time between two reminders, from the due time on or else from now (0 is none)
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    remind: Option<Millis>,
    /// How long from now until nobody's answer is --default (0 is never)
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    timeout: Option<Millis>,
    /// One of its choices, and none that opens rounds or tries again
    #[arg(long, value_name = "CHOICE", requires = "timeout")]
    default: Option<String>,
    /// It waits for as long as it takes
    #[arg(long, conflicts_with = "timeout")]
    no_timeout: bool,
}

fn somebody(name: &str) -> Result<Actor, String> {
    named_actor(name).map_err(|error| error.to_string())
}

pub fn run(context: &Context, args: AssignArgs) -> Result<u8, AppError> {
    let never = |due: &DueArg| *due == DueArg::In(0);
    let no_due = args.no_due || args.due.as_ref().is_some_and(never);
    let due = args.due.filter(|due| !never(due)).map(|due| due.due(args.tz)).transpose()?;
    let no_timeout = args.no_timeout || args.timeout == Some(0);
    if args.default.is_none() && args.timeout.is_some_and(|after| after > 0) {
        let wanted = "--timeout wants --default CHOICE: what nobody's answer is";
        return Err(AppError::Usage(wanted.to_owned()));
    }
    let wish = AssignWish {
        to: args.to.map(Some).or(args.to_anybody.then_some(None)),
        due: due.map(Some).or(no_due.then_some(None)),
        remind: args.remind.map(|every| Some(every).filter(|&every| every > 0)),
        timeout: if no_timeout { Some(None) } else { args.timeout.zip(args.default).map(Some) },
    };
    if wish == AssignWish::default() {
        return Err(AppError::Usage(
            "say what is to be different: --to, --due, --remind or --timeout".to_owned(),
        ));
    }
    let done = asks::assign(&mut context.session_to_write()?, &args.ask, wish)?;
    print_changed(context, "assigned", &done)
}
