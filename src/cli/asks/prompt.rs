//! An ask on a terminal: shown, and answered by a number or a word. What is asked goes to stderr.

use std::io::{BufRead, IsTerminal, stdin};

use super::{AskView, shown};
use crate::app::AppError;
use crate::cli::context::Context;
use crate::cli::output::{line, multiline, write_stderr};
use crate::model::act::answer::ABANDON;
use crate::model::counted::{counted, if_one};

/// Whether somebody sits there who can be asked.
pub fn somebody_is_there(context: &Context) -> bool {
    !context.json() && stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// What a human says to an ask: a choice and a note; `None` leaves it open. `waiting` is how much else is
/// skipped, should the scope be abandoned.
pub fn choose(
    context: &Context,
    ask: &AskView,
    note: &str,
    waiting: Option<usize>,
) -> Result<Option<(String, String)>, AppError> {
    write_stderr(&multiline(&shown(context, ask, context.clock()?.now())));
    let mut lines = stdin().lock().lines();
    let mut read = |prompt: &str| -> Result<Option<String>, AppError> {
        write_stderr(&multiline(prompt));
        let next = lines.next().transpose();
        next.map_err(|source| AppError::File { what: "read the terminal".to_owned(), source })
    };
    let choice = loop {
        let said = read("\nyour choice, a number or a word (nothing leaves it open): ")?;
        let said = said.unwrap_or_default();
        match (said.trim(), named(ask, said.trim())) {
            ("", _) => return Ok(None),
            (_, Some(choice)) => break choice.to_owned(),
            (other, None) => write_stderr(&format!("there is no choice {}\n", line(other))),
        }
    };
    let note = match note {
        "" => read("why (may be empty): ")?.unwrap_or_default().trim().to_owned(),
        given => given.to_owned(),
    };
    let more = match waiting.filter(|_| choice == ABANDON) {
        Some(count) => {
            format!(
                ", and skip {} that {} for the scope",
                counted(count, "issue"),
                if_one(count, "waits", "wait")
            )
        }
        None => String::new(),
    };
    let sure = read(&format!("answer {choice}{more}? [y/N] "))?.unwrap_or_default();
    Ok(matches!(sure.trim(), "y" | "Y" | "yes").then_some((choice, note)))
}

/// The choice that a number or a word names.
fn named<'a>(ask: &'a AskView, said: &str) -> Option<&'a str> {
    let numbered = said.parse::<usize>().ok().and_then(|number| ask.choices.get(number.checked_sub(1)?));
    let word = || ask.choices.iter().find(|choice| choice.id == said);
    // A word wins: a question may offer numbers.
    word().or(numbered).map(|choice| choice.id.as_str())
}
