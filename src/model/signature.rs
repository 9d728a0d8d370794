//! Failure signatures: a reason with what varies taken out, so that the same failure is known again.

/// The signature of a reason; `None` when nothing is left to compare.
///
/// Taken out are case, white space, paths, hashes, numbers and with them line numbers and times
/// (section 4). A reason without a signature never equals another.
pub fn signature(reason: &str) -> Option<String> {
    let words: Vec<String> = reason.split_whitespace().map(normal_word).filter(|w| !w.is_empty()).collect();
    if words.is_empty() { None } else { Some(words.join(" ")) }
}

fn normal_word(word: &str) -> String {
    let lower = word.to_lowercase();
    let core = lower.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '\\');
    if core.contains(['/', '\\']) && core.chars().any(char::is_alphanumeric) {
        return "<path>".to_owned();
    }
    if is_hash(core) {
        return "<hash>".to_owned();
    }
    without_numbers(&lower)
}

/// Hexadecimal, at least 7 characters, with a digit: a commit, a digest, an address.
fn is_hash(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let plain: String = digits.chars().filter(|c| *c != '-').collect();
    plain.len() >= 7
        && plain.chars().all(|c| c.is_ascii_hexdigit())
        && plain.chars().any(|c| c.is_ascii_digit())
}

fn without_numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_taken_out() {
        let first = "Error in src/lexer.rs:12: expected  3 tokens at 10:22:01 (commit 3fa9c1d)";
        let second = "error in /tmp/x/lexer.rs:99: expected 7 tokens at 23:00:59 (commit 99a8b7c6)";
        assert_eq!(signature(first), signature(second));
    }

    #[test]
    fn different_reasons_stay_different() {
        assert_ne!(signature("tests fail"), signature("docs are missing"));
        assert_ne!(signature("expected a comma"), signature("expected a colon"));
    }

    #[test]
    fn an_empty_reason_has_no_signature() {
        assert_eq!(signature(" \n\t"), None);
        assert_eq!(signature("42"), Some("#".to_owned()));
    }
}
