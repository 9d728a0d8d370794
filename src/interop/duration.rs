//! Durations as people write them: `30s`, `10m`, `1h30m`.

use thiserror::Error;

use crate::model::issue::Millis;

/// The longest accepted duration, ten years of 365 days: added to any sane clock it cannot overflow.
pub const MAX_DURATION: Millis = 3650 * 24 * 60 * 60 * 1000;

/// The units, from the largest, with their length in milliseconds.
const UNITS: [(&str, Millis); 5] =
    [("d", 24 * 60 * 60 * 1000), ("h", 60 * 60 * 1000), ("m", 60 * 1000), ("s", 1000), ("ms", 1)];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DurationError {
    /// No characters at all.
    #[error("a duration cannot be empty; write it like 30s, 10m or 1h30m")]
    Empty,
    /// A minus sign in front.
    #[error("a duration cannot be negative")]
    Negative,
    /// Something else where a whole number should be.
    #[error("a duration is whole numbers with units, like 30s, 10m or 1h30m; found {0:?}")]
    BadCharacter(char),
    /// A number that nothing follows.
    #[error("{0} of what? a number needs one of the units ms, s, m, h, d")]
    NoUnit(String),
    /// Letters that are no unit.
    #[error("{0:?} is not a unit; the units are ms, s, m, h, d")]
    UnknownUnit(String),
    /// A unit twice, or a larger one after a smaller one.
    #[error("the units of a duration go from large to small, each at most once; {0:?} comes too late")]
    UnitOrder(&'static str),
    /// It adds up to nothing.
    #[error("a duration cannot be zero")]
    Zero,
    /// Over [`MAX_DURATION`].
    #[error("a duration is at most 3650d")]
    TooLong,
}

/// Reads a duration: whole numbers with the units `d h m s ms`, from large to small, without spaces.
///
/// # Errors
/// Anything else, and what adds up to zero or to more than [`MAX_DURATION`].
pub fn parse_duration(text: &str) -> Result<Millis, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text.starts_with('-') {
        return Err(DurationError::Negative);
    }
    let mut rest = text;
    let mut allowed = UNITS.as_slice();
    let mut total: Millis = 0;
    while let Some(first) = rest.chars().next() {
        let (number, after) = split_where(rest, |c| c.is_ascii_digit());
        if number.is_empty() {
            return Err(DurationError::BadCharacter(first));
        }
        let (unit, after) = split_where(after, char::is_alphabetic);
        if unit.is_empty() {
            return Err(match after.chars().next() {
                Some(bad) => DurationError::BadCharacter(bad),
                None => DurationError::NoUnit(number.chars().take(20).collect()),
            });
        }
        let Some(&(name, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(DurationError::UnknownUnit(unit.chars().take(20).collect()));
        };
        let Some(place) = allowed.iter().position(|(left, _)| *left == name) else {
            return Err(DurationError::UnitOrder(name));
        };
        allowed = &allowed[place + 1..];
        // Digits alone fail to parse only when there are too many of them.
        let number: Millis = number.parse().map_err(|_| DurationError::TooLong)?;
        total =
            number.checked_mul(length).and_then(|n| n.checked_add(total)).ok_or(DurationError::TooLong)?;
        rest = after;
    }
    match total {
        0 => Err(DurationError::Zero),
        _ if total > MAX_DURATION => Err(DurationError::TooLong),
        _ => Ok(total),
    }
}

/// Reads the time between two things, of which 0 is none.
///
/// # Errors
/// As [`parse_duration`].
pub fn parse_interval(text: &str) -> Result<Millis, DurationError> {
    match parse_duration(text) {
        Err(DurationError::Zero) => Ok(0),
        Err(_) if text == "0" => Ok(0),
        other => other,
    }
}

/// Whether a text that is no duration has a date or a time of day in it: then a moment is meant.
pub fn names_a_moment(text: &str) -> bool {
    text.get(1..).is_some_and(|rest| rest.contains(['-', ':']))
}

/// Splits off the longest beginning whose characters all fit.
fn split_where(text: &str, fits: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !fits(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_duration_is_whole_numbers_with_units_from_large_to_small() {
        for (text, millis) in [
            ("1ms", 1),
            ("30s", 30_000),
            ("10m", 600_000),
            ("2h", 7_200_000),
            ("1d", 86_400_000),
            ("1h30m", 5_400_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("0h5s", 5_000),
            ("90m", 5_400_000),
            ("3650d", MAX_DURATION),
        ] {
            assert_eq!(parse_duration(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        for (text, message) in [
            ("", "a duration cannot be empty; write it like 30s, 10m or 1h30m"),
            ("-5s", "a duration cannot be negative"),
            ("0s", "a duration cannot be zero"),
            ("90", "90 of what? a number needs one of the units ms, s, m, h, d"),
            ("1h30", "30 of what? a number needs one of the units ms, s, m, h, d"),
            ("1.5h", "a duration is whole numbers with units, like 30s, 10m or 1h30m; found '.'"),
            ("1h 30m", "a duration is whole numbers with units, like 30s, 10m or 1h30m; found ' '"),
            ("h", "a duration is whole numbers with units, like 30s, 10m or 1h30m; found 'h'"),
            ("5min", "\"min\" is not a unit; the units are ms, s, m, h, d"),
            (
                "30m1h",
                "the units of a duration go from large to small, each at most once; \"h\" comes too late",
            ),
            (
                "1s1s",
                "the units of a duration go from large to small, each at most once; \"s\" comes too late",
            ),
            ("3651d", "a duration is at most 3650d"),
            ("99999999999999999999d", "a duration is at most 3650d"),
            ("9223372036854775807d", "a duration is at most 3650d"),
        ] {
            assert_eq!(parse_duration(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn an_interval_may_be_nothing_at_all() {
        assert_eq!(["0", "0s", "0d0h", "5m"].map(parse_interval), [Ok(0), Ok(0), Ok(0), Ok(300_000)]);
        assert_eq!(parse_interval("00"), Err(DurationError::NoUnit("00".to_owned())));
        assert_eq!(parse_interval(""), Err(DurationError::Empty));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_read_is_in_range(text in "([0-9]{0,20}[a-zé .-]{0,3}){0,5}") {
            if let Ok(millis) = parse_duration(&text) {
                prop_assert!((1..=MAX_DURATION).contains(&millis));
            }
        }
    }
}
