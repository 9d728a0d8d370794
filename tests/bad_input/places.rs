//! Places: stores and configurations that are not what they should be. They are left as they were.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::desk::Desk;

/// Commands that read, that write, and that would make a store.
const COMMANDS: [&str; 5] = ["issues list", "issues create X", "tick --all", "init", "plan apply plan.toml"];

/// A desk with a plan, and a store whose database is this.
fn with_database(bytes: &[u8]) -> Desk {
    let desk = Desk::bare();
    fs::create_dir(desk.path(".roundgate")).unwrap();
    desk.write(".roundgate/roundgate.db", bytes);
    plan(&desk);
    desk
}

fn plan(desk: &Desk) {
    let quickstart = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/plans/quickstart.toml");
    fs::copy(quickstart, desk.path("plan.toml")).unwrap();
}

#[track_caller]
fn left_alone(desk: &Desk, words: &[&str]) {
    let before = desk.database();
    for command in COMMANDS {
        let said = desk.say(command).exit(7).tells(&["error: ", "roundgate.db", "hint: "]).tells(words);
        assert_eq!(said.out, "");
        assert_eq!(desk.database(), before, "{command}");
    }
    let said = desk.say("issues list --json").exit(7);
    let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["retryable"], false);
}

#[test]
fn a_picture_in_place_of_the_database_is_left_as_it_is() {
    let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    picture.extend([7; 4096]);
    left_alone(&with_database(&picture), &["is not a roundgate store"]);
}

#[test]
fn an_empty_database_is_left_as_it_is() {
    left_alone(&with_database(b""), &["is not a roundgate store: it is empty"]);
}

#[test]
fn the_store_of_a_newer_program_is_left_as_it_is() {
    let desk = Desk::new();
    plan(&desk);
    // The schema's number stands at byte 60 of the file (user_version).
    let mut bytes = desk.database();
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    desk.write(".roundgate/roundgate.db", bytes);
    left_alone(&desk, &["has schema 99", "knows schemas up to", "or a newer one"]);
}

#[test]
fn without_a_store_every_command_says_how_to_get_one() {
    let desk = Desk::bare();
    for command in [
        "issues list",
        "issues create X",
        "tick --all",
        "config list",
        "log",
        "run --root rg-a",
        "config set lease 1h",
    ] {
        let said = desk.say(command).exit(3);
        said.tells(&["there is no store here or in any folder above", "hint: roundgate init makes one"]);
        desk.say(&format!("--store elsewhere {command}")).exit(3);
    }
    desk.say("--store elsewhere issues list")
        .exit(3)
        .tells(&["no store at elsewhere", "roundgate --store elsewhere init makes one"]);
    assert!(!desk.path(".roundgate").exists() && !desk.path("elsewhere").exists());
}

#[test]
fn a_store_flag_that_names_a_file_is_refused() {
    let desk = Desk::new();
    plan(&desk);
    desk.write("file", "precious");
    for command in COMMANDS.into_iter().chain(["plan apply plan.toml --dry-run", "run plan.toml"]) {
        let said = desk.say(&format!("--store file {command}")).exit(7);
        said.tells(&["file is not a roundgate store: it is not a folder", "hint: "]);
    }
    assert_eq!(fs::read(desk.path("file")).unwrap(), b"precious");
}

