//! Times whole processes, from the call to the end.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A program and its arguments.
#[derive(Debug, Clone)]
pub struct Call {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Call {
    /// A call of a program.
    pub fn of<A: Into<OsString>>(program: &Path, arguments: impl IntoIterator<Item = A>) -> Self {
        Call {
            program: program.as_os_str().to_owned(),
            arguments: arguments.into_iter().map(Into::into).collect(),
        }
    }

    /// The program and its arguments as one list.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        std::iter::once(self.program.clone()).chain(self.arguments.clone())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        // Nothing of the caller's surroundings may change what is measured.
        for name in ["ROUNDGATE_STORE", "ROUNDGATE_ACTOR", "ROUNDGATE_NOW", "ROUNDGATE_SEED"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs it with its output thrown away, and says how long that took.
    pub fn timed(&self) -> Result<Duration> {
        let mut command = self.command();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let status = command.spawn()?.wait()?;
        let took = started.elapsed();
        if !status.success() {
            return Err(format!("{self:?} ended with {status}: {}", self.complaint()?).into());
        }
        Ok(took)
    }

    /// Runs it and gives what it printed.
    pub fn output(&self) -> Result<String> {
        let output = self.command().output()?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{self:?} ended with {}: {complaint}", output.status).into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn complaint(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.command().output()?.stderr).into_owned())
    }
}

/// How long the runs of one thing took.
#[derive(Debug, Clone, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// One more run.
    pub fn add(&mut self, took: Duration) {
        let at = self.0.partition_point(|&other| other <= took);
        self.0.insert(at, took);
    }

    /// How many runs there were.
    pub fn runs(&self) -> usize {
        self.0.len()
    }

    /// The run that this share of all runs is not slower than.
    fn at(&self, share: f64) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    }

    /// The middle one.
    pub fn median(&self) -> Duration {
        self.at(0.5)
    }

    /// Nine of ten were not slower.
    pub fn p90(&self) -> Duration {
        self.at(0.9)
    }

    /// The fastest one.
    pub fn best(&self) -> Duration {
        self.at(0.0)
    }
}

/// One duration as so many times another.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(f64::EPSILON)
}
