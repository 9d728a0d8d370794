//! The use cases of the clock: `keep` makes and changes heartbeats and cron entries, `beat` ticks those that
//! are due, `seen` remembers idle ticks beside the store, `view` is what is shown, `install` is for those
//! who have a clock already.

mod beat;
pub mod install;
mod keep;
mod seen;
mod view;

pub use beat::{Beats, Happened, HappenedView, Pass, RETRY};
pub use keep::{
    CRON_LASTS, HEARTBEAT_LASTS, INTERVAL, New, SHORTEST, Update, When, create, delete, disable, enable, get,
    list, trigger, update,
};
pub use seen::{Lock, Seen, runner_of};
pub use view::{CeilingView, HaltedView, HeartbeatView, TriggeredView};
