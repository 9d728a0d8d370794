//! What is said on a command line, and what is said back: texts that look like flags, names, previews,
//! and how much of a list is not shown.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::gated::Gated;
use crate::stage::Stage;

/// A text as agents write them.
const LIST: &str = "- one\n- two";

#[test]
fn a_text_may_begin_with_a_hyphen() {
    let gated = Gated::opened(2);
    let stage = &gated.stage;
    let with = |line: &str| stage.cmd(line).arg(LIST).json();
    let made = with(&format!("issues create Hyphens --parent {} --body", gated.root));
    assert_eq!(made["body"], LIST);
    let id = made["id"].as_str().unwrap();
    assert_eq!(
        with(&format!("issues create More --parent {} --accept", gated.root))["work"]["accept"],
        json!([LIST])
    );
    assert_eq!(stage.cmd(&format!("issues update {id} --body")).arg("--- a/f").json()["body"], "--- a/f");
    assert_eq!(
        stage.cmd(&format!("issues update {id} --title")).arg("-1 is odd").json()["title"],
        "-1 is odd"
    );
    assert_eq!(with(&format!("forum post issue:{id} -m"))["body"], LIST);
    with(&format!("pause {id} --reason"));
    stage.ok(&format!("resume {id}"));
    with(&format!("issues close {id} --outcome failure --reason"));
    with(&format!("issues retry {id} --note"));
    let review = gated.attempted();
    let verdict = stage.cmd(&format!("rounds verdict {review} needs_work --note")).by("bob").arg(LIST).json();
    assert_eq!(verdict["notes"], LIST);
    let ask = stage.id("issues create 'Which region?' --tag kind:ask");
    assert_eq!(with(&format!("answer {ask} done --note"))["note"], LIST);
}

#[test]
fn nobody_posts_in_the_engine_s_name() {
    let (gated, ask, _) = Gated::escalated();
    let said =
        gated.stage.refused(2, &format!("forum post issue:{ask} -m '/answer accept' --author roundgate"));
    assert!(said.stderr.contains("act under another name"), "{}", said.stderr);
    let posted = gated.stage.json(&format!("forum post issue:{ask} -m hello --author hugh"));
    assert_eq!(posted["author"], "hugh");
}

#[test]
fn an_empty_login_name_says_as_much_as_none() {
    let stage = Stage::new();
    let made = |login: &str, user: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        command.args(["issues", "create", "X"]).current_dir(stage.path(""));
        command.env_remove("ROUNDGATE_ACTOR").env_remove("ROUNDGATE_STORE");
        assert!(command.env("LOGNAME", login).env("USER", user).output().unwrap().status.success());
        stage.json("log --limit 1")[0]["actor"].as_str().unwrap().to_owned()
    };
    assert_eq!(made("", "ann"), "ann");
    assert_eq!(made("roundgate", "ann"), "ann");
    assert_eq!(made("bea", "ann"), "bea");
    assert!(made("", "").starts_with("uid:"));
}

#[test]
fn a_variable_that_is_no_text_is_named() {
    let stage = Stage::new();
    for name in ["ROUNDGATE_ACTOR", "ROUNDGATE_OPERATION"] {
        let ran = stage.cmd("status").env(name, OsStr::from_bytes(b"\xff")).run();
        assert_eq!(ran.exit, 2);
        assert!(ran.stderr.contains(&format!("{name} (\"\u{fffd}\") is not UTF-8")), "{}", ran.stderr);
    }
}

#[test]
fn a_missing_command_is_said_to_be_missing() {
    let stage = Stage::new();
    for line in ["--json issues", "issues --json", "--json"] {
        let ran = stage.cmd(line).run();
        assert_eq!(ran.exit, 2, "{line}");
        let message = ran.error()["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains("missing") || message.contains("requires a subcommand"),
            "{line}: {message}"
        );
    }
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    let stage = Stage::new();
    for line in ["--help", "issues create --help", "--version", "status"] {
        let mut command = stage.cmd(line).command();
        command.stdout(Stdio::from(File::options().write(true).open("/dev/full").unwrap()));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot print"), "{line}: {output:?}");
    }
}

