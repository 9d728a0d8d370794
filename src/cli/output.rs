//! How text leaves the program: results to stdout, everything else to stderr, and stored text never raw
//! to a terminal.

use std::borrow::Cow;
use std::io::Write;

use serde::Serialize;

use super::command_line::Program;
use super::hints;
use crate::app::AppError;
use crate::model::quote::disturbs;

/// An error on its way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The exit code.
    #[serde(skip)]
    pub exit: u8,
    /// A stable word for programs.
    pub code: &'static str,
    /// What went wrong.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
    /// Whether the same call may succeed later.
    pub retryable: bool,
}

impl Failure {
    /// An error of the application; its way out names the store that the caller named.
    pub fn of(error: &AppError, program: &Program) -> Self {
        Failure {
            exit: error.exit_code(),
            code: error.code(),
            message: with_causes(error),
            hint: hints::hint(error, program),
            retryable: error.retryable(),
        }
    }
}

/// The message with its causes, each once.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}

/// Prints an error: `error:` and `hint:` lines, or one JSON object.
pub fn print_failure(failure: &Failure, json: bool) {
    if json {
        let text = serde_json::to_string(failure).unwrap_or_else(|_| failure.message.clone());
        write_stderr(&format!("{}\n", self::json(&text)));
        return;
    }
    write_stderr(&format!("error: {}\n", multiline(&failure.message)));
    if let Some(hint) = &failure.hint {
        write_stderr(&format!("hint: {}\n", multiline(hint)));
    }
}

/// Writes to stdout.
pub fn write_stdout(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Writes to stderr. There is nobody left to tell when that fails.
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Whether a text is of letters, signs and line ends that any terminal takes, as most of it is: found out
/// byte by byte, which is much sooner done.
fn plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| disturbs(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if disturbs(c) && !keep(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A stored text as one line for a terminal.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// A stored text of several lines for a terminal.
pub fn multiline(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// JSON whose texts say the same and can be looked at: a program may be called by hand, too. What JSON
/// itself does not escape stands in strings only, and is in none of them more than one UTF-16 unit.
pub fn json(text: &str) -> Cow<'_, str> {
    if plain(text) || !text.chars().any(|c| disturbs(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if disturbs(c) && c != '\n' {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_bells_and_bidi_marks_never_reach_a_terminal_raw() {
        assert_eq!(line("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(line("bell\u{7}"), "bell\\u{7}");
        assert_eq!(line("\u{202e}cod"), "\\u{202e}cod");
        assert_eq!(line("two\nlines"), "two\\nlines");
        assert_eq!(multiline("two\nlines\u{9b}"), "two\nlines\\u{9b}");
        assert_eq!(line("Grüße, 世界"), "Grüße, 世界");
    }

    #[test]
    fn json_says_the_same_without_anything_that_a_terminal_obeys() {
        let stored = "a\u{9b}2J\u{7f}\u{202e}\u{feff}b\n世界";
        let text = serde_json::to_string_pretty(&[stored]).unwrap();
        let safe = json(&text);
        assert!(!safe.chars().any(|c| disturbs(c) && c != '\n'), "{safe:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [stored]);
    }
}
