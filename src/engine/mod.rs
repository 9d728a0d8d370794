//! The engine: reads a snapshot, decides which transition comes next, and compiles it to primitives.
//! Pure: it knows no store and no clock, and the same snapshot gives the same decision.

mod answers;
mod asks;
mod compile;
mod decide;
mod decision;
mod duties;
mod failures;
mod forge;
mod pass;
mod progress;
pub mod review_gated;
mod roots;
pub mod status;
mod waiting;

pub use answers::dependents;
pub use asks::{PREVIEW_CHARS, choices, shortened};
pub use compile::compile;
pub use decide::{decide, is_final};
pub use decision::{Actor, Cause, Decision, Transition, Waiting};
pub use forge::Forge;
pub use pass::pass;
pub use roots::roots_to_move;
pub use waiting::{contradiction_at, stuck};
