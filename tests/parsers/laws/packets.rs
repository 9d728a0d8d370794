//! Packets in posts and bodies: `VERDICT:`, `/answer`, `max_review_rounds=`.

use roundgate::model::act::packet;

use super::{Behind, Held, Target, hold, speaks, text};

pub const TARGET: Target = Target {
    name: "packets",
    law,
    words: &[
        "VERDICT:",
        "pass",
        "needs_work",
        "/answer",
        "accept",
        "max_review_rounds=",
        "3",
        "100",
        "\n",
        "\r",
        "\r\n",
        " ",
        "\t",
        "\u{85}",
        "\u{2028}",
    ],
};

fn law(input: &[u8], _: Behind) -> Held {
    let body = &*text(input);
    match packet::verdict(body) {
        Err(refusal) => speaks(&refusal)?,
        Ok(None) => hold(!says(body, "VERDICT:"), || "a verdict was overlooked".to_owned())?,
        Ok(Some((opinion, note))) => {
            let printed = format!("VERDICT: {} {note}", opinion.as_str());
            let again = packet::verdict(&printed);
            let same = again
                .is_ok_and(|again| again.is_some_and(|(said, text)| said == opinion && alike(&text, &note)));
            hold(same, || format!("{printed:?} is read otherwise"))?;
        }
    }
    match packet::answer(body) {
        Err(refusal) => speaks(&refusal)?,
        Ok(None) => {}
        Ok(Some((choice, note))) => {
            hold(!choice.is_empty() && !choice.contains(char::is_whitespace), || {
                format!("the choice {choice:?}")
            })?;
            let printed = format!("/answer {choice} {note}");
            let same = packet::answer(&printed)
                .is_ok_and(|again| again.is_some_and(|(said, text)| said == choice && alike(&text, &note)));
            hold(same, || format!("{printed:?} is read otherwise"))?;
        }
    }
    match packet::round_bound(body) {
        Err(refusal) => speaks(&refusal),
        Ok(None) => hold(!says(body, "max_review_rounds="), || "a bound was overlooked".to_owned()),
        Ok(Some(rounds)) => {
            hold((1..=100).contains(&rounds), || format!("a bound of {rounds}"))?;
            let printed = format!("max_review_rounds={rounds}");
            let same = packet::round_bound(&printed).is_ok_and(|again| again == Some(rounds));
            hold(same, || format!("{printed:?} is read otherwise"))
        }
    }
}

fn says(body: &str, word: &str) -> bool {
    body.starts_with(word) || body.contains(&format!("\n{word}"))
}

/// The same to the letter, but for blanks at the ends of lines.
fn alike(a: &str, b: &str) -> bool {
    a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end))
}