#[test]
fn an_update_that_closes_says_why() {
    let stage = Stage::new();
    let id = stage.id("issues create X");
    stage.refused(2, &format!("issues update {id} --status closed --outcome skipped"));
    stage.refused(2, &format!("issues update {id} --reason because"));
    stage.refused(2, &format!("issues update {id} --status open --reason because"));
    let closed =
        stage.json(&format!("issues update {id} --status closed --outcome skipped --reason because"));
    assert_eq!((&closed["outcome"], &closed["reason"]), (&json!("skipped"), &json!("because")));
}

#[test]
fn the_exit_code_of_a_validation_is_that_of_a_root() {
    let gated = Gated::opened(1);
    let (stage, goal) = (&gated.stage, &gated.goal);
    assert_eq!(stage.json(&format!("issues validate {goal}"))["is_final"], false);
    stage.refused(2, &format!("issues validate {goal} --exit-status"));
    assert_eq!(stage.cmd(&format!("issues validate {} --exit-status", gated.root)).run().exit, 10);
}

#[test]
fn a_preview_of_an_answer_is_refused_where_the_answer_would_be() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    let preview = format!("answer {ask} abandon --with-dependents --dry-run");
    let events = stage.events();
    assert_eq!(stage.json(&preview), json!({ "would_skip": [beyond] }));
    assert!(stage.ok(&preview).contains(&format!("would skip {beyond}")));
    assert_eq!(stage.events(), events);
    stage.refused(2, &format!("answer {ask} nonsense --with-dependents --dry-run"));
    stage.ok(&format!("answer {ask} accept --tick"));
    stage.refused(4, &preview);
    stage.refused(2, &format!("answer {ask} --withdraw --tick"));
    stage.refused(2, &format!("answer {ask} --withdraw --note why"));
}

#[test]
fn what_a_choice_does_is_what_it_would_do_now() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    let accept = || {
        let ask = stage.json(&format!("asks show {ask}"));
        let choices = ask["choices"].as_array().unwrap().clone();
        choices.iter().find(|choice| choice["id"] == "accept").unwrap()["effect"].as_str().unwrap().to_owned()
    };
    assert!(accept().ends_with("releases: Write the parser"), "{}", accept());
    let late = stage.id(&format!("issues create 'Print the tree' --parent {}", gated.root));
    stage.ok(&format!("issues dep {} blocks {late}", gated.goal));
    assert!(accept().contains("Print the tree") && accept().contains("Write the parser"), "{}", accept());
    stage.ok(&format!("issues undep {} blocks {late}", gated.goal));
    stage.ok(&format!("issues undep {} blocks {beyond}", gated.goal));
    assert!(accept().ends_with("nothing waits for it"), "{}", accept());
}

#[test]
fn a_list_that_is_cut_says_so_and_says_what_shows_the_rest() {
    let stage = Stage::new();
    let id = stage.id("issues create X");
    for n in 0..3 {
        stage.ok(&format!("forum post issue:{id} -m 'post {n}'"));
        stage.ok(&format!("issues create 'question {n}?' --tag kind:ask"));
    }
    let posts = stage.ok(&format!("forum read issue:{id} --limit 2"));
    assert!(posts.starts_with("... and earlier ones; --all shows every post\n"), "{posts}");
    assert!(!posts.contains("post 0") && posts.contains("post 1") && posts.contains("post 2"), "{posts}");
    assert!(!stage.ok(&format!("forum read issue:{id} --limit 3")).contains("earlier"));
    assert_eq!(stage.json(&format!("forum read issue:{id} --limit 2"))[1]["body"], "post 2");
    let asks = stage.ok("asks list --limit 2");
    assert!(asks.ends_with("... and 1 more; --limit 0 shows every row\n"), "{asks}");
    assert_eq!(stage.ok("asks list --all --limit 2").lines().count(), 4);
    assert_eq!(stage.ok("asks list --limit 0").lines().count(), 4);
}

#[test]
fn a_plan_that_never_ends_is_refused_and_an_argument_may_be_blank() {
    let stage = Stage::new();
    let said = stage.refused(2, "plan check /dev/zero");
    assert!(said.stderr.contains("a plan has at most 4194304 bytes"), "{}", said.stderr);
    let plan = |command: &str| {
        format!(
            "[root]\nkey = \"r\"\ntitle = \"R\"\n[[goal]]\nkey = \"g\"\ntitle = \"G\"\nflow = \"none\"\n\
             verify = [{command}]\n"
        )
    };
    stage.write("good.toml", plan("[\"tr\", \"-d\", \" \", \"\"]"));
    stage.ok("plan check good.toml");
    stage.write("bad.toml", plan("[\" \", \"-d\"]"));
    stage.refused(2, "plan check bad.toml");
}

