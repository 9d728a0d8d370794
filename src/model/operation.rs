//! Operations: acts that their callers gave a name, so that a retry of one applies once and is told
//! what the first was told.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// Longest accepted name of an operation, in characters.
pub const MAX_OPERATION_CHARS: usize = 128;

/// The name of an operation, which its caller chose.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OperationId(Arc<str>);

/// Why a text cannot name an operation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OperationIdError {
    /// Nothing at all.
    #[error("an operation's id cannot be empty")]
    Empty,
    /// Longer than [`MAX_OPERATION_CHARS`].
    #[error("an operation's id has at most {MAX_OPERATION_CHARS} characters, this one has {0}")]
    TooLong(usize),
    /// A blank, or something that is not printed.
    #[error("an operation's id is made of the printed characters of ASCII without blanks; found {0:?}")]
    BadCharacter(char),
}

impl OperationId {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperationId {
    type Err = OperationIdError;

    fn from_str(text: &str) -> Result<Self, OperationIdError> {
        if text.is_empty() {
            return Err(OperationIdError::Empty);
        }
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(OperationIdError::BadCharacter(bad));
        }
        if text.len() > MAX_OPERATION_CHARS {
            return Err(OperationIdError::TooLong(text.len()));
        }
        Ok(OperationId(text.into()))
    }
}

impl TryFrom<String> for OperationId {
    type Error = OperationIdError;

    fn try_from(text: String) -> Result<Self, OperationIdError> {
        text.parse()
    }
}

impl From<OperationId> for String {
    fn from(id: OperationId) -> String {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One transaction of an operation, with what it told its caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The operation.
    pub id: OperationId,
    /// Counts the transactions of its command, from 0.
    pub step: u32,
    /// What was asked for, as a digest: another request cannot pass for this one.
    pub request: String,
    /// Whether anything else changed with it.
    pub changed: bool,
    /// What the act gave; everything that is printed follows from it.
    pub reply: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_printed_and_short() {
        let long = "x".repeat(MAX_OPERATION_CHARS);
        for good in ["a", "2026-12-02T10:00:00Z/close#1", "~!@$%^&*()", &long] {
            assert_eq!(good.parse::<OperationId>().unwrap().as_str(), good);
        }
        assert_eq!("".parse::<OperationId>(), Err(OperationIdError::Empty));
        assert_eq!(format!("{long}x").parse::<OperationId>(), Err(OperationIdError::TooLong(129)));
        for bad in ["a b", "a\n", "\u{1b}[2J", "é", "a\u{202e}"] {
            let refused = bad.parse::<OperationId>();
            assert!(matches!(refused, Err(OperationIdError::BadCharacter(_))), "{bad:?}");
        }
    }
}
