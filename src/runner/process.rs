//! One worker process from start to end: its own process group, three pipes, a time limit and an output cap.
//!
//! This room knows argument vectors and bytes. It must not know what a packet means, who asked for the work, or what
//! the answer says.
//!
//! The life of a worker has two phases. [`Step::start`] spawns it, and the caller records [`Running::identity`] where
//! it outlives a crash; only then [`Running::finish`] writes the packet. A runner that dies in between leaves a
//! worker that reads an empty stdin, not one that works unrecorded.
//!
//! The leader is reaped only after its group was killed: until then the kernel cannot give its number to anyone else,
//! so a signal to the group never reaches a stranger.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::identity;
use crate::model::issue::Process;

/// How much of the end of stderr is kept, in bytes.
pub const STDERR_TAIL_BYTES: usize = 64 * 1024;

/// How often the caller is asked whether to go on.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// Between the request to end and the kill; also how long closing pipes are waited for after the kill.
const GRACE: Duration = Duration::from_secs(2);
const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks in flight between the pipe threads and the supervisor; more of them hold the worker back.
const CHUNKS_IN_FLIGHT: usize = 8;

/// What to run, and within which limits.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Program and arguments; never a shell string.
    pub argv: &'a [String],
    /// The absolute folder that a leading `./` of any argument stands for (and a leading `../` of the program).
    pub base: Option<&'a Path>,
    /// The folder the worker runs in.
    pub cwd: &'a Path,
    /// Added to the inherited environment.
    pub env: &'a [(String, OsString)],
    /// From the start of the process to its end.
    pub time_limit: Duration,
    /// The most stdout accepted, in bytes, where anybody reads it.
    pub output_cap: usize,
}

/// A started worker that has not been given its packet yet. Dropping it kills its group and reaps it.
#[derive(Debug)]
#[must_use = "a worker that is dropped is killed"]
pub struct Running {
    child: Child,
    identity: Process,
    since: Instant,
    time_limit: Duration,
    output_cap: usize,
    reaped: bool,
}

/// Whether a running worker may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Go on.
    Continue,
    /// End the worker; the step fails with [`StepError::Stopped`].
    Stop,
}

/// How a worker that ended by itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// What a worker left behind.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// All of its stdout.
    pub stdout: Vec<u8>,
    /// The last [`STDERR_TAIL_BYTES`] of its stderr.
    pub stderr_tail: Vec<u8>,
    /// From start to end.
    pub elapsed: Duration,
}

/// Why there is no [`Ended`]. Each message fits after "failed to run worker: ".
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// No program at all.
    #[error("the argument vector is empty")]
    EmptyArgv,
    /// The folder to run in is not there.
    #[error("there is no folder {} to run in", .0.display())]
    NoFolder(PathBuf),
    /// Neither the path nor the search path leads to it, or its `#!` line leads nowhere.
    #[error("program {program:?} (or its interpreter) was not found")]
    NotFound {
        /// As looked for.
        program: PathBuf,
        /// As the system put it.
        source: io::Error,
    },
    /// It is there but may not be executed.
    #[error("program {program:?} may not be executed")]
    NotExecutable {
        /// As looked for.
        program: PathBuf,
        /// As the system put it.
        source: io::Error,
    },
    /// The system refused for another reason.
    #[error("program {program:?} could not be started: {source}")]
    Spawn {
        /// As looked for.
        program: PathBuf,
        /// As the system put it.
        source: io::Error,
    },
    /// It was ended for taking too long.
    #[error("it took longer than its time limit of {limit:?}")]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// It was ended for printing too much.
    #[error("it printed more than {cap} bytes on stdout")]
    OutputTooLarge {
        /// The cap, in bytes.
        cap: usize,
    },
    /// It was ended because the caller said so.
    #[error("it was stopped")]
    Stopped,
    /// A pipe, a thread or the wait for its end failed.
    #[error("could not {what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// As the system put it.
        source: io::Error,
    },
}

/// The path that a leading `./` of an argument makes it, below the folder it stands for.
pub fn argument_in(base: &Path, argument: &str) -> Option<PathBuf> {
    // However many slashes follow: joining an absolute path would leave the folder.
    argument.strip_prefix("./").map(|below| base.join(below.trim_start_matches('/')))
}

