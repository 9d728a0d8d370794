//! The signals that ask a process to end: heard, so that it ends in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::app::AppError;
use crate::app::run::busy;

/// The exit code of what was stopped by them.
pub const STOPPED: u8 = 130;

/// Ctrl-C, a polite kill and a terminal that hangs up no longer end the process, but say so here.
pub fn asked_to_end() -> Result<Arc<AtomicBool>, AppError> {
    let asked = Arc::new(AtomicBool::new(false));
    [SIGINT, SIGTERM, SIGHUP].into_iter().try_for_each(|signal| hear(signal, &asked))?;
    Ok(asked)
}

/// Lets a signal be said somewhere.
pub fn hear(signal: i32, flag: &Arc<AtomicBool>) -> Result<(), AppError> {
    signal_hook::flag::register(signal, Arc::clone(flag))
        .map(|_| ())
        .map_err(|source| AppError::File { what: "watch for signals".to_owned(), source })
}

/// What a command comes to: where it gave up at a busy store because somebody asked it to end, it was stopped,
/// and the store may be free the next time.
pub fn or_stopped<T>(done: Result<T, AppError>, asked: &AtomicBool) -> Result<T, AppError> {
    done.map_err(|error| if said(asked) && busy(&error) { AppError::Stopped(Box::new(error)) } else { error })
}

/// Whether somebody asked.
pub fn said(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}
