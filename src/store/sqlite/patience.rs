//! How long to wait for others, and with what rhythm.

use std::time::{Duration, Instant};

/// The longest single pause. Short, because the lock goes to whoever happens to ask when it is free:
/// a long sleeper in a crowd never does.
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

/// A busy handler for SQLite that gives up when the deadline has passed. The pauses grow and are
/// random: what waits in step would collide in step.
pub(super) fn until(deadline: Duration) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut started = Instant::now();
    move |already: i32| {
        // SQLite counts from 0 anew for every lock that it waits for.
        if already == 0 {
            started = Instant::now();
        }
        let Some(left) = deadline.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else {
            return false;
        };
        std::thread::sleep(pause(already).min(left));
        true
    }
}

fn pause(already: i32) -> Duration {
    let bound = Duration::from_millis(1) * 2_u32.pow(already.clamp(0, 5) as u32);
    bound.min(LONGEST_PAUSE).mul_f64(0.25 + 0.75 * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_the_deadline() {
        let mut handler = until(Duration::from_millis(30));
        let started = Instant::now();
        let mut already = 0;
        while handler(already) {
            already += 1;
        }
        assert!(already > 1 && started.elapsed() >= Duration::from_millis(30));
    }

    #[test]
    fn no_patience_means_not_a_single_pause() {
        assert!(!until(Duration::ZERO)(0));
    }

    #[test]
    fn a_pause_is_never_long() {
        assert!((0..200).all(|already| pause(already) <= LONGEST_PAUSE));
    }
}