/// The same for the program itself, which may begin with `../`, too.
pub fn program_in(base: &Path, program: &str) -> Option<PathBuf> {
    argument_in(base, program).or_else(|| program.starts_with("../").then(|| base.join(program)))
}

impl Step<'_> {
    /// Spawns the worker as the leader of a new process group, with nothing on its stdin yet.
    pub fn start(&self) -> Result<Running, StepError> {
        self.spawn(Stdio::piped())
    }

    /// The same for one whose stdout nobody reads: it goes nowhere, and there is no cap.
    pub fn start_unread(&self) -> Result<Running, StepError> {
        self.spawn(Stdio::null())
    }

    fn spawn(&self, stdout: Stdio) -> Result<Running, StepError> {
        let mut argv = self.argv.iter().enumerate().map(|(index, argument)| self.resolve(index, argument));
        let program = argv.next().filter(|program| !program.is_empty()).ok_or(StepError::EmptyArgv)?;
        let since = Instant::now();
        let spawned = Command::new(&program)
            .args(argv)
            .current_dir(self.cwd)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let child = spawned.map_err(|source| self.explain(program.into(), source))?;
        let identity = identity::process(child.id());
        let (time_limit, output_cap) = (self.time_limit, self.output_cap);
        Ok(Running { child, identity, since, time_limit, output_cap, reaped: false })
    }

    fn resolve(&self, index: usize, argument: &str) -> OsString {
        let located = self.base.and_then(|base| match index {
            0 => program_in(base, argument),
            _ => argument_in(base, argument),
        });
        located.map_or_else(|| argument.into(), OsString::from)
    }

    fn explain(&self, program: PathBuf, source: io::Error) -> StepError {
        match source.kind() {
            // The system reports a missing working folder as if the program were missing.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory if !self.cwd.is_dir() => {
                StepError::NoFolder(self.cwd.to_owned())
            }
            io::ErrorKind::NotFound => StepError::NotFound { program, source },
            io::ErrorKind::PermissionDenied => StepError::NotExecutable { program, source },
            _ => StepError::Spawn { program, source },
        }
    }
}

impl Running {
    /// Who this is, for the record; take it before [`Running::finish`].
    pub fn identity(&self) -> Process {
        self.identity.clone()
    }

    /// Writes `packet` and a closing end of file to stdin, reads until the worker ends, then kills what is left of
    /// its group. `on_poll` is called at once and then about every 100 ms.
    ///
    /// A worker need not read its packet. One that is cut off gets a SIGTERM, and a SIGKILL 2 s later. A process that
    /// left the group and holds a pipe open is not waited for longer than that.
    pub fn finish(mut self, packet: &[u8], on_poll: &mut dyn FnMut() -> Poll) -> Result<Ended, StepError> {
        let events = self.attend(packet)?;
        let mut output = Output { cap: self.output_cap, ..Output::default() };
        let mut fault = self.supervise(&events, &mut output, on_poll).err();
        if fault.is_some() {
            self.signal_group(Signal::TERM);
            // What goes wrong from here on is a consequence of the fault that is already known.
            let _ = output.drain(&events);
        }
        self.signal_group(Signal::KILL);
        let status = self.reap()?;
        let elapsed = self.since.elapsed();
        fault = fault.or(output.drain(&events).err());
        match fault {
            Some(fault) => Err(fault),
            None => {
                let Output { stdout, stderr_tail, .. } = output;
                Ok(Ended { exit: Exit::of(status), stdout, stderr_tail, elapsed })
            }
        }
    }

    /// Starts one thread for each pipe and one that waits for the end. Each owns a sender, so the channel closes when
    /// all have finished; and each gives up at its next event once the receiver is gone.
    fn attend(&mut self, packet: &[u8]) -> Result<Receiver<Event>, StepError> {
        let (sender, events) = mpsc::sync_channel(CHUNKS_IN_FLIGHT);
        if let Some(stdin) = self.child.stdin.take() {
            let packet = packet.to_vec();
            spawn(&sender, move |sender| feed(stdin, &packet, sender))?;
        }
        if let Some(stdout) = self.child.stdout.take() {
            spawn(&sender, move |sender| pump(stdout, Event::Stdout, sender))?;
        }
        if let Some(stderr) = self.child.stderr.take() {
            spawn(&sender, move |sender| pump(stderr, Event::Stderr, sender))?;
        }
        let leader = Pid::from_child(&self.child);
        spawn(&sender, move |sender| {
            // NOWAIT leaves it unreaped. An error means it is already gone, which is the same news.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let _ = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(leader), options));
            report(sender, Event::Exited);
        })?;
        Ok(events)
    }

