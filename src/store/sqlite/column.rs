//! One value of a row, to and from SQLite. A value that says nothing the program understands is
//! damage, and the message names table, row and column.

use std::fmt::Display;
use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

use super::chain::Hash;
use super::table::Table;
use crate::model::id::Actor;
use crate::store::StoreError;

/// Reads the columns of a row from left to right.
pub(super) struct Columns<'r> {
    row: &'r Row<'r>,
    table: &'static Table,
    next: usize,
    /// How many columns of other tables come first.
    before: usize,
}

impl<'r> Columns<'r> {
    /// Starts at the first column of a row that was selected with all columns of its table.
    pub(super) fn of(row: &'r Row<'r>, table: &'static Table) -> Self {
        Columns { row, table, next: 0, before: 0 }
    }

    /// The table's columns come after so many others.
    pub(super) fn start_at(&mut self, before: usize) {
        (self.next, self.before) = (before, before);
    }

    /// Leaves a column out.
    pub(super) fn skip(&mut self) {
        self.next += 1;
    }

    fn damaged(&self, why: &dyn Display) -> StoreError {
        let name = self.table.columns.get(self.next - self.before - 1).unwrap_or(&"?");
        let row = match self.row.get_ref(self.before) {
            Ok(ValueRef::Integer(key)) => key.to_string(),
            Ok(ValueRef::Text(key)) => format!("{:?}", String::from_utf8_lossy(key)),
            _ => "?".to_owned(),
        };
        StoreError::Damaged { what: format!("{} row {row}, column {name}: {why}", self.table.name) }
    }

    /// A hash.
    pub(super) fn hash(&mut self) -> Result<Hash, StoreError> {
        self.next += 1;
        match self.row.get_ref(self.next - 1) {
            Ok(ValueRef::Blob(bytes)) => {
                bytes.try_into().map(Hash::of).map_err(|_| self.damaged(&"it is not 32 bytes"))
            }
            Ok(other) => Err(self.damaged(&format_args!("a hash is {}", other.data_type()))),
            Err(why) => Err(self.damaged(&why)),
        }
    }

    /// A text, or NULL.
    pub(super) fn maybe_text(&mut self) -> Result<Option<&'r str>, StoreError> {
        self.next += 1;
        match self.row.get_ref(self.next - 1) {
            Ok(ValueRef::Null) => Ok(None),
            Ok(ValueRef::Text(bytes)) => {
                std::str::from_utf8(bytes).map(Some).map_err(|why| self.damaged(&why))
            }
            Ok(other) => Err(self.damaged(&format_args!("a text is {}", other.data_type()))),
            Err(why) => Err(self.damaged(&why)),
        }
    }

    /// A text.
    pub(super) fn text(&mut self) -> Result<&'r str, StoreError> {
        self.maybe_text()?.ok_or_else(|| self.damaged(&"there is nothing"))
    }

    /// A number that fits its type, or NULL.
    pub(super) fn maybe_int<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, StoreError> {
        self.next += 1;
        match self.row.get_ref(self.next - 1) {
            Ok(ValueRef::Null) => Ok(None),
            Ok(ValueRef::Integer(n)) => {
                T::try_from(n).map(Some).map_err(|_| self.damaged(&format_args!("{n} is out of range")))
            }
            Ok(other) => Err(self.damaged(&format_args!("a number is {}", other.data_type()))),
            Err(why) => Err(self.damaged(&why)),
        }
    }

    /// A number that fits its type.
    pub(super) fn int<T: TryFrom<i64>>(&mut self) -> Result<T, StoreError> {
        self.maybe_int()?.ok_or_else(|| self.damaged(&"there is nothing"))
    }

    /// An id or a name, or NULL.
    pub(super) fn maybe_parsed<T: FromStr<Err: Display>>(&mut self) -> Result<Option<T>, StoreError> {
        self.maybe_text()?.map(|text| text.parse().map_err(|why| self.damaged(&why))).transpose()
    }

    /// An id or a name.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self) -> Result<T, StoreError> {
        self.text()?.parse().map_err(|why| self.damaged(&why))
    }

    /// An actor's name, or NULL.
    pub(super) fn maybe_actor(&mut self) -> Result<Option<Actor>, StoreError> {
        self.maybe_text()?.map(|text| Actor::stored(text).map_err(|why| self.damaged(&why))).transpose()
    }

    /// An actor's name.
    pub(super) fn actor(&mut self) -> Result<Actor, StoreError> {
        let text = self.text()?;
        Actor::stored(text).map_err(|why| self.damaged(&why))
    }

    /// A word of a closed vocabulary, as the protocol writes it, or NULL.
    pub(super) fn maybe_word<T: Deserialize<'r>>(&mut self) -> Result<Option<T>, StoreError> {
        let word = self.maybe_text()?.map(|text| {
            let word: StrDeserializer<'r, WordError> = text.into_deserializer();
            T::deserialize(word).map_err(|why| self.damaged(&why))
        });
        word.transpose()
    }

    /// A word of a closed vocabulary.
    pub(super) fn word<T: Deserialize<'r>>(&mut self) -> Result<T, StoreError> {
        self.maybe_word()?.ok_or_else(|| self.damaged(&"there is nothing"))
    }

    /// A value kept as JSON, or NULL.
    pub(super) fn maybe_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, StoreError> {
        let json = self.maybe_text()?;
        json.map(|text| serde_json::from_str(text).map_err(|why| self.damaged(&why))).transpose()
    }

    /// A value kept as JSON.
    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T, StoreError> {
        let text = self.text()?;
        serde_json::from_str(text).map_err(|why| self.damaged(&why))
    }

    /// Damage that only the whole row shows.
    pub(super) fn contradiction<T>(&self, why: &str) -> Result<T, StoreError> {
        Err(self.damaged(&why))
    }
}

/// A text as a value.
pub(super) fn text(text: impl AsRef<str>) -> Value {
    Value::Text(text.as_ref().to_owned())
}

/// A text or NULL.
pub(super) fn maybe_text(text: Option<impl AsRef<str>>) -> Value {
    text.map_or(Value::Null, |text| Value::Text(text.as_ref().to_owned()))
}

/// A number as a value.
///
/// # Errors
/// When SQLite's signed 64 bits cannot hold it.
pub(super) fn int(number: impl TryInto<i64>) -> Result<Value, StoreError> {
    let unfit = |_| StoreError::Unfit { what: "a number is over 2^63 - 1".to_owned() };
    number.try_into().map(Value::Integer).map_err(unfit)
}

/// A value as JSON.
///
/// # Errors
/// When it has no JSON form: a path that is not UTF-8.
pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Value, StoreError> {
    json_text(value).map(Value::Text)
}

/// The JSON of a value, as it is stored.
///
/// # Errors
/// As for [`json`].
pub(super) fn json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|source| StoreError::Unfit { what: source.to_string() })
}

/// A value as JSON, or NULL.
///
/// # Errors
/// As for [`json`].
pub(super) fn maybe_json<T: Serialize>(value: Option<&T>) -> Result<Value, StoreError> {
    value.map_or(Ok(Value::Null), json)
}
