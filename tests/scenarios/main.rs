//! The scenarios of `fixtures/scenarios/`, played on the pure engine. Each has one snapshot, a
//! transcript with everything its ticks did.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should stop")]

mod naming;
mod script;
mod stage;
mod transcript;

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// The names of a folder's files with this ending, without it.
fn names(folder: &Path, ending: &str) -> BTreeSet<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| file.strip_suffix(ending).map(str::to_owned)).collect()
}

/// Set `ROUNDGATE_SCENARIO` to play only those whose name contains it.
#[test]
fn every_scenario_goes_as_written() {
    let only = std::env::var("ROUNDGATE_SCENARIO").unwrap_or_default();
    let fixtures = folder("fixtures/scenarios");
    let mut failed = Vec::new();
    for name in names(&fixtures, ".txt").into_iter().filter(|name| name.contains(&only)) {
        let file = format!("fixtures/scenarios/{name}.txt");
        let text = fs::read_to_string(folder(&file)).unwrap();
        let played = catch_unwind(AssertUnwindSafe(|| {
            let script = script::parse(&file, &text)?;
            let transcript = stage::play(&file, &script)?;
            insta::with_settings!({
                snapshot_path => "snapshots",
                prepend_module_to_snapshot => false,
                omit_expression => true,
            }, {
                insta::assert_snapshot!(name.clone(), transcript);
            });
            Ok::<(), String>(())
        }));
        match played {
            Ok(Ok(())) => {}
            Ok(Err(why)) => failed.push(why),
            Err(_) => failed.push(format!("{file}: see the panic above")),
        }
    }
    assert!(failed.is_empty(), "{} scenarios failed\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn every_snapshot_belongs_to_a_scenario() {
    let scenarios = names(&folder("fixtures/scenarios"), ".txt");
    let snapshots = names(&folder("tests/scenarios/snapshots"), ".snap");
    assert_eq!(scenarios, snapshots);
}

#[test]
fn every_scenario_says_first_which_rule_it_shows() {
    let fixtures = folder("fixtures/scenarios");
    for name in names(&fixtures, ".txt") {
        let text = fs::read_to_string(fixtures.join(format!("{name}.txt"))).unwrap();
        let about = text.lines().take_while(|line| line.starts_with("# ")).count();
        assert!((2..=3).contains(&about), "{name} starts with {about} comment lines");
    }
}
