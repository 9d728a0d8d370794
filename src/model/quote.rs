//! Quoting what somebody wrote in a message about it: escaped, and no more of it than tells which it was.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_escaped_and_short() {
        assert_eq!(quoted("a\u{1b}"), r#""a\u{1b}""#);
        assert_eq!(quoted(&"é".repeat(100)), format!("\"{}\"...", "é".repeat(60)));
        assert_eq!(beginning(&"é".repeat(100)).chars().count(), 60);
    }
}
