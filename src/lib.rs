//! roundgate: an issue tracker with an engine on top.

#![forbid(unsafe_code)]

pub mod app;
pub mod cli;
pub mod engine;
pub mod interop;
pub mod model;
pub mod runner;
pub mod schedule;
pub mod store;
