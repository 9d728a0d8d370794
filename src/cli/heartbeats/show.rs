//! Heartbeats and cron entries for people and programs.

use serde::Serialize;

use super::TriggerArgs;
use crate::app::heartbeats::{HeartbeatView, Seen, TriggeredView, runner_of, trigger};
use crate::app::{AppError, Changed, config};
use crate::cli::context::Context;
use crate::cli::notify::after_last_tick;
use crate::cli::output::line;
use crate::cli::render::{RowsArgs, moment, table};
use crate::model::counted::counted;
use crate::model::issue::Millis;
use crate::model::record::HeartbeatKind;

/// When it is due, in a few words.
fn rhythm(view: &HeartbeatView) -> String {
    match (view.every_ms, view.at_ms, &view.expr, &view.tz) {
        (Some(0), ..) => "on trigger".to_owned(),
        (Some(every), ..) => format!("every {}", config::duration(every)),
        (_, Some(at), ..) => format!("at {}", moment(at)),
        (.., Some(expr), Some(tz)) => format!("{expr} {tz}"),
        _ => String::new(),
    }
}

fn standing(view: &HeartbeatView) -> String {
    view.disabled.as_ref().map_or("enabled".to_owned(), |halted| format!("disabled: {}", halted.why))
}

fn maybe(at: Option<i64>) -> String {
    at.map_or("-".to_owned(), moment)
}

/// A heartbeat, and what is known beside the store of whoever ticks it.
#[derive(Serialize)]
struct Watched<'v> {
    #[serde(flatten)]
    view: &'v HeartbeatView,
    /// The latest due time that was ticked for, idle or not, in epoch milliseconds.
    last_tick_at: Option<Millis>,
    /// The process that ticks what is due at this store, if one does.
    runner_pid: Option<u32>,
}

/// What lies beside the store.
struct Beside {
    seen: Seen,
    runner_pid: Option<u32>,
}

impl Beside {
    fn of(context: &Context) -> Result<Beside, AppError> {
        let folder = context.store_folder()?;
        Ok(Beside { seen: Seen::load(&folder), runner_pid: runner_of(&folder) })
    }

    fn watched<'v>(&self, view: &'v HeartbeatView) -> Watched<'v> {
        let last_tick_at = view.last_run_at.max(self.seen.ticked(&view.id));
        Watched { view, last_tick_at, runner_pid: self.runner_pid }
    }

    fn runner(&self) -> String {
        self.runner_pid.map_or("not running".to_owned(), |pid| format!("up (pid {pid})"))
    }
}

/// A table of them.
pub fn listed(context: &Context, found: &[HeartbeatView], rows: RowsArgs) -> Result<u8, AppError> {
    let beside = Beside::of(context)?;
    if context.json() {
        let shown = found[..rows.shown_in_json(found.len())].iter();
        context.print_json(&shown.map(|view| beside.watched(view)).collect::<Vec<_>>())?;
        return Ok(0);
    }
    let cells = found.iter().map(|view| {
        vec![
            view.id.clone(),
            view.root.clone(),
            rhythm(view),
            maybe(view.next_due_at),
            standing(view),
            view.title.clone(),
        ]
    });
    context.print(&table(
        &["ID", "ROOT", "WHEN", "NEXT", "STATE", "TITLE"],
        cells.collect(),
        rows,
        "there is none",
    ));
    if !found.is_empty() {
        context.line(&format!("runner: {}", beside.runner()));
    }
    Ok(0)
}

/// One of them in full.
pub fn one(context: &Context, view: &HeartbeatView) -> Result<u8, AppError> {
    let beside = Beside::of(context)?;
    let watched = beside.watched(view);
    if context.json() {
        context.print_json(&watched)?;
        return Ok(0);
    }
    context.line(&format!("{}  {}", view.id, line(&view.title)));
    let field = |name: &str, value: &str| {
        if !value.is_empty() {
            context.line(&format!("  {name:<10} {}", line(value)));
        }
    };
    field("root", &view.root);
    field("when", &rhythm(view));
    field("reason", &view.reason);
    field("state", &standing(view));
    if let Some(halted) = &view.disabled {
        field("since", &format!("{} by {}", moment(halted.at), halted.by));
        field("note", &halted.note);
    }
    field("next", &maybe(view.next_due_at));
    let ticks =
        view.ceiling.max_ticks.map_or(String::new(), |ticks| format!(", or {}", counted(ticks, "due time")));
    field("ceiling", &format!("{}{ticks}", moment(view.ceiling.ends_at)));
    field("overlap", &view.overlap);
    field("last tick", &maybe(watched.last_tick_at));
    field("runner", &beside.runner());
    if let Some(gap) = &view.last_gap {
        let more = if gap.at_least { "at least " } else { "" };
        let (first, last) = (moment(gap.first), moment(gap.last));
        field(
            "skipped",
            &format!("{} in all; last {more}{} from {first} to {last}", view.skipped, gap.count),
        );
    }
    if let Some(trigger) = &view.triggered {
        field("triggered", &format!("{} by {}  {}", moment(trigger.at), trigger.by, trigger.reason));
    }
    Ok(0)
}

/// What became of one.
pub fn changed(context: &Context, did: &str, done: &Changed<HeartbeatView>) -> Result<u8, AppError> {
    let view = &done.value;
    if context.json() {
        context.print_changed(view, done.changed)?;
        return Ok(0);
    }
    let did = if done.changed { did } else { "unchanged" };
    context.line(&format!("{did} {}  {}  {}", view.id, rhythm(view), line(&view.title)));
    if let Some(next) = view.next_due_at {
        context.line(&format!("  due next {}", moment(next)));
    }
    Ok(0)
}

/// Triggers one, and shows what that did.
pub fn triggered(context: &Context, kind: HeartbeatKind, args: &TriggerArgs) -> Result<u8, AppError> {
    let mut session = context.session_to_write()?;
    shown(context, &trigger(&mut session, kind, &args.id, &args.reason)?)?;
    Ok(after_last_tick(context, &mut session)?.unwrap_or(0))
}

fn shown(context: &Context, view: &TriggeredView) -> Result<(), AppError> {
    if context.json() {
        return context.print_json(view);
    }
    let did = view.tick.transition.as_ref().map_or("no transition", |transition| &transition.kind);
    context.line(&format!("{}: {did} on {}", view.heartbeat.id, view.tick.root));
    context.line(&format!("  next: {}", line(&view.tick.next)));
    Ok(())
}
