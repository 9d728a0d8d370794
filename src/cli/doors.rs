//! Where a command line comes in: the list of commands, and what happens to errors.

use std::ffi::OsString;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::command_line::Program;
use super::context::{Context, GLOBAL_VARIABLES, GlobalArgs};
use super::lazy::{Lazy, whole};
use super::output::{self, Failure};
#[cfg(feature = "watch")]
use super::watch;
use super::{
    asks, backup, compact, config, cron, doctor, forum, graph, heartbeats, import, init, issues, log, notify,
    pause, plan, rounds, run, status, tick, ui,
};
use crate::app::AppError;

const EXIT_CODES: &str = "Exit codes:
  0  done, or nothing to do        4  conflict: somebody else was first
  1  unexpected                    5  refused: the rules forbid it
  2  usage: a bad flag or value    6  busy: try again
  3  not found                     7  damaged, lost, foreign, newer or older store
 10  --exit-status: workers must move    11  waiting for a human    12  stuck
130  stopped by Ctrl-C";

/// An issue tracker with an engine: one durable transition per tick, review-gated rounds, and a human
/// asked at the right moment.
#[derive(Debug, Parser)]
#[command(name = "roundgate", version, after_help = EXIT_CODES, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a store in the current folder
    Init(Lazy<init::InitArgs>),
    /// Create, find, claim, close and connect issues
    #[command(subcommand)]
    Issues(Lazy<issues::IssuesCommand>),
    /// Post to and read the forum
    #[command(subcommand)]
    Forum(Lazy<forum::ForumCommand>),
    /// Review-gated rounds: open, show, judge
    #[command(subcommand)]
    Rounds(Lazy<rounds::RoundsCommand>),
    /// The inbox: what humans are asked
    #[command(subcommand)]
    Asks(Lazy<asks::AsksCommand>),
    /// Answer an ask
    Answer(Lazy<asks::AnswerArgs>),
    /// Apply one transition to a root, or to each root
    Tick(Lazy<tick::TickArgs>),
    /// Each root's own clock, and what ticks all that are due
    #[command(subcommand)]
    Heartbeats(Lazy<heartbeats::HeartbeatsCommand>),
    /// Further ticks at certain times, and lines for a clock you have
    #[command(subcommand)]
    Cron(Lazy<cron::CronCommand>),
    /// What humans are told of: what was not delivered, and sending it
    #[command(subcommand)]
    Notify(Lazy<notify::NotifyCommand>),
    /// Keep anything new from starting at or below an issue; what runs may finish
    Pause(Lazy<pause::PauseArgs>),
    /// Let an issue that was paused go on
    Resume(Lazy<pause::ResumeArgs>),
    /// Where everything stands
    Status(Lazy<status::StatusArgs>),
    /// A live view on the terminal, where asks can be answered
    #[cfg(feature = "watch")]
    Watch(Lazy<watch::WatchArgs>),
    /// Status documents and prompts: what they say now, and what was set and removed
    #[command(subcommand)]
    Ui(Lazy<ui::UiCommand>),
    /// The latest events
    Log(Lazy<log::LogArgs>),
    /// A root's graph as text for Graphviz or Mermaid
    Graph(Lazy<graph::GraphArgs>),
    /// Check and apply plans
    #[command(subcommand)]
    Plan(Lazy<plan::PlanCommand>),
    /// Apply a plan and run its workers until it is final or a human must move
    Run(Lazy<run::RunArgs>),
    /// Import another tracker's export
    Import(Lazy<import::ImportArgs>),
    /// Check that the store is what was written to it
    Doctor(Lazy<doctor::DoctorArgs>),
    /// Copy the store to a new file, and verify the copy
    Backup(Lazy<backup::BackupArgs>),
    /// Put a backup in the place of the store
    Restore(Lazy<backup::RestoreArgs>),
    /// Move the bulk of old history out of the store, to an archive
    Compact(Lazy<compact::CompactArgs>),
    /// Read and change the configuration
    #[command(subcommand)]
    Config(Lazy<config::ConfigCommand>),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Runs the command line of this process and gives the exit code.
pub fn main() -> ExitCode {
    // A file that may not grow any further (ulimit -f) is an error to be told, not a death. If this
    // cannot be set up, it is a death: nothing is lost that way, either.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false))).ok();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    ExitCode::from(run_line(&arguments))
}

/// Runs one command line, the program's name first, and gives the exit code.
pub fn run_line(arguments: &[OsString]) -> u8 {
    let (cli, program) = match parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error, arguments),
    };
    let json = cli.global.json;
    let context = Context::new(cli.global, program);
    context.asks_for(format!("{:?}", cli.command).as_bytes());
    let done = dispatch(cli.command, &context).and_then(|code| context.printed().map(|()| code));
    match done {
        Ok(code) => code,
        Err(error) => {
            let failure = context.failure(&error);
            output::print_failure(&failure, json);
            failure.exit
        }
    }
}

/// An empty variable says as much as none. What clap knows of each command and flag is left to the end of
/// the process: taking it apart costs a fifth of what a start does. With it comes how the next call of this
/// program begins.
fn parse(arguments: &[OsString]) -> Result<(Cli, Program), clap::Error> {
    let mut command = Cli::command();
    for (argument, variable) in GLOBAL_VARIABLES {
        if std::env::var_os(variable).is_some_and(|value| value.is_empty()) {
            command = command.mut_arg(argument, |argument| argument.env(Resettable::Reset));
        }
    }
    let mut command = ManuallyDrop::new(command);
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    let named = matches.value_source("store") == Some(ValueSource::CommandLine);
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
    let program = Program::at(cli.global.store.as_deref().filter(|_| named));
    Ok((cli, program))
}

