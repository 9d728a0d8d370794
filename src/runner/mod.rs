//! Running one worker: start it, feed it, stop it, read its answer.
//!
//! Nothing here knows issues, stores or the engine: argument vectors and bytes come in, bytes and small words go out.

mod identity;
mod process;
mod reply;

pub use identity::{Liveness, kill_group, liveness, process, this_process};
pub use process::{Ended, Exit, Poll, Running, STDERR_TAIL_BYTES, Step, StepError, argument_in, program_in};
pub use reply::{AttemptReply, ReplyError, ReviewReply, parse_attempt, parse_review};
