//! What a worker answered: the last line of its stdout, one JSON object, read strictly.
//!
//! A wrong reading here would let unfinished work through a gate, so anything that could be read two ways is refused.
//! This room sees bytes and returns words; it must not know what follows from them.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::model::quote::disturbs;

/// At most this many characters of an answer are quoted in a message.
const QUOTED_CHARS: usize = 200;

const ATTEMPT: Shape = Shape { role: "an attempt", key: "outcome", text: "result", other: "verdict" };
const REVIEW: Shape = Shape { role: "a review", key: "verdict", text: "notes", other: "outcome" };

/// The answer of an attempt: `{"outcome":"success|failure|skipped","result":"..."}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptReply {
    /// The work was done.
    Success {
        /// What came of it; may be empty.
        result: String,
    },
    /// The work could not be done.
    Failure {
        /// Why; may be empty.
        result: String,
    },
    /// The work was not needed.
    Skipped {
        /// Why; may be empty.
        result: String,
    },
}

/// The answer of a review: `{"verdict":"pass|needs_work","notes":"..."}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewReply {
    /// The work is good enough.
    Pass {
        /// Remarks; may be empty.
        notes: String,
    },
    /// Another round is wanted.
    NeedsWork {
        /// What is missing; may be empty.
        notes: String,
    },
}

/// Why an answer was refused. `seen` quotes its beginning, with control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// Stdout was empty or blank.
    #[error("the worker printed nothing; it must end with one line of JSON")]
    Nothing,
    /// The last line is not text.
    #[error("the last line is not valid UTF-8: {seen}")]
    NotUtf8 {
        /// The line.
        seen: String,
    },
    /// The last line is not exactly one JSON object.
    #[error("the last line is not one JSON object: {seen}")]
    NotAnObject {
        /// The line.
        seen: String,
    },
    /// A key occurs twice, so that readers could differ on what it means.
    #[error("the answer repeats the key `{key}`: {seen}")]
    RepeatedKey {
        /// The key.
        key: String,
        /// The line.
        seen: String,
    },
    /// More than one line answers.
    #[error("{count} lines carry `{key}`, and only one may; the last is {seen}")]
    SeveralAnswers {
        /// `outcome` or `verdict`.
        key: &'static str,
        /// How many lines.
        count: usize,
        /// The last line.
        seen: String,
    },
    /// The answer is one to the other question.
    #[error("{role} answers with `{key}`, never with `{found}`: {seen}")]
    WrongRole {
        /// Who was asked.
        role: &'static str,
        /// The key that was asked for.
        key: &'static str,
        /// The key that was found.
        found: &'static str,
        /// The line.
        seen: String,
    },
    /// The key that makes it an answer is absent.
    #[error("the answer has no `{key}`: {seen}")]
    Missing {
        /// `outcome` or `verdict`.
        key: &'static str,
        /// The line.
        seen: String,
    },
    /// A value is not a string.
    #[error("`{key}` must be a string: {seen}")]
    NotAString {
        /// The key.
        key: &'static str,
        /// The line.
        seen: String,
    },
    /// A word outside the vocabulary.
    #[error("`{key}` must be one of {allowed}: {seen}")]
    UnknownWord {
        /// `outcome` or `verdict`.
        key: &'static str,
        /// The vocabulary.
        allowed: &'static str,
        /// The line.
        seen: String,
    },
}

/// Reads the answer of an attempt from all of its stdout.
pub fn parse_attempt(stdout: &[u8]) -> Result<AttemptReply, ReplyError> {
    let Answer { word, text: result, seen } = ATTEMPT.read(stdout)?;
    match word.as_str() {
        "success" => Ok(AttemptReply::Success { result }),
        "failure" => Ok(AttemptReply::Failure { result }),
        "skipped" => Ok(AttemptReply::Skipped { result }),
        _ => Err(ReplyError::UnknownWord { key: ATTEMPT.key, allowed: "success, failure, skipped", seen }),
    }
}

/// Reads the answer of a review from all of its stdout.
pub fn parse_review(stdout: &[u8]) -> Result<ReviewReply, ReplyError> {
    let Answer { word, text: notes, seen } = REVIEW.read(stdout)?;
    match word.as_str() {
        "pass" => Ok(ReviewReply::Pass { notes }),
        "needs_work" => Ok(ReviewReply::NeedsWork { notes }),
        _ => Err(ReplyError::UnknownWord { key: REVIEW.key, allowed: "pass, needs_work", seen }),
    }
}

