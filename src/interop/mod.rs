//! What comes from and goes to other programs' text. Pure: text in, data out; no files, no clock.

pub mod duration;
pub mod plan_file;
