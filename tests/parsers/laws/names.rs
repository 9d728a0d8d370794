//! Names: of issues, actors, operations and heartbeats, and the closed words. An issue with such an id, made
//! by such an actor, can be stored and found.

use std::fmt::Display;
use std::str::FromStr;

use roundgate::app::Session;
use roundgate::app::session_resolve;
use roundgate::model::act::create::{self, NewIssue};
use roundgate::model::graph::EdgeKind;
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Outcome, Priority};
use roundgate::model::operation::OperationId;
use roundgate::model::record::HeartbeatId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Behind, Held, Target, hold, speaks, taken, text};

pub const TARGET: Target = Target {
    name: "names",
    law,
    words: &["rg-", "hb-", ".", "_", "-", "/", "..", " ", "\u{1b}", "\u{202e}", "success", "blocks", "ü"],
};

fn law(input: &[u8], behind: Behind) -> Held {
    let text = &*text(input);
    let id: Option<IssueId> = same_as_stored(text)?;
    let actor: Option<Actor> = same_or_older(text)?;
    same_as_stored::<OperationId>(text)?;
    same_as_stored::<HeartbeatId>(text)?;
    same_word::<Outcome>(text)?;
    same_word::<EdgeKind>(text)?;
    match text.parse::<Priority>() {
        Err(refusal) => speaks(&refusal)?,
        Ok(read) => hold(read.get().to_string().parse() == Ok(read), || format!("{text:?} is {read:?}"))?,
    }
    if id.is_none() && actor.is_none() {
        return Ok(());
    }
    behind.session(|session| stored(session, id, actor))
}

/// Read, printed, and read again.
fn same<T: FromStr<Err: Display> + Display + PartialEq>(text: &str) -> Result<Option<T>, String> {
    match text.parse::<T>() {
        Err(refusal) => speaks(&refusal).map(|()| None),
        Ok(read) => {
            let again = read.to_string().parse::<T>().ok();
            hold(again.as_ref() == Some(&read), || format!("{text:?} prints as {read}"))?;
            Ok(Some(read))
        }
    }
}

/// A name is its text to the letter, and what JSON makes of it is not another.
fn same_as_stored<T>(text: &str) -> Result<Option<T>, String>
where
    T: FromStr<Err: Display> + Display + PartialEq + Serialize + DeserializeOwned,
{
    let read = same_or_older::<T>(text)?;
    let json = serde_json::to_string(text).map_err(|error| error.to_string())?;
    let from_json = serde_json::from_str::<T>(&json).ok();
    hold(from_json == read, || format!("{json} is read otherwise than {text:?}"))?;
    Ok(read)
}

/// The same, where a store may have names that are not given any more.
fn same_or_older<T>(text: &str) -> Result<Option<T>, String>
where
    T: FromStr<Err: Display> + Display + PartialEq + Serialize + DeserializeOwned,
{
    let read = same::<T>(text)?;
    let json = serde_json::to_string(text).map_err(|error| error.to_string())?;
    let from_json = serde_json::from_str::<T>(&json).ok();
    hold(read.is_none() || from_json == read, || format!("{json} is read otherwise than {text:?}"))?;
    if let Some(older) = from_json {
        hold(older.to_string() == text, || format!("{json} became {older}"))?;
    }
    if let Some(name) = &read {
        hold(name.to_string() == text, || format!("{text:?} became {name}"))?;
        hold(serde_json::to_string(name).is_ok_and(|stored| stored == json), || {
            format!("{json} is stored otherwise")
        })?;
    }
    Ok(read)
}

fn same_word<T: FromStr<Err: Display> + Copy + Word>(text: &str) -> Held {
    match text.parse::<T>() {
        Err(refusal) => speaks(&refusal),
        Ok(read) => hold(read.word() == text, || format!("{text:?} is {}", read.word())),
    }
}

trait Word {
    fn word(self) -> &'static str;
}

impl Word for Outcome {
    fn word(self) -> &'static str {
        self.as_str()
    }
}

impl Word for EdgeKind {
    fn word(self) -> &'static str {
        self.as_str()
    }
}

fn stored(session: &mut Session, id: Option<IssueId>, actor: Option<Actor>) -> Held {
    if let Some(actor) = actor {
        session.actor = actor;
    }
    let new = NewIssue { title: "A title".to_owned(), ..NewIssue::default() };
    let made = session.change("fuzz", |work| {
        let id = id.unwrap_or_else(|| work.new_id());
        let primitives = create::create(&work.snapshot, &id, new, work.now)?;
        work.apply(&primitives)?;
        Ok(id)
    });
    let id = taken(made)?.value;
    let found = taken(session.look(|snapshot| session_resolve(snapshot, id.as_str())))?;
    hold(found == id, || format!("{id} is found as {found}"))
}
