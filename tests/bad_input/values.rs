//! Values: texts, tags, numbers, ids, edges and command lines.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::desk::{Desk, Said};
use roundgate::model::issue::{TextError, check_title};

impl Desk {
    /// Makes an issue and gives its id.
    fn issue(&self, arguments: &[&str]) -> String {
        let made = self.run(["issues", "create", "--json"].iter().chain(arguments)).exit(0).json();
        made["id"].as_str().unwrap().to_owned()
    }

    /// Calls the program and expects this exit code, an `error:` line, no result and no trace.
    #[track_caller]
    fn refuses<S: AsRef<OsStr>>(&self, code: i32, arguments: impl IntoIterator<Item = S>) -> Said {
        let before = self.state();
        let said = self.run(arguments).exit(code);
        assert_eq!(self.state(), before, "it left a trace: {said:?}");
        assert_eq!(said.out, "");
        assert!(said.err.starts_with("error: ") || said.err.starts_with("{\"code\":"), "{said:?}");
        said
    }

    #[track_caller]
    fn refuses_line(&self, code: i32, line: &str) -> Said {
        self.refuses(code, line.split_whitespace())
    }
}

fn os(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

#[test]
fn a_body_that_is_not_utf8_is_refused_and_the_argument_is_named() {
    let desk = Desk::new();
    let mut arguments: Vec<OsString> = ["issues", "create", "X", "--body"].map(OsString::from).into();
    arguments.push(os(b"caf\xe9"));
    desk.refuses(2, &arguments).tells(&["argument 5", "caf", "is not UTF-8", "hint: "]);
    arguments.push("--json".into());
    let said = desk.refuses(2, &arguments).tells(&["argument 5", "is not UTF-8"]);
    let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!(error["code"], "usage");
}

#[test]
fn a_body_file_that_is_not_utf8_is_refused_with_the_place() {
    let desk = Desk::new();
    desk.write("latin1.txt", b"ab\xff");
    desk.refuses_line(2, "issues create X --body-file latin1.txt")
        .tells(&["latin1.txt is not UTF-8 at byte 2"]);
    desk.refuses_line(3, "issues create X --body-file nothing.txt").tells(&["cannot read nothing.txt"]);
}

#[test]
fn a_title_or_body_of_ten_megabytes_is_refused_with_the_limit() {
    let desk = Desk::new();
    let huge = "a".repeat(10 << 20);
    let too_long = TextError::TooLong { field: "title", limit: 1024, found: 10 << 20 };
    assert_eq!(check_title(&huge), Err(too_long));
    desk.refuses(2, ["issues", "create", &huge[..100_000]]).tells(&["at most 1024 bytes", "has 100000"]);
    desk.write("huge.txt", &huge);
    desk.refuses_line(2, "issues create X --body-file huge.txt")
        .tells(&["a body has at most 1048576 bytes", "has 10485760"]);
    let id = desk.issue(&["X"]);
    desk.refuses(2, ["issues", "update", &id, "--body-file", "huge.txt"]).tells(&["at most 1048576 bytes"]);
    let topic = format!("issue:{id}");
    desk.refuses(2, ["forum", "post", &topic, "--message-file", "huge.txt"])
        .tells(&["at most 1048576 bytes"]);
}

#[test]
fn a_tag_is_one_word() {
    let desk = Desk::new();
    for (bad, why) in
        [("a\nb", "found '\\n'"), ("a,b", "found ','"), ("", "cannot be empty"), ("a b", "found ' '")]
    {
        desk.refuses(2, ["issues", "create", "X", "--tag", bad]).tells(&["'--tag <TAG>'", "a tag ", why]);
    }
    desk.refuses_line(2, "issues create X --tags fine,,other").tells(&["'--tags <TAGS>'", "cannot be empty"]);
    let id = desk.issue(&["X"]);
    desk.refuses(2, ["issues", "update", &id, "--add-tag", ""])
        .tells(&["'--add-tag <TAG>'", "cannot be empty"]);
}

#[test]
fn a_title_is_one_line_with_something_in_it() {
    let desk = Desk::new();
    let id = desk.issue(&["X"]);
    for (bad, why) in
        [("", "cannot be empty"), (" \t ", "cannot be empty"), ("a\nb", "put the rest into the body")]
    {
        desk.refuses(2, ["issues", "create", bad]).tells(&["a title", why]);
        desk.refuses(2, ["issues", "update", &id, "--title", bad]).tells(&["a title", why]);
    }
}

#[test]
fn a_circle_of_three_is_refused_and_printed() {
    let desk = Desk::new();
    let [a, b, c] = ["A", "B", "C"].map(|title| desk.issue(&[title]));
    desk.run(["issues", "dep", &a, "blocks", &b]).exit(0);
    desk.run(["issues", "dep", &b, "blocks", &c]).exit(0);
    let said = desk.refuses(5, ["issues", "dep", &c, "blocks", &a]);
    said.tells(&["a circle of waiting", &a, &b, &c, "hint: take one of these edges out"]);
    let said = desk.refuses(5, ["issues", "dep", &c, "blocks", &a, "--json"]);
    let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!((&error["code"], &error["retryable"]), (&"deadlock".into(), &false.into()));
}

#[test]
fn a_second_parent_takes_the_place_of_the_first_and_the_message_says_so() {
    let desk = Desk::new();
    let [child, first, second] = ["C", "P1", "P2"].map(|title| desk.issue(&[title]));
    let added = desk.run(["issues", "dep", &child, "parent", &first]).exit(0);
    added.shows(&[&format!("added {child} parent {first}\n")]);
    let moved = desk.run(["issues", "dep", &child, "parent", &second]).exit(0);
    moved.shows(&[&format!("moved {child} from parent {first} to parent {second}\n")]);
    let issue = desk.run(["issues", "get", &child, "--json"]).json();
    let deps = issue["deps"].as_array().unwrap();
    assert_eq!(deps.iter().filter(|dep| dep["type"] == "parent").count(), 1);
    assert_eq!(issue["parent"], second.as_str());
    assert_eq!(desk.run(["issues", "children", &first, "--json"]).json(), serde_json::json!([]));
    let back = desk.run(["issues", "dep", &child, "parent", &first, "--json"]).exit(0).json();
    assert_eq!((&back["changed"], &back["moved_from"]), (&true.into(), &second.into()));
    let again = desk.run(["issues", "dep", &child, "parent", &first, "--json"]).exit(0).json();
    assert_eq!((&again["changed"], &again["moved_from"]), (&false.into(), &serde_json::Value::Null));
}

#[test]
fn an_edge_to_itself_or_to_what_is_above_it_is_refused() {
    let desk = Desk::new();
    let root = desk.issue(&["Root", "--tag", "kind:root"]);
    let middle = desk.issue(&["Middle", "--parent", &root]);
    let leaf = desk.issue(&["Leaf", "--parent", &middle]);
    for (first, second) in [(&leaf, &leaf), (&leaf, &middle), (&leaf, &root), (&root, &leaf)] {
        let edge = format!("{first} blocks {second}");
        desk.refuses(5, ["issues", "dep", first, "blocks", second]).tells(&[&edge, "lies below it"]);
    }
    for (child, parent) in [(&leaf, &leaf), (&middle, &leaf), (&root, &leaf)] {
        desk.refuses(5, ["issues", "dep", child, "parent", parent]).tells(&[child, "cannot be a child of"]);
    }
    desk.refuses(2, ["issues", "dep", &leaf, "likes", &root]).tells(&["likes", "blocks, parent"]);
}

#[test]
fn tags_of_the_protocol_that_mean_nothing_are_refused() {
    let desk = Desk::new();
    for (tags, why) in [
        ("proto:other-v1", "proto:other-v1 is not a protocol this program speaks"),
        ("kind:goal,kind:root", "one kind, not both kind:goal and kind:root"),
        ("kind:epic", "kind:epic is not a kind"),
        ("flow:checkpoint-v1", "flow:checkpoint-v1 is not a policy this engine knows"),
        ("flow:review-gated-v1,flow:checkpoint-v1", "one policy acts on a node"),
        ("kind:ask,node:agent", "exclude each other"),
    ] {
        desk.refuses(2, ["issues", "create", "X", "--tags", tags]).tells(&[why]);
    }
    let id = desk.issue(&["X"]);
    desk.refuses(2, ["issues", "update", &id, "--add-tag", "proto:other-v1"]).tells(&["proto:other-v1"]);
}

#[test]
fn one_bad_option_among_good_ones_makes_no_row() {
    let desk = Desk::new();
    desk.refuses_line(2, "issues create X --tag fine --body good --priority 9 --accept yes").tells(&["9"]);
    desk.refuses_line(2, "issues create X --tag fine --choice yes").tells(&["--choice is for an ask"]);
    desk.refuses_line(3, "issues create X --tag fine --parent rg-nobody").tells(&["no issue rg-nobody"]);
    let id = desk.issue(&["X"]);
    desk.refuses(2, ["issues", "update", &id, "--title", "Y", "--add-tag", "kind:epic"])
        .tells(&["kind:epic"]);
    desk.refuses(2, ["issues", "update", &id, "--title", "Y", "--status", "closed"]).tells(&["goes alone"]);
    assert_eq!(desk.run(["issues", "get", &id, "--json"]).json()["title"], "X");
}

#[test]
fn a_priority_is_1_to_5() {
    let desk = Desk::new();
    let id = desk.issue(&["X"]);
    for bad in ["0", "6", "x", "3.5", "256", ""] {
        desk.refuses(2, ["issues", "create", "X", "-p", bad]).tells(&[
            "--priority",
            "1 (most urgent) to 5",
            bad,
        ]);
        desk.refuses(2, ["issues", "update", &id, "-p", bad]).tells(&["--priority", "1 (most urgent) to 5"]);
    }
}

#[test]
fn a_scope_without_a_single_round_is_refused() {
    let desk = Desk::new();
    let scope = desk.issue(&["S", "--tag", "flow:review-gated-v1"]);
    let zero = "max_review_rounds=0";
    let why = &["max_review_rounds must be 1 to 100, not \"0\""];
    desk.refuses(2, ["issues", "create", "X", "--tag", "flow:review-gated-v1", "--body", zero]).tells(why);
    desk.refuses(2, ["issues", "update", &scope, "--body", zero]).tells(why);
    desk.refuses(2, ["forum", "post", &format!("issue:{scope}"), "-m", zero]).tells(why);
    let flag = ["issues", "create", "X", "--max-review-rounds", "0"];
    desk.refuses(2, flag).tells(&["--max-review-rounds", "0 is not in 1..=100"]);
    assert_eq!(desk.run(["forum", "read", &format!("issue:{scope}"), "--json"]).out, "[]\n");
}

#[test]
fn a_prefix_of_several_ids_lists_them_and_an_unknown_id_is_not_found() {
    let desk = Desk::new();
    let ids: Vec<String> = (0..10).map(|n| desk.issue(&[&format!("Number {n}")])).collect();
    let said =
        desk.refuses_line(4, "issues get rg-").tells(&["rg- is ambiguous", "and 2 more", "hint: give more"]);
    assert_eq!(ids.iter().filter(|id| said.err.contains(id.as_str())).count(), 8);
    desk.refuses_line(4, "issues close rg- --outcome success").tells(&["rg- is ambiguous"]);
    desk.refuses_line(3, "issues close rg-nobody --outcome success").tells(&["no issue rg-nobody", "hint: "]);
    desk.refuses(3, ["issues", "get", "no id"]).tells(&["\"no id\" is not an issue id", "found ' '"]);
}

#[test]
fn a_missing_root_is_not_found_wherever_it_is_named() {
    let desk = Desk::new();
    for line in [
        "issues validate rg-nobody",
        "issues ready --root rg-nobody",
        "tick --root rg-nobody",
        "tick --root rg-nobody --dry-run",
        "run --root rg-nobody",
        "rounds open rg-nobody",
        "graph rg-nobody",
    ] {
        desk.refuses_line(3, line).tells(&["no issue rg-nobody", "hint: roundgate issues list --all"]);
    }
}

#[test]
fn under_json_a_wrong_command_line_is_one_object_that_names_what_is_wrong() {
    let desk = Desk::new();
    for (line, message) in [
        ("nonsense --json", "unrecognized subcommand 'nonsense'"),
        ("--json issues nonsense", "unrecognized subcommand 'nonsense'"),
        ("issues create --json", "the following required arguments were not provided: <TITLE>"),
        ("issues list --colour red --json", "unexpected argument '--colour' found"),
    ] {
        let said = desk.refuses_line(2, line);
        let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
        assert_eq!((&error["code"], &error["message"]), (&"usage".into(), &message.into()));
        assert!(error["hint"].is_string());
    }
    desk.refuses_line(2, "nonsense").tells(&["error: unrecognized subcommand 'nonsense'", "--help"]);
}

#[test]
fn an_actor_is_one_word() {
    let desk = Desk::new();
    for bad in ["two words", "", "a\nb"] {
        let said = desk.refuses(2, ["issues", "create", "X", "--as", bad]);
        said.tells(&["cannot be an actor", "hint: name the actor with --as or ROUNDGATE_ACTOR"]);
    }
    let post = ["forum", "post", "issue:x", "-m", "hello", "--author", "two words"];
    desk.refuses(2, post).tells(&["\"two words\" cannot be an actor"]);
}
