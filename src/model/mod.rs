//! The protocol: issues, edges, the one relation over them, and how they change. No I/O, no clock.

pub mod act;
pub mod apply;
pub mod change;
pub mod compaction;
pub mod document;
pub mod duty;
pub mod frontier;
pub mod gate;
pub mod graph;
pub mod id;
pub mod issue;
pub mod operation;
pub mod primitive;
pub mod quote;
pub mod readiness;
pub mod record;
pub mod refusal;
pub mod relation;
pub mod search;
pub mod signature;
pub mod snapshot;
pub mod source;
pub mod standing;
pub mod steps;
pub mod tag;
pub mod waits;
