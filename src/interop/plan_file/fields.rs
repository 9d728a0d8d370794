//! Typed fields out of a TOML table.
//!
//! A reading that fails leaves a complaint and returns a placeholder, so that one pass finds as much as it can.
//! This room knows TOML's types and nothing of what a plan means.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::complaints::{Complaints, bare_or_quoted, quoted};

/// What to say to a command line.
const NO_SHELL: &str = "a command is an argument vector, not one string: write [\"sh\", \"./work.sh\"]; \
                        no shell takes it apart";
/// What to say to one argument vector where several are wanted.
const ONE_EACH: &str = "each command is an argument vector of its own: write [[\"sh\", \"./check.sh\"]], \
                        with two brackets";

/// A string with its place.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) offset: usize,
    pub(super) text: &'a str,
}

/// A string in an array, with its place.
pub(super) struct Item<'a> {
    pub(super) index: usize,
    pub(super) offset: usize,
    pub(super) text: &'a str,
}

/// One table, with the name it has in messages and the place where what it lacks is reported.
pub(super) struct Section<'a> {
    table: &'a DeTable<'a>,
    pub(super) name: String,
    pub(super) offset: usize,
}

impl<'a> Section<'a> {
    pub(super) fn new(table: &'a DeTable<'a>, name: impl Into<String>, offset: usize) -> Self {
        Section { table, name: name.into(), offset }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A string, if there is one, without a complaint if not.
    pub(super) fn peek(&self, key: &str) -> Option<&'a str> {
        self.table.get(key)?.get_ref().as_str()
    }

    /// Complains about a field, at the place of its value, or of the section when it has none.
    pub(super) fn refuse(&self, key: &str, message: impl Into<String>, complaints: &mut Complaints<'_>) {
        let offset = self.table.get(key).map_or(self.offset, |value| value.span().start);
        complaints.add(offset, &self.name, key, message);
    }

