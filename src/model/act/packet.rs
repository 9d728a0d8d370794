//! Packets: lines in bodies and posts that the protocol reads. `VERDICT: pass|needs_work`, `/answer
//! CHOICE` and `max_review_rounds=N` count only at the start of a line.

use crate::model::quote::quoted;
use crate::model::record::Opinion;
use crate::model::refusal::Refusal;

/// What a post in a review's topic says about the verdict.
///
/// # Errors
/// A verdict that is half written, unknown, or contradicts another in the same post: never a pass.
pub fn verdict(body: &str) -> Result<Option<(Opinion, String)>, Refusal> {
    let mut found: Option<(Opinion, String)> = None;
    for (at, line) in body.lines().enumerate() {
        let Some(rest) = line.strip_prefix("VERDICT:") else { continue };
        let rest = rest.trim();
        let (word, note) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let opinion = match word {
            "pass" => Opinion::Pass,
            "needs_work" => Opinion::NeedsWork,
            _ => {
                let said = if word.is_empty() { "nothing".to_owned() } else { quoted(word) };
                return Err(Refusal::BadPacket(format!(
                    "VERDICT: wants pass or needs_work, and says {said}"
                )));
            }
        };
        if found.is_some() {
            return Err(Refusal::BadPacket("it carries more than one VERDICT".to_owned()));
        }
        let following: Vec<&str> = body.lines().skip(at + 1).collect();
        let note = format!("{note}\n{}", following.join("\n"));
        found = Some((opinion, note.trim().to_owned()));
    }
    Ok(found)
}

/// What is to be said of a post that is no act and may have been meant as one.
pub fn reads_like_an_act(body: &str) -> Option<&'static str> {
    let decoration = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '#' | '>' | '-');
    let says = |word: &str| body.lines().any(|line| line.trim_start_matches(decoration).starts_with(word));
    if says("VERDICT") {
        return Some(
            "no verdict: VERDICT: counts at the start of a line in the topic of a review, issue:REVIEW",
        );
    }
    if says("/answer") {
        return Some("no answer: /answer counts at the start of a line in the topic of an ask, issue:ASK");
    }
    says("max_review_rounds=").then_some(
        "no bound: max_review_rounds=N counts at the start of a line in the topic of a scope, issue:SCOPE",
    )
}

/// The choice that a post in an ask's topic makes, with the rest of the post as its note.
///
/// # Errors
/// A choice that is missing, or more than one.
pub fn answer(body: &str) -> Result<Option<(String, String)>, Refusal> {
    let mut found: Option<(String, String)> = None;
    for (at, line) in body.lines().enumerate() {
        let Some(rest) = line.strip_prefix("/answer") else { continue };
        if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let rest = rest.trim();
        let (choice, note) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if choice.is_empty() {
            return Err(Refusal::BadPacket("/answer names no choice".to_owned()));
        }
        if found.is_some() {
            return Err(Refusal::BadPacket("it carries more than one /answer".to_owned()));
        }
        let following: Vec<&str> = body.lines().skip(at + 1).collect();
        let note = format!("{note}\n{}", following.join("\n"));
        found = Some((choice.to_owned(), note.trim().to_owned()));
    }
    Ok(found)
}

/// The bound that a `max_review_rounds=N` line sets; the last such line counts.
///
/// # Errors
/// A value that is not 1 to 100.
pub fn round_bound(text: &str) -> Result<Option<u32>, Refusal> {
    let mut bound = None;
    for line in text.lines() {
        let Some(value) = line.trim_end().strip_prefix("max_review_rounds=") else { continue };
        match value.parse::<u32>() {
            Ok(rounds) if (1..=100).contains(&rounds) => bound = Some(rounds),
            _ => {
                return Err(Refusal::OutOfRange {
                    name: "max_review_rounds",
                    range: "1 to 100",
                    given: value.chars().take(40).collect(),
                });
            }
        }
    }
    Ok(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_counts_only_at_the_start_of_a_line() {
        assert_eq!(verdict("I would say VERDICT: pass").unwrap(), None);
        assert_eq!(verdict("VERDICT: pass").unwrap(), Some((Opinion::Pass, String::new())));
        let long = verdict("hello\nVERDICT: needs_work no tests\nsee line 3").unwrap();
        assert_eq!(long, Some((Opinion::NeedsWork, "no tests\nsee line 3".to_owned())));
    }

    #[test]
    fn a_note_keeps_its_blank_lines() {
        let (_, note) = verdict("VERDICT: needs_work no tests\n\nand no docs\n").unwrap().unwrap();
        assert_eq!(note, "no tests\n\nand no docs");
        let (_, note) = answer("/answer accept fine\n\nreally").unwrap().unwrap();
        assert_eq!(note, "fine\n\nreally");
    }

    #[test]
    fn a_half_written_or_contradictory_verdict_is_refused() {
        for bad in ["VERDICT:", "VERDICT: passed", "VERDICT: PASS", "VERDICT: pass\nVERDICT: needs_work"] {
            assert!(verdict(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_answer_names_one_choice() {
        assert_eq!(answer("/answer accept fine").unwrap(), Some(("accept".to_owned(), "fine".to_owned())));
        assert_eq!(answer("/answered accept").unwrap(), None);
        assert!(answer("/answer").is_err());
        assert!(answer("/answer a\n/answer b").is_err());
    }

    #[test]
    fn a_bound_is_1_to_100() {
        assert_eq!(round_bound("max_review_rounds=5").unwrap(), Some(5));
        assert_eq!(round_bound("nothing").unwrap(), None);
        for bad in ["max_review_rounds=0", "max_review_rounds=101", "max_review_rounds=x"] {
            assert!(round_bound(bad).is_err(), "{bad:?}");
        }
    }
}
