//! The README is right: its commands run as they stand there and print what it shows, and its tables
//! are those of the program.
//!
//! A comment `<!-- tested: SCENE -->` before a `sh` block has its lines run, one after the other, in the
//! folder of that scene, which has a copy of the fixtures. A line that ends with `# exit N` must exit
//! with N, every other line with 0. The lines of a `text` block that follows must come in that order
//! among what was printed. Ids are random: the first one met stands for the one in the README.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use roundgate::engine::{Cause, Transition};
use roundgate::model::id::IssueId;

/// How the README's commands call the program before it is installed.
const CARGO_RUN: &str = "cargo run --release --";
/// The folder in the README's transcripts.
const FOLDER: &str = "/home/you/project";
/// The moment of the README's transcripts.
const NOW: &str = "1796000000000";

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// A tested block: its commands, and the transcript below it.
struct Block {
    scene: String,
    commands: Vec<String>,
    transcript: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut announced, mut fence, mut in_tested) = (None, None, false);
    for line in text.lines() {
        match (fence, line) {
            (Some(_), "```") => fence = None,
            (Some("sh"), command) if in_tested => {
                blocks.last_mut().unwrap().commands.push(command.to_owned());
            }
            (Some("text"), said) if in_tested => {
                blocks.last_mut().unwrap().transcript.push(said.to_owned());
            }
            (Some(_), _) => {}
            (None, _) => {
                if let Some(scene) = line.strip_prefix("<!-- tested: ") {
                    announced = Some(scene.trim_end_matches(" -->").to_owned());
                }
                if let Some(kind) = line.strip_prefix("```") {
                    fence = Some(kind);
                    if kind == "sh" {
                        in_tested = announced.is_some();
                    }
                    if let Some(scene) = announced.take_if(|_| kind == "sh") {
                        blocks.push(Block { scene, commands: Vec::new(), transcript: Vec::new() });
                    }
                }
            }
        }
    }
    blocks
}

/// The folder of one scene.
struct Scene {
    folder: tempfile::TempDir,
    ids: BTreeMap<String, String>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        copy(&fixtures, &folder.path().join("work/fixtures"));
        fs::create_dir(folder.path().join("bin")).unwrap();
        let program = folder.path().join("bin/roundgate");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_roundgate"), program).unwrap();
        Scene { folder, ids: BTreeMap::new() }
    }

    fn work(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    /// Runs a command line as a shell would; gives everything it printed, and its exit code.
    fn run(&self, line: &str) -> (String, Option<i32>) {
        let said = self.folder.path().join("said");
        let out = File::create(&said).unwrap();
        let path = format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.work()).env("PATH", path);
        for name in ["ROUNDGATE_STORE", "ROUNDGATE_ACTOR", "ROUNDGATE_SEED"] {
            command.env_remove(name);
        }
        command.env("LOGNAME", "you").env("ROUNDGATE_NOW", NOW).stdin(Stdio::null());
        let status = command.stdout(out.try_clone().unwrap()).stderr(out).status().unwrap();
        let printed = fs::read_to_string(&said).unwrap();
        (printed.replace(&self.work().display().to_string(), FOLDER), status.code())
    }

    fn play(&mut self, block: &Block) {
        let mut printed = String::new();
        for command in &block.commands {
            let command = command.replace(CARGO_RUN, "roundgate");
            let (line, exit) = match command.split_once("# exit ") {
                Some((line, exit)) => (line, exit.trim().parse().unwrap()),
                None => (command.as_str(), 0),
            };
            // A command may name an id that the same block shows for the first time.
            self.learn(&block.transcript, &printed);
            let (said, code) = self.run(&self.translated(line));
            assert_eq!(code, Some(exit), "{line}\n{said}");
            printed.push_str(&said);
        }
        let missing = self.learn(&block.transcript, &printed);
        assert!(missing.is_none(), "not printed: {}\n\nprinted:\n{printed}", missing.unwrap_or_default());
    }

    /// The line with the README's ids replaced by those of this run.
    fn translated(&self, line: &str) -> String {
        let each = pieces(line).into_iter().map(|piece| match is_id(piece) {
            true => self.ids.get(piece).unwrap_or_else(|| panic!("{piece} in {line:?} was never shown")),
            false => piece,
        });
        each.collect()
    }

    /// Finds the transcript's lines among what was printed, in order, and learns the ids; gives the first
    /// line that is not there.
    fn learn(&mut self, transcript: &[String], printed: &str) -> Option<String> {
        let mut printed = printed.lines();
        transcript.iter().find(|wanted| !printed.any(|line| self.same(wanted, line))).cloned()
    }

    fn same(&mut self, wanted: &str, found: &str) -> bool {
        let (wanted, found) = (pieces(wanted.trim_end()), pieces(found.trim_end()));
        if wanted.len() != found.len() {
            return false;
        }
        let mut learnt = self.ids.clone();
        let same = wanted.iter().zip(&found).all(|(wanted, found)| match is_id(wanted) && is_id(found) {
            true => learnt.entry((*wanted).to_owned()).or_insert_with(|| (*found).to_owned()) == found,
            false => wanted == found,
        });
        if same {
            self.ids = learnt;
        }
        same
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() { copy(&from, &to) } else { fs::copy(&from, &to).map(|_| ()).unwrap() }
    }
}

