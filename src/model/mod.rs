//! The protocol: issues, edges, the one relation over them, and how they change. No I/O, no clock.

pub mod apply;
pub mod change;
pub mod graph;
pub mod id;
pub mod issue;
pub mod primitive;
pub mod record;
pub mod relation;
pub mod signature;
pub mod snapshot;
pub mod tag;
pub mod waits;
