//! A machine that does not do as it should: a full disk, a limit to the size of files, a read-only mount,
//! a process that holds the lock and has stopped, a clock that jumps.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clock;
mod room;
mod shell;
mod stopped;
