//! `roundgate watch`: a live view on the terminal. `live` is the loop, `view` what it remembers, `rows`,
//! `ask` and `draw` what it looks like; `keys` and `screen` are the terminal.

mod ask;
mod draw;
mod keys;
mod live;
mod rows;
mod screen;
#[cfg(test)]
mod tests;
mod text;
mod view;

use std::io::{self, IsTerminal};

use clap::Args;

use self::keys::Keyboard;
use self::live::{Live, Source, signals};
use self::screen::Screen;
use self::view::View;
use super::context::Context;
use crate::app::AppError;
use crate::app::watch::Wanted;

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Only this root
    root: Option<String>,
}

pub fn run(context: &Context, args: WatchArgs) -> Result<u8, AppError> {
    context.no_operation("watch is no single act")?;
    can_draw(context)?;
    let mut source = Source::new(context, context.store_folder()?);
    // What is wrong at the start is said as every command says it.
    let overview = source.read(&Wanted { root: args.root.clone(), ask: None })?;
    let only = args.root.and(overview.root.as_ref().map(|root| root.id.clone()));
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let view = View::new(overview, context.actor()?.to_string(), only, colour);
    let mut live = Live { source, view, clock: context.clock()?, asked: signals()?, rest: 0 };
    let mut on_terminal = || -> io::Result<()> {
        let mut keyboard = Keyboard::open()?;
        let mut screen = Screen::take()?;
        live.go_on(&mut screen, &mut keyboard)
    };
    on_terminal().map_err(|source| AppError::File { what: "use the terminal".to_owned(), source })?;
    Ok(0)
}

/// Refuses where there is nothing to draw on.
fn can_draw(context: &Context) -> Result<(), AppError> {
    let instead = context.call("status --json");
    let refused = |why: &str| Err(AppError::Usage(format!("{why}; {instead} says the same to programs")));
    if context.json() {
        return refused("watch draws for people and prints no JSON");
    }
    if !io::stdout().is_terminal() {
        return refused("watch draws on a terminal, and stdout is none");
    }
    if std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        return refused("watch draws on a terminal that moves its cursor, and TERM names none");
    }
    Ok(())
}