/// What an answer looks like, for one role.
struct Shape {
    role: &'static str,
    key: &'static str,
    text: &'static str,
    other: &'static str,
}

struct Answer {
    word: String,
    text: String,
    seen: String,
}

impl Shape {
    fn read(&self, stdout: &[u8]) -> Result<Answer, ReplyError> {
        let lines =
            || stdout.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let last = lines().next_back().ok_or(ReplyError::Nothing)?;
        let seen = quote(last);
        let key = self.key;
        let Ok(line) = str::from_utf8(last) else { return Err(ReplyError::NotUtf8 { seen }) };
        let Some(mut members) = Members::parse(line.as_bytes()) else {
            return Err(ReplyError::NotAnObject { seen });
        };
        if let Some(repeated) = members.repeated_key() {
            return Err(ReplyError::RepeatedKey { key: quote(repeated.as_bytes()), seen });
        }
        if members.has(self.other) {
            return Err(ReplyError::WrongRole { role: self.role, key, found: self.other, seen });
        }
        let count = lines().filter_map(Members::parse).filter(|members| members.has(key)).count();
        if count > 1 {
            return Err(ReplyError::SeveralAnswers { key, count, seen });
        }
        let word = match members.remove(key) {
            Some(Value::String(word)) => word,
            Some(_) => return Err(ReplyError::NotAString { key, seen }),
            None => return Err(ReplyError::Missing { key, seen }),
        };
        let text = match members.remove(self.text) {
            Some(Value::String(text)) => text,
            Some(_) => return Err(ReplyError::NotAString { key: self.text, seen }),
            None => String::new(),
        };
        Ok(Answer { word, text, seen })
    }
}

/// A JSON object as written: a map would keep only the last of two values for one key, silently.
struct Members(Vec<(String, Value)>);

