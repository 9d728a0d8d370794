//! The built program in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a store, or one to be made.
pub struct Place {
    pub above: TempDir,
}

impl Place {
    /// A store with a scope in its second round, an ask, posts and an edge.
    pub fn worked() -> Place {
        let place = Place::empty();
        place.ok(&["init"]);
        let root = place.json(&["issues", "create", "Root", "--tag", "kind:root"])["id"].clone();
        let root = root.as_str().unwrap().to_owned();
        let one = place.created(&["issues", "create", "One", "--parent", &root, "--body", "Do it: Grüße"]);
        let two = place.created(&["issues", "create", "Two", "--parent", &root]);
        place.ok(&["issues", "dep", &one, "blocks", &two]);
        place.ok(&["forum", "post", &format!("issue:{one}"), "--message", "a note"]);
        place.ok(&["rounds", "open", &one]);
        place
    }

    pub fn empty() -> Place {
        Place { above: tempfile::tempdir().unwrap() }
    }

    pub fn cwd(&self) -> &Path {
        self.above.path()
    }

    pub fn store(&self) -> PathBuf {
        self.cwd().join(".roundgate")
    }

    pub fn database(&self) -> PathBuf {
        self.store().join("roundgate.db")
    }

    pub fn mark(&self) -> PathBuf {
        self.store().join("roundgate.mark")
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        command.args(arguments).current_dir(self.cwd()).env_remove("ROUNDGATE_STORE");
        command.env("ROUNDGATE_ACTOR", "ann").env("ROUNDGATE_NOW", "1800000000000");
        command.env("ROUNDGATE_SEED", "7");
        command
    }

    /// Runs a command that must succeed; its stdout.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail with an exit code; its error as JSON.
    pub fn refused(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stderr).unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    fn created(&self, arguments: &[&str]) -> String {
        self.json(arguments)["id"].as_str().unwrap().to_owned()
    }

    /// What doctor finds, and its exit code.
    pub fn doctor(&self, more: &[&str]) -> (i32, Value) {
        let output = self.run(&[&["doctor", "--json"], more].concat());
        let found = serde_json::from_slice(&output.stdout);
        (output.status.code().unwrap(), found.unwrap_or_else(|_| panic!("{output:?}")))
    }

    /// The names of the checks that found something.
    pub fn faults(&self) -> Vec<String> {
        let (code, found) = self.doctor(&[]);
        let faults = faults_of(&found);
        assert_eq!(code, if faults.is_empty() { 0 } else { 7 }, "{found}");
        faults
    }

    /// Runs SQL on the database, past the program.
    pub fn sql(&self, sql: &str) {
        let conn = rusqlite::Connection::open(self.database()).unwrap();
        conn.execute_batch(sql).unwrap();
        conn.close().unwrap();
    }

    /// The names in the store's folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.store()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub fn faults_of(found: &Value) -> Vec<String> {
    let checks = found["checks"].as_array().unwrap().iter();
    let faults = checks.filter(|check| check["health"] == "fault");
    faults.map(|check| check["name"].as_str().unwrap().to_owned()).collect()
}
