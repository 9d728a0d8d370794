//! Flags that clap is only told of when it needs them: of all commands, a call uses one. Telling clap of
//! all of them costs as much as looking something up in a store.

use std::cell::Cell;
use std::fmt;

use clap::builder::Resettable;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

thread_local! {
    static WHOLE: Cell<bool> = const { Cell::new(false) };
}

/// A command of which clap is told everything at once: a completion script is made of all commands.
pub fn whole(make: impl FnOnce() -> Command) -> Command {
    WHOLE.set(true);
    let command = make();
    WHOLE.set(false);
    command
}

fn later(command: Command, now: fn(Command) -> Command, later: fn(Command) -> Command) -> Command {
    if WHOLE.get() { now(command) } else { command.defer(later) }
}

/// Tells a command of its flags. What it says of itself it says already: the flags that many commands share
/// would say what they are instead.
fn told(command: Command, augment: fn(Command) -> Command) -> Command {
    let (short, long) = (command.get_about().cloned(), command.get_long_about().cloned());
    augment(command).about(Resettable::from(short)).long_about(Resettable::from(long))
}

/// What a command is given, or the commands below it.
pub struct Lazy<T>(pub T);

/// As what is in it: the digest of a request is over this.
impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Lazy)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Lazy)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Lazy<T> {
    fn augment_args(command: Command) -> Command {
        later(command, T::augment_args, |command| told(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        later(command, T::augment_args_for_update, |command| told(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Lazy<T> {
    fn augment_subcommands(command: Command) -> Command {
        later(command, T::augment_subcommands, |command| told(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        later(command, T::augment_subcommands_for_update, |command| {
            told(command, T::augment_subcommands_for_update)
        })
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