fn is_id(piece: &str) -> bool {
    piece.strip_prefix("rg-").is_some_and(|rest| !rest.is_empty())
}

/// A line cut into ids and what is between them.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("rg-") {
        let length =
            rest[at + 3..].find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).map(|n| n + 3);
        let end = at + length.unwrap_or(rest.len() - at);
        pieces.extend([&rest[..at], &rest[at..end]]);
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

#[test]
fn every_tested_block_does_what_the_readme_shows() {
    let mut scenes: BTreeMap<String, Scene> = BTreeMap::new();
    let blocks = blocks(&readme());
    for block in &blocks {
        assert!(
            !block.commands.is_empty() && !block.transcript.is_empty(),
            "an empty block in {}",
            block.scene
        );
        scenes.entry(block.scene.clone()).or_insert_with(Scene::new).play(block);
    }
    let names: Vec<&str> = scenes.keys().map(String::as_str).collect();
    assert_eq!(names, ["asks", "by-hand", "clock", "import", "notify", "pause", "quickstart"]);
}

#[test]
fn the_first_packet_of_the_quickstart_is_the_one_in_the_readme() {
    let text = readme();
    let shown = text.split("<!-- packet -->\n```json\n").nth(1).unwrap().split("```").next().unwrap();
    let mut scene = Scene::new();
    let attempt = scene.work().join("fixtures/plans/quickstart/attempt.sh");
    fs::write(attempt, "cat >packet.json\nexit 1\n").unwrap();
    let (said, code) = scene.run("roundgate run fixtures/plans/quickstart.toml");
    assert_eq!(code, Some(11), "{said}");
    let packet = fs::read_to_string(scene.work().join("packet.json")).unwrap();
    assert_eq!(packet.lines().count(), 1, "{packet}");
    let packet = packet.replace(&scene.work().display().to_string(), FOLDER);
    let shown: serde_json::Value = serde_json::from_str(shown).unwrap();
    // Compact JSON again, with the fields in the README's order.
    let fields =
        ["v", "role", "issue", "root", "round", "max_rounds", "accept", "verify", "notes", "upstream"];
    let mut at = 0;
    for field in fields {
        let found = packet[at..].find(&format!("\"{field}\":"));
        at += found.unwrap_or_else(|| panic!("{field} is missing or out of order: {packet}"));
    }
    let found: serde_json::Value = serde_json::from_str(&packet).unwrap();
    assert!(scene.same(&shown.to_string(), &found.to_string()), "{shown}\n{found}");
}

/// The rows of the table below a marker, without header: cells without code marks.
fn table(marker: &str) -> Vec<Vec<String>> {
    let text = readme();
    let below = text.split(&format!("<!-- {marker} -->\n")).nth(1).expect("the marker is there");
    let rows = below.lines().take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let inner = line.trim_matches('|').split('|');
        inner.map(|cell| cell.trim().replace('`', "")).collect()
    };
    rows.map(cells).collect()
}

