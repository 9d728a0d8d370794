//! The built program, run as its users run it: in a temporary folder, with a frozen clock and frozen ids.
//! What it prints, where it prints it and how it exits stand together in one snapshot.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod asks;
mod bare;
mod config;
mod counts;
mod daemon;
mod documents;
mod duties;
mod exits;
mod further;
mod gated;
mod heartbeats;
mod json;
mod kept_lists;
mod left_open;
mod lost_store;
mod names;
mod notify;
mod output;
mod pauses;
mod questions;
mod reading;
mod said;
mod searching;
mod stage;
mod stopped;
mod two_trees;
mod verdicts;
