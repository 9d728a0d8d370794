//! A temporary folder with a store, and the program run in it. Every command moves the frozen clock on by
//! a second, so that ages differ and nothing depends on the machine.

use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// 2026-02-26 01:00:00 UTC.
const START: u64 = 1_772_067_600_000;

/// A folder, and everything that was run in it.
pub struct Stage {
    folder: tempfile::TempDir,
    now: Cell<u64>,
    transcript: RefCell<String>,
}

impl Stage {
    /// A folder with an empty store.
    pub fn new() -> Self {
        let stage = Stage::bare();
        stage.ok("init");
        stage
    }

    /// A folder without a store.
    pub fn bare() -> Self {
        let folder = tempfile::Builder::new().prefix("stage-").tempdir().unwrap();
        Stage { folder, now: Cell::new(START), transcript: RefCell::new(String::new()) }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Writes a file in the folder, and gives its path.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Moves the clock on.
    pub fn hours_pass(&self, hours: u64) {
        self.now.set(self.now.get() + hours * 3_600_000);
    }

    /// A command, to be added to and run.
    pub fn cmd(&self, line: &str) -> Test<'_> {
        Test { stage: self, args: words(line), vars: Vec::new(), actor: "ana".to_owned() }
    }

    /// Runs a command as ana and writes it down in the transcript.
    pub fn show(&self, line: &str) -> Ran {
        self.cmd(line).show()
    }

    /// Runs a command that must succeed, and gives its stdout.
    pub fn ok(&self, line: &str) -> String {
        self.cmd(line).ok()
    }

    /// Runs a command with `--json` that must succeed, and gives what it printed.
    pub fn json(&self, line: &str) -> Value {
        self.cmd(line).json()
    }

    /// The `.id` of what a command prints with `--json`.
    pub fn id(&self, line: &str) -> String {
        self.json(line)["id"].as_str().unwrap().to_owned()
    }

    /// The id of the first issue that is ready in a role.
    pub fn ready(&self, role: &str) -> String {
        let found = self.json(&format!("issues ready --role {role}"));
        found[0]["id"].as_str().unwrap_or_else(|| panic!("no {role} is ready: {found}")).to_owned()
    }

    /// How many events there are: a number that every write makes larger.
    pub fn events(&self) -> usize {
        self.json("log").as_array().unwrap().len()
    }

    /// Runs a command that must be refused with this exit code, with an error that says why, and with
    /// nothing written.
    pub fn refused(&self, exit: i32, line: &str) -> Ran {
        self.cmd(line).refused(exit)
    }