impl Members {
    fn parse(line: &[u8]) -> Option<Self> {
        // Spares most chatter the parser; an object can begin with nothing else, blanks being trimmed.
        line.starts_with(b"{").then(|| serde_json::from_slice(line).ok()).flatten()
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    fn remove(&mut self, key: &str) -> Option<Value> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.swap_remove(at).1)
    }

    fn repeated_key(&self) -> Option<&str> {
        let mut names = BTreeSet::new();
        self.0.iter().map(|(name, _)| name.as_str()).find(|name| !names.insert(*name))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The beginning of `bytes`, safe to print: no control characters, nothing that turns the text around.
fn quote(bytes: &[u8]) -> String {
    // A character has at most four bytes, so this is enough, and a line may have megabytes.
    let start = &bytes[..bytes.len().min(4 * (QUOTED_CHARS + 1))];
    let text = String::from_utf8_lossy(start);
    let mut quoted = String::new();
    for (at, c) in text.chars().enumerate() {
        match c {
            _ if at == QUOTED_CHARS => {
                quoted.push('…');
                break;
            }
            c if disturbs(c) => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn attempt_error(stdout: &str) -> String {
        parse_attempt(stdout.as_bytes()).unwrap_err().to_string()
    }

    fn review_error(stdout: &str) -> String {
        parse_review(stdout.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn an_attempt_answers_with_an_outcome_after_any_chatter() {
        let success = AttemptReply::Success { result: "done".into() };
        let stdout = b"compiling \xff\n{not json\n{\"progress\":1}\n {\"outcome\":\"success\",\"result\":\"done\"} \r\n\n";
        assert_eq!(parse_attempt(stdout), Ok(success));
        for (word, reply) in [
            ("failure", AttemptReply::Failure { result: String::new() }),
            ("skipped", AttemptReply::Skipped { result: String::new() }),
        ] {
            assert_eq!(
                parse_attempt(format!("{{\"outcome\":\"{word}\",\"extra\":[1]}}").as_bytes()),
                Ok(reply)
            );
        }
    }

    #[test]
    fn a_review_answers_with_a_verdict_and_may_leave_out_the_notes() {
        let pass = ReviewReply::Pass { notes: "fine".into() };
        assert_eq!(parse_review(br#"{"notes":"fine","verdict":"pass"}"#), Ok(pass));
        let needs_work = ReviewReply::NeedsWork { notes: String::new() };
        assert_eq!(parse_review(br#"{"verdict":"needs_work"}"#), Ok(needs_work));
    }

    #[test]
    fn a_last_line_that_is_not_one_object_is_refused() {
        for stdout in [
            "null",
            "[]",
            "\"pass\"",
            "}",
            "{",
            "{} {}",
            "{},",
            "pass",
            "1e999",
            "{\"verdict\":\"pass\"}\nbye",
        ] {
            let last = stdout.lines().last().unwrap();
            assert_eq!(review_error(stdout), format!("the last line is not one JSON object: {last}"));
        }
        for blank in ["", "\n\n", " \r\n\t"] {
            assert_eq!(parse_review(blank.as_bytes()), Err(ReplyError::Nothing));
        }
        assert!(matches!(
            parse_review(b"{\"verdict\":\"pass\",\"notes\":\"\xff\"}"),
            Err(ReplyError::NotUtf8 { .. })
        ));
    }

    #[test]
    fn two_verdicts_are_refused_in_one_object_and_in_two_lines() {
        let twice = r#"{"verdict":"needs_work","verdict":"pass"}"#;
        assert_eq!(review_error(twice), format!("the answer repeats the key `verdict`: {twice}"));
        let escaped = r#"{"verdict":"needs_work","v\u0065rdict":"pass"}"#;
        assert_eq!(review_error(escaped), format!("the answer repeats the key `verdict`: {escaped}"));
        let pass = r#"{"verdict":"pass"}"#;
        for first in [pass, r#"{"verdict":"needs_work"}"#, r#"{"verdict":null}"#, twice] {
            let message = format!("2 lines carry `verdict`, and only one may; the last is {pass}");
            assert_eq!(review_error(&format!("{first}\nchatter\n{pass}\n")), message);
        }
        let outcomes = "{\"outcome\":\"failure\"}\n{\"outcome\":\"success\"}";
        assert!(attempt_error(outcomes).starts_with("2 lines carry `outcome`"));
    }

    #[test]
    fn the_answer_to_the_other_question_is_refused() {
        let pass = r#"{"verdict":"pass"}"#;
        assert_eq!(
            attempt_error(pass),
            format!("an attempt answers with `outcome`, never with `verdict`: {pass}")
        );
        let both = r#"{"verdict":"pass","outcome":"success"}"#;
        assert_eq!(
            review_error(both),
            format!("a review answers with `verdict`, never with `outcome`: {both}")
        );
    }

    #[test]
    fn absent_mistyped_and_unknown_words_are_refused() {
        assert_eq!(review_error("{}"), "the answer has no `verdict`: {}");
        for (stdout, problem) in [
            (r#"{"verdict":true}"#, "`verdict` must be a string"),
            (r#"{"verdict":["pass"]}"#, "`verdict` must be a string"),
            (r#"{"verdict":"pass","notes":null}"#, "`notes` must be a string"),
            (r#"{"verdict":"PASS"}"#, "`verdict` must be one of pass, needs_work"),
            (r#"{"verdict":"pass "}"#, "`verdict` must be one of pass, needs_work"),
        ] {
            assert_eq!(review_error(stdout), format!("{problem}: {stdout}"));
        }
        let done = r#"{"outcome":"done"}"#;
        assert_eq!(
            attempt_error(done),
            format!("`outcome` must be one of success, failure, skipped: {done}")
        );
    }

    #[test]
    fn a_quotation_is_short_and_cannot_drive_a_terminal() {
        assert_eq!(quote("a\u{1b}[2J\u{202e}\u{61c}\tß".as_bytes()), "a\\u{1b}[2J\\u{202e}\\u{61c}\\tß");
        let long = "ß".repeat(1000);
        assert_eq!(quote(long.as_bytes()), format!("{}…", "ß".repeat(QUOTED_CHARS)));
        assert_eq!(quote(&[b'x'; QUOTED_CHARS]), "x".repeat(QUOTED_CHARS));
    }

    #[test]
    fn bottomless_nesting_is_refused_and_does_not_overflow_the_stack() {
        let deep = format!("{{\"verdict\":{}", "[".repeat(1_000_000));
        assert!(matches!(parse_review(deep.as_bytes()), Err(ReplyError::NotAnObject { .. })));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (parse_attempt(&bytes), parse_review(&bytes));
        }

        #[test]
        fn nothing_json_like_makes_it_panic(text in r#"([{}\[\]":,\\\n u0-9]|"verdict"|"outcome"|"pass"|null|\PC){0,40}"#) {
            let _ = (parse_attempt(text.as_bytes()), parse_review(text.as_bytes()));
        }
    }
}
