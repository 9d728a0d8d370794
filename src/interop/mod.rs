//! Other trackers' formats, as bytes in and data out. Knows the model only: no files, no store, no clock.

pub mod beads;