/// Clap's own errors, as JSON when JSON was asked for.
fn usage(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let json = arguments.iter().any(|argument| argument == "--json");
    let unreadable = error.kind() == ErrorKind::InvalidUtf8;
    if error.use_stderr() && (json || unreadable) {
        let (message, hint) = if unreadable {
            (not_utf8(arguments), "text is given as UTF-8".to_owned())
        } else if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            ("a command is missing".to_owned(), "roundgate --help lists the commands and flags".to_owned())
        } else {
            (first_paragraph(error), "roundgate --help lists the commands and flags".to_owned())
        };
        let failure = Failure { exit: 2, code: "usage", message, hint: Some(hint), retryable: false };
        output::print_failure(&failure, json);
    } else if error.use_stderr() {
        // Clap repeats what was given, and what was given may be hostile.
        output::write_stderr(&output::multiline(&error.render().to_string()));
    } else if let Err(unprinted) = error.print().and_then(|()| std::io::stdout().flush())
        && unprinted.kind() != std::io::ErrorKind::BrokenPipe
    {
        let failure = Failure::of(
            &AppError::File { what: "print it".to_owned(), source: unprinted },
            &Program::default(),
        );
        output::print_failure(&failure, json);
        return failure.exit;
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// What is wrong, in one line: what follows the first empty line are tips and the usage.
fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ").trim_start_matches("error: ").to_owned()
}

/// Which arguments and variables are no text; clap does not say.
fn not_utf8(arguments: &[OsString]) -> String {
    let bad = arguments.iter().enumerate().skip(1).filter(|(_, argument)| argument.to_str().is_none());
    let arguments = bad.map(|(at, argument)| (format!("argument {at}"), argument.clone()));
    let set =
        GLOBAL_VARIABLES.iter().filter_map(|(_, name)| Some(((*name).to_owned(), std::env::var_os(name)?)));
    let unreadable = arguments.chain(set.filter(|(_, value)| value.to_str().is_none()));
    let named: Vec<String> = unreadable
        .map(|(what, text)| {
            let shown: String = text.to_string_lossy().chars().take(60).collect();
            format!("{what} ({shown:?}) is not UTF-8")
        })
        .collect();
    named.join("; ")
}

fn dispatch(command: Command, context: &Context) -> Result<u8, AppError> {
    match command {
        Command::Init(Lazy(args)) => init::run(context, args),
        Command::Issues(Lazy(command)) => issues::run(context, command),
        Command::Forum(Lazy(command)) => forum::run(context, command),
        Command::Rounds(Lazy(command)) => rounds::run(context, command),
        Command::Asks(Lazy(command)) => asks::run(context, command),
        Command::Answer(Lazy(args)) => asks::answer(context, args),
        Command::Tick(Lazy(args)) => tick::run(context, args),
        Command::Heartbeats(Lazy(command)) => heartbeats::run(context, command),
        Command::Cron(Lazy(command)) => cron::run(context, command),
        Command::Notify(Lazy(command)) => notify::run(context, command),
        Command::Pause(Lazy(args)) => pause::pause(context, args),
        Command::Resume(Lazy(args)) => pause::resume(context, args),
        Command::Status(Lazy(args)) => status::run(context, args),
        #[cfg(feature = "watch")]
        Command::Watch(Lazy(args)) => watch::run(context, args),
        Command::Ui(Lazy(command)) => ui::run(context, command),
        Command::Log(Lazy(args)) => log::run(context, args),
        Command::Graph(Lazy(args)) => graph::run(context, args),
        Command::Plan(Lazy(command)) => plan::run(context, command),
        Command::Run(Lazy(args)) => run::run(context, args),
        Command::Import(Lazy(args)) => import::run(context, args),
        Command::Doctor(Lazy(args)) => doctor::run(context, args),
        Command::Backup(Lazy(args)) => backup::backup(context, args),
        Command::Restore(Lazy(args)) => backup::restore(context, args),
        Command::Compact(Lazy(args)) => compact::run(context, args),
        Command::Config(Lazy(command)) => config::run(context, command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            let mut cli = whole(Cli::command);
            clap_complete::generate(shell, &mut cli, "roundgate", &mut script);
            let script = String::from_utf8_lossy(&script);
            if context.json() {
                context.print_json(&serde_json::json!({ "shell": shell.to_string(), "script": script }))?;
            } else {
                context.print(&script);
            }
            Ok(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each command says of itself, but for those that say it of others.
    fn help(command: &mut clap::Command, all: &mut Vec<String>) {
        all.push(command.render_help().to_string());
        all.push(command.render_long_help().to_string());
        for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
            help(below, all);
        }
    }

    #[test]
    fn a_command_says_the_same_of_itself_whenever_clap_is_told_of_it() {
        let of = |mut command: clap::Command| {
            let mut all = Vec::new();
            command.build();
            help(&mut command, &mut all);
            all
        };
        let all = of(Cli::command());
        assert_eq!(all, of(whole(Cli::command)));
        assert!(all.iter().any(|help| help.starts_with("Create an issue\n")), "{all:#?}");
    }
}
