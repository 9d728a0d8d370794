//! `roundgate heartbeats ...`

mod beat;
mod show;

use clap::{Args, Subcommand};

use super::context::Context;
use super::render::RowsArgs;
use crate::app::AppError;
use crate::app::heartbeats::{self, INTERVAL, New, Update, When};
use crate::interop::duration::parse_duration;
use crate::model::issue::Millis;
use crate::model::record::{HeartbeatKind, Overlap};

pub use show::{changed, listed, one, triggered};

const KIND: HeartbeatKind = HeartbeatKind::Heartbeat;

#[derive(Debug, Subcommand)]
pub enum HeartbeatsCommand {
    /// Give a root a clock of its own
    Create(CreateArgs),
    /// Every heartbeat, and when it is due
    List(ListArgs),
    /// Show one heartbeat
    Get(NamedArgs),
    /// Change a heartbeat
    Update(UpdateArgs),
    /// Let a heartbeat beat, from now on
    Enable(NamedArgs),
    /// Keep a heartbeat from beating, and tick --all from its root; cron entries still come
    Disable(DisableArgs),
    /// Tick its root once, now
    Trigger(TriggerArgs),
    /// Take a heartbeat away; its history stays
    Delete(NamedArgs),
    /// Tick all that are due until stopped, here in the foreground
    Run(RunArgs),
}

#[derive(Debug, Args)]
pub struct CreateArgs {
    /// The root's id or a unique prefix
    #[arg(long, value_name = "ID")]
    root: String,
    /// A name for people; otherwise the root's title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Why it is there
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    #[command(flatten)]
    interval: IntervalArgs,
    #[command(flatten)]
    bounds: BoundsArgs,
}

/// The interval, said in one of two ways.
#[derive(Debug, Args)]
pub struct IntervalArgs {
    /// The interval, such as 15s (the default) or 10m, at least 1s; 0 is only on trigger
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    every: Option<Millis>,
    /// The same in milliseconds
    #[arg(long, value_name = "N", conflicts_with = "every", value_parser = clap::value_parser!(i64).range(0..=315_360_000_000))]
    every_ms: Option<Millis>,
}

impl IntervalArgs {
    pub fn given(&self) -> Option<When> {
        self.every.or(self.every_ms).map(When::Every)
    }
}

/// What ends it, and what happens when ticks overtake each other.
#[derive(Debug, Args)]
pub struct BoundsArgs {
    /// How long it goes on before it wants to be enabled again (90d; cron entries 366d)
    #[arg(long = "for", value_name = "DURATION", value_parser = parse_duration)]
    lasts: Option<Millis>,
    /// How many due times it has before that, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    max_ticks: Option<u32>,
    /// What happens to due times that come while a tick is at work: one tick for all, or one each
    #[arg(long, value_name = "POLICY")]
    overlap: Option<OverlapArg>,
}

impl BoundsArgs {
    pub fn lasts(&self) -> Option<Millis> {
        self.lasts
    }

    pub fn max_ticks(&self) -> Option<u32> {
        self.max_ticks
    }

    pub fn overlap(&self) -> Option<Overlap> {
        self.overlap.map(|overlap| match overlap {
            OverlapArg::Skip => Overlap::Skip,
            OverlapArg::Queue => Overlap::Queue,
        })
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum OverlapArg {
    /// One tick for all of them (the default); the others are recorded as skipped
    Skip,
    /// One tick for each of them
    Queue,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only those of this root
    #[arg(long, value_name = "ID")]
    root: Option<String>,
    /// Only those that beat, or only those that do not
    #[arg(long, value_name = "true|false")]
    enabled: Option<bool>,
    #[command(flatten)]
    rows: RowsArgs,
}

impl ListArgs {
    pub fn print(self, context: &Context, kind: HeartbeatKind) -> Result<u8, AppError> {
        let found = heartbeats::list(&context.session()?, kind, self.root.as_deref(), self.enabled)?;
        listed(context, &found, self.rows)
    }
}

#[derive(Debug, Args)]
pub struct NamedArgs {
    /// Its id or a unique prefix, or its root
    pub id: String,
}

#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Its id or a unique prefix, or its root
    id: String,
    /// Another name
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Another reason
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    interval: IntervalArgs,
    #[command(flatten)]
    bounds: BoundsArgs,
}

#[derive(Debug, Args)]
pub struct DisableArgs {
    /// Its id or a unique prefix, or its root
    pub id: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct TriggerArgs {
    /// Its id or a unique prefix, or its root
    pub id: String,
    /// Why now
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// Tick what is due now, and end
    #[arg(long)]
    once: bool,
}

/// A duration, or 0.
fn interval(text: &str) -> Result<Millis, String> {
    if matches!(text, "0" | "0s" | "0ms") {
        return Ok(0);
    }
    parse_duration(text).map_err(|error| error.to_string())
}

pub fn run(context: &Context, command: HeartbeatsCommand) -> Result<u8, AppError> {
    match command {
        HeartbeatsCommand::Create(args) => {
            let new = New {
                kind: KIND,
                root: args.root,
                title: args.title,
                reason: args.reason,
                when: args.interval.given().unwrap_or(When::Every(INTERVAL)),
                lasts: args.bounds.lasts(),
                max_ticks: args.bounds.max_ticks(),
                overlap: args.bounds.overlap().unwrap_or(Overlap::Skip),
            };
            changed(context, "created", &heartbeats::create(&mut context.session_to_write()?, new)?)
        }
        HeartbeatsCommand::List(args) => args.print(context, KIND),
        HeartbeatsCommand::Get(args) => one(context, &heartbeats::get(&context.session()?, KIND, &args.id)?),
        HeartbeatsCommand::Update(args) => {
            let update = Update {
                title: args.title,
                reason: args.reason,
                when: args.interval.given(),
                lasts: args.bounds.lasts(),
                max_ticks: args.bounds.max_ticks(),
                overlap: args.bounds.overlap(),
            };
            let done = heartbeats::update(&mut context.session_to_write()?, KIND, &args.id, update)?;
            changed(context, "updated", &done)
        }
        HeartbeatsCommand::Enable(args) => changed(
            context,
            "enabled",
            &heartbeats::enable(&mut context.session_to_write()?, KIND, &args.id)?,
        ),
        HeartbeatsCommand::Disable(args) => {
            let mut session = context.session_to_write()?;
            let done = heartbeats::disable(&mut session, KIND, &args.id, &args.reason)?;
            let root = &done.value.root;
            for entry in heartbeats::list(&session, HeartbeatKind::Cron, Some(root), Some(true))? {
                context.say(&format!(
                    "{} still ticks {root}; {} keeps it from that",
                    entry.id,
                    context.call("cron disable").arg(&entry.id)
                ));
            }
            changed(context, "disabled", &done)
        }
        HeartbeatsCommand::Trigger(args) => triggered(context, KIND, &args),
        HeartbeatsCommand::Delete(args) => changed(
            context,
            "deleted",
            &heartbeats::delete(&mut context.session_to_write()?, KIND, &args.id)?,
        ),
        HeartbeatsCommand::Run(args) => beat::run(context, args.once),
    }
}
