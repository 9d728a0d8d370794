//! The rules of the protocol, one test per rule, each named for what it says.

mod asks;
mod cases;
mod claims;
mod edges;
mod life_cycle;
mod loopholes;
mod properties;
mod relation;
mod stage;
mod verdicts;
