//! What comes from outside as a file: other trackers and plans. Pure: bytes in, data out.

pub mod beads;
pub mod duration;
pub mod plan_file;
