//! `roundgate asks ...` and `roundgate answer`

use clap::{Args, Subcommand};
use serde_json::json;

use super::context::Context;
use super::output::{line, multiline};
use super::render::{RowsArgs, table};
use super::tick::{print_with_tick, tick_at_once};
use crate::app::asks::{self, AnswerWish};
use crate::app::view::AskView;
use crate::app::{AppError, Changed};
use crate::model::act::answer::ABANDON;

#[derive(Debug, Subcommand)]
pub enum AsksCommand {
    /// List the open asks
    List(ListArgs),
    /// Show one ask: the question, what there is to know, and what each choice does
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only asks at or below this issue
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    /// Settled asks, too, and every row
    #[arg(long)]
    all: bool,
    /// Show at most this many rows (0 for every row)
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The ask's id or a unique prefix
    id: String,
}

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The ask's id or a unique prefix
    ask: String,
    /// One of its choices
    #[arg(required_unless_present = "withdraw")]
    choice: Option<String>,
    /// Why, or what else there is to say
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
    /// With open-extra-round: how many further rounds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// With abandon: give up everything that waits for the scope, too
    #[arg(long)]
    with_dependents: bool,
    /// Show what --with-dependents would skip, and change nothing
    #[arg(long, requires = "with_dependents")]
    dry_run: bool,
    /// Take the answer back before a tick acts on it
    #[arg(long, conflicts_with_all = ["choice", "rounds", "with_dependents"])]
    withdraw: bool,
    /// Tick the root at once
    #[arg(long)]
    tick: bool,
}

pub fn run(context: &Context, command: AsksCommand) -> Result<u8, AppError> {
    match command {
        AsksCommand::List(args) => {
            let found = asks::list(&context.session()?, args.root.as_deref(), args.all)?;
            let limits = RowsArgs { all: args.all, limit: args.limit };
            if context.json() {
                let shown = limits.shown_in_json(found.len());
                context.print_json(&found[..shown].to_vec())?;
                return Ok(0);
            }
            let rows = found.iter().map(|ask| {
                let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
                vec![
                    ask.id.clone(),
                    ask.root.clone(),
                    ask.status.to_string(),
                    ask.question.clone(),
                    choices.join(" "),
                ]
            });
            let header = ["ID", "ROOT", "STATUS", "QUESTION", "CHOICES"];
            context.print(&table(&header, rows.collect(), limits, "nobody is asked anything"));
            Ok(0)
        }
        AsksCommand::Show(args) => {
            let ask = asks::show(&context.session()?, &args.id)?;
            if context.json() {
                context.print_json(&ask)?
            } else {
                print(context, &ask)
            }
            Ok(0)
        }
    }
}

fn print(context: &Context, ask: &AskView) {
    context.line(&format!("{}  {}  in {}", ask.id, ask.status, ask.root));
    context.line(&format!("\n{}\n", multiline(&ask.question)));
    ask.evidence.iter().for_each(|text| context.line(&format!("  - {}", multiline(text))));
    context.line("");
    for choice in &ask.choices {
        context.line(&format!("  {:<18} {}: {}", choice.id, line(&choice.label), line(&choice.effect)));
    }
    if let (Some(answer), Some(by)) = (&ask.answer, &ask.answered_by) {
        let note = ask.note.as_deref().unwrap_or_default();
        context.line(&format!("\nanswered {answer} by {by}  {}", multiline(note)));
    } else if ask.status == "open" {
        context.line(&format!("\nroundgate answer {} CHOICE --note TEXT", ask.id));
    }
}

pub fn answer(context: &Context, args: AnswerArgs) -> Result<u8, AppError> {
    let mut session = if args.dry_run { context.session()? } else { context.session_to_write()? };
    if args.withdraw {
        let done = asks::withdraw(&mut session, &args.ask)?;
        return recorded(context, &done);
    }
    let choice = args.choice.unwrap_or_default();
    if args.with_dependents && choice == ABANDON {
        let waiting = asks::dependents_of(&session, &args.ask)?;
        if args.dry_run && context.json() {
            let ids: Vec<String> = waiting.iter().map(|(id, _)| id.to_string()).collect();
            context.print_json(&json!({ "would_skip": ids }))?;
            return Ok(0);
        }
        context.say(&format!("{} issues that wait for the scope are skipped, too", waiting.len()));
        if args.dry_run {
            waiting.iter().for_each(|(id, title)| context.line(&format!("would skip {id}  {}", line(title))));
            return Ok(0);
        }
    }
    let wish =
        AnswerWish { choice, note: args.note, rounds: args.rounds, with_dependents: args.with_dependents };
    let done = asks::answer(&mut session, &args.ask, wish)?;
    if args.tick && context.json() {
        return print_with_tick(context, &mut session, &done, &done.value.id);
    }
    recorded(context, &done)?;
    if args.tick { tick_at_once(context, &mut session, &done.value.id) } else { Ok(0) }
}

fn recorded(context: &Context, done: &Changed<AskView>) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(&done.value, done.changed)?;
        return Ok(0);
    }
    let changed = if done.changed { "recorded" } else { "unchanged" };
    match &done.value.answer {
        Some(answer) => {
            context
                .line(&format!("{changed}: {} answered {answer}; the next tick acts on it", done.value.id));
        }
        None => context.line(&format!("{changed}: {} is open again", done.value.id)),
    }
    Ok(0)
}
