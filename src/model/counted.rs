//! How many of something there are, in words: one issue, two issues.

/// A number with what it counts, which has its plural with an `s`.
pub fn counted(count: impl TryInto<u64> + Copy + std::fmt::Display, one: &str) -> String {
    format!("{count} {one}{}", if_one(count, "", "s"))
}

/// The word that goes with one, or that with any other number.
pub fn if_one<'t>(count: impl TryInto<u64>, one: &'t str, other: &'t str) -> &'t str {
    if count.try_into().is_ok_and(|count| count == 1) { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_everything_else_is_several() {
        assert_eq!(counted(0, "issue"), "0 issues");
        assert_eq!(counted(1_u8, "issue"), "1 issue");
        assert_eq!(counted(2_usize, "due time"), "2 due times");
        assert_eq!(counted(-1_i64, "event"), "-1 events");
        assert_eq!((if_one(1, "is", "are"), if_one(11, "is", "are")), ("is", "are"));
    }
}