    /// Complains about every key that is not one of `known`.
    pub(super) fn refuse_unknown(&self, known: &[&str], complaints: &mut Complaints<'_>) {
        for key in self.table.keys() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let meant = complaints.did_you_mean(name, known.iter().copied());
                complaints.add(
                    key.span().start,
                    &self.name,
                    &bare_or_quoted(name),
                    format!("unknown field{meant}"),
                );
            }
        }
    }

    /// A table inside this one; `header` is how it is written.
    pub(super) fn table(
        &self,
        key: &str,
        header: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Section<'a>> {
        let value = self.table.get(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Section::new(table, key, value.span().start)),
            DeValue::Array(array) if array.iter().all(|entry| entry.get_ref().is_table()) => {
                self.refuse(key, format!("there is one table of this name: write {header}"), complaints);
                None
            }
            other => {
                self.refuse(
                    key,
                    format!("expected a table, written {header}, found {}", described(other)),
                    complaints,
                );
                None
            }
        }
    }

    /// Every table inside this one by its key, whatever the keys are; `header` says how each is written.
    pub(super) fn tables(
        &self,
        header: impl Fn(&str) -> String,
        complaints: &mut Complaints<'_>,
    ) -> Vec<(Text<'a>, Section<'a>)> {
        let mut tables = Vec::new();
        for (key, value) in self.table.iter() {
            let text: &'a str = key.get_ref().as_ref();
            let name = bare_or_quoted(text);
            match value.get_ref() {
                DeValue::Table(table) => {
                    let section = Section::new(table, format!("{}.{name}", self.name), value.span().start);
                    tables.push((Text { offset: key.span().start, text }, section));
                }
                other => complaints.add(
                    value.span().start,
                    &self.name,
                    &name,
                    format!("expected a table, written {}, found {}", header(&name), described(other)),
                ),
            }
        }
        tables
    }

    /// An array of tables, each as its table and place; `header` is how each is written.
    pub(super) fn array_of_tables(
        &self,
        key: &str,
        header: &str,
        complaints: &mut Complaints<'_>,
    ) -> Vec<(&'a DeTable<'a>, usize)> {
        let mut tables = Vec::new();
        match self.table.get(key).map(Spanned::get_ref) {
            None => {}
            Some(DeValue::Array(array)) => {
                for (index, entry) in array.iter().enumerate() {
                    match entry.get_ref() {
                        DeValue::Table(table) => tables.push((table, entry.span().start)),
                        other => complaints.add(
                            entry.span().start,
                            &self.name,
                            &format!("{key}[{index}]"),
                            format!("expected a table, written {header}, found {}", described(other)),
                        ),
                    }
                }
            }
            Some(DeValue::Table(_)) => self.refuse(
                key,
                format!("there can be several: write {header}, with two brackets"),
                complaints,
            ),
            Some(other) => self.refuse(
                key,
                format!("expected tables, each written {header}, found {}", described(other)),
                complaints,
            ),
        }
        tables
    }

    /// A string, if the field is there.
    pub(super) fn string(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Text<'a>> {
        let value = self.table.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Text { offset: value.span().start, text }),
            other => {
                self.refuse(key, format!("expected a string, found {}", described(other)), complaints);
                None
            }
        }
    }

    /// A string that has to be there.
    pub(super) fn required(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Text<'a>> {
        if !self.has(key) {
            self.refuse(key, "missing, and required", complaints);
        }
        self.string(key, complaints)
    }

    /// A whole number within a range.
    pub(super) fn integer(
        &self,
        key: &str,
        range: RangeInclusive<u32>,
        complaints: &mut Complaints<'_>,
    ) -> Option<u32> {
        let value = self.table.get(key)?.get_ref();
        let number = value.as_integer().and_then(|n| u32::from_str_radix(n.as_str(), n.radix()).ok());
        let fits = number.filter(|number| range.contains(number));
        if fits.is_none() {
            let (low, high) = (range.start(), range.end());
            self.refuse(
                key,
                format!("expected a whole number from {low} to {high}, found {}", described(value)),
                complaints,
            );
        }
        fits
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<bool> {
        let value = self.table.get(key)?.get_ref();
        let flag = value.as_bool();
        if flag.is_none() {
            self.refuse(key, format!("expected true or false, found {}", described(value)), complaints);
        }
        flag
    }

    /// An array of strings that are not blank. `None` where the field is missing or not an array.
    pub(super) fn strings(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Vec<Item<'a>>> {
        match self.table.get(key)?.get_ref() {
            DeValue::Array(array) => Some(self.items(key, array, |_| false, complaints)),
            other => {
                self.refuse(
                    key,
                    format!("expected an array of strings, found {}", described(other)),
                    complaints,
                );
                None
            }
        }
    }

    /// One argument vector: the program, which is not blank, and its arguments.
    pub(super) fn vector(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Vec<Item<'a>>> {
        match self.table.get(key)?.get_ref() {
            DeValue::String(_) => {
                self.refuse(key, NO_SHELL, complaints);
                None
            }
            DeValue::Array(array) if array.is_empty() => {
                self.refuse(key, "a command names at least a program", complaints);
                None
            }
            DeValue::Array(array) => Some(self.items(key, array, is_argument, complaints)),
            _ => self.strings(key, complaints),
        }
    }

    /// An array of argument vectors.
    pub(super) fn vectors(&self, key: &str, complaints: &mut Complaints<'_>) -> Option<Vec<Vec<Item<'a>>>> {
        let array = match self.table.get(key)?.get_ref() {
            DeValue::Array(array) => array,
            DeValue::String(_) => {
                self.refuse(key, ONE_EACH, complaints);
                return None;
            }
            other => {
                let message = format!("expected an array of argument vectors, found {}", described(other));
                self.refuse(key, message, complaints);
                return None;
            }
        };
        if !array.is_empty() && array.iter().all(|entry| entry.get_ref().is_str()) {
            self.refuse(key, ONE_EACH, complaints);
            return None;
        }
        let mut vectors = Vec::new();
        for (index, entry) in array.iter().enumerate() {
            let field = format!("{key}[{index}]");
            let at = entry.span().start;
            match entry.get_ref() {
                DeValue::Array(inner) if inner.is_empty() => {
                    complaints.add(at, &self.name, &field, "a command names at least a program");
                }
                DeValue::Array(inner) => vectors.push(self.items(&field, inner, is_argument, complaints)),
                DeValue::String(_) => complaints.add(at, &self.name, &field, ONE_EACH),
                other => complaints.add(
                    at,
                    &self.name,
                    &field,
                    format!("expected an argument vector, found {}", described(other)),
                ),
            }
        }
        Some(vectors)
    }

    fn items(
        &self,
        field: &str,
        array: &'a DeArray<'a>,
        may_be_blank: impl Fn(usize) -> bool,
        complaints: &mut Complaints<'_>,
    ) -> Vec<Item<'a>> {
        let mut items = Vec::new();
        for (index, entry) in array.iter().enumerate() {
            let offset = entry.span().start;
            let message = match entry.get_ref() {
                DeValue::String(text) if text.trim().is_empty() && !may_be_blank(index) => {
                    "cannot be blank".to_owned()
                }
                DeValue::String(text) if text.contains('\0') => "cannot contain a NUL byte".to_owned(),
                DeValue::String(text) => {
                    items.push(Item { index, offset, text });
                    continue;
                }
                other => format!("expected a string, found {}", described(other)),
            };
            complaints.add(offset, &self.name, &format!("{field}[{index}]"), message);
        }
        items
    }
}

/// What stands behind the program is as it is, and may well be blank.
fn is_argument(index: usize) -> bool {
    index > 0
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string {}", quoted(text)),
        DeValue::Integer(number) => format!("{:.40}", number.to_string()),
        DeValue::Float(_) => "a float".to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date or time".to_owned(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
