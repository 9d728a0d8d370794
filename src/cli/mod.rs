//! The command line: one file a command, each of which parses, calls a use case, and renders.

mod asks;
mod backup;
mod command_line;
mod compact;
mod config;
mod context;
mod cron;
mod doctor;
mod doors;
mod due;
mod forum;
mod graph;
mod heartbeats;
mod hints;
mod import;
mod init;
mod issues;
mod lazy;
mod log;
mod notify;
mod output;
mod pause;
mod plan;
mod render;
mod rounds;
mod run;
mod signals;
mod status;
mod tick;
mod ui;
#[cfg(feature = "watch")]
mod watch;

pub use doors::{main, run_line};
