//! Names of things: issues and actors. Parsed once at the edge, trusted afterwards.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::quote::disturbs;

/// Longest accepted issue id, in bytes. Imported trackers have ids of up to about 30.
pub const MAX_ID_BYTES: usize = 128;
/// Longest accepted actor name, in bytes.
pub const MAX_ACTOR_BYTES: usize = 128;

/// The id of an issue: `rg-` plus a short random text, or whatever an import brought.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IssueId(Arc<str>);

/// Why a text is not an issue id.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IdError {
    /// Nothing but white space.
    #[error("an id cannot be empty")]
    Empty,
    /// Longer than [`MAX_ID_BYTES`].
    #[error("an id has at most {MAX_ID_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// A character outside `A-Z a-z 0-9 . _ -`, or a first character that is not a letter or digit.
    #[error(
        "an id is made of letters, digits, '.', '_' and '-', and starts with a letter or digit; found {0:?}"
    )]
    BadCharacter(char),
}

impl IssueId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IssueId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        if text.len() > MAX_ID_BYTES {
            return Err(IdError::TooLong(text.len()));
        }
        let first = text.chars().next().ok_or(IdError::Empty)?;
        if !first.is_ascii_alphanumeric() {
            return Err(IdError::BadCharacter(first));
        }
        match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
            Some(bad) => Err(IdError::BadCharacter(bad)),
            None => Ok(IssueId(text.into())),
        }
    }
}

impl TryFrom<String> for IssueId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<IssueId> for String {
    fn from(id: IssueId) -> String {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for IssueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who did something: a person, an agent or the engine itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Actor(Arc<str>);

/// Why a text is not an actor's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ActorError {
    /// Nothing but white space.
    #[error("an actor's name cannot be empty")]
    Empty,
    /// Longer than [`MAX_ACTOR_BYTES`].
    #[error("an actor's name has at most {MAX_ACTOR_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// White space, or what is not seen as it is.
    #[error(
        "an actor's name has no white space, no control characters, and nothing that has no width or turns the \
         line around; found {0:?}"
    )]
    BadCharacter(char),
}

impl Actor {
    /// The engine, as the author of what a tick does.
    pub fn engine() -> Self {
        Actor("roundgate".into())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name as a store has it. Earlier releases took marks of direction and what has no width, too.
    ///
    /// # Errors
    /// What no release took.
    pub fn stored(text: &str) -> Result<Self, ActorError> {
        if text.is_empty() {
            return Err(ActorError::Empty);
        }
        if text.len() > MAX_ACTOR_BYTES {
            return Err(ActorError::TooLong(text.len()));
        }
        match text.chars().find(|c| c.is_whitespace() || c.is_control()) {
            Some(bad) => Err(ActorError::BadCharacter(bad)),
            None => Ok(Actor(text.into())),
        }
    }
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        match text.chars().find(|&c| c.is_whitespace() || disturbs(c)) {
            Some(bad) => Err(ActorError::BadCharacter(bad)),
            None => Actor::stored(text),
        }
    }
}

impl TryFrom<String> for Actor {
    type Error = ActorError;

    fn try_from(text: String) -> Result<Self, ActorError> {
        Actor::stored(&text)
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> String {
        actor.0.as_ref().to_owned()
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_letters_digits_dots_dashes_and_underscores() {
        for good in ["rg-abc", "beads_rust-07b", "gt-1.2", "A"] {
            assert_eq!(good.parse::<IssueId>().unwrap().as_str(), good);
        }
        for bad in ["", " ", "-x", "a b", "a/b", "a\n", "é", "../x"] {
            assert!(bad.parse::<IssueId>().is_err(), "{bad:?}");
        }
        assert_eq!("x".repeat(200).parse::<IssueId>(), Err(IdError::TooLong(200)));
    }

    #[test]
    fn an_actor_has_no_white_space() {
        assert!("agent-1@host:3".parse::<Actor>().is_ok());
        assert_eq!("".parse::<Actor>(), Err(ActorError::Empty));
        assert_eq!("a b".parse::<Actor>(), Err(ActorError::BadCharacter(' ')));
        assert_eq!("a\u{1b}".parse::<Actor>(), Err(ActorError::BadCharacter('\u{1b}')));
    }

    #[test]
    fn a_new_name_is_seen_as_it_is_and_an_old_one_can_still_be_read() {
        for bad in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{200d}', '\u{feff}', '\u{61c}'] {
            let name = format!("an{bad}a");
            assert_eq!(name.parse::<Actor>(), Err(ActorError::BadCharacter(bad)));
            let stored: Actor = serde_json::from_value(name.clone().into()).unwrap();
            assert_eq!(stored.as_str(), name);
        }
        assert!(serde_json::from_value::<Actor>("a\u{1b}".into()).is_err());
        assert!("Gr\u{fc}\u{df}e-\u{4e16}\u{754c}".parse::<Actor>().is_ok());
    }
}
