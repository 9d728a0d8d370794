//! The configured notifier: a program that gets one notification on stdin and ends with 0 once it took it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::packet::Packet;
use super::sending::Delivery;
use crate::app::config::Notify;
use crate::runner::{Ended, Exit, Poll, Step, StepError};

/// How much of its last words on stderr is kept, in characters.
const LAST_WORDS: usize = 200;

/// What hands a notification to the configured program, which runs in the store's folder. `stop` is asked
/// several times a second whether to give up.
pub fn program<'a>(
    terms: &'a Notify,
    store: &'a Path,
    stop: &'a dyn Fn() -> bool,
) -> impl FnMut(&Packet) -> Delivery + 'a {
    move |packet| {
        let store = match std::path::absolute(store) {
            Ok(store) => store,
            Err(error) => return Delivery::Failed(format!("cannot find {}: {error}", store.display())),
        };
        match run(terms, &store, packet, stop) {
            Ok(Ended { exit: Exit::Code(0), .. }) => Delivery::Delivered,
            Ok(ended) => Delivery::Failed(words(&ended)),
            Err(StepError::Stopped) => Delivery::Stopped,
            Err(error) => Delivery::Failed(error.to_string()),
        }
    }
}

fn run(
    terms: &Notify,
    store: &PathBuf,
    packet: &Packet,
    stop: &dyn Fn() -> bool,
) -> Result<Ended, StepError> {
    let io =
        |source: serde_json::Error| StepError::Io { what: "write the notification", source: source.into() };
    let mut input = serde_json::to_vec(packet).map_err(io)?;
    input.push(b'\n');
    let pair = |name: &str, value: &OsStr| (name.to_owned(), value.to_owned());
    let env = [
        pair("ROUNDGATE_STORE", store.as_os_str()),
        pair("ROUNDGATE_ROOT", packet.root.as_ref()),
        pair("ROUNDGATE_ISSUE", packet.ask.as_ref()),
    ];
    let step = Step {
        argv: &terms.command,
        base: Some(store),
        cwd: store,
        env: &env,
        time_limit: Duration::from_millis(terms.time_limit.unsigned_abs()),
        output_cap: 0,
    };
    let running = step.start_unread()?;
    running.finish(&input, &mut || if stop() { Poll::Stop } else { Poll::Continue })
}

/// How it ended, and the last it said.
fn words(ended: &Ended) -> String {
    let how = match ended.exit {
        Exit::Code(code) => format!("it exited with {code}"),
        Exit::Signal(signal) => format!("signal {signal} ended it"),
    };
    let tail = String::from_utf8_lossy(&ended.stderr_tail);
    let tail = tail.trim();
    let skipped = tail.chars().count().saturating_sub(LAST_WORDS);
    let last: String = tail.chars().skip(skipped).collect();
    if last.is_empty() { how } else { format!("{how}: {last}") }
}
