//! Whatever lies where a store should be, every command ends, says why, and leaves it as it was, to the
//! byte.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

const FILE: &str = "roundgate.db";

/// Every command that looks at a store, or would make or change one.
const COMMANDS: [&str; 34] = [
    "init",
    "issues list",
    "issues create New",
    "issues update rg-a --title New",
    "issues claim rg-a",
    "issues claim --next",
    "issues release rg-a",
    "issues close rg-a",
    "issues open rg-a",
    "issues dep rg-a blocks rg-b",
    "issues undep rg-a blocks rg-b",
    "issues retry rg-a",
    "issues ready",
    "issues validate rg-a",
    "forum post issue:rg-a -m words",
    "forum topics",
    "rounds open rg-a",
    "rounds verdict rg-a pass",
    "asks list",
    "answer rg-a accept",
    "tick --all",
    "heartbeats create --root rg-a",
    "heartbeats list",
    "heartbeats run --once",
    "cron create --root rg-a --every 1h",
    "cron list",
    "status",
    "log",
    "graph rg-a",
    "plan apply plan.toml",
    "import --format beads export.jsonl",
    "doctor",
    "doctor --fix",
    "backup copy.db",
];

/// A folder with a store in it that has one issue, and something to apply and to import.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let output = place.run("init");
        assert!(output.status.success(), "{output:?}");
        assert!(place.run("issues create Work").status.success());
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        fs::copy(fixtures.join("plans/quickstart.toml"), place.path("plan.toml")).unwrap();
        fs::copy(fixtures.join("import/beads-odd.jsonl"), place.path("export.jsonl")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn store(&self, name: &str) -> PathBuf {
        self.path(".roundgate").join(name)
    }

    /// Runs a command, which must end by itself.
    fn run(&self, line: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ROUNDGATE_"))
        {
            command.env_remove(name);
        }
        command.args(line.split_whitespace()).current_dir(self.0.path()).env("ROUNDGATE_ACTOR", "ann");
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > Duration::from_secs(30) {
                child.kill().unwrap();
                let output = child.wait_with_output().unwrap();
                panic!("{line} hangs: {output:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        child.wait_with_output().unwrap()
    }

    /// Every file of the folder with its bytes, and what else is there by its sort.
    fn all(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut folders, mut found) = (vec![self.0.path().to_owned()], BTreeMap::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap().file_type();
                // Memory that users share; and an empty log, which reading alone may bring about.
                let memory = path.to_string_lossy().ends_with("-shm");
                let empty = kind.is_file()
                    && path.to_string_lossy().ends_with("-wal")
                    && path.metadata().unwrap().len() == 0;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    if !memory && !empty {
                        let bytes = fs::read(&path).unwrap();
                        found.insert(path, bytes);
                    }
                } else {
                    let sort = if kind.is_fifo() { "pipe" } else { "other" };
                    found.insert(path, sort.as_bytes().to_vec());
                }
            }
        }
        found
    }
}

