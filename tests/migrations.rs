//! Stores of older releases: refused by whoever only reads, brought up to date by whoever writes, and
//! never half.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]
#![expect(dead_code, reason = "each test uses a part of the fixtures")]

mod cli_fixture;
mod old_store;
mod store_fixture;
#[path = "store_fixture/story.rs"]
mod story;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cli_fixture::Place;
use old_store::{downgrade, version};
use roundgate::model::change::{Change, Field};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::{Options, Sqlite, backup, examine};
use roundgate::store::{EventQuery, PostQuery, Store, StoreError};
use store_fixture::{commit, post};

/// A store of the first release in which a whole story happened, and the events of that.
fn told() -> (tempfile::TempDir, PathBuf, Vec<roundgate::model::change::Event>) {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let mut store = Sqlite::init(&folder).unwrap();
    for mut bundle in story::story() {
        bundle.iter_mut().for_each(|change| {
            if let Change::AskOpened { ask } = change {
                ask.duty = None;
            }
        });
        bundle.retain(|change| {
            let newer = match change {
                Change::IssueChanged { after, .. } => matches!(after.first(), Some(Field::Pause(_))),
                Change::OperationDone { .. } => true,
                Change::DutySet { .. } | Change::AskReminded { .. } => true,
                Change::HeartbeatSet { .. } | Change::HeartbeatRemoved { .. } => true,
                Change::DocumentSet { .. } | Change::DocumentRemoved { .. } => true,
                Change::NoticeSet { .. } | Change::NoticeEnded { .. } => true,
                _ => false,
            };
            !newer
        });
        commit(&mut store, bundle).unwrap();
    }
    let events = store.events(&EventQuery::default()).unwrap();
    drop(store);
    downgrade(&folder);
    (above, folder, events)
}

