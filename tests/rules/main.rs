//! The rules of the protocol, one test per rule, each named for what it says.

mod loopholes;
mod stage;
