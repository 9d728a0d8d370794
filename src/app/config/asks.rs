//! The keys `ask_*`: who is to answer asks, and by when, where no issue says it.

use super::{duration, length};
use crate::interop::duration::parse_interval;
use crate::model::act::create::check_timeout;
use crate::model::duty::{AskPolicy, AskTimeout};
use crate::model::issue::{Millis, Policy};
use crate::model::quote::quoted;

/// The key of who is to answer: a text, also where it looks like a number.
pub(super) const ASSIGNEE: &str = "ask_assignee";

pub(super) fn get(asks: &AskPolicy, key: &str) -> Option<String> {
    let lasts = |millis: Option<Millis>| match millis.unwrap_or_default() {
        0 => "0".to_owned(),
        millis => duration(millis),
    };
    let timeout = asks.timeout.as_ref();
    Some(match key {
        ASSIGNEE => asks.assignee.as_ref().map(ToString::to_string).unwrap_or_default(),
        "ask_due" => lasts(asks.due),
        "ask_remind" => lasts(asks.remind),
        "ask_timeout" => lasts(timeout.map(|timeout| timeout.after)),
        "ask_default" => timeout.map(|timeout| timeout.choice.clone()).unwrap_or_default(),
        _ => return None,
    })
}

/// Whether the key is one of these; then it has its value.
pub(super) fn put(asks: &mut AskPolicy, key: &str, text: &str) -> Result<bool, String> {
    let some = |text: &str| lasts(key, text).map(|millis| Some(millis).filter(|&millis| millis > 0));
    match key {
        ASSIGNEE if text.is_empty() => asks.assignee = None,
        ASSIGNEE => {
            let named =
                text.parse().map_err(|error| format!("{key} is an actor, not {}: {error}", quoted(text)));
            asks.assignee = Some(named?);
        }
        "ask_due" => asks.due = some(text)?,
        "ask_remind" => asks.remind = some(text)?,
        "ask_timeout" => {
            let after = lasts(key, text)?;
            asks.timeout = timeout(asks, |before| AskTimeout { after, ..before });
        }
        "ask_default" => {
            let choice = text.to_owned();
            asks.timeout = timeout(asks, |before| AskTimeout { choice, ..before });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn lasts(key: &str, text: &str) -> Result<Millis, String> {
    if parse_interval(text) == Ok(0) { Ok(0) } else { length(key, text) }
}

/// The timeout with a change; without any time and any choice it is none.
fn timeout(asks: &AskPolicy, change: impl FnOnce(AskTimeout) -> AskTimeout) -> Option<AskTimeout> {
    let before = asks.timeout.clone().unwrap_or_else(AskTimeout::never);
    Some(change(before)).filter(|after| *after != AskTimeout::never())
}

/// What is wrong with the keys together, if anything: a time without a choice, or a choice that nobody's
/// answer may be.
pub(super) fn check(asks: &AskPolicy) -> Result<(), String> {
    match &asks.timeout {
        Some(AskTimeout { after: 1.., choice }) if choice.is_empty() => {
            Err("ask_timeout wants a choice: set ask_default, too, and before it".to_owned())
        }
        Some(timeout) if !timeout.choice.is_empty() => {
            // What never comes to pass is checked all the same: it is what a time would be set for.
            let timeout = Some(AskTimeout { after: timeout.after.max(1), ..timeout.clone() });
            let ask = AskPolicy { timeout, ..AskPolicy::default() };
            check_timeout(&Policy { ask, ..Policy::default() })
                .map_err(|refusal| format!("ask_default: {refusal}"))
        }
        _ => Ok(()),
    }
}
