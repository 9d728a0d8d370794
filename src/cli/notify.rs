//! `roundgate notify ...`, and the sending that comes after every tick.

use clap::{Args, Subcommand};

use super::context::Context;
use super::output::{line, with_causes};
use super::render::{RowsArgs, moment, table};
use super::signals::{STOPPED, asked_to_end, or_stopped, said};
use crate::app::notify::{self, NoticeView, Sent, Undelivered, program, send_due};
use crate::app::{AppError, Changed, Session};
use crate::model::counted::{counted, if_one};
use crate::model::record::Notice;

#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// What was not delivered yet
    List(ListArgs),
    /// Send what is due, as every tick does
    Send,
    /// Let what was not delivered be sent by the next tick, whatever it waits for
    Retry(NamedArgs),
    /// Give up what was not delivered; its history stays
    Drop(NamedArgs),
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only those of this root
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Debug, Args)]
pub struct NamedArgs {
    /// A notification's id, or an ask
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// All of them
    #[arg(long)]
    all: bool,
}

pub fn run(context: &Context, command: NotifyCommand) -> Result<u8, AppError> {
    match command {
        NotifyCommand::List(args) => list(context, &args),
        NotifyCommand::Send => send(context),
        NotifyCommand::Retry(args) => {
            let done = notify::retry(&mut context.session_to_write()?, args.id.as_deref())?;
            changed(context, "to be sent", &done)
        }
        NotifyCommand::Drop(args) => {
            let done = notify::drop(&mut context.session_to_write()?, args.id.as_deref())?;
            changed(context, "dropped", &done)
        }
    }
}

/// Sends what is due, once a command has ticked and printed what that did. Whatever the notifier does is
/// kept in the store and no failure of the command.
pub fn after_tick(context: &Context, session: &mut Session, stop: &dyn Fn() -> bool) -> Sent {
    let sent = context.store_folder().and_then(|folder| {
        let terms = session.config.notify.clone();
        send_due(session, &mut program(&terms, &folder, stop))
    });
    sent.unwrap_or_else(|error| {
        context.say(&format!("notifications cannot be sent: {}", with_causes(&error)));
        Sent::default()
    })
}

/// The same at the end of a command. What it did is done; whoever stops it then stops the notifier, and the
/// exit code says so.
pub fn after_last_tick(context: &Context, session: &mut Session) -> Result<Option<u8>, AppError> {
    let asked = asked_to_end()?;
    after_tick(context, session, &|| said(&asked));
    Ok(said(&asked).then_some(STOPPED))
}

/// What is not delivered, in a line; nothing when there is nothing.
pub fn undelivered_line(found: &Undelivered, configured: bool) -> Option<String> {
    let since = found.since?;
    let (many, are) = (counted(found.count, "notification"), if_one(found.count, "is", "are"));
    let last = found
        .last_failure
        .as_ref()
        .map_or_else(String::new, |failure| format!("; last failure: {}", failure.why));
    let nobody = if configured { "" } else { "; no notifier is configured" };
    Some(format!("{many} {are} undelivered since {}{last}{nobody}", moment(since)))
}

fn list(context: &Context, args: &ListArgs) -> Result<u8, AppError> {
    let session = context.session()?;
    let found = notify::list(&session, args.root.as_deref())?;
    if context.json() {
        context.print_json(&found[..args.rows.shown_in_json(found.len())].to_vec())?;
        return Ok(0);
    }
    let nothing = match session.config.notify.configured() {
        true => "everything was delivered",
        false => "nothing is to be sent, and no notifier is configured",
    };
    let cells = found.iter().map(|view| {
        let why = view.last_failure.as_ref().map_or("", |failure| failure.why.as_str());
        vec![
            view.id.clone(),
            view.state.to_string(),
            view.attempts.to_string(),
            if view.due_at == Notice::AT_ONCE { "at once".to_owned() } else { moment(view.due_at) },
            view.question.clone(),
            why.to_owned(),
        ]
    });
    context.print(&table(
        &["ID", "STATE", "TRIES", "NEXT", "QUESTION", "LAST FAILURE"],
        cells.collect(),
        args.rows,
        nothing,
    ));
    Ok(0)
}

fn send(context: &Context) -> Result<u8, AppError> {
    context.no_operation("notify send sends what is due, whenever it is called")?;
    let folder = context.store_folder()?;
    let mut session = context.session_to_write()?;
    let terms = session.config.notify.clone();
    if !terms.configured() {
        let how = context.call("config set notify.command").arg(r#"["sh", "./notify.sh"]"#);
        return Err(AppError::Usage(format!("no notifier is configured; {how} names one")));
    }
    let asked = asked_to_end()?;
    let sent = send_due(&mut session, &mut program(&terms, &folder, &|| said(&asked)));
    let sent = or_stopped(sent, &asked)?;
    if context.json() {
        context.print_json(&sent)?;
    } else {
        sent.delivered.iter().for_each(|id| context.line(&format!("delivered {id}")));
        match sent.next_at {
            None if sent.delivered.is_empty() => context.line("nothing is to be sent"),
            Some(at) => context.line(&format!("the next is due {}", moment(at))),
            None => {}
        }
    }
    match sent.failed {
        Some(failed) => Err(AppError::NotDelivered { id: failed.id, why: failed.why }),
        None if said(&asked) => Ok(STOPPED),
        None => Ok(0),
    }
}

fn changed(context: &Context, did: &str, done: &Changed<Vec<NoticeView>>) -> Result<u8, AppError> {
    if context.json() {
        context.print_json(&serde_json::json!({ "notifications": done.value, "changed": done.changed }))?;
        return Ok(0);
    }
    let did = if done.changed { did } else { "unchanged" };
    for view in &done.value {
        context.line(&format!("{did} {}  {}", view.id, line(&view.question)));
    }
    if done.value.is_empty() {
        context.line("everything was delivered");
    }
    Ok(0)
}
