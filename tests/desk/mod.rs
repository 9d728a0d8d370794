//! A folder of its own to call the program in, with a frozen clock and ids that follow from a seed.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What one call of the program left behind.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Expects this exit code.
    #[track_caller]
    pub fn exit(self, code: i32) -> Said {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Expects these words among the errors and messages.
    #[track_caller]
    pub fn tells(self, words: &[&str]) -> Said {
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in\n{}", self.err);
        }
        self
    }

    /// Expects these words in the result.
    #[track_caller]
    pub fn shows(self, words: &[&str]) -> Said {
        for word in words {
            assert!(self.out.contains(word), "{word:?} is not in\n{}", self.out);
        }
        self
    }

    /// The result as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A folder to work in.
pub struct Desk {
    folder: TempDir,
}

impl Desk {
    /// Without a store.
    pub fn bare() -> Desk {
        Desk { folder: tempfile::tempdir().unwrap() }
    }

    /// With a new store in it.
    pub fn new() -> Desk {
        let desk = Desk::bare();
        desk.run(["init"]).exit(0);
        desk
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below the folder.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Calls the program.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROUNDGATE_"))
        {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("ROUNDGATE_NOW", "1796000000000").env("ROUNDGATE_SEED", "7").env("LOGNAME", "ada");
        let output = command.output().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Calls the program with words split at blanks.
    pub fn say(&self, line: &str) -> Said {
        self.run(line.split_whitespace())
    }

    /// The events of the store, by its log, and the bytes of its database.
    pub fn state(&self) -> (usize, Vec<u8>) {
        let events = self.say("log --json").exit(0).json().as_array().unwrap().len();
        (events, self.database())
    }

    /// The bytes of the database and of its log file, should there be one.
    pub fn database(&self) -> Vec<u8> {
        let store = self.path(".roundgate");
        let mut bytes = fs::read(store.join("roundgate.db")).unwrap();
        bytes.extend(fs::read(store.join("roundgate.db-wal")).unwrap_or_default());
        bytes
    }
}
