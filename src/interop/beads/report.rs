//! What an import did and what was odd about the file, by kind and count. Nothing is left out of it
//! silently, and the same input always gives the same report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How many examples of each kind a report shows.
pub const MAX_EXAMPLES: usize = 5;

/// One kind of odd thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OddKind {
    /// How often it was seen.
    pub count: usize,
    /// The first few, as `id: what`.
    pub examples: Vec<String>,
    /// How often each value was seen, where it is one value of a vocabulary (a status, a type, a
    /// field's name).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, usize>,
}

/// What an import does, and what it found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Lines that are not blank.
    pub lines: usize,
    /// Issues that come into being.
    pub created: usize,
    /// Lines that say nothing new.
    pub unchanged: usize,
    /// Lines that differ from what the store has under their id; the store is left as it is.
    pub stale: usize,
    /// Ids that are reserved from now on.
    pub reserved: usize,
    /// Issues that get a parent.
    pub parents: usize,
    /// `blocks` edges that are added.
    pub edges: usize,
    /// Comments that become posts.
    pub comments: usize,
    /// Things that are kept as annotations.
    pub annotations: usize,
    /// Known fields that have no place in an issue and are kept as annotations, by name.
    pub kept_fields: BTreeMap<String, usize>,
    /// Odd things, by kind.
    pub odd: BTreeMap<String, OddKind>,
}

impl Report {
    /// Counts an odd thing; `what` is shown with the first few.
    pub fn odd(&mut self, kind: &str, what: &str) {
        let odd = self.kind(kind);
        odd.count += 1;
        if odd.examples.len() < MAX_EXAMPLES {
            odd.examples.push(what.to_owned());
        }
    }

    /// Counts an odd value of a vocabulary.
    pub fn odd_value(&mut self, kind: &str, id: &str, value: &str) {
        self.odd_among(kind, &format!("{id}: {value}"), value);
    }

    /// Counts an odd thing, and the value of a vocabulary it belongs to.
    pub fn odd_among(&mut self, kind: &str, what: &str, value: &str) {
        self.odd(kind, what);
        *self.kind(kind).values.entry(value.to_owned()).or_default() += 1;
    }

    /// How often a kind of odd thing was seen.
    pub fn count(&self, kind: &str) -> usize {
        self.odd.get(kind).map_or(0, |odd| odd.count)
    }

    fn kind(&mut self, kind: &str) -> &mut OddKind {
        self.odd.entry(kind.to_owned()).or_default()
    }
}
