//! The chain through the events: each row is stored with a hash over the hash before it and all its
//! other columns. `integrity_check` looks at the shape of the file and not at what is written in it,
//! and a flipped bit in a write-ahead log silently drops its tail; the chain notices both.

use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

use crate::store::Revision;

/// A link of the chain: SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash([u8; 32]);

/// The last event of a store, or any that is taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Its number.
    pub seq: Revision,
    /// Its hash.
    pub hash: Hash,
}

impl Head {
    /// Before the first event.
    pub(super) const NONE: Head = Head { seq: 0, hash: Hash::START };
}

impl Hash {
    /// What the first event is chained to.
    pub(super) const START: Hash = Hash([0; 32]);

    /// A hash that was stored.
    pub(super) fn of(bytes: [u8; 32]) -> Hash {
        Hash(bytes)
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The hash of a row that follows. Each value goes in with its type, and texts with their length,
    /// so that no two rows read the same.
    pub(super) fn then<'v>(self, row: impl Iterator<Item = ValueRef<'v>>) -> Hash {
        let mut hasher = Sha256::new_with_prefix(self.0);
        for value in row {
            match value {
                ValueRef::Null => hasher.update(b"n"),
                ValueRef::Integer(number) => {
                    hasher.update(b"i");
                    hasher.update(number.to_be_bytes());
                }
                ValueRef::Real(number) => {
                    hasher.update(b"r");
                    hasher.update(number.to_be_bytes());
                }
                ValueRef::Text(bytes) => sized(&mut hasher, b"t", bytes),
                ValueRef::Blob(bytes) => sized(&mut hasher, b"b", bytes),
            }
        }
        Hash(hasher.finalize().into())
    }
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sized(hasher: &mut Sha256, kind: &[u8; 1], bytes: &[u8]) {
    hasher.update(kind);
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chained(row: &[ValueRef<'_>]) -> Hash {
        Hash::START.then(row.iter().copied())
    }

    #[test]
    fn no_two_rows_have_the_same_hash() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let rows = [
            vec![text("ab"), text("c")],
            vec![text("a"), text("bc")],
            vec![text("abc")],
            vec![text("abc"), ValueRef::Null],
            vec![ValueRef::Blob(b"abc")],
            vec![ValueRef::Integer(1)],
            vec![ValueRef::Integer(-1)],
            vec![],
        ];
        for (n, one) in rows.iter().enumerate() {
            assert!(rows[n + 1..].iter().all(|other| chained(one) != chained(other)), "{one:?}");
        }
    }

    #[test]
    fn the_same_row_after_another_has_another_hash() {
        let row = [ValueRef::Integer(7)];
        assert_ne!(chained(&row), chained(&row).then(row.iter().copied()));
    }
}
