//! A folder in which the program is called, by itself or by a shell script.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The moment at which things happen, unless a test says otherwise.
pub const NOW: u64 = 1_796_000_000_000;

/// A folder of its own.
pub struct Shell(TempDir);

/// What a call left behind.
#[derive(Debug)]
pub struct Said {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    fn of(output: Output) -> Said {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub fn exit(self, code: i32) -> Said {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Shell {
    pub fn bare() -> Shell {
        Shell(tempfile::tempdir().unwrap())
    }

    /// With a store.
    pub fn new() -> Shell {
        let shell = Shell::bare();
        shell.say("init").exit(0);
        shell
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join(".roundgate")
    }

    fn clean(&self, mut command: Command, actor: &str, now: u64) -> Command {
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROUNDGATE_"))
        {
            command.env_remove(name);
        }
        command.env("ROUNDGATE_ACTOR", actor).env("ROUNDGATE_NOW", now.to_string());
        command.env("BIN", env!("CARGO_BIN_EXE_roundgate")).current_dir(self.path());
        command
    }

    /// Calls the program as somebody at some moment, with words split at blanks.
    pub fn say_as(&self, actor: &str, now: u64, line: &str) -> Said {
        let mut command = self.clean(Command::new(env!("CARGO_BIN_EXE_roundgate")), actor, now);
        Said::of(command.args(line.split_whitespace()).output().unwrap())
    }

    pub fn say(&self, line: &str) -> Said {
        self.say_as("ann", NOW, line)
    }

    /// The id of what a line makes.
    pub fn id(&self, line: &str) -> String {
        self.say(&format!("{line} --json")).exit(0).json()["id"].as_str().unwrap().to_owned()
    }

    /// Runs a script, in which `$BIN` is the program.
    pub fn script(&self, text: &str) -> Said {
        let mut command = self.clean(Command::new("sh"), "ann", NOW);
        Said::of(command.args(["-euc", text]).output().unwrap())
    }

    /// The same where the script may mount file systems that only it sees; `None` where the machine does
    /// not allow that.
    pub fn mounting(&self, text: &str) -> Option<Said> {
        let ours = |text: &str| {
            let mut command = self.clean(Command::new("unshare"), "ann", NOW);
            command.args(["-Urm", "sh", "-euc", text]).output().ok()
        };
        let allowed = ours("mkdir -p probe && mount -t tmpfs -o size=64k none probe");
        if allowed.is_none_or(|output| !output.status.success()) {
            eprintln!("nothing can be mounted here, so nothing was tried");
            return None;
        }
        ours(text).map(Said::of)
    }

    /// Asserts that doctor finds nothing.
    #[track_caller]
    pub fn sound(&self) {
        self.say("doctor").exit(0);
    }
}
