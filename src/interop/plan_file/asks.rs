//! What a plan wants of the asks in its root and its goals: the fields `ask_*`, which are the flags of `issues create`.

use super::complaints::Complaints;
use super::fields::Section;
use super::read::length;
use crate::interop::duration::{names_a_moment, parse_interval};
use crate::model::act::create::check_timeout;
use crate::model::duty::{AskPolicy, AskTimeout};
use crate::model::id::Actor;
use crate::model::issue::{Millis, Policy};
use crate::model::quote::quoted;

/// Their names: what `[root]`, `[defaults]` and a goal may say of asks.
pub(super) const FIELDS: [&str; 5] = ["ask_assignee", "ask_due", "ask_remind", "ask_timeout", "ask_default"];

/// What one table says of asks. A time and the choice it leads to belong together, so they stand together.
pub(super) fn wanted(section: &Section<'_>, complaints: &mut Complaints<'_>) -> AskPolicy {
    AskPolicy {
        assignee: assignee(section, complaints),
        due: due(section, complaints),
        remind: length(section, "ask_remind", parse_interval, complaints),
        timeout: timeout(section, complaints),
    }
}

fn assignee(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Option<Actor> {
    let named = section.string("ask_assignee", complaints)?.text.parse::<Actor>();
    named.map_err(|error| section.refuse("ask_assignee", error.to_string(), complaints)).ok()
}

/// How long there is for each ask, from when it is asked: a plan makes no single one.
fn due(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Option<Millis> {
    let moment = |text: &&str| parse_interval(text).is_err() && names_a_moment(text);
    let Some(text) = section.peek("ask_due").filter(moment) else {
        return length(section, "ask_due", parse_interval, complaints);
    };
    let message = format!(
        "{} is a moment, and each ask has a duration such as 2d, from when it is asked; \
         `asks assign ASK --due WHEN` gives one ask a moment",
        quoted(text)
    );
    section.refuse("ask_due", message, complaints);
    None
}

fn timeout(section: &Section<'_>, complaints: &mut Complaints<'_>) -> Option<AskTimeout> {
    let after = length(section, "ask_timeout", parse_interval, complaints);
    let choice = section.string("ask_default", complaints);
    let timeout = match (after, choice) {
        (Some(0), _) => return Some(AskTimeout::never()),
        (Some(after), Some(choice)) => AskTimeout { after, choice: choice.text.to_owned() },
        (Some(_), None) if !section.has("ask_default") => {
            let message = "wants an ask_default beside it: the choice that is made when nobody answers";
            section.refuse("ask_timeout", message, complaints);
            return None;
        }
        (None, Some(_)) if !section.has("ask_timeout") => {
            section.refuse(
                "ask_default",
                "wants an ask_timeout beside it: after how long it is chosen",
                complaints,
            );
            return None;
        }
        _ => return None,
    };
    let ask = AskPolicy { timeout: Some(timeout.clone()), ..AskPolicy::default() };
    match check_timeout(&Policy { ask, ..Policy::default() }) {
        Ok(()) => Some(timeout),
        Err(refusal) => {
            section.refuse("ask_default", refusal.to_string(), complaints);
            None
        }
    }
}
