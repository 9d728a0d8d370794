//! Where snapshots live. One contract ([`Store`]), several backends; none of them knows a policy.

mod contract;
pub mod memory;
mod numbering;
pub mod sqlite;

use contract::recorded;
pub use contract::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic};
