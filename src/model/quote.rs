//! Quoting what somebody wrote in a message about it: escaped, and no more of it than tells which it was.
//! Which characters must not be shown as they are is said here, once.

/// Most characters of a text that a message quotes.
pub const QUOTED_CHARS: usize = 60;

/// A text in quotes, with `...` behind where it was cut.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((cut, _)) => format!("{:?}...", &text[..cut]),
        None => format!("{text:?}"),
    }
}

/// The beginning of a text that a message will quote itself.
pub fn beginning(text: &str) -> String {
    text.chars().take(QUOTED_CHARS).collect()
}

/// Whether a character could move the cursor, ring the bell, hide, or turn the line around where it is shown.
pub fn disturbs(c: char) -> bool {
    c.is_control() || is_mark(c)
}

/// Marks of direction, separators of lines, and what has no width at all.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_a_line_around_disturbs_and_letters_do_not() {
        for c in "\u{7}\u{1b}\u{9b}\n\u{61c}\u{200b}\u{200e}\u{2028}\u{202a}\u{202e}\u{2060}\u{2069}\u{feff}"
            .chars()
        {
            assert!(disturbs(c), "{c:?}");
        }
        assert!(!"Grüße, 世界 🙂 – «שלום»".contains(disturbs));
    }

    #[test]
    fn a_quotation_is_escaped_and_short() {
        assert_eq!(quoted("a\u{1b}"), r#""a\u{1b}""#);
        assert_eq!(quoted(&"é".repeat(100)), format!("\"{}\"...", "é".repeat(60)));
        assert_eq!(beginning(&"é".repeat(100)).chars().count(), 60);
    }
}
