//! The rules of the protocol, one test per rule, each named for what it says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../store_double/mod.rs"]
#[macro_use]
mod store_double;

mod asks;
mod cases;
mod claims;
mod costs;
mod documents;
mod duties;
mod edges;
mod life_cycle;
mod loopholes;
mod pauses;
mod plan_costs;
mod properties;
mod relation;
mod rounds;
mod stage;
mod verdicts;