/// Puts something in the place of the database or of what lies beside it.
type Plant = (&'static str, fn(&Place));

fn pipe(path: &Path) {
    fs::remove_file(path).ok();
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
}

fn link(place: &Place, name: &str) {
    let there = place.path("elsewhere");
    fs::rename(place.store(name), &there).or_else(|_| fs::write(&there, "what others own")).unwrap();
    symlink(there, place.store(name)).unwrap();
}

fn sql(place: &Place, sql: &str) {
    let conn = Connection::open(place.store(FILE)).unwrap();
    conn.execute_batch(sql).unwrap();
    conn.close().unwrap();
}

/// Things that are no store, or not only one.
const PLANTS: [Plant; 22] = [
    ("an empty file", |place| fs::write(place.store(FILE), "").unwrap()),
    ("a picture", |place| {
        let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        picture.resize(9_000, 7);
        fs::write(place.store(FILE), picture).unwrap();
    }),
    ("a text that is very long", |place| fs::write(place.store(FILE), "words ".repeat(100_000)).unwrap()),
    ("only the header of a database", |place| {
        let whole = fs::read(place.store(FILE)).unwrap();
        fs::write(place.store(FILE), &whole[..100]).unwrap();
    }),
    ("a header, and noise behind it", |place| {
        let mut whole = fs::read(place.store(FILE)).unwrap();
        whole[100..].fill(0xa5);
        fs::write(place.store(FILE), whole).unwrap();
    }),
    ("the database of another program", |place| {
        fs::remove_file(place.store(FILE)).unwrap();
        sql(place, "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    }),
    ("the database of another program, in WAL mode", |place| {
        fs::remove_file(place.store(FILE)).unwrap();
        sql(place, "PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)");
    }),
    ("a newer schema", |place| sql(place, "PRAGMA user_version = 99")),
    ("no schema", |place| sql(place, "PRAGMA user_version = 0")),
    ("a trigger", |place| {
        sql(place, "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM posts; END");
    }),
    ("a trigger before everything", |place| {
        sql(place, "CREATE TRIGGER t BEFORE UPDATE ON issues BEGIN SELECT raise(IGNORE); END");
    }),
    ("a view in the place of a table", |place| {
        sql(place, "ALTER TABLE posts RENAME TO p; CREATE VIEW posts AS SELECT * FROM p");
    }),
    ("an index over an expression", |place| {
        sql(place, "CREATE INDEX i ON issues(abs(priority))");
    }),
    ("a virtual table", |place| sql(place, "CREATE VIRTUAL TABLE v USING fts5(x)")),
    ("another journal mode", |place| sql(place, "PRAGMA journal_mode = DELETE")),
    ("a rollback journal beside it", |place| {
        fs::write(place.store("roundgate.db-journal"), [7; 2_000]).unwrap()
    }),
    ("a named pipe", |place| pipe(&place.store(FILE))),
    ("a socket", |place| {
        fs::remove_file(place.store(FILE)).unwrap();
        drop(UnixListener::bind(place.store(FILE)).unwrap());
    }),
    ("a link to a store", |place| link(place, FILE)),
    ("a link to nowhere", |place| {
        fs::remove_file(place.store(FILE)).unwrap();
        symlink("nowhere", place.store(FILE)).unwrap();
    }),
    ("a named pipe for a log", |place| pipe(&place.store("roundgate.db-wal"))),
    ("a link for a log", |place| link(place, "roundgate.db-wal")),
];

/// Runs every command, and says what one of them did that it should not have.
fn meet(place: &Place, exits: &[i32]) -> Result<(), String> {
    let before = place.all();
    for line in COMMANDS {
        let output = place.run(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        if !code.is_some_and(|code| exits.contains(&code)) || said.contains("panicked") {
            return Err(format!("{line}: {code:?}, {said}"));
        }
        let after = place.all();
        if after != before {
            let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
            return Err(format!("{line} changed something: {:?} {:?}", names(&before), names(&after)));
        }
    }
    Ok(())
}

#[test]
fn whatever_is_no_store_is_refused_by_every_command_and_left_as_it_is() {
    for (what, plant) in PLANTS {
        let place = Place::new();
        plant(&place);
        meet(&place, &[7]).unwrap_or_else(|why| panic!("{what}: {why}"));
    }
}

#[test]
fn a_store_that_is_one_is_not_taken_for_hostile() {
    // The planted bug: the commands do as they are told, and the harness must say so.
    let why = meet(&Place::new(), &[0, 2, 3, 4, 5, 7]).unwrap_err();
    assert!(why.contains("changed something"), "{why}");
}

#[test]
fn a_configuration_or_a_mark_that_is_no_file_hangs_nobody() {
    for name in ["config.toml", "roundgate.mark"] {
        let place = Place::new();
        pipe(&place.store(name));
        for line in COMMANDS {
            let output = place.run(line);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code().is_some() && !said.contains("panicked"), "{name}: {line}: {said}");
        }
        assert!(place.store(name).metadata().unwrap().file_type().is_fifo(), "{name} was replaced");
    }
}

#[test]
fn a_mark_that_is_a_link_is_not_followed() {
    let place = Place::new();
    fs::remove_file(place.store("roundgate.mark")).unwrap();
    fs::write(place.path("precious"), "what others own").unwrap();
    symlink(place.path("precious"), place.store("roundgate.mark")).unwrap();
    for line in ["issues create More", "doctor", "doctor --fix", "issues list"] {
        assert!(!String::from_utf8_lossy(&place.run(line).stderr).contains("panicked"), "{line}");
        assert_eq!(fs::read(place.path("precious")).unwrap(), b"what others own", "{line}");
    }
}
