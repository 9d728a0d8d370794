//! Words of command lines, as a shell reads them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::model::quote::disturbs;

/// An argument as one word that can be pasted: quoted where a shell, or the terminal that shows it, would
/// make something else of it. What is no text, or is not to be shown as it is, is written byte by byte.
pub fn shell_word(argument: impl AsRef<OsStr>) -> String {
    let argument = argument.as_ref();
    match argument.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(bare) => text.to_owned(),
        Some(text) if !text.contains(disturbs) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => format!("$'{}'", argument.as_bytes().iter().map(|&byte| escaped(byte)).collect::<String>()),
    }
}

/// Whether every shell takes a character as it is, wherever it stands in a word.
fn bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+,:@".contains(c)
}

/// A byte within `$'...'`. Three octal digits end by themselves, whatever follows.
fn escaped(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        for plain in ["rg-1a2b", "/srv/store", "2026-12-24T09:00:00Z", "--json", "a:b@c+d,e"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("my store"), "'my store'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("~/x"), "'~/x'");
        assert_eq!(shell_word("\u{1b}[2J\u{202e}"), "$'\\033[2J\\342\\200\\256'");
        assert_eq!(shell_word(OsStr::from_bytes(b"a\xff1'")), "$'a\\3771\\''");
    }

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        for bytes in [&b"$HOME `x` \"q\" \\ * ! #"[..], b"it's", "Gr\u{fc}\u{df}e".as_bytes(), b"[a]{b,c}"] {
            let word = OsStr::from_bytes(bytes);
            let said = Command::new("sh").arg("-c").arg(format!("printf %s {}", shell_word(word))).output();
            assert_eq!(said.unwrap().stdout, bytes, "{word:?}");
        }
    }
}
