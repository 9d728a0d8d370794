//! `roundgate log`

use clap::Args;

use super::context::Context;
use super::output::line;
use super::render::{RowsArgs, moment, page_table};
use crate::app::issues::Paged;
use crate::app::{AppError, issues};
use crate::model::change::{Change, Event, Field};
use crate::model::counted::counted;
use crate::model::record::{Heartbeat, Notice};

#[derive(Debug, Args)]
pub struct LogArgs {
    /// Only events after this number, the first of them where there are too many
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
    #[command(flatten)]
    rows: RowsArgs,
}

pub fn run(context: &Context, args: LogArgs) -> Result<u8, AppError> {
    let (session, wanted) = (context.session()?, args.rows.wanted(context.json()));
    if let Some(after) = args.after {
        return print_events(context, &issues::log_after(&session, after, wanted)?);
    }
    let rows = issues::log(&session, wanted)?;
    let earlier = rows.first().map_or(0, |first| first.seq - 1);
    print_events(context, &Paged { rows, more: false })?;
    if earlier > 0 && !context.json() {
        context.line(&format!("... and {earlier} earlier; --all shows every event"));
    }
    Ok(0)
}

/// Prints events: as JSON, or as a table.
pub fn print_events(context: &Context, page: &Paged<Event>) -> Result<u8, AppError> {
    if context.json() {
        context.print_json(&page.rows)?;
        return Ok(0);
    }
    let cells = page.rows.iter().map(|event| {
        vec![
            event.seq.to_string(),
            moment(event.at),
            event.actor.to_string(),
            event.cause.clone(),
            what(&event.change),
        ]
    });
    let header = ["SEQ", "WHEN", "WHO", "CAUSE", "WHAT"];
    context.print(&page_table(&header, cells.collect(), page.more, "no events"));
    Ok(0)
}

/// A change in a line.
pub fn what(change: &Change) -> String {
    match change {
        Change::IssueCreated { issue, .. } => format!("created {} {}", issue.id, line(&issue.title)),
        Change::IssueChanged { id, after, .. } => {
            let fields: Vec<String> = after.iter().map(field).collect();
            format!("{id}: {}", fields.join(", "))
        }
        Change::ParentSet { id, after, .. } => match after {
            Some(parent) => format!("{id} is now a child of {parent}"),
            None => format!("{id} has no parent any more"),
        },
        Change::EdgeAdded { edge } => format!("{edge}"),
        Change::EdgeRemoved { edge } => format!("no longer: {edge}"),
        Change::Posted { post } => {
            format!("{}: {}", post.topic, line(post.body.lines().next().unwrap_or_default()))
        }
        Change::ScopeSet { after, .. } => {
            format!("scope {} of at most {}", after.id, after.bounds.max_rounds)
        }
        Change::RoundSet { after, .. } => {
            let verdict = after.verdict.as_ref().map_or("no verdict", |verdict| verdict.opinion.as_str());
            let ended = if after.end.is_some() { ", ended" } else { "" };
            format!("round {} of {}: {verdict}{ended}", after.number, after.scope)
        }
        Change::AskOpened { ask } => format!("asked {}", ask.id),
        Change::AnswerSet { id, after, .. } => match after {
            Some(answer) => format!("{id} answered {}", answer.choice),
            None => format!("the answer to {id} was withdrawn"),
        },
        Change::DutySet { id, after, .. } => match after.as_ref().and_then(|duty| duty.assignee.as_ref()) {
            Some(assignee) => format!("{id} is to be answered by {assignee}"),
            None => format!("{id} is to be answered by anybody"),
        },
        Change::AskReminded { id, duty } => {
            let to = duty.assignee.as_ref().map_or(String::new(), |to| format!(" {to}"));
            let count = duty.reminder.map_or(0, |reminder| reminder.count);
            format!("reminded{to} of {id}, time {count}")
        }
        Change::PlanSet { after, .. } => format!("plan of {}", after.root),
        Change::RootFinished { id, finished: true } => format!("{id} is final"),
        Change::RootFinished { id, finished: false } => format!("{id} goes on"),
        Change::HeartbeatSet { before, after } => heartbeat(before.as_deref(), after),
        Change::HeartbeatRemoved { heartbeat } => {
            format!("{} of {} was deleted", heartbeat.id, heartbeat.root)
        }
        Change::NoticeSet { before, after } => notice(before.as_deref(), after),
        Change::NoticeEnded { notice, end } => format!("notification {} {}", notice.id, end.as_str()),
        Change::IdReserved { id } => format!("{id} stays reserved"),
        Change::Compacted { compaction } => {
            format!("moved {} to {}", counted(compaction.events, "event"), line(&compaction.archive))
        }
        Change::OperationDone { operation } => format!("operation {} is done", operation.id),
        Change::Annotated { annotation } => format!("{}: {}", annotation.issue, annotation.kind),
        Change::DocumentSet { edit } => {
            let (root, ui_id) = edit.document();
            format!("document {ui_id} of {root}, revision {}", edit.version())
        }
        Change::DocumentRemoved { root, ui_id, .. } => format!("document {ui_id} of {root} is removed"),
    }
}

/// What is new about a heartbeat, the most telling first.
fn heartbeat(before: Option<&Heartbeat>, after: &Heartbeat) -> String {
    let skipped = after.skipped - before.map_or(0, |before| before.skipped).min(after.skipped);
    let what = match (before, &after.halted) {
        (None, _) => "was made".to_owned(),
        (Some(before), Some(halted)) if before.halted != after.halted => {
            format!("stopped: {}", halted.why.as_str())
        }
        (Some(before), None) if before.halted.is_some() => "was enabled".to_owned(),
        _ if skipped > 0 => format!("skipped {}", counted(skipped, "due time")),
        (Some(before), _) if before.trigger != after.trigger => "was triggered".to_owned(),
        (Some(before), _) if before.last_run != after.last_run => "ticked".to_owned(),
        _ => "was updated".to_owned(),
    };
    format!("{} of {} {what}", after.id, after.root)
}

/// What is new about a notice.
fn notice(before: Option<&Notice>, after: &Notice) -> String {
    let what = match (before, &after.sender, &after.failure) {
        (_, Some(sender), _) => format!("is sent by {sender}"),
        (Some(before), None, Some(failure)) if before.failure != after.failure => {
            format!("was not delivered: {}", line(&failure.why))
        }
        (None, None, _) => "is to be sent".to_owned(),
        _ => "is to be sent again".to_owned(),
    };
    format!("notification {} {what}", after.id)
}

fn field(field: &Field) -> String {
    match field {
        Field::Title(_) => "title".to_owned(),
        Field::Body(_) => "body".to_owned(),
        Field::Tags(_) => "tags".to_owned(),
        Field::Priority(priority) => format!("priority {}", priority.get()),
        Field::State(state) => match (state.outcome(), state.claim()) {
            (Some(outcome), _) => format!("closed {outcome}"),
            (_, Some(claim)) => format!("held by {}", claim.actor),
            _ => state.status().to_owned(),
        },
        Field::Epoch(epoch) => format!("fencing number {epoch}"),
        Field::Hands(_) => "hands".to_owned(),
        Field::FailedSteps(steps) => format!("{steps} failed steps"),
        Field::Policy(_) => "policy".to_owned(),
        Field::Work(_) => "work".to_owned(),
        Field::Key(_) => "key".to_owned(),
        Field::Pause(Some(pause)) => format!("paused: {}", line(&pause.reason)),
        Field::Pause(None) => "resumed".to_owned(),
    }
}
