//! `roundgate rounds ...`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::context::Context;
use super::import::read_file;
use super::issues::PolicyArgs;
use super::output::{line, multiline};
use super::tick::show_and_tick;
use crate::app::rounds::{self, Evidence, VerdictView};
use crate::app::view::RoundsView;
use crate::app::{AppError, Changed};
use crate::model::counted::counted;
use crate::model::record::Opinion;

#[derive(Debug, Subcommand)]
pub enum RoundsCommand {
    /// Put an issue under review-gated rounds, and open the first
    Open(OpenArgs),
    /// Show the rounds of a scope
    Show(ShowArgs),
    /// Judge a round; the next tick acts on it
    Verdict(VerdictArgs),
    /// Take a verdict back before a tick acts on it
    Withdraw(WithdrawArgs),
}

#[derive(Debug, Args)]
pub struct OpenArgs {
    /// The scope's id or a unique prefix
    scope: String,
    #[command(flatten)]
    policy: PolicyArgs,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The scope's id or a unique prefix
    scope: String,
}

#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// The review's id or a unique prefix
    review: String,
    /// pass, or needs_work
    verdict: OpinionArg,
    /// What was found; needs_work wants it, since the next attempt reads it
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
    note: String,
    /// A file whose text is posted as evidence; may be given more than once
    #[arg(long, value_name = "FILE")]
    evidence: Vec<PathBuf>,
    /// Tick the root at once
    #[arg(long)]
    tick: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum OpinionArg {
    /// Good
    Pass,
    /// Not yet
    #[value(name = "needs_work")]
    NeedsWork,
}

#[derive(Debug, Args)]
pub struct WithdrawArgs {
    /// The review's id or a unique prefix
    review: String,
}

pub fn run(context: &Context, command: RoundsCommand) -> Result<u8, AppError> {
    match command {
        RoundsCommand::Open(args) => {
            let policy = args.policy.policy()?;
            let done = rounds::open(&mut context.session_to_write()?, &args.scope, policy)?;
            if context.json() {
                context.print_changed(&done.value, done.changed)?;
                return Ok(0);
            }
            print(context, &done.value)?;
            if done.value.rounds.is_empty() {
                context.say("something blocks it; its first round opens with the tick that finds it free");
            }
            Ok(0)
        }
        RoundsCommand::Show(args) => print(context, &rounds::show(&context.session()?, &args.scope)?),
        RoundsCommand::Verdict(args) => verdict(context, args),
        RoundsCommand::Withdraw(args) => {
            let done = rounds::withdraw(&mut context.session_to_write()?, &args.review)?;
            recorded(context, &done)
        }
    }
}

fn print(context: &Context, view: &RoundsView) -> Result<u8, AppError> {
    if context.json() {
        context.print_json(view)?;
        return Ok(0);
    }
    let most = counted(view.max_rounds, "round");
    context.line(&format!("{}  {}  at most {most}", view.scope, view.state));
    for round in &view.rounds {
        let verdict = match (round.verdict.as_deref(), round.end.as_deref()) {
            (Some(verdict), _) => verdict,
            (None, Some("failed")) => "attempt failed",
            _ => "no verdict yet",
        };
        let by = round.by.as_deref().map_or(String::new(), |by| format!(" by {by}"));
        context.line(&format!(
            "  round {}  attempt {}  review {}  {verdict}{by}",
            round.round, round.attempt, round.review
        ));
        if !round.notes.is_empty() {
            context.line(&format!("    {}", multiline(round.notes.trim_end()).replace('\n', "\n    ")));
        }
    }
    if let Some(ask) = &view.ask {
        context.line(&format!("  a human is asked: {ask}"));
    }
    Ok(0)
}

fn verdict(context: &Context, args: VerdictArgs) -> Result<u8, AppError> {
    let opinion = match args.verdict {
        OpinionArg::Pass => Opinion::Pass,
        OpinionArg::NeedsWork => Opinion::NeedsWork,
    };
    let mut evidence = Vec::new();
    for file in &args.evidence {
        let text = String::from_utf8(read_file(context, file)?)
            .map_err(|_| AppError::Usage(format!("{} is not UTF-8 text", file.display())))?;
        evidence.push(Evidence { name: file.display().to_string(), text });
    }
    let mut session = context.session_to_write()?;
    let done = rounds::judge(&mut session, &args.review, opinion, &args.note, &evidence)?;
    if opinion == Opinion::NeedsWork && args.note.is_empty() && done.changed {
        context.say("a needs_work without a note counts, but tells the next attempt nothing");
    }
    if args.tick {
        return show_and_tick(context, &mut session, &done, &done.value.review, recorded);
    }
    recorded(context, &done)
}

fn recorded(context: &Context, done: &Changed<VerdictView>) -> Result<u8, AppError> {
    let view = &done.value;
    if context.json() {
        context.print_changed(view, done.changed)?;
    } else {
        let verdict = view.verdict.as_deref().unwrap_or("no verdict");
        let changed = if done.changed { "recorded" } else { "unchanged" };
        let by = view.by.as_deref().unwrap_or_default();
        context.line(&format!(
            "{changed}: {} round {} of {}  {verdict}  {}",
            view.review,
            view.round,
            view.scope,
            line(by)
        ));
    }
    Ok(0)
}
