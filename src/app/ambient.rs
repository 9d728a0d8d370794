//! What comes from outside: the moment, randomness. Frozen by two environment variables, so that every
//! output can be a snapshot.

use chrono::Utc;
use fastrand::Rng;

use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::snapshot::Snapshot;

/// Where the time comes from.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock.
    Machine,
    /// Always this moment.
    Frozen(Millis),
}

impl Clock {
    /// The moment, in milliseconds since the Unix epoch.
    pub fn now(&self) -> Millis {
        match self {
            Clock::Machine => Utc::now().timestamp_millis(),
            Clock::Frozen(at) => *at,
        }
    }
}

/// Where new ids come from.
#[derive(Debug, Clone)]
pub struct Ids {
    seed: Option<u64>,
}

/// Letters and digits that are not mistaken for each other (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

impl Ids {
    /// Random ids, or with a seed the same ones every time.
    pub fn new(seed: Option<u64>) -> Self {
        Ids { seed }
    }

    /// The ids for one transaction that starts at this revision.
    pub fn stream(&self, revision: u64) -> IdStream {
        let rng = match self.seed {
            Some(seed) => Rng::with_seed(seed ^ revision.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            None => Rng::new(),
        };
        // Every issue took an event at least, so a new id meets an old one less than once in a few
        // hundred tries.
        let length = match revision {
            0..2_000 => 4,
            2_000..60_000 => 5,
            60_000..2_000_000 => 6,
            _ => 8,
        };
        IdStream { rng, length, given: Vec::new() }
    }
}

/// New ids, each given once.
#[derive(Debug)]
pub struct IdStream {
    rng: Rng,
    length: usize,
    given: Vec<IssueId>,
}

impl IdStream {
    /// An id that neither the snapshot nor this stream has used.
    pub fn next(&mut self, snapshot: &Snapshot) -> IssueId {
        loop {
            let mut text = String::from("rg-");
            for _ in 0..self.length {
                text.push(char::from(ALPHABET[self.rng.usize(0..ALPHABET.len())]));
            }
            if let Ok(id) = text.parse::<IssueId>()
                && !snapshot.taken(&id)
                && !self.given.contains(&id)
            {
                self.given.push(id.clone());
                return id;
            }
        }
    }
}