/// The same by command line.
fn worked() -> Place {
    let place = Place::worked();
    downgrade(&place.store());
    place
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn backups(folder: &Path) -> Vec<PathBuf> {
    let kept = |path: &PathBuf| path.to_str().unwrap().ends_with(".backup");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(kept).collect()
}

#[test]
fn the_first_transaction_that_writes_brings_an_older_store_up_to_date() {
    let (_above, folder, events) = told();
    let mut store = Sqlite::open(&folder).unwrap();
    assert!(matches!(store.snapshot(), Err(StoreError::Older { found: 1, .. })));
    assert_eq!(commit(&mut store, vec![post("t", "now", 1)]).unwrap(), events.len() as u64 + 1);

    let mut expected = Snapshot::default();
    events.iter().for_each(|event| expected.fold(&event.change, event.at));
    assert_eq!(store.snapshot().unwrap().0, expected);
    let found = store.events(&EventQuery::default()).unwrap();
    assert_eq!(found[..events.len()], events);
    drop(store);
    assert!(examine(&folder, &Options::default()).unwrap().sound());

    let [kept] = &backups(&folder)[..] else { panic!("one backup") };
    let name = format!("roundgate.db.before-0002-{}.backup", events.len());
    assert_eq!(kept.file_name().unwrap().to_str().unwrap(), name);
    assert_eq!(version(kept), 1);
}

#[test]
fn the_backup_is_the_store_as_it_was() {
    let (_above, folder, events) = told();
    Sqlite::open(&folder).unwrap().bring_up_to_date().unwrap();
    let again = folder.join("again");
    fs::create_dir(&again).unwrap();
    fs::copy(&backups(&folder)[0], again.join("roundgate.db")).unwrap();
    let mut store = Sqlite::open(&again).unwrap();
    store.bring_up_to_date().unwrap();
    assert_eq!(store.events(&EventQuery::default()).unwrap(), events);
}

#[test]
fn whoever_only_reads_an_older_store_leaves_it_as_it_is() {
    let (_above, folder, _) = told();
    let before = bytes(&folder);
    let store = Sqlite::open(&folder).unwrap();
    assert!(matches!(store.events(&EventQuery::default()), Err(StoreError::Older { .. })));
    assert!(matches!(store.posts(&PostQuery::default()), Err(StoreError::Older { .. })));
    assert!(matches!(store.topics(""), Err(StoreError::Older { .. })));
    drop(store);
    let found = examine(&folder, &Options::default()).unwrap();
    assert!(found.older && !found.sound());
    assert_eq!(bytes(&folder), before);
}

#[test]
fn commands_that_read_refuse_an_older_store_and_previews_do_too() {
    let place = worked();
    fs::write(place.cwd().join("plan.toml"), "[root]\nkey = \"r\"\ntitle = \"R\"\n").unwrap();
    let before = bytes(&place.store());
    for command in [
        &["status"][..],
        &["issues", "list"],
        &["log"],
        &["tick", "--all", "--dry-run"],
        &["plan", "apply", "plan.toml", "--dry-run"],
    ] {
        let error = place.refused(command, 7);
        assert_eq!(error["code"], "older_store", "{error}");
        assert!(error["hint"].as_str().unwrap().contains("doctor --fix"), "{error}");
    }
    assert_eq!(place.faults(), ["schema"]);
    assert_eq!(bytes(&place.store()), before);
}

#[test]
fn commands_that_write_bring_it_up_to_date_also_where_they_read_first() {
    for command in
        [&["tick", "--all"][..], &["issues", "create", "One more"], &["forum", "post", "t", "--message", "m"]]
    {
        let place = worked();
        place.ok(command);
        assert_eq!(place.faults(), [""; 0], "{command:?}");
        assert_eq!(backups(&place.store()).len(), 1, "{command:?}");
    }
}

#[test]
fn doctor_brings_it_up_to_date_and_repairs_what_is_wrong_in_it() {
    let place = worked();
    place.sql("UPDATE issues SET title = 'changed behind the back'");
    assert_eq!(place.refused(&["issues", "create", "Not now"], 7)["code"], "damaged");
    assert_eq!((version(&place.database()), backups(&place.store()).len()), (1, 0));
    let (code, found) = place.doctor(&["--fix"]);
    assert_eq!(code, 0, "{found}");
    assert!(
        found["repaired"][0].as_str().unwrap().starts_with("the schema was brought from 1 to "),
        "{found}"
    );
    assert_eq!(found["repaired"][2], "the status documents were brought up to date", "{found}");
    assert_eq!(found["repaired"].as_array().unwrap().len(), 3, "{found}");
    assert_eq!(version(Path::new(found["backup"].as_str().unwrap())), 1);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn an_older_store_that_was_tampered_with_is_refused_as_it_is() {
    for sql in ["CREATE INDEX more ON events(at)", "DROP INDEX edges_by_to", "PRAGMA user_version = 2"] {
        let place = worked();
        place.sql(sql);
        let before = bytes(&place.store());
        for command in [&["issues", "create", "No"][..], &["status"]] {
            assert_eq!(place.refused(command, 7)["code"], "not_a_store", "{sql}");
        }
        assert_eq!(bytes(&place.store()), before, "{sql}");
    }
}

#[test]
fn processes_that_migrate_at_once_make_one_backup_and_lose_nothing() {
    let place = worked();
    let started: Vec<_> = (0..8)
        .map(|n| {
            let mut command = place.command(&["issues", "create", &format!("By process {n}")]);
            command.stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for process in started {
        assert!(process.wait_with_output().unwrap().status.success());
    }
    let listed = place.json(&["issues", "list", "--all"]);
    let titles = listed.as_array().unwrap().iter().filter_map(|issue| issue["title"].as_str());
    assert_eq!(titles.filter(|title| title.starts_with("By process")).count(), 8);
    assert_eq!(backups(&place.store()).len(), 1);
    assert_eq!(place.faults(), [""; 0]);
}

#[test]
fn a_backup_of_an_older_store_is_of_its_schema_and_a_restore_brings_it_up_to_date() {
    let (_above, folder, events) = told();
    let file = folder.parent().unwrap().join("copy.db");
    let before = bytes(&folder);
    backup(&folder, &file, &Options::default()).unwrap();
    assert_eq!((version(&file), bytes(&folder)), (1, before));

    let place = Place::empty();
    place.ok(&["restore", file.to_str().unwrap()]);
    assert_eq!(version(&file), 1);
    let found = examine(&place.store(), &Options::default()).unwrap();
    assert_eq!((found.revision, found.first_fault()), (Some(events.len() as u64), None));
    // And over a live store, older or not.
    let place = worked();
    place.ok(&["restore", file.to_str().unwrap(), "--force"]);
    assert!(examine(&place.store(), &Options::default()).unwrap().sound());
}

#[test]
fn a_program_that_stays_stops_when_the_store_was_made_newer() {
    let above = tempfile::tempdir().unwrap();
    let mut store = Sqlite::init(above.path()).unwrap();
    let conn = rusqlite::Connection::open(above.path().join("roundgate.db")).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(store.snapshot(), Err(StoreError::Newer { found: 99, .. })));
    let refused = commit(&mut store, vec![post("t", "one", 1)]);
    assert!(matches!(refused, Err(StoreError::Newer { found: 99, .. })), "{refused:?}");
}
