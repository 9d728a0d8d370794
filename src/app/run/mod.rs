//! `run`: ticks and workers in turn, in the foreground, until the root is final, a human must move, or
//! nothing can.

mod packet;
mod supervise;
mod step;

pub use supervise::{End, Progress, Supervisor, supervise};
