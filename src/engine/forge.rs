//! What comes into the engine from outside: the moment, new ids, and what is configured.

use crate::model::duty::AskPolicy;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::record::Bounds;

/// What a transition needs from outside: the moment, new ids, and what is configured.
pub struct Forge<'a> {
    /// The moment.
    pub now: Millis,
    /// The bounds of a scope that sets none.
    pub defaults: &'a Bounds,
    /// What is wanted of an ask where no issue says.
    pub asks: &'a AskPolicy,
    /// Gives an id that was never used.
    pub next_id: &'a mut dyn FnMut() -> IssueId,
}

impl Forge<'_> {
    /// An id that was never used.
    pub fn id(&mut self) -> IssueId {
        (self.next_id)()
    }
}