#[test]
fn a_store_in_a_read_only_folder_is_named_and_not_written() {
    let desk = Desk::new();
    let folder = desk.path(".roundgate");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    // Who is above all modes is not held by this one.
    if fs::write(folder.join("probe"), "").is_err() {
        let before = desk.database();
        desk.say("issues create X").exit(5).tells(&["cannot be written", "hint: make the folder"]);
        assert_eq!(desk.database(), before);
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_bad_configuration_is_named_with_its_file_and_nothing_is_done() {
    for (text, why) in [
        ("max_round = 3\n", "\"max_round\" is not a key; the keys are max_review_rounds, "),
        ("max_review_rounds = [3]\n", "max_review_rounds is one value, not an array"),
        ("max_review_rounds = true\n", "max_review_rounds is a number from 1 to 100, not \"true\""),
        ("max_review_rounds = 0\n", "max_review_rounds is a number from 1 to 100, not \"0\""),
        ("allow_self_review = 1\n", "allow_self_review is true or false, not \"1\""),
        ("ask_assignee = [\"hugh\"]\n", "ask_assignee is one value, not an array"),
        ("lease = { hours = 1 }\n", "\"lease\" is one value, not a table"),
        ("[lease]\nhours = 1\n", "\"lease\" is one value, not a table"),
        ("ask_timeout = \"4d\"\n", "ask_timeout wants a choice: set ask_default, too"),
        (
            "ask_timeout = \"4d\"\nask_default = \"retry\"\n",
            "ask_default: \"retry\" is never chosen by itself",
        ),
        ("ask_remind = -1\n", "ask_remind is a duration such as 5m: a duration cannot be negative"),
        ("lease = 5\n", "lease is a duration such as 5m"),
        ("[defaults]\nlease = \"5m\"\n", "\"defaults\" is not a key"),
        ("lease = \"5m\"\n\nstep_retries == 2\n", "line 3: "),
    ] {
        let desk = Desk::new();
        desk.write(".roundgate/config.toml", text);
        let before = desk.database();
        for command in
            ["issues list", "issues create X", "tick --all", "config list", "config set output_cap 2048"]
        {
            let said = desk.say(command).exit(2).tells(&["/.roundgate/config.toml: ", why]);
            said.tells(&["hint: mend that line"]);
        }
        assert_eq!(desk.database(), before);
        assert_eq!(fs::read_to_string(desk.path(".roundgate/config.toml")).unwrap(), text);
    }
}

#[test]
fn a_bad_value_is_not_written_to_the_configuration() {
    let desk = Desk::new();
    desk.say("config set step_retries 4").exit(0);
    let before = fs::read_to_string(desk.path(".roundgate/config.toml")).unwrap();
    for (set, why) in [
        ("max_review_rounds 0", "max_review_rounds is a number from 1 to 100, not \"0\""),
        ("max_review_rounds many", "not \"many\""),
        ("step_retries 101", "step_retries is a number from 0 to 100"),
        ("allow_self_review yes", "allow_self_review is true or false, not \"yes\""),
        ("lease forever", "lease is a duration such as 5m"),
        ("output_cap 1", "output_cap is a number from 1024"),
        ("colour red", "\"colour\" is not a key; the keys are max_review_rounds"),
    ] {
        desk.say(&format!("config set {set}")).exit(2).tells(&["error: ", why]);
    }
    desk.say("config get colour").exit(2).tells(&["\"colour\" is not a key"]);
    assert_eq!(fs::read_to_string(desk.path(".roundgate/config.toml")).unwrap(), before);
}

#[test]
fn a_bad_value_is_mended_by_setting_it_anew_and_the_doctor_names_it_until_then() {
    let desk = Desk::new();
    desk.say("doctor").exit(0);
    desk.write(".roundgate/config.toml", "lease = 5 # soon\nstep_retries = 4\n");
    let said = desk.say("doctor").exit(2);
    said.shows(&["FAULT      configuration", "lease is a duration", "is sound"])
        .tells(&["hint: mend that line"]);
    desk.say("doctor --fix").exit(2);
    desk.say("config set lease 2h").exit(0);
    let text = fs::read_to_string(desk.path(".roundgate/config.toml")).unwrap();
    assert_eq!(text, "lease = \"2h\" # soon\nstep_retries = 4\n");
    desk.say("doctor").exit(0);
}

#[test]
fn the_doctor_does_not_call_a_newer_store_damaged() {
    let desk = Desk::new();
    let mut bytes = desk.database();
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    desk.write(".roundgate/roundgate.db", bytes);
    let said = desk
        .say("doctor")
        .exit(7)
        .shows(&["has schema 99"])
        .tells(&["hint: use the roundgate that wrote it"]);
    assert!(!format!("{}{}", said.out, said.err).contains("restore"));
    let said = desk.say("doctor --fix").exit(7).tells(&["has schema 99", "or a newer one"]);
    assert!(!said.err.contains("damaged"), "{}", said.err);
}

#[test]
fn a_project_that_is_named_in_place_of_its_store_is_told_from_one_that_has_none() {
    let desk = Desk::new();
    fs::create_dir(desk.path("below")).unwrap();
    let project = desk.path("");
    let said = desk.say(&format!("--store {} issues list", project.display())).exit(3);
    let inner = desk.path(".roundgate");
    said.tells(&["hint: the store is the folder in it: --store ", &inner.display().to_string()]);
    desk.say(&format!("--store {} issues list", inner.display())).exit(0);
}
