//! Operations: a command that its caller gave an id is carried out once, however often it is called, and
//! each call gets the reply of the first.

use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::{AppError, Changed};
use crate::model::id::Actor;
use crate::model::operation::{Operation, OperationId};
use crate::store::Store;

/// What was asked for, as a digest: the command with its values, the contents of the files that it
/// names, and who asks.
#[derive(Debug, Clone, Default)]
pub struct Request(Sha256);

impl Request {
    /// Takes in one more part of it.
    pub fn add(&mut self, part: &[u8]) {
        // With its length, so that no two requests read the same.
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
    }

    /// The digest, when this actor asks.
    pub fn digest(&self, actor: &Actor) -> String {
        let mut whole = self.clone();
        whole.add(actor.as_str().as_bytes());
        whole.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// An operation that a session is at. Each of its transactions is a step, in the same order at every
/// call: a call that ended half way is finished by the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ongoing {
    id: OperationId,
    request: String,
    step: u32,
}

impl Ongoing {
    /// The operation of a request, before its first step.
    pub fn new(id: OperationId, request: String) -> Self {
        Ongoing { id, request, step: 0 }
    }

    /// The step that is due, and the next one from now on.
    pub(super) fn advance(&mut self) -> Ongoing {
        let due = self.clone();
        self.step += 1;
        due
    }

    /// What is kept of a step, with the reply it gave.
    pub(super) fn record(&self, changed: bool, reply: serde_json::Value) -> Operation {
        Operation { id: self.id.clone(), step: self.step, request: self.request.clone(), changed, reply }
    }

    /// What this step gave when it was carried out; `None` when it was not yet.
    ///
    /// # Errors
    /// [`AppError::OperationUsed`] when another request has the id.
    pub(super) fn reply<T: DeserializeOwned>(
        &self,
        store: &dyn Store,
    ) -> Result<Option<Changed<T>>, AppError> {
        let Some((event, done)) = store.operation(&self.id, self.step)? else { return Ok(None) };
        if done.request != self.request {
            let (id, cause, actor, seq) = (done.id, event.cause, event.actor, event.seq);
            return Err(AppError::OperationUsed { id, cause, actor, seq });
        }
        let value = serde_json::from_value(done.reply).map_err(|source| AppError::ReplyUnreadable {
            id: done.id,
            seq: event.seq,
            source,
        })?;
        Ok(Some(Changed { value, changed: done.changed }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(parts: &[&str], actor: &str) -> String {
        let mut request = Request::default();
        parts.iter().for_each(|part| request.add(part.as_bytes()));
        request.digest(&actor.parse().unwrap())
    }

    #[test]
    fn requests_that_differ_anywhere_have_different_digests() {
        let one = digest(&["close", "rg-1"], "ann");
        assert_eq!(one, digest(&["close", "rg-1"], "ann"));
        for (parts, actor) in
            [(&["close", "rg-1"], "bob"), (&["closer", "g-1"], "ann"), (&["close", "rg-2"], "ann")]
        {
            assert_ne!(one, digest(parts, actor), "{parts:?} {actor}");
        }
    }
}