    /// Runs a shell script that finds the program by its name.
    pub fn script(&self, text: &str) -> Ran {
        let program = Path::new(env!("CARGO_BIN_EXE_roundgate"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut command = self.cmd("").command();
        let vars: Vec<_> = command.get_envs().map(|(k, v)| (k.to_owned(), v.map(OsStr::to_owned))).collect();
        command = Command::new("sh");
        for (name, value) in vars {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .arg("-c")
            .arg(text)
            .env("PATH", path)
            .env("ROUNDGATE_ACTOR", "ana")
            .current_dir(self.path(""));
        Ran::of(&command.stdin(Stdio::null()).output().unwrap())
    }

    /// Everything shown so far, with the folder's path taken out.
    pub fn transcript(&self) -> String {
        let text = self.transcript.borrow().clone();
        text.replace(&self.path("").to_string_lossy().trim_end_matches('/').to_owned(), "[FOLDER]")
    }
}

/// One command in the making.
pub struct Test<'s> {
    stage: &'s Stage,
    args: Vec<OsString>,
    vars: Vec<(String, OsString)>,
    actor: String,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

impl<'s> Test<'s> {
    /// Adds an argument as it is.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Who acts.
    pub fn by(mut self, actor: &str) -> Self {
        self.actor = actor.to_owned();
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.vars.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The process, ready to be started.
    pub fn command(&self) -> Command {
        let stage = self.stage;
        stage.now.set(stage.now.get() + 1_000);
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        command.args(&self.args).arg("--as").arg(&self.actor).current_dir(stage.path(""));
        for name in ["ROUNDGATE_STORE", "ROUNDGATE_ACTOR", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("ROUNDGATE_NOW", stage.now.get().to_string()).env("ROUNDGATE_SEED", "1");
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command
    }

    /// Runs it.
    pub fn run(&self) -> Ran {
        Ran::of(&self.command().output().unwrap())
    }

    /// Runs it and writes it down in the transcript.
    pub fn show(&self) -> Ran {
        let ran = self.run();
        let args: Vec<String> = self.args.iter().map(|arg| quoted(&arg.to_string_lossy())).collect();
        let who = if self.actor == "ana" { String::new() } else { format!("[{}] ", self.actor) };
        let mut text = format!("{who}$ roundgate {}\n{}", args.join(" "), ran.stdout);
        ran.stderr.lines().for_each(|line| text.push_str(&format!("2> {line}\n")));
        if ran.exit != 0 {
            text.push_str(&format!("=> exit {}\n", ran.exit));
        }
        let mut transcript = self.stage.transcript.borrow_mut();
        if !transcript.is_empty() {
            transcript.push('\n');
        }
        transcript.push_str(&text);
        ran
    }

    /// Runs it; it must succeed.
    pub fn ok(&self) -> String {
        let ran = self.run();
        assert_eq!(ran.exit, 0, "{:?}: {}", self.args, ran.stderr);
        ran.stdout
    }

    /// Runs it with `--json`; it must succeed, and print one JSON value and nothing else.
    pub fn json(mut self) -> Value {
        self.args.push("--json".into());
        let ran = self.run();
        assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{:?}", self.args);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// Runs it twice, for people and for programs: it must be refused with this exit code, say why both
    /// times, and write nothing. The first is written down in the transcript.
    pub fn refused(mut self, exit: i32) -> Ran {
        let store = place::store_bytes(self.stage);
        let ran = self.show();
        assert_eq!(ran.exit, exit, "{:?}: {}{}", self.args, ran.stdout, ran.stderr);
        assert_eq!(ran.stdout, "", "{:?}", self.args);
        assert!(ran.stderr.starts_with("error: "), "{:?}: {}", self.args, ran.stderr);
        self.args.push("--json".into());
        let coded = self.run();
        assert_eq!(coded.exit, exit, "{:?}: {}", self.args, coded.stderr);
        coded.error();
        assert!(place::store_bytes(self.stage) == store, "{:?} wrote something", self.args);
        ran
    }
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Ran {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// The error that a command with `--json` printed: one object on stderr, and nothing on stdout.
    pub fn error(&self) -> Value {
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        let error: Value = serde_json::from_str(&self.stderr).unwrap();
        assert!(error["code"].is_string() && error["message"].is_string(), "{error}");
        assert!(error["hint"].is_string() || error["hint"].is_null(), "{error}");
        assert!(error["retryable"].is_boolean(), "{error}");
        error
    }
}

/// What of the store can be compared before and after.
mod place {
    use super::{Path, PathBuf, Stage, fs};

    /// The names and bytes of the store's files.
    pub fn store_bytes(stage: &Stage) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let Ok(entries) = fs::read_dir(stage.path(".roundgate")) else { return files };
        for entry in entries {
            let path = entry.unwrap().path();
            // The index of the write-ahead log is shared memory, not content.
            if !path.to_string_lossy().ends_with("-shm") && !empty_log(&path) {
                let bytes = fs::read(&path).unwrap();
                files.push((path, bytes));
            }
        }
        files.sort();
        files
    }

    fn empty_log(path: &Path) -> bool {
        path.to_string_lossy().ends_with("-wal") && fs::metadata(path).unwrap().len() == 0
    }
}

/// Splits a line as a shell does, with single and double quotes.
fn words(line: &str) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take().map(OsString::from)),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.,:/=@|+".contains(c);
    match arg {
        _ if !arg.is_empty() && arg.chars().all(plain) => arg.to_owned(),
        _ if arg.len() > 120 => format!("'{}...'", arg.chars().take(24).collect::<String>().escape_debug()),
        _ => format!("'{}'", arg.escape_debug()),
    }
}

#[test]
fn a_line_is_split_as_a_shell_does() {
    assert_eq!(words("a 'b c' --d=\"e f\" ''"), ["a", "b c", "--d=e f", ""]);
}