    /// Returns when the leader has ended, or with the reason to end it.
    fn supervise(
        &self,
        events: &Receiver<Event>,
        output: &mut Output,
        on_poll: &mut dyn FnMut() -> Poll,
    ) -> Result<(), StepError> {
        let mut next_poll = Instant::now();
        loop {
            let now = Instant::now();
            let left = self.time_limit.saturating_sub(now.duration_since(self.since));
            if left.is_zero() {
                return Err(StepError::TimedOut { limit: self.time_limit });
            }
            if now >= next_poll {
                if on_poll() == Poll::Stop {
                    return Err(StepError::Stopped);
                }
                next_poll = Instant::now() + POLL_EVERY;
            }
            match events.recv_timeout(left.min(next_poll.saturating_duration_since(now))) {
                Ok(Event::Exited) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(event) => output.take(event)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn signal_group(&self, signal: Signal) {
        // Fails only when nobody is left to be signalled, or nobody we may signal.
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }

    fn reap(&mut self) -> Result<ExitStatus, StepError> {
        self.reaped = true;
        self.child.wait().map_err(|source| StepError::Io { what: "wait for its end", source })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal_group(Signal::KILL);
            // Nobody is left to tell.
            let _ = self.reap();
        }
    }
}

impl Exit {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// What the threads around a worker report.
#[derive(Debug)]
enum Event {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Exited,
    Failed(&'static str, io::Error),
}

/// What was kept of a worker's output.
#[derive(Debug, Default)]
struct Output {
    cap: usize,
    stdout: Vec<u8>,
    stderr_tail: Vec<u8>,
}

impl Output {
    /// Keeps stdout up to the cap; of stderr the tail.
    fn take(&mut self, event: Event) -> Result<(), StepError> {
        match event {
            Event::Stdout(chunk) if chunk.len() > self.cap - self.stdout.len() => {
                return Err(StepError::OutputTooLarge { cap: self.cap });
            }
            Event::Stdout(chunk) => self.stdout.extend(chunk),
            Event::Stderr(chunk) => {
                self.stderr_tail.extend(chunk);
                self.stderr_tail.drain(..self.stderr_tail.len().saturating_sub(STDERR_TAIL_BYTES));
            }
            Event::Exited => {}
            Event::Failed(what, source) => return Err(StepError::Io { what, source }),
        }
        Ok(())
    }

    /// Takes events until every thread has finished, for at most [`GRACE`]; returns the first fault, at the end.
    fn drain(&mut self, events: &Receiver<Event>) -> Result<(), StepError> {
        let until = Instant::now() + GRACE;
        let mut first = Ok(());
        loop {
            // Checked each time: someone who left the group may print for ever.
            let left = until.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(event) if !left.is_zero() => first = first.and(self.take(event)),
                _ => return first,
            }
        }
    }
}

fn spawn(
    sender: &SyncSender<Event>,
    work: impl FnOnce(&SyncSender<Event>) + Send + 'static,
) -> Result<(), StepError> {
    let sender = sender.clone();
    let spawned = thread::Builder::new().name("worker pipe".into()).spawn(move || work(&sender));
    spawned.map(drop).map_err(|source| StepError::Io { what: "start a thread for its pipes", source })
}

/// Reports the last thing a thread has to say; that nobody listens any more is then no matter.
fn report(sender: &SyncSender<Event>, event: Event) {
    let _ = sender.send(event);
}

fn feed(mut stdin: impl Write, packet: &[u8], sender: &SyncSender<Event>) {
    match stdin.write_all(packet) {
        // A worker may answer without having read its packet.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            report(sender, Event::Failed("write its packet", error));
        }
        _ => {}
    }
}

fn pump(mut from: impl Read, wrap: fn(Vec<u8>) -> Event, sender: &SyncSender<Event>) {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let event = match from.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => wrap(chunk[..n].to_vec()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return report(sender, Event::Failed("read its output", error)),
        };
        if sender.send(event).is_err() {
            return;
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
