//! The section `[notify]`: which program is told what humans are asked, and how often it is tried.

use toml_edit::Value;

use super::{duration, length};
use crate::model::issue::Millis;

/// The section's name.
pub(super) const SECTION: &str = "notify";
/// The key of the program.
pub(super) const COMMAND: &str = "notify.command";
/// The longest time limit.
const MOST_TIME: Millis = 10 * 60 * 1000;

/// Who is told what humans are asked, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notify {
    /// The argument vector; an empty one is nobody. A leading `./` is the store's folder.
    pub command: Vec<String>,
    /// How long one notification may take, in milliseconds.
    pub time_limit: Millis,
    /// How long the first retry waits, in milliseconds.
    pub retry: Millis,
    /// How long a retry waits at most, in milliseconds.
    pub retry_ceiling: Millis,
}

impl Default for Notify {
    fn default() -> Self {
        Notify { command: Vec::new(), time_limit: 10 * 1000, retry: 30 * 1000, retry_ceiling: 15 * 60 * 1000 }
    }
}

impl Notify {
    /// Whether there is anybody to tell.
    pub fn configured(&self) -> bool {
        !self.command.is_empty()
    }

    /// How long the next try waits after so many failures in a row, in milliseconds.
    pub fn back_off(&self, failures: u32) -> Millis {
        let doubled = 1_i64.checked_shl(failures.saturating_sub(1)).filter(|&factor| factor > 0);
        let waits = doubled.and_then(|factor| self.retry.checked_mul(factor));
        waits.map_or(self.retry_ceiling, |waits| waits.min(self.retry_ceiling))
    }
}

/// An argument vector as TOML writes it, which is also how JSON does.
pub(super) fn vector(text: &str) -> Option<Value> {
    text.parse::<Value>().ok().filter(Value::is_array)
}

pub(super) fn get(notify: &Notify, key: &str) -> Option<String> {
    Some(match key {
        COMMAND => serde_json::to_string(&notify.command).unwrap_or_default(),
        "notify.time_limit" => duration(notify.time_limit),
        "notify.retry" => duration(notify.retry),
        "notify.retry_ceiling" => duration(notify.retry_ceiling),
        _ => return None,
    })
}

/// Whether the key is one of this section; then it has its value.
pub(super) fn put(notify: &mut Notify, key: &str, text: &str) -> Result<bool, String> {
    match key {
        COMMAND => notify.command = command(text)?,
        "notify.time_limit" => {
            notify.time_limit = length(key, text)?;
            if notify.time_limit > MOST_TIME {
                return Err(format!("{key} is at most {}, not {text:?}", duration(MOST_TIME)));
            }
        }
        "notify.retry" => notify.retry = length(key, text)?,
        "notify.retry_ceiling" => notify.retry_ceiling = length(key, text)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn command(text: &str) -> Result<Vec<String>, String> {
    let wrong =
        |what: &str| format!("{COMMAND} is an argument vector such as [\"sh\", \"./notify.sh\"]{what}");
    let parsed = vector(text).ok_or_else(|| wrong(&format!(", not {text:?}")))?;
    let each = parsed.as_array().into_iter().flatten();
    let words: Option<Vec<String>> = each.map(|word| word.as_str().map(str::to_owned)).collect();
    let words = words.ok_or_else(|| wrong(", and every part of it a text"))?;
    if words.first().is_some_and(String::is_empty) || words.iter().any(|word| word.contains('\0')) {
        return Err(wrong(": the program has a name, and no part a zero byte"));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_retry_waits_twice_as_long_up_to_the_ceiling() {
        let notify = Notify::default();
        let waits = |failures| notify.back_off(failures) / 1000;
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(waits), [30, 60, 120, 240, 480, 900, 900]);
        assert_eq!([0, 63, 64, 65, u32::MAX].map(waits), [30, 900, 900, 900, 900]);
        let impatient = Notify { retry: 7, retry_ceiling: 5, ..notify };
        assert_eq!(impatient.back_off(1), 5);
    }

    #[test]
    fn a_command_is_a_vector_of_texts_and_never_a_shell_string() {
        assert_eq!(command("[]"), Ok(vec![]));
        assert_eq!(command("[ 'a', \"b c\" ]"), Ok(vec!["a".to_owned(), "b c".to_owned()]));
        for bad in
            ["", "mail ann", "\"mail\"", "[1]", "[\"\"]", "[\"a\\u0000\"]", "[[\"a\"]]", "[\"a\"", "true"]
        {
            let complaint = command(bad).unwrap_err();
            assert!(complaint.starts_with("notify.command is an argument vector"), "{bad:?}: {complaint}");
        }
    }
}
