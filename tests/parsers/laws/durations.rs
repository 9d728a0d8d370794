//! Durations.

use roundgate::app::config::duration;
use roundgate::interop::duration::{MAX_DURATION, parse_duration};

use super::{Behind, Held, Target, hold, speaks, text};

pub const TARGET: Target = Target {
    name: "durations",
    law: |input, _: Behind| held_by(&text(input), duration),
    words: &["d", "h", "m", "s", "ms", "0", "9", "3650", "99999999999"],
};

/// The law, of any printer.
pub fn held_by(text: &str, print: impl Fn(i64) -> String) -> Held {
    match parse_duration(text) {
        Err(refusal) => speaks(&refusal),
        Ok(millis) => {
            hold((1..=MAX_DURATION).contains(&millis), || format!("{millis} ms were accepted"))?;
            let printed = print(millis);
            hold(parse_duration(&printed) == Ok(millis), || format!("{millis} ms print as {printed:?}"))
        }
    }
}
