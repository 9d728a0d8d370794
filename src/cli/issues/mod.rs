//! `roundgate issues ...`

mod claim;
mod close;
mod commands;
mod create;
mod edges;
mod inspect;
mod read;
mod update;
mod words;

pub use close::would_skip;
pub use commands::{IssuesCommand, run};
pub use create::{PolicyArgs, body as body_text, interval};
