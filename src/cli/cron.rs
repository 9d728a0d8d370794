//! `roundgate cron ...`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::context::Context;
use super::heartbeats::{BoundsArgs, DisableArgs, ListArgs, NamedArgs, TriggerArgs, changed, one, triggered};
use crate::app::config::Config;
use crate::app::heartbeats::{self, New, Update, When, install};
use crate::app::{AppError, place};
use crate::interop::duration::parse_duration;
use crate::model::issue::Millis;
use crate::model::record::{HeartbeatKind, Overlap};

const KIND: HeartbeatKind = HeartbeatKind::Cron;

#[derive(Debug, Subcommand)]
pub enum CronCommand {
    /// Tick a root at certain times
    Create(CreateArgs),
    /// Every cron entry, and when it is due
    List(ListArgs),
    /// Show one cron entry
    Get(NamedArgs),
    /// Change a cron entry
    Update(UpdateArgs),
    /// Let a cron entry come, from now on
    Enable(NamedArgs),
    /// Keep a cron entry from coming
    Disable(DisableArgs),
    /// Tick its root once, now
    Trigger(TriggerArgs),
    /// Take a cron entry away; its history stays
    Delete(NamedArgs),
    /// Print what makes the clock you have tick every root
    Install(InstallArgs),
}

/// When it is due, said in one of three ways.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct WhenArgs {
    /// Once, such as 2026-10-25T02:30 or 2026-10-25T02:30:00+01:00
    #[arg(long, value_name = "MOMENT")]
    at: Option<String>,
    /// Again and again, such as 10m; at least 1s
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    every: Option<Millis>,
    /// Whenever a local time fits: minute hour day month weekday, or @daily and the like
    #[arg(long, value_name = "EXPR")]
    expr: Option<String>,
}

/// Lines to begin with.
const EXAMPLES: &str = r#"Examples:
  roundgate cron create --root rg-t7d0 --expr "30 2 * * *" --tz Europe/Berlin
  roundgate cron create --root rg-t7d0 --at 2030-10-25T02:30 --tz Europe/Berlin
  roundgate cron create --root rg-t7d0 --every 6h --for 30d"#;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
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
    when: WhenArgs,
    /// The zone of local times, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    #[command(flatten)]
    bounds: BoundsArgs,
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
    when: WhenArgs,
    /// The zone of local times, such as Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    #[command(flatten)]
    bounds: BoundsArgs,
}

#[derive(Debug, Args)]
pub struct InstallArgs {
    /// What to print
    #[arg(long, value_name = "FORM")]
    print: Form,
    /// How often: what a crontab can say, or any duration for systemd
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_duration)]
    every: Millis,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Form {
    /// A line for crontab -e
    Crontab,
    /// A service and a timer
    Systemd,
}

impl WhenArgs {
    fn given(self, tz: Option<String>) -> Result<Option<When>, AppError> {
        match (self.at, self.every, self.expr) {
            (Some(text), ..) => Ok(Some(When::At { text, zone: tz })),
            (_, _, Some(expr)) => Ok(Some(When::Cron { expr, zone: tz })),
            (_, Some(_), _) if tz.is_some() => {
                Err(AppError::Usage("--tz goes with --at or --expr: an interval has no zone".to_owned()))
            }
            (_, Some(every), _) => Ok(Some(When::Every(every))),
            _ => Ok(tz.map(When::Zone)),
        }
    }
}

pub fn run(context: &Context, command: CronCommand) -> Result<u8, AppError> {
    match command {
        CronCommand::Create(args) => {
            let when = args.when.given(args.tz)?.filter(|when| !matches!(when, When::Zone(_)));
            let when =
                when.ok_or_else(|| AppError::Usage("one of --at, --every and --expr is needed".to_owned()))?;
            let new = New {
                kind: KIND,
                root: args.root,
                title: args.title,
                reason: args.reason,
                when,
                lasts: args.bounds.lasts(),
                max_ticks: args.bounds.max_ticks(),
                overlap: args.bounds.overlap().unwrap_or(Overlap::Skip),
            };
            changed(context, "created", &heartbeats::create(&mut context.session_to_write()?, new)?)
        }
        CronCommand::List(args) => args.print(context, KIND),
        CronCommand::Get(args) => one(context, &heartbeats::get(&context.session()?, KIND, &args.id)?),
        CronCommand::Update(args) => {
            let update = Update {
                title: args.title,
                reason: args.reason,
                when: args.when.given(args.tz)?,
                lasts: args.bounds.lasts(),
                max_ticks: args.bounds.max_ticks(),
                overlap: args.bounds.overlap(),
            };
            let done = heartbeats::update(&mut context.session_to_write()?, KIND, &args.id, update)?;
            changed(context, "updated", &done)
        }
        CronCommand::Enable(args) => changed(
            context,
            "enabled",
            &heartbeats::enable(&mut context.session_to_write()?, KIND, &args.id)?,
        ),
        CronCommand::Disable(args) => {
            let done = heartbeats::disable(&mut context.session_to_write()?, KIND, &args.id, &args.reason)?;
            changed(context, "disabled", &done)
        }
        CronCommand::Trigger(args) => triggered(context, KIND, &args),
        CronCommand::Delete(args) => changed(
            context,
            "deleted",
            &heartbeats::delete(&mut context.session_to_write()?, KIND, &args.id)?,
        ),
        CronCommand::Install(args) => print_installation(context, &args),
    }
}

fn print_installation(context: &Context, args: &InstallArgs) -> Result<u8, AppError> {
    let absolute = |path: PathBuf| {
        std::path::absolute(&path)
            .map_err(|source| AppError::File { what: format!("find {}", path.display()), source })
    };
    let program = std::env::current_exe()
        .map_err(|source| AppError::File { what: "find this program".to_owned(), source })?;
    let store = absolute(context.store_folder()?)?;
    if !place::is_store(&store) {
        // Opening says what it is instead.
        place::open(&store, &Config::default())?;
    }
    let text = match args.print {
        Form::Crontab => install::crontab(&program, &store, args.every)?,
        Form::Systemd => install::systemd(&program, &store, args.every)?,
    };
    if context.json() {
        let (program, store) = (program.display().to_string(), store.display().to_string());
        context.print_json(&serde_json::json!({ "text": text, "program": program, "store": store }))?;
    } else {
        context.print(&text);
    }
    Ok(0)
}
