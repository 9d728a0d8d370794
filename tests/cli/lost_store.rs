//! A store whose database is gone: its mark says that there was one, and nothing takes its place unasked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::stage::Stage;

/// A plan, a backup, and a store that lost its database.
fn lost() -> Stage {
    let stage = Stage::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans/quickstart.toml");
    stage.write("plan.toml", fs::read(plan).unwrap());
    stage.ok("issues create 'Write it'");
    stage.ok("backup kept.db");
    fs::remove_file(stage.path(".roundgate/roundgate.db")).unwrap();
    stage
}

#[test]
fn every_command_refuses_a_store_whose_database_is_gone_and_names_the_way_out() {
    let stage = lost();
    for line in [
        "init",
        "plan apply plan.toml",
        "plan apply plan.toml --dry-run",
        "run --root rg-a",
        "issues list",
        "issues create 'Write it'",
        "tick --all",
        "status",
        "config set lease 2h",
        "cron install --print crontab",
        "heartbeats run --once",
        "backup other.db",
        "doctor",
        "--store .roundgate plan apply plan.toml",
    ] {
        let ran = stage.refused(7, line);
        assert!(
            ran.stderr.contains("is gone: 1 events were committed to it (roundgate.mark)"),
            "{line}: {ran:?}"
        );
        assert!(ran.stderr.contains("roundgate restore FILE --force"), "{line}: {ran:?}");
        assert!(ran.stderr.contains(".roundgate/roundgate.mark first"), "{line}: {ran:?}");
    }
    assert!(!stage.path(".roundgate/roundgate.db").exists());
}

#[test]
fn below_a_lost_store_no_store_further_up_is_taken_for_it() {
    let stage = lost();
    let below = stage.path("below/further");
    fs::create_dir_all(&below).unwrap();
    fs::rename(stage.path(".roundgate"), stage.path("below/.roundgate")).unwrap();
    stage.ok("init");
    let ran = stage.cmd("issues list").command().current_dir(&below).output().unwrap();
    assert_eq!(ran.status.code(), Some(7), "{ran:?}");
}

#[test]
fn a_lost_store_comes_back_from_a_backup_or_begins_anew_without_its_mark() {
    let stage = lost();
    stage.ok("restore kept.db --force");
    assert_eq!(stage.json("issues list").as_array().unwrap().len(), 1);
    fs::remove_file(stage.path(".roundgate/roundgate.db")).unwrap();
    fs::remove_file(stage.path(".roundgate/roundgate.mark")).unwrap();
    stage.ok("init");
    assert_eq!(stage.events(), 0);
}

#[test]
fn a_store_that_somebody_else_keeps_closed_is_not_taken_for_none() {
    let stage = Stage::new();
    let mode = |path: &str, mode| {
        fs::set_permissions(stage.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut command = stage.cmd("issues list").command();
    if rustix::process::getuid().is_root() {
        // Modes mean nothing to root; nobody in particular is held by them.
        mode("", 0o755);
        command.uid(65_534).gid(65_534);
    } else {
        mode(".roundgate", 0o000);
    }
    let output = command.output();
    mode(".roundgate", 0o700);
    let Ok(output) = output else {
        eprintln!("the program is out of reach for others here, so nothing was tried");
        return;
    };
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("ermission denied") && !said.contains("no store"), "{said}");
    assert_eq!(output.status.code(), Some(5), "{said}");
}

#[test]
fn looking_at_a_store_that_is_closed_to_writers_leaves_nothing_in_their_way() {
    let stage = Stage::new();
    let folder = stage.path("");
    let to_nobody = rustix::process::getuid().is_root();
    let chown = |path: &str| {
        if to_nobody && stage.path(path).exists() {
            std::os::unix::fs::chown(stage.path(path), Some(65_534), Some(65_534)).unwrap();
        }
    };
    for path in ["", ".roundgate", ".roundgate/roundgate.db", ".roundgate/roundgate.mark"] {
        chown(path);
    }
    // Modes mean nothing to root; nobody in particular is held by them.
    let run = |line: &str| {
        let mut command = stage.cmd(line).command();
        if to_nobody {
            command.uid(65_534).gid(65_534);
        }
        command.output()
    };
    let database = folder.join(".roundgate/roundgate.db");
    let mode = |mode| fs::set_permissions(&database, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o400);
    let Ok(listed) = run("issues list") else {
        eprintln!("the program is out of reach for others here, so nothing was tried");
        return;
    };
    assert!(listed.status.success(), "{listed:?}");
    let refused = run("issues create X").unwrap();
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    mode(0o600);
    let made = run("issues create X").unwrap();
    assert!(made.status.success(), "{made:?}");
}

#[test]
fn a_plan_that_is_applied_below_another_store_says_which_it_goes_to() {
    let stage = Stage::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans/quickstart.toml");
    let below = stage.path("below");
    fs::create_dir(&below).unwrap();
    let said = format!("in the store {}\n", stage.path(".roundgate").display());
    let applied = |line: &str, below| {
        let mut command = stage.cmd(line).arg(plan).command();
        let command = if below { command.current_dir(stage.path("below")) } else { &mut command };
        String::from_utf8(command.output().unwrap().stderr).unwrap()
    };
    assert_eq!(applied("plan apply --dry-run", true), said);
    assert_eq!(applied("plan apply", true), said);
    assert_eq!(applied("plan apply --json", true), "");
    assert_eq!(applied("plan apply --store ../.roundgate", true), "");
    assert_eq!(applied("plan apply", false), "");
}