#[test]
fn a_further_worktree_finds_the_store_of_the_first_and_says_which() {
    let stage = Stage::new();
    let folder = stage.path("");
    // As `git worktree add further` leaves it.
    let own = folder.join(".git/worktrees/further");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("commondir"), "../..\n").unwrap();
    let further = tempfile::tempdir().unwrap();
    let below = further.path().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    fs::write(further.path().join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
    let id = stage.id("issues create X");
    let listed = |arguments: &[&str]| {
        let mut command = stage.cmd("issues list").command();
        let output = command.args(arguments).current_dir(&below).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, err) = listed(&[]);
    assert!(code == Some(0) && out.contains(&id), "{out}{err}");
    let store = folder.join(".roundgate").canonicalize().unwrap();
    assert_eq!(err, format!("the store is {}, of the main worktree\n", store.display()));
    assert_eq!(listed(&["--json"]).2, "");
    // A submodule is a repository of its own.
    fs::remove_file(own.join("commondir")).unwrap();
    assert_eq!(listed(&[]).0, Some(3));
    fs::write(further.path().join(".git"), "gitdir: nowhere\n").unwrap();
    assert_eq!(listed(&[]).0, Some(3));
}

#[test]
fn a_completion_script_is_json_where_json_is_wanted() {
    let stage = Stage::new();
    let script = stage.json("completions bash");
    assert_eq!(script["script"], stage.ok("completions bash"));
}

#[test]
fn a_note_that_comes_too_late_is_refused_and_not_dropped() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    stage.ok(&format!("answer {ask} accept --note 'good enough'"));
    let events = stage.events();
    for same in ["--note 'good enough'", ""] {
        assert_eq!(stage.json(&format!("answer {ask} accept {same}"))["changed"], false);
    }
    stage.refused(4, &format!("answer {ask} accept --note 'and one thing more'"));
    let post = format!("forum post issue:{ask} -m '/answer accept'");
    assert_eq!(stage.cmd(&post).by("bea").json()["act"], json!(null));
    assert_eq!(stage.events(), events + 1);
    assert_eq!(stage.json(&format!("asks show {ask}"))["note"], "good enough");
}

#[test]
fn an_answer_that_was_never_acted_on_says_what_became_of_the_question() {
    let stage = Stage::new();
    let work = stage.id("issues create 'Move the data'");
    let ask = stage.id(&format!("issues create 'Which region?' --tag kind:ask --parent {work}"));
    stage.ok(&format!("answer {ask} done --note eu"));
    stage.ok(&format!("issues close {work} --outcome skipped --cascade --reason 'no data'"));
    let shown = stage.ok(&format!("asks show {ask}"));
    assert!(shown.contains("answered done by ana") && shown.contains("closed: "), "{shown}");
}

#[test]
fn what_is_said_of_who_is_to_answer_is_checked_and_shown() {
    let stage = Stage::new();
    let ask = stage.id("issues create 'Which region?' --tag kind:ask");
    stage.refused(2, &format!("asks assign {ask} --to roundgate"));
    stage.refused(2, &format!("asks assign {ask} --timeout 7d"));
    stage.ok(&format!("asks assign {ask} --to hugh --due 2d --remind 12h --timeout 7d --default done"));
    let shown = stage.ok(&format!("asks show {ask}"));
    assert!(shown.contains("a reminder every 12h"), "{shown}");
    let none = stage.json(&format!("asks assign {ask} --due 0 --timeout 0"));
    assert_eq!((&none["due_at"], &none["timeout"]), (&json!(null), &json!(null)));
    stage.refused(2, "issues create X --accept ''");
}

#[test]
fn whoever_could_not_print_the_result_is_told_that_it_was_done() {
    let stage = Stage::new();
    let mut command = stage.cmd("issues create X").command();
    command.stdout(Stdio::from(File::options().write(true).open("/dev/full").unwrap()));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the command was carried out; only its output is missing"), "{said}");
    assert_eq!(stage.json("issues list")[0]["title"], "X");
}
