//! One function per use case: the only place where reading, deciding, compiling, checking and
//! committing meet. Knows no terminal: values come in and go out.

pub mod ambient;
pub mod asks;
pub mod backup;
pub mod beside;
pub mod compact;
pub mod config;
pub mod doctor;
pub mod due;
mod error;
pub mod explain;
pub mod forum;
pub mod graph_text;
pub mod heartbeats;
pub mod import;
pub mod issues;
pub mod notify;
pub mod operation;
mod pages;
pub mod pause;
pub mod place;
pub mod plan;
pub mod rounds;
pub mod run;
mod session;
pub mod shell;
pub mod status;
pub mod tick;
pub mod ui;
pub mod validate;
pub mod view;
#[cfg(feature = "watch")]
pub mod watch;

pub use crate::schedule::ScheduleError;
pub use error::AppError;
pub use session::{Changed, Session, Work, resolve as session_resolve, resolve_root};
