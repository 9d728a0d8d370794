//! What workers print.

use roundgate::runner::{AttemptReply, ReviewReply, parse_attempt, parse_review};
use serde_json::json;

use super::{Behind, Held, Target, hold, speaks};

pub const TARGET: Target = Target {
    name: "replies",
    law,
    words: &[
        "{",
        "}",
        "\"outcome\":",
        "\"verdict\":",
        "\"result\":",
        "\"notes\":",
        "\"success\"",
        "\"failure\"",
        "\"skipped\"",
        "\"pass\"",
        "\"needs_work\"",
        ",",
        "\n",
        "\\u0000",
        "\\ud800",
        "null",
    ],
};

fn law(stdout: &[u8], _: Behind) -> Held {
    let attempt = parse_attempt(stdout);
    let review = parse_review(stdout);
    hold(attempt.is_err() || review.is_err(), || "one answer to two questions".to_owned())?;
    match attempt {
        Err(refusal) => speaks(&refusal)?,
        Ok(reply) => {
            let (outcome, result) = match &reply {
                AttemptReply::Success { result } => ("success", result),
                AttemptReply::Failure { result } => ("failure", result),
                AttemptReply::Skipped { result } => ("skipped", result),
            };
            let printed = json!({ "outcome": outcome, "result": result }).to_string();
            hold(parse_attempt(printed.as_bytes()) == Ok(reply), || format!("{printed} is read otherwise"))?;
        }
    }
    match review {
        Err(refusal) => speaks(&refusal),
        Ok(reply) => {
            let (verdict, notes) = match &reply {
                ReviewReply::Pass { notes } => ("pass", notes),
                ReviewReply::NeedsWork { notes } => ("needs_work", notes),
            };
            let printed = json!({ "verdict": verdict, "notes": notes }).to_string();
            hold(parse_review(printed.as_bytes()) == Ok(reply), || format!("{printed} is read otherwise"))
        }
    }
}
