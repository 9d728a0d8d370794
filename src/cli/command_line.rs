//! Command lines that are printed for a person to paste, to go on with: each names the store that the flag of
//! this call named, and every argument is quoted for a shell. A store that was found, or that the environment
//! names, is there the next time, too.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::app::shell::shell_word;

/// What every command line begins with.
const NAME: &str = "roundgate";

/// This program, as a line for it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    store: Option<PathBuf>,
}

impl Program {
    /// With the store that the flag named, where it did.
    pub fn at(store: Option<&Path>) -> Self {
        Program { store: store.map(Path::to_owned) }
    }

    /// A command, its words as they stand.
    pub fn line(&self, words: &str) -> CommandLine {
        let begun = CommandLine(NAME.to_owned());
        let begun = match &self.store {
            // A word that begins with a dash is no value of the flag before it.
            Some(store) if store.as_os_str().as_bytes().starts_with(b"-") => {
                begun.and(&format!("--store={}", shell_word(store)))
            }
            Some(store) => begun.and("--store").arg(store),
            None => begun,
        };
        begun.and(words)
    }

    /// A command that the store remembers, which names none.
    pub fn remembered(&self, text: &str) -> String {
        match text.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(' ')) {
            Some(words) => self.line(words).to_string(),
            None => text.to_owned(),
        }
    }
}

/// A line in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine(String);

impl CommandLine {
    /// With a further argument, as one word.
    pub fn arg(self, argument: impl AsRef<OsStr>) -> Self {
        let word = shell_word(argument);
        self.and(&word)
    }

    /// With further words as they stand.
    pub fn and(mut self, words: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(words);
        self
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_store_that_was_named_and_quotes_what_needs_it() {
        let found = Program::default();
        assert_eq!(found.line("issues explain").arg("rg-1").to_string(), "roundgate issues explain rg-1");
        let named = Program::at(Some(Path::new("/srv/it's here")));
        assert_eq!(
            named.line("answer").arg("rg-1").and("CHOICE --note TEXT").to_string(),
            "roundgate --store '/srv/it'\\''s here' answer rg-1 CHOICE --note TEXT"
        );
        let dashed = Program::at(Some(Path::new("-x")));
        assert_eq!(dashed.line("status").to_string(), "roundgate --store=-x status");
    }

    #[test]
    fn what_the_store_remembers_is_said_for_this_store() {
        let named = Program::at(Some(Path::new("elsewhere")));
        assert_eq!(
            named.remembered("roundgate rounds show rg-1"),
            "roundgate --store elsewhere rounds show rg-1"
        );
        assert_eq!(named.remembered("ask ana"), "ask ana");
        assert_eq!(named.remembered("roundgates"), "roundgates");
    }
}
