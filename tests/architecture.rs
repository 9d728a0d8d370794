//! The arrows of ARCHITECTURE.md, held to the text of the sources: which room uses which, how long a file
//! may be, and what the pure rooms do not know.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines a file may have; past this it wants a second room.
const MOST_LINES: usize = 550;

/// Which rooms a room may use, beside itself.
const ARROWS: [(&str, &[&str]); 11] = [
    ("build", &[]),
    ("main", &["cli"]),
    ("lib", &["app", "cli", "engine", "interop", "model", "runner", "schedule", "store"]),
    ("cli", &["app", "interop", "model", "store"]),
    ("app", &["engine", "interop", "model", "runner", "schedule", "store"]),
    ("engine", &["model"]),
    ("store", &["model"]),
    ("runner", &["model"]),
    ("interop", &["model"]),
    ("schedule", &["model"]),
    ("model", &[]),
];

/// What would bring files, the environment or a clock into a pure room.
const OUTSIDE: [&str; 6] = ["std::fs", "std::env", "std::time", "chrono", "SystemTime", "Instant"];

struct Source {
    /// Its path below `src/`.
    name: String,
    text: String,
}

impl Source {
    /// The room it belongs to: the folder, or the file's own name.
    fn room(&self) -> &str {
        let first = self.name.split('/').next().unwrap();
        first.trim_end_matches(".rs")
    }

    /// The text without comments, with every run of white space as one blank.
    fn code(&self) -> String {
        let lines = self.text.lines().map(|line| line.split("//").next().unwrap_or_default());
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                found.push(Source { name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 100, "only {} sources", found.len());
    found
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// The names that follow each `crate::` (or `roundgate::`), also in `crate::{a::B, c}`.
fn used(code: &str) -> BTreeSet<String> {
    let mut rooms = BTreeSet::new();
    for start in ["crate::", "roundgate::"] {
        for (at, _) in code.match_indices(start) {
            let rest = code[at + start.len()..].trim_start();
            match rest.strip_prefix('{') {
                None => {
                    rooms.insert(identifier(rest).to_owned());
                }
                Some(group) => rooms.extend(top_names(group)),
            }
        }
    }
    rooms
}

/// The first name of each entry of a `{...}` group, whose opening brace was taken off.
fn top_names(group: &str) -> Vec<String> {
    let (mut depth, mut names, mut wanted) = (0, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => wanted = true,
            _ if wanted && (c.is_alphanumeric() || c == '_') => {
                names.push(identifier(&group[at..]).to_owned());
                wanted = false;
            }
            _ => {}
        }
    }
    names
}

/// Which room uses which other room, and the first file that does.
fn arrows() -> BTreeMap<(String, String), String> {
    let mut arrows = BTreeMap::new();
    for source in sources() {
        for room in used(&source.code()).into_iter().filter(|room| room != source.room()) {
            arrows.entry((source.room().to_owned(), room)).or_insert(source.name.clone());
        }
    }
    arrows
}

#[test]
fn every_arrow_between_rooms_is_one_of_the_architecture() {
    for ((from, to), file) in arrows() {
        let allowed = ARROWS.iter().find(|(room, _)| *room == from);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{file}: {from} is a room nobody planned"));
        assert!(allowed.contains(&to.as_str()), "{file}: {from} uses {to}; it may use {allowed:?}");
    }
}

#[test]
fn the_arrows_are_seen_at_all() {
    let arrows = arrows();
    for (from, to) in [
        ("main", "cli"),
        ("cli", "app"),
        ("app", "engine"),
        ("app", "store"),
        ("engine", "model"),
        ("store", "model"),
        ("runner", "model"),
        ("interop", "model"),
        ("schedule", "model"),
    ] {
        assert!(arrows.contains_key(&(from.to_owned(), to.to_owned())), "{from} -> {to} was not found");
    }
    let group = "use crate::{model::{id::IssueId, tag}, store}; fn f() { crate::engine::decide() }";
    assert_eq!(used(group), ["engine", "model", "store"].map(str::to_owned).into());
}

#[test]
fn no_room_reaches_another_by_climbing_out_of_its_own() {
    for source in sources() {
        // A file `room/a/b.rs` is the module `room::a::b`; `mod.rs` and the folder's own file one less.
        let module = source.name.trim_end_matches(".rs").trim_end_matches("/mod");
        let depth = module.split('/').count();
        let tests = usize::from(source.text.contains("mod tests {"));
        let chain = "super::".repeat(depth + tests);
        assert!(!source.code().contains(&chain) || depth == 1, "{} climbs out of its room", source.name);
    }
}

#[test]
fn only_the_program_itself_uses_the_command_line() {
    for ((from, to), file) in arrows() {
        assert!(to != "cli" || from == "main", "{file} uses cli");
    }
}

#[test]
fn engine_and_store_never_meet() {
    for source in sources() {
        let other = match source.room() {
            "engine" => "store",
            "store" => "engine",
            _ => continue,
        };
        assert!(!used(&source.code()).contains(other), "{} uses {other}", source.name);
    }
}

#[test]
fn model_and_engine_know_no_file_no_environment_and_no_clock() {
    for source in sources().iter().filter(|source| ["model", "engine"].contains(&source.room())) {
        let code = source.code();
        for outside in OUTSIDE {
            assert!(!code.contains(outside), "src/{} mentions {outside}", source.name);
        }
    }
}

#[test]
fn the_schedule_knows_zones_but_no_file_no_environment_and_no_clock() {
    for source in sources().iter().filter(|source| source.room() == "schedule") {
        let code = source.code();
        let outside = OUTSIDE.iter().filter(|outside| **outside != "chrono");
        for outside in outside.chain(&["Utc::now", "Local::"]) {
            assert!(!code.contains(outside), "src/{} mentions {outside}", source.name);
        }
    }
}

#[test]
fn sql_is_written_in_the_store_only() {
    for source in sources().iter().filter(|source| source.room() != "store") {
        assert!(!source.code().contains("rusqlite"), "src/{} uses rusqlite", source.name);
    }
}

#[test]
fn no_file_is_longer_than_a_reader_can_hold() {
    for source in sources() {
        let lines = source.text.lines().count();
        assert!(lines <= MOST_LINES, "src/{} has {lines} lines, and may have {MOST_LINES}", source.name);
    }
}

#[test]
fn every_file_says_first_what_it_is_for() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "src/{} does not start with a //! comment", source.name);
    }
}
