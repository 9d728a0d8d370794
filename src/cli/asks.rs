//! `roundgate asks ...` and `roundgate answer`

mod assign;
mod prompt;

use clap::{Args, Subcommand};

use super::context::Context;
use super::issues::would_skip;
use super::output::{line, multiline};
use super::pause::paused_line;
use super::render::{RowsArgs, moment, table_of};
use super::tick::show_and_tick;
use crate::app::asks::{self, AnswerWish};
use crate::app::config;
use crate::app::view::{AskView, EVERYTHING};
use crate::app::{AppError, Changed, Session};
use crate::model::act::answer::ABANDON;
use crate::model::counted::{counted, if_one};
use crate::model::issue::Millis;
use crate::model::tag::Tag;

#[derive(Debug, Subcommand)]
pub enum AsksCommand {
    /// List the open asks
    List(ListArgs),
    /// Show one ask: the question, what there is to know, and what each choice does
    Show(ShowArgs),
    /// Say who is to answer an ask, by when, and what happens should nobody
    Assign(assign::AssignArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only asks at or below this issue
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    /// Only asks with this tag; may be given more than once
    #[arg(long = "tag")]
    tags: Vec<Tag>,
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

/// Lines to begin with.
const EXAMPLES: &str = r#"Examples:
  roundgate answer rg-as6h open-extra-round --rounds 2 --note "once more, with the comment fixture"
  roundgate answer rg-as6h abandon --with-dependents --dry-run
  roundgate answer rg-as6h --withdraw"#;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct AnswerArgs {
    /// The ask's id or a unique prefix
    ask: String,
    /// One of its choices; on a terminal it is asked for
    choice: Option<String>,
    /// Why, or what else there is to say
    #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
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
    #[arg(long, conflicts_with_all = ["choice", "rounds", "with_dependents", "note", "tick"])]
    withdraw: bool,
    /// Tick the root at once
    #[arg(long)]
    tick: bool,
}

pub fn run(context: &Context, command: AsksCommand) -> Result<u8, AppError> {
    match command {
        AsksCommand::List(args) => {
            let found = asks::list(&context.session()?, args.root.as_deref(), &args.tags, args.all)?;
            let limits = RowsArgs { all: false, limit: args.limit.or(args.all.then_some(0)) };
            if context.json() {
                let shown = limits.shown_in_json(found.len());
                context.print_json(&found[..shown].to_vec())?;
                return Ok(0);
            }
            context.print(&listed(&found, limits));
            Ok(0)
        }
        AsksCommand::Show(args) => {
            let session = context.session()?;
            let ask = asks::show(&session, &args.id)?;
            if context.json() {
                context.print_json(&ask)?
            } else {
                context.print(&shown(context, &ask, session.clock.now()))
            }
            Ok(0)
        }
        AsksCommand::Assign(args) => assign::run(context, args),
    }
}

/// The inbox. Who is to answer, and by when, is told where anybody is.
fn listed(found: &[AskView], limits: RowsArgs) -> String {
    let assigned = found.iter().any(|ask| ask.assignee.is_some() || ask.due_at.is_some());
    let rows = found.iter().map(|ask| {
        let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
        let mut row = vec![ask.id.clone(), ask.root.clone(), ask.status.to_string()];
        if assigned {
            row.push(ask.assignee.clone().unwrap_or_default());
            row.push(ask.due_at.map(moment).unwrap_or_default());
        }
        row.extend([ask.question.clone(), choices.join(" ")]);
        row
    });
    let mut header = vec!["ID", "ROOT", "STATUS", "QUESTION", "CHOICES"];
    if assigned {
        header.splice(3..3, ["FOR", "DUE"]);
    }
    // Here --all is another list.
    table_of(&header, rows.collect(), limits, "nobody is asked anything", "--limit 0")
}

/// An ask whose evidence says where the rest is at the store that was named. A human's own words stay as they are.
#[cfg(feature = "watch")]
pub fn at_this_store(context: &Context, ask: &mut AskView) {
    for text in ask.evidence.iter_mut().filter(|_| ask.kind != "question") {
        if let Some(command) = text.strip_prefix(EVERYTHING) {
            *text = format!("{EVERYTHING}{}", context.remembered(command));
        }
    }
}

/// How many things there are to weigh at most, and how much of each is shown.
const WEIGHED: usize = 4;
const PREVIEW_CHARS: usize = 400;

/// An ask as a human decides it: the question, what is new, what each choice does, where the rest is.
fn shown(context: &Context, ask: &AskView, now: Millis) -> String {
    let mut out = format!("{}  {}  in {}\n", ask.id, ask.status, ask.root);
    let mut say = |text: String| out.push_str(&format!("{text}\n"));
    let open = ask.status == "open";
    if ask.assignee.is_some() || ask.due_at.is_some() || ask.reminders > 0 {
        let to = ask.assignee.as_deref().unwrap_or("anybody");
        let due = ask.due_at.map_or(String::new(), |at| format!(", due {}", moment(at)));
        let reminded = format!(", reminded {}", counted(ask.reminders, "time"));
        say(format!("for {to}{due}{}", if ask.reminders == 0 { "" } else { &reminded }));
    }
    if let Some(every) = ask.remind_every_ms.filter(|_| open) {
        say(format!("a reminder every {}", config::duration(every)));
    }
    if let Some(timeout) = ask.timeout.as_ref().filter(|_| open) {
        let (at, choice) = (moment(timeout.at), &timeout.choice);
        say(match ask.paused {
            None if timeout.at <= now => format!("nobody answered by {at}: the next tick chooses {choice}"),
            _ => format!("unless somebody answers by {at}: {choice}"),
        });
    }
    if let Some(pause) = &ask.paused {
        let timed = ask.due_at.is_some() || ask.remind_every_ms.is_some() || ask.timeout.is_some();
        say(paused_line(pause));
        if timed {
            say("its time stands still until that is resumed, and what is due is later by as long".to_owned());
        }
    }
    say(format!("\n{}\n", multiline(&ask.question)));
    let weighed = ask.evidence.iter().filter(|text| ask.kind == "question" || !text.starts_with(EVERYTHING));
    weighed.take(WEIGHED).for_each(|text| say(format!("  - {}", multiline(&preview(text)))));
    say(String::new());
    for (number, choice) in ask.choices.iter().enumerate() {
        let (label, effect) = (line(&choice.label), line(&choice.effect));
        say(format!("  {}  {:<18} {label}: {effect}", number + 1, choice.id));
    }
    say(format!("\neverything: {}", line(&context.remembered(&ask.everything))));
    if let (Some(answer), Some(by)) = (&ask.answer, &ask.answered_by) {
        let note = ask.note.as_deref().unwrap_or_default();
        say(format!("answered {answer} by {by}  {}", multiline(note)));
    }
    // What the answer itself brought about says no more than it.
    let by_answer =
        |reason: &str| ask.answer.as_ref().is_some_and(|it| reason.contains(&format!("answered {it}")));
    if let Some(reason) = ask.reason.as_ref().filter(|reason| !by_answer(reason)) {
        say(format!("closed: {}", line(reason)));
    } else if open {
        say(context.call("answer").arg(&ask.id).and("CHOICE --note TEXT").to_string());
    }
    out
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

pub fn answer(context: &Context, args: AnswerArgs) -> Result<u8, AppError> {
    let mut session = if args.dry_run { context.session()? } else { context.session_to_write()? };
    if args.withdraw {
        let done = asks::withdraw(&mut session, &args.ask)?;
        return recorded(context, &done);
    }
    let (choice, note) = match &args.choice {
        Some(choice) => (choice.clone(), args.note.clone()),
        None => match asked(context, &session, &args)? {
            Some(answer) => answer,
            None => {
                context.line(&format!("unchanged: {} was not answered", line(&args.ask)));
                return Ok(0);
            }
        },
    };
    let wish = AnswerWish { choice, note, rounds: args.rounds, with_dependents: args.with_dependents };
    if args.dry_run {
        return would_skip(context, &asks::preview(&session, &args.ask, &wish)?);
    }
    if wish.with_dependents && wish.choice == ABANDON {
        let waiting = asks::dependents_of(&session, &args.ask)?.len();
        let (wait, are) = (if_one(waiting, "waits", "wait"), if_one(waiting, "is", "are"));
        let issues = counted(waiting, "issue");
        context.say(&format!("{issues} that {wait} for the scope {are} skipped, too"));
    }
    let done = asks::answer(&mut session, &args.ask, wish)?;
    if args.tick {
        return show_and_tick(context, &mut session, &done, &done.value.id, recorded);
    }
    recorded(context, &done)
}

/// Asks the human at the terminal.
fn asked(
    context: &Context,
    session: &Session,
    args: &AnswerArgs,
) -> Result<Option<(String, String)>, AppError> {
    context.no_operation("what is asked for on a terminal may be answered in another way the next time")?;
    let ask = asks::show_open(session, &args.ask)?;
    if !prompt::somebody_is_there(context) {
        let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
        return Err(AppError::Usage(format!("name one of its choices: {}", choices.join(", "))));
    }
    let waiting = match args.with_dependents {
        true => Some(asks::dependents_of(session, &ask.id)?.len()),
        false => None,
    };
    prompt::choose(context, &ask, &args.note, waiting)
}

/// What became of an ask.
fn print_changed(context: &Context, did: &str, done: &Changed<AskView>) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(&done.value, done.changed)?;
    } else {
        let did = if done.changed { did } else { "unchanged" };
        context.line(&format!(
            "{did} {}",
            shown(context, &done.value, context.clock()?.now())
                .lines()
                .take_while(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n  ")
        ));
    }
    Ok(0)
}

fn recorded(context: &Context, done: &Changed<AskView>) -> Result<u8, AppError> {
    if context.json() {
        context.print_changed(&done.value, done.changed)?;
        return Ok(0);
    }
    context.line(&told(done));
    Ok(0)
}

/// What became of an answer, in a line.
pub fn told(done: &Changed<AskView>) -> String {
    let changed = if done.changed { "recorded" } else { "unchanged" };
    let id = &done.value.id;
    match &done.value.answer {
        Some(answer) => format!("{changed}: {id} answered {answer}; the next tick acts on it"),
        None => format!("{changed}: {id} is open again"),
    }
}
