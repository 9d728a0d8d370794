//! `roundgate issues create`

use std::path::PathBuf;

use clap::Args;

use super::words::{RoleTag, acted};

use crate::app::{AppError, issues};
use crate::cli::context::Context;
use crate::cli::due::{DueArg, no_zone, when_if_ever};
use crate::interop::duration::parse_interval;
use crate::model::act::create::NewIssue;
use crate::model::duty::{AskPolicy, AskTimeout};
use crate::model::id::Actor;
use crate::model::issue::{Millis, Policy, Priority, Work};
use crate::model::tag::{Tag, Tags};

/// Lines to begin with.
const EXAMPLES: &str = r#"Examples:
  roundgate issues create "Ship the parser" --tag kind:root --tag proto:hierarchical-work-v1
  roundgate issues create "Write the lexer" --parent rg-6xqc --accept "every fixture tokenises"
  roundgate issues create "Which colour?" --tag kind:ask --choice red --choice blue"#;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CreateArgs {
    /// One line for people
    title: String,
    /// What is wanted
    #[arg(long, short, allow_hyphen_values = true)]
    body: Option<String>,
    /// Read the body from a file (- for stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "body")]
    body_file: Option<PathBuf>,
    /// The parent's id or a unique prefix
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// A tag; may be given more than once
    #[arg(long = "tag", short)]
    tag: Vec<Tag>,
    /// Tags, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    tags: Vec<Tag>,
    /// Adds the tag role:ROLE
    #[arg(long, short, value_name = "ROLE")]
    role: Option<RoleTag>,
    /// 1 (most urgent) to 5
    #[arg(long, short, default_value = "3")]
    priority: Priority,
    #[command(flatten)]
    policy: PolicyArgs,
    /// An acceptance criterion; may be given more than once
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    accept: Vec<String>,
    /// For a kind:ask: a choice; may be given more than once
    #[arg(long = "choice", value_name = "WORD")]
    choices: Vec<String>,
    /// The zone of a day, or of a moment without an offset, such as Europe/Berlin; otherwise UTC
    #[arg(long, value_name = "ZONE", requires = "ask_due")]
    tz: Option<String>,
}

/// The bounds a scope may set for its policy.
#[derive(Debug, Args)]
pub struct PolicyArgs {
    /// Rounds before a human is asked (1 to 100)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_review_rounds: Option<u32>,
    /// Equal failures in a row before a human is asked early (0 is off)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    no_progress: Option<u32>,
    /// Lost or failed steps tried again before a human is asked
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    step_retries: Option<u32>,
    /// Let who worked on an attempt judge it
    #[arg(long)]
    allow_self_review: bool,
    #[command(flatten)]
    ask: AskPolicyArgs,
}

/// What an issue wants of the asks at and below it.
#[derive(Debug, Args)]
pub struct AskPolicyArgs {
    /// Who is to answer asks here
    #[arg(long, value_name = "ACTOR")]
    ask_assignee: Option<Actor>,
    /// How long there is for an answer, such as 2d (0 is for ever); of a new ask also a moment, such as
    /// 2026-12-05T09:00, or 2026-12-05 for the end of that day
    #[arg(long, value_name = "WHEN", value_parser = when_if_ever)]
    ask_due: Option<DueArg>,
    /// The time between two reminders (0 is none)
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    ask_remind: Option<Millis>,
    /// After how long an ask that nobody answered comes to --ask-default (0 is never)
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    ask_timeout: Option<Millis>,
    /// What nobody's answer is: stop-and-handoff, accept, abandon or skip
    #[arg(long, value_name = "CHOICE", requires = "ask_timeout")]
    ask_default: Option<String>,
}

impl AskPolicyArgs {
    fn policy(&self) -> Result<AskPolicy, AppError> {
        let timeout = match (self.ask_timeout, &self.ask_default) {
            (None, _) => None,
            (Some(0), _) => Some(AskTimeout::never()),
            (Some(after), Some(choice)) => Some(AskTimeout { after, choice: choice.clone() }),
            (Some(_), None) => {
                let wanted = "--ask-timeout wants --ask-default CHOICE: what nobody's answer is";
                return Err(AppError::Usage(wanted.to_owned()));
            }
        };
        Ok(AskPolicy {
            assignee: self.ask_assignee.clone(),
            due: self.ask_due.as_ref().map(DueArg::length).transpose()?,
            remind: self.ask_remind,
            timeout,
        })
    }
}

/// A duration, or 0.
pub fn interval(text: &str) -> Result<Millis, String> {
    parse_interval(text).map_err(|error| error.to_string())
}

impl PolicyArgs {
    /// Takes out when an ask itself is due, where that is a moment.
    fn moment(&mut self) -> Option<DueArg> {
        self.ask.ask_due.take_if(|due| matches!(due, DueArg::At(_)))
    }

    pub fn policy(&self) -> Result<Policy, AppError> {
        Ok(Policy {
            max_review_rounds: self.max_review_rounds,
            max_review_rounds_posted: None,
            no_progress: self.no_progress,
            allow_self_review: self.allow_self_review.then_some(true),
            step_retries: self.step_retries,
            ask: self.ask.policy()?,
        })
    }
}

/// A body from a flag or from a file; the file must be UTF-8.
pub fn body(
    context: &Context,
    text: Option<String>,
    file: Option<PathBuf>,
) -> Result<Option<String>, AppError> {
    let Some(file) = file else { return Ok(text) };
    crate::cli::import::read_file(context, &file).and_then(|bytes| {
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            AppError::Usage(format!("{} is not UTF-8 at byte {at}", file.display()))
        })
    })
}

pub fn run(context: &Context, mut args: CreateArgs) -> Result<u8, AppError> {
    let tags: Tags = args.tag.into_iter().chain(args.tags).chain(args.role.map(RoleTag::tag)).collect();
    if !args.choices.is_empty() && !tags.ask() {
        return Err(AppError::Usage("--choice is for an ask: add --tag kind:ask".to_owned()));
    }
    if let Some(bad) = args.choices.iter().find(|word| word.parse::<Tag>().is_err()) {
        return Err(AppError::Usage(format!("a choice is one word, not {bad:?}")));
    }
    let due = if tags.ask() { args.policy.moment() } else { None };
    let due = match (due, args.tz) {
        (None, Some(_)) => return Err(no_zone()),
        (due, tz) => due.map(|due| due.due(tz)).transpose()?,
    };
    let new = NewIssue {
        title: args.title,
        body: body(context, args.body, args.body_file)?.unwrap_or_default(),
        tags,
        priority: args.priority,
        parent: None,
        policy: args.policy.policy()?,
        work: Work { accept: args.accept, ..Work::default() },
        key: None,
        choices: args.choices,
        due_at: None,
        configured: AskPolicy::default(),
    };
    let mut session = context.session_to_write()?;
    let made = issues::create_due(&mut session, new, args.parent.as_deref(), due.as_ref())?;
    acted(context, "created", &made.value, made.changed)
}
