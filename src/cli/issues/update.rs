//! `roundgate issues update`

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::create::{PolicyArgs, body};
use super::words::{RoleTag, StatusArg, acted};
use crate::app::issues::{self, Claiming, CloseWish};
use crate::app::{AppError, Changed, Session};
use crate::cli::context::Context;
use crate::model::act::update::{Update, Wanted};
use crate::model::issue::{Outcome, Policy, Priority};
use crate::model::tag::{Tag, Tags};

#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// The issue's id or a unique prefix
    id: String,
    /// A new title
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    /// A new body
    #[arg(long, short, allow_hyphen_values = true)]
    body: Option<String>,
    /// Read the new body from a file (- for stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "body")]
    body_file: Option<PathBuf>,
    /// The same as claim, open or close
    #[arg(long, value_enum)]
    status: Option<StatusArg>,
    /// With --status closed: how it ended
    #[arg(long, requires = "status")]
    outcome: Option<Outcome>,
    /// With --status closed: why
    #[arg(long, value_name = "TEXT", requires = "status", allow_hyphen_values = true)]
    reason: Option<String>,
    /// A new priority, 1 (most urgent) to 5
    #[arg(long, short)]
    priority: Option<Priority>,
    /// All tags anew, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    tags: Option<Vec<Tag>>,
    /// Add a tag; may be given more than once
    #[arg(long, value_name = "TAG")]
    add_tag: Vec<Tag>,
    /// Take a tag away; may be given more than once
    #[arg(long, value_name = "TAG", value_parser = Tag::stored)]
    remove_tag: Vec<Tag>,
    /// Replaces the role:* tag
    #[arg(long, short, value_name = "ROLE")]
    role: Option<RoleTag>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Take a wish of the issue away, so that what is above it decides (ask-timeout with its default); may be given more than once
    #[arg(long, value_name = "WISH", value_parser = wish())]
    unset: Vec<Wanted>,
}

/// What may be taken away, by the name of the flag that sets it.
fn wish() -> impl TypedValueParser<Value = Wanted> {
    let named = |word: String| Wanted::NAMED.into_iter().find(|(name, _)| *name == word);
    PossibleValuesParser::new(Wanted::NAMED.map(|(name, _)| name))
        .try_map(move |word| named(word).map(|(_, wanted)| wanted).ok_or("there is no such wish"))
}

pub fn run(context: &Context, args: UpdateArgs) -> Result<u8, AppError> {
    let mut update = Update {
        title: args.title,
        body: body(context, args.body, args.body_file)?,
        priority: args.priority,
        tags: args.tags.map(|tags| tags.into_iter().collect::<Tags>()),
        add_tags: args.add_tag,
        remove_tags: args.remove_tag,
        policy: Some(args.policy.policy()?).filter(|policy| *policy != Policy::default()),
        unset: args.unset,
        ..Update::default()
    };
    if let Some(role) = args.role {
        update.remove_tags.extend(["role:orchestrator", "role:worker"].map(Tag::known));
        update.add_tags.push(role.tag());
    }
    let fields = update != Update::default();
    match (fields, args.status) {
        (false, None) => Err(AppError::Usage("nothing to update: name at least one field".to_owned())),
        (true, Some(_)) => Err(AppError::Usage(
            "--status goes alone: claiming, opening and closing are acts of their own".to_owned(),
        )),
        (true, None) => {
            let done = issues::update(&mut context.session_to_write()?, &args.id, &update)?;
            acted(context, "updated", &done.value, done.changed)
        }
        (false, Some(status)) => {
            let wish = CloseWish { outcome: args.outcome, reason: args.reason, ..CloseWish::default() };
            let done = set_status(&mut context.session_to_write()?, &args.id, status, &wish)?;
            acted(context, "updated", &done.value, done.changed)
        }
    }
}

fn set_status(
    session: &mut Session,
    id: &str,
    status: StatusArg,
    wish: &CloseWish,
) -> Result<Changed<crate::app::view::IssueView>, AppError> {
    if *wish != CloseWish::default() && status != StatusArg::Closed {
        return Err(AppError::Usage("--outcome and --reason go with --status closed".to_owned()));
    }
    match status {
        StatusArg::Open => issues::open(session, id),
        StatusArg::InProgress => issues::claim(session, id, &Claiming::default()),
        StatusArg::Closed => {
            let closed = issues::close(session, id, wish)?;
            Ok(Changed { value: closed.value.issue, changed: closed.changed })
        }
    }
}
