//! What nobody should give the program: each is refused by name, with the reason and the right exit code,
//! and nothing is written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

#[path = "../desk/mod.rs"]
mod desk;
mod places;
mod values;
