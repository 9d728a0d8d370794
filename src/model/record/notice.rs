//! The outbox: what somebody is still to be told. A row is there until it was delivered or given up; the
//! events keep its history.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;

/// What about an ask somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// It was asked.
    Asked,
    /// It still waits for an answer.
    Reminder,
    /// Its due time is over.
    Due,
    /// It was answered by its time-out.
    Timeout,
    /// Its question went away.
    Moot,
}

impl NoticeKind {
    const ALL: [NoticeKind; 5] =
        [NoticeKind::Asked, NoticeKind::Reminder, NoticeKind::Due, NoticeKind::Timeout, NoticeKind::Moot];

    /// The kind's word.
    pub fn as_str(self) -> &'static str {
        match self {
            NoticeKind::Asked => "asked",
            NoticeKind::Reminder => "reminder",
            NoticeKind::Due => "due",
            NoticeKind::Timeout => "timeout",
            NoticeKind::Moot => "moot",
        }
    }
}

/// What tells a notice from all others of its store, for ever: whoever gets the same one twice may drop
/// the second. Written as `ASK:KIND:NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NoticeId {
    /// The ask.
    pub ask: IssueId,
    /// What about it.
    pub kind: NoticeKind,
    /// The how manieth of its kind, from 1.
    pub number: u32,
}

/// A text that is no notice's id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a notification's id is ASK:KIND:NUMBER, such as rg-abcd:asked:1")]
pub struct NoticeIdError;

impl FromStr for NoticeId {
    type Err = NoticeIdError;

    fn from_str(text: &str) -> Result<Self, NoticeIdError> {
        let mut parts = text.split(':');
        let (Some(ask), Some(kind), Some(number), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NoticeIdError);
        };
        let known = NoticeKind::ALL.into_iter().find(|known| known.as_str() == kind);
        let counted = number.parse().ok().filter(|&n: &u32| n > 0 && n.to_string() == number);
        Ok(NoticeId {
            ask: ask.parse().map_err(|_| NoticeIdError)?,
            kind: known.ok_or(NoticeIdError)?,
            number: counted.ok_or(NoticeIdError)?,
        })
    }
}

impl TryFrom<String> for NoticeId {
    type Error = NoticeIdError;

    fn try_from(text: String) -> Result<Self, NoticeIdError> {
        text.parse()
    }
}

impl From<NoticeId> for String {
    fn from(id: NoticeId) -> String {
        id.to_string()
    }
}

impl fmt::Display for NoticeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.ask, self.kind.as_str(), self.number)
    }
}

/// How it went the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When that was found.
    pub at: Millis,
    /// Why, in one line without control characters.
    pub why: String,
}

/// Something that somebody is still to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its id.
    pub id: NoticeId,
    /// When it came about.
    pub created_at: Millis,
    /// When it may be sent, [`Notice::AT_ONCE`] in front of all others. While somebody is sending it: when
    /// that is taken for lost.
    pub due_at: Millis,
    /// Who is sending it.
    pub sender: Option<Actor>,
    /// How many times sending it was begun: also the fencing number of whoever sends it.
    pub attempts: u32,
    /// How many times that failed, since it was made or somebody wanted it tried anew.
    pub failures: u32,
    /// The last failure.
    pub failure: Option<Failure>,
}

impl Notice {
    /// When one is due that somebody named to be sent: before anything else, whatever failed lately.
    pub const AT_ONCE: Millis = 0;

    /// One that is due from now on.
    pub fn new(id: NoticeId, at: Millis) -> Self {
        let (sender, failure) = (None, None);
        Notice { id, created_at: at, due_at: at, sender, attempts: 0, failures: 0, failure }
    }
}

/// How a notice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeEnd {
    /// The notifier took it.
    Delivered,
    /// Somebody gave it up.
    Dropped,
}

impl NoticeEnd {
    /// The end's word.
    pub fn as_str(self) -> &'static str {
        match self {
            NoticeEnd::Delivered => "delivered",
            NoticeEnd::Dropped => "dropped",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_the_ask_the_kind_and_the_number_and_nothing_else() {
        for good in ["rg-abcd:asked:1", "beads-1.2_x:reminder:40", "a:due:1", "a:timeout:1", "a:moot:2"] {
            assert_eq!(good.parse::<NoticeId>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "rg-a",
            "rg-a:asked",
            "rg-a:asked:0",
            "rg-a:asked:01",
            "rg-a:told:1",
            ":asked:1",
            "rg-a:asked:1:2",
            "../x:asked:1",
        ] {
            assert_eq!(bad.parse::<NoticeId>(), Err(NoticeIdError), "{bad:?}");
        }
    }

    #[test]
    fn every_kind_is_written_as_it_is_read() {
        for kind in NoticeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
