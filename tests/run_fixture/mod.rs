//! A folder with a plan and a worker script, and the built program at work in it: what the tests of
//! `run` have in common.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use roundgate::model::change::Event;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Store};
use tempfile::TempDir;

/// A temp folder with `plan.toml`, `worker.sh` and, once something has run, a store.
pub struct World {
    folder: TempDir,
}

impl World {
    /// A world whose workers are all the one script. The plan's head and worker tables are added here.
    pub fn new(script: &str, defaults: &str, goals: &str) -> World {
        let folder = tempfile::tempdir().unwrap();
        let plan = format!(
            "[root]\nkey = \"root\"\ntitle = \"The root\"\n\n[defaults]\n{defaults}\n\
             [workers.attempt]\ncommand = [\"sh\", \"./worker.sh\"]\n\
             [workers.review]\ncommand = [\"sh\", \"./worker.sh\"]\n\n{goals}"
        );
        fs::write(folder.path().join("plan.toml"), plan).unwrap();
        fs::write(folder.path().join("worker.sh"), script).unwrap();
        World { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program in this folder, and in no surroundings but these.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        for name in ["STORE", "ACTOR", "NOW", "SEED", "ROOT", "ISSUE"] {
            command.env_remove(format!("ROUNDGATE_{name}"));
        }
        command.args(arguments).current_dir(self.folder.path());
        command.env("LOGNAME", "ann").env("BIN", env!("CARGO_BIN_EXE_roundgate"));
        command
    }

    /// Runs the program to its end.
    pub fn says(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Runs the plan to where it ends, and expects this exit code.
    #[track_caller]
    pub fn run(&self, code: i32) -> Said {
        let said = self.says(&["run", "plan.toml"]);
        assert_eq!(said.code, Some(code), "{said:#?}");
        said
    }

    /// The lines of a file that the workers write, none if there is no file.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// What the store holds.
    pub fn stored(&self) -> (Snapshot, Vec<Event>) {
        let store = Sqlite::open(&self.path(".roundgate")).unwrap();
        (store.snapshot().unwrap().0, store.events(&EventQuery::default()).unwrap())
    }
}

/// What a command said at its end.
#[derive(Debug)]
pub struct Said {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    pub fn of(output: Output) -> Said {
        Said {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Waits until something is so, and fails when that takes unreasonably long.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !so() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process with this id runs: neither gone nor a zombie that nobody has collected yet.
pub fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
