//! A store that is busy for a while ends no run, and throws away nothing that a worker has done.

use std::time::Duration;

use crate::app::AppError;

/// The pause between two tries. Each waits for the store itself for some seconds.
const AGAIN: Duration = Duration::from_millis(100);

/// Calls until that succeeds or fails with something else than a busy store, and once more at most when
/// there is no time left.
///
/// # Errors
/// What the last call said.
pub fn patiently<T>(
    no_time: &dyn Fn() -> bool,
    mut call: impl FnMut() -> Result<T, AppError>,
) -> Result<T, AppError> {
    loop {
        match call() {
            Err(error) if busy(&error) && !no_time() => std::thread::sleep(AGAIN),
            other => return other,
        }
    }
}

/// Whether the store was too busy. What the rules refuse for now is for the caller to judge.
pub fn busy(error: &AppError) -> bool {
    error.retryable() && !matches!(error, AppError::Refusal(_))
}
