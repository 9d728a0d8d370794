//! Where snapshots live. One contract ([`Store`]), several backends; none of them knows a policy.

mod contract;
pub mod memory;

pub use contract::{EventQuery, PostQuery, Revision, Store, StoreError, Topic};