fn help(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_roundgate")).args(arguments).arg("--help").output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that a help text lists, with the line about each.
fn commands(help: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in listed.take_while(|line| !line.is_empty()) {
        match (line.starts_with("   "), found.last_mut()) {
            // A long line goes on, further in.
            (true, Some((_, about))) => *about = format!("{about} {}", line.trim()),
            _ => {
                let (name, about) = line.trim().split_once(' ').unwrap();
                found.push((name.to_owned(), about.trim().to_owned()));
            }
        }
    }
    found.retain(|(name, _)| name != "help");
    found
}

#[test]
fn the_table_of_commands_is_what_help_says() {
    let mut told = Vec::new();
    for (group, about) in commands(&help(&[])) {
        let verbs = commands(&help(&[&group]));
        if verbs.is_empty() {
            told.push(vec![group, about]);
        } else {
            told.extend(verbs.into_iter().map(|(verb, about)| vec![format!("{group} {verb}"), about]));
        }
    }
    assert!(told.len() > 30, "{told:?}");
    assert_eq!(table("commands"), told);
}

#[test]
fn the_exit_codes_are_those_of_help() {
    let text = help(&[]);
    let listed = text.split("Exit codes:\n").nth(1).unwrap();
    let cells: Vec<&str> =
        listed.lines().flat_map(|line| line.split("  ")).map(str::trim).filter(|c| !c.is_empty()).collect();
    let told: BTreeMap<&str, &str> = cells.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    let rows = table("exit codes");
    assert_eq!(rows.len(), told.len(), "{told:?}");
    for row in rows {
        let said = told.get(row[0].as_str()).unwrap_or_else(|| panic!("{} is not in --help", row[0]));
        assert!(row[1].starts_with(said), "{}: {said:?} in --help, {:?} here", row[0], row[1]);
    }
}

#[test]
fn the_configuration_keys_are_those_of_the_program() {
    let scene = Scene::new();
    scene.run("roundgate init");
    let (said, code) = scene.run("roundgate config list --json");
    assert_eq!(code, Some(0), "{said}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&said).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let rows = listed.iter().map(|key| ["key", "value", "about"].map(|name| text(&key[name])).to_vec());
    assert_eq!(table("config"), rows.collect::<Vec<_>>());
}

/// One transition of every variant. The match below does not compile when a variant is missing from it,
/// and the count when it is missing here.
fn every_transition() -> Vec<Transition> {
    let id = || "rg-a".parse::<IssueId>().unwrap();
    let (scope, issue, ask) = (id, id, id);
    let all = vec![
        Transition::OpenRound { scope: scope() },
        Transition::AdoptRound { scope: scope(), attempt: id(), review: id() },
        Transition::NextRound { scope: scope(), failed: 1, cause: Cause::Verdict },
        Transition::AcceptRound { scope: scope(), round: 1 },
        Transition::Escalate { scope: scope(), round: 1, cause: Cause::Verdict, no_progress: false },
        Transition::EscalateFailure { issue: issue() },
        Transition::EscalateSteps { issue: issue() },
        Transition::GrantRounds { ask: ask() },
        Transition::Waive { ask: ask() },
        Transition::HandOff { ask: ask() },
        Transition::Abandon { ask: ask() },
        Transition::Retry { ask: ask() },
        Transition::Skip { ask: ask() },
        Transition::Settle { ask: ask() },
        Transition::Moot { ask: ask() },
        Transition::TimeOut { ask: ask() },
        Transition::Remind { ask: ask() },
        Transition::Reclaim { issue: issue() },
        Transition::RollUp { issue: issue() },
        Transition::Finish { root: id() },
    ];
    let number = |transition: &Transition| match transition {
        Transition::OpenRound { .. } => 0,
        Transition::AdoptRound { .. } => 1,
        Transition::NextRound { .. } => 2,
        Transition::AcceptRound { .. } => 3,
        Transition::Escalate { .. } => 4,
        Transition::EscalateFailure { .. } => 5,
        Transition::EscalateSteps { .. } => 6,
        Transition::GrantRounds { .. } => 7,
        Transition::Waive { .. } => 8,
        Transition::HandOff { .. } => 9,
        Transition::Abandon { .. } => 10,
        Transition::Retry { .. } => 11,
        Transition::Skip { .. } => 12,
        Transition::Settle { .. } => 13,
        Transition::Moot { .. } => 14,
        Transition::TimeOut { .. } => 15,
        Transition::Remind { .. } => 16,
        Transition::Reclaim { .. } => 17,
        Transition::RollUp { .. } => 18,
        Transition::Finish { .. } => 19,
    };
    assert_eq!(all.iter().map(number).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    all
}

#[test]
fn the_transition_kinds_are_those_of_the_engine() {
    let kinds: BTreeSet<String> = every_transition().iter().map(|t| t.kind().to_owned()).collect();
    let told: Vec<String> = table("transition kinds").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(told.len(), kinds.len(), "a kind is told twice: {told:?}");
    assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), kinds);
}
