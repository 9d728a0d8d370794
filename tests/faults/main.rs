//! What the store is trusted for when the machine fails: the power goes, writes fail, the program is
//! killed between two of them. Each test of that kind has a twin in which the fault it exists for is
//! planted, and in which it must fail.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bench;
mod day;
mod disk;
mod every_write;
mod power_cut;
mod verbs;
mod vfs;
