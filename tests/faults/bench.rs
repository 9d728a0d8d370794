//! A folder with a store, brought to where a verb can do its work.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// The moment at which everything happens.
pub const NOW: u64 = 1_796_000_000_000;

/// One command line, who calls it, and how long after [`NOW`].
#[derive(Debug, Clone)]
pub struct Line {
    pub words: Vec<String>,
    pub actor: &'static str,
    pub later: u64,
}

impl Line {
    /// Words split at blanks.
    pub fn of(text: impl AsRef<str>) -> Line {
        let words = text.as_ref().split_whitespace().map(str::to_owned).collect();
        Line { words, actor: "ann", later: 0 }
    }

    pub fn by(self, actor: &'static str) -> Line {
        Line { actor, ..self }
    }

    pub fn later(self, later: u64) -> Line {
        Line { later, ..self }
    }

    /// The surroundings in which it is run: nothing comes from outside.
    pub fn set(&self, command: &mut Command, folder: &Path) {
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROUNDGATE_"))
        {
            command.env_remove(name);
        }
        command.current_dir(folder).env("ROUNDGATE_ACTOR", self.actor).env("ROUNDGATE_SEED", "7");
        command.env("ROUNDGATE_NOW", (NOW + self.later).to_string());
    }
}

/// A folder with a store in it.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    pub fn new() -> Bench {
        let bench = Bench { folder: tempfile::tempdir().unwrap() };
        bench.done(&Line::of("init"));
        bench
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    /// Runs a line that must succeed; what it printed.
    pub fn done(&self, line: &Line) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        line.set(&mut command, self.path());
        let output = command.args(&line.words).arg("--json").output().unwrap();
        assert!(output.status.success(), "{line:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    pub fn run(&self, line: impl AsRef<str>) -> Value {
        self.done(&Line::of(line))
    }

    /// The id of what a line made or changed.
    pub fn id(&self, line: impl AsRef<str>) -> String {
        self.run(line)["id"].as_str().unwrap().to_owned()
    }

    /// A new issue.
    pub fn issue(&self, title: &str) -> String {
        self.id(format!("issues create {title}"))
    }

    /// The first issue that is ready in a role.
    pub fn ready(&self, role: &str) -> String {
        self.run(format!("issues ready --role {role}"))[0]["id"].as_str().unwrap().to_owned()
    }

    /// The first ask that is open.
    pub fn ask(&self) -> String {
        self.run("asks list")[0]["id"].as_str().unwrap().to_owned()
    }

    /// A scope in a root whose first round has yet to be opened, and work that waits for it.
    pub fn scope(&self, rounds: u32) -> (String, String) {
        let root = self.id("issues create Root --tag kind:root");
        let scope = self.id(format!(
            "issues create Scope --parent {root} --tag flow:review-gated-v1 --max-review-rounds {rounds}"
        ));
        let beyond = self.id(format!("issues create Beyond --parent {root}"));
        self.run(format!("issues dep {scope} blocks {beyond}"));
        (root, scope)
    }

    /// The same with the first round open.
    pub fn opened(&self, rounds: u32) -> String {
        let (root, _) = self.scope(rounds);
        self.run(format!("tick --root {root}"));
        root
    }

    /// The same with the attempt done.
    pub fn attempted(&self, rounds: u32) -> String {
        let root = self.opened(rounds);
        self.run(format!("issues close {}", self.ready("attempt")));
        root
    }

    /// The same with a verdict that no tick has used.
    pub fn judged(&self, rounds: u32, verdict: &str) -> String {
        let root = self.attempted(rounds);
        let line = format!("rounds verdict {} {verdict} --note so", self.ready("review"));
        self.done(&Line::of(line).by("bob"));
        root
    }

    /// A root whose only round failed: a human is asked.
    pub fn escalated(&self) -> String {
        let root = self.judged(1, "needs_work");
        self.run(format!("tick --root {root}"));
        root
    }

    /// The same with an answer that no tick has used.
    pub fn answered(&self, answer: &str) -> String {
        let root = self.escalated();
        self.run(format!("answer {} {answer} --note so", self.ask()));
        root
    }

    /// An ask of which nobody could be told, for want of a notifier that works. By now none is configured.
    pub fn undelivered(&self) -> String {
        self.run(r#"config set notify.command ["false"]"#);
        let ask = self.id("issues create Which? --tag kind:ask");
        let line = Line::of("notify send");
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        line.set(&mut command, self.path());
        assert_eq!(command.args(&line.words).output().unwrap().status.code(), Some(1));
        self.run("config set notify.command []");
        ask
    }

    /// A root with a failure that nobody takes care of, and an answer to that.
    pub fn failed(&self, answer: &str) -> String {
        let root = self.id("issues create Root --tag kind:root");
        let work = self.id(format!("issues create Work --parent {root}"));
        self.run(format!("issues close {work} --outcome failure --reason broken"));
        self.run(format!("tick --root {root}"));
        self.run(format!("answer {} {answer} --note so", self.ask()));
        root
    }
}

/// A folder as it was at one moment.
pub struct Kept(TempDir);

impl Kept {
    /// Keeps a bench as it is.
    pub fn of(bench: &Bench) -> Kept {
        let kept = Kept(tempfile::tempdir().unwrap());
        copy(bench.path(), kept.0.path());
        kept
    }

    /// Makes the bench again what it was. It stays where it is: plans remember their folder.
    pub fn put_back(&self, bench: &Bench) {
        fs::remove_dir_all(bench.path().join(".roundgate")).unwrap();
        copy(self.0.path(), bench.path());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}
