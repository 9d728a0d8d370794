//! `run`: ticks and workers in turn, in the foreground, until the root is final, a human must move, or
//! the root is stuck. While others hold what is left it waits for them.

mod left;
mod next;
mod packet;
mod patience;
mod programs;
mod step;
mod supervise;

pub use patience::busy;
pub use programs::check_workers;
pub use supervise::{End, Progress, StepEndView, Supervisor, supervise};
