//! S3's three evaluation scenarios through the built binary, as agents on the command line would drive
//! them, with S3's two verification commands as printed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

const PROTOCOL: &str = "proto:hierarchical-work-v1";

/// A store in a folder of its own, and everybody who works with it.
struct Team {
    _folder: tempfile::TempDir,
    cwd: PathBuf,
}

impl Team {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().to_owned();
        let team = Team { _folder: folder, cwd };
        team.run("human", &["init"], 0);
        team
    }

    /// Runs a command as an actor, and gives its stdout.
    fn run(&self, actor: &str, arguments: &[&str], exit: i32) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        command.args(arguments).args(["--as", actor]).current_dir(&self.cwd);
        command
            .env_remove("ROUNDGATE_STORE")
            .env("ROUNDGATE_SEED", "7")
            .env("ROUNDGATE_NOW", "1772067720000");
        let output = command.output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(exit), "{arguments:?}\n{out}\n{err}");
        out
    }

    fn json(&self, actor: &str, arguments: &[&str]) -> Value {
        let out = self.run(actor, &[arguments, &["--json"]].concat(), 0);
        serde_json::from_str(&out).unwrap()
    }

    /// A protocol root with one gated goal and work behind it, made the way mu's skills make them.
    fn planned(&self, max: &str) -> (String, String, String) {
        let tags = ["--tag", "node:root", "--tag", "kind:root", "--tag", PROTOCOL];
        let root = id(&self.json("human", &[&["issues", "create", "Root: ship it"][..], &tags].concat()));
        self.run("human", &["issues", "update", &root, "--remove-tag", "node:agent"], 0);
        let goal_tags =
            ["--tag", "kind:goal", "--tag", "ctx:clean", "--tag", "flow:review-gated-v1", "--tag", PROTOCOL];
        let goal = [
            "issues",
            "create",
            "Write it",
            "--parent",
            &root,
            "--max-review-rounds",
            max,
            "--priority",
            "2",
        ];
        let goal = id(&self.json("human", &[&goal[..], &goal_tags].concat()));
        let behind =
            ["issues", "create", "Behind it", "--parent", &root, "--tag", "kind:goal", "--tag", PROTOCOL];
        let behind = id(&self.json("human", &behind));
        self.run("human", &["issues", "dep", &goal, "blocks", &behind], 0);
        (root, goal, behind)
    }

    /// Ticks until nobody but a worker or a human can move; gives the kinds of transition and the last report.
    fn ticks(&self, root: &str) -> (Vec<String>, Value) {
        let mut kinds = Vec::new();
        loop {
            let report = self.json("clock", &["tick", "--root", root]);
            match report["transition"]["kind"].as_str() {
                Some(kind) => kinds.push(kind.to_owned()),
                None => return (kinds, report),
            }
            assert!(kinds.len() < 20, "{kinds:?}");
        }
    }

    /// The one issue that S3's first verification command shows to be ready.
    fn ready(&self, root: &str) -> Value {
        let ready = self.json("agent", &["issues", "ready", "--root", root, "--tag", PROTOCOL, "--pretty"]);
        assert_eq!(ready.as_array().unwrap().len(), 1, "{ready}");
        ready[0].clone()
    }

    /// Does the ready attempt, as an execution loop does it.
    fn attempt(&self, root: &str, round: u64) {
        let ready = self.ready(root);
        assert_eq!((ready["role"].as_str(), ready["round"].as_u64()), (Some("attempt"), Some(round)));
        let id = id(&ready);
        self.run("ann", &["issues", "claim", &id], 0);
        let topic = format!("issue:{id}");
        self.run("ann", &["forum", "post", &topic, "-m", "START: this pass", "--author", "ann"], 0);
        self.run("ann", &["forum", "post", &topic, "-m", "RESULT:\ndone", "--author", "ann"], 0);
        self.run("ann", &["issues", "close", &id, "--outcome", "success"], 0);
    }

    fn judge(&self, root: &str, verdict: &str, note: &str) {
        let ready = self.ready(root);
        assert_eq!(ready["role"], "review", "{ready}");
        self.run("bob", &["rounds", "verdict", &id(&ready), verdict, "--note", note], 0);
    }
}

fn id(issue: &Value) -> String {
    issue["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_single_pass_of_the_review_makes_the_subtree_final() {
    let team = Team::new();
    let (root, goal, behind) = team.planned("3");
    let clock =
        id(&team.json("human", &["heartbeats", "create", "--root", &root, "--reason", "supervision"]));
    assert_eq!(team.ticks(&root).0, ["open_round"]);
    team.attempt(&root, 1);
    team.judge(&root, "pass", "");
    assert_eq!(team.ticks(&root).0, ["accept_round"]);
    let show = team.json("human", &["rounds", "show", &goal]);
    assert_eq!(show["state"], "passed");
    team.run("ann", &["issues", "close", &behind], 0);
    assert_eq!(team.json("human", &["heartbeats", "get", &clock])["enabled"], true);
    let (kinds, report) = team.ticks(&root);
    assert_eq!(kinds, ["roll_up", "finish"]);
    let stopped = team.json("human", &["heartbeats", "get", &clock]);
    assert_eq!(
        (stopped["enabled"].as_bool(), stopped["disabled"]["why"].as_str()),
        (Some(false), Some("final"))
    );
    assert_eq!((report["final"].as_bool(), report["decision"].as_str()), (Some(true), Some("done")));
    assert_eq!(team.json("human", &["issues", "validate", &root])["is_final"], true);
    assert!(team.run("human", &["issues", "validate", &root], 0).contains("is final"));
}

#[test]
fn one_failed_review_and_then_a_success_leaves_no_needs_work_behind() {
    let team = Team::new();
    let (root, goal, behind) = team.planned("3");
    team.ticks(&root);
    team.attempt(&root, 1);
    team.judge(&root, "needs_work", "no tests");
    assert_eq!(team.ticks(&root).0, ["next_round"]);
    let show = team.json("human", &["rounds", "show", &goal]);
    let first = team.json("human", &["issues", "get", show["rounds"][0]["review"].as_str().unwrap()]);
    assert_eq!(first["outcome"], "expanded");
    let second = team.json("human", &["issues", "get", show["rounds"][1]["attempt"].as_str().unwrap()]);
    assert_eq!(second["parent"], first["id"]);
    assert_eq!(second["work"]["notes"][0], "no tests");
    team.attempt(&root, 2);
    team.judge(&root, "pass", "well done");
    assert_eq!(team.ticks(&root).0, ["accept_round"]);
    assert_eq!(id(&team.ready(&root)), behind);
    team.run("ann", &["issues", "close", &behind], 0);
    assert_eq!(team.ticks(&root).0, ["roll_up", "finish"]);
    let validation = team.json("human", &["issues", "validate", &root]);
    assert_eq!(
        (validation["is_final"].as_bool(), &validation["needs_work"]),
        (Some(true), &Value::Array(vec![]))
    );
}

#[test]
fn used_up_rounds_ask_a_human_and_what_is_behind_waits() {
    let team = Team::new();
    let (root, goal, behind) = team.planned("2");
    team.ticks(&root);
    for (round, fault) in [(1, "no tests"), (2, "wrong result")] {
        team.attempt(&root, round);
        team.judge(&root, "needs_work", fault);
        let kind = if round == 2 { "escalate" } else { "next_round" };
        assert_eq!(team.ticks(&root).0, [kind]);
    }
    let (_, report) = team.ticks(&root);
    assert_eq!(report["waiting_on"]["actor"], "human");
    assert_eq!(report["state"], "escalated");
    team.run("clock", &["tick", "--root", &root, "--exit-status"], 11);
    let asks = team.json("human", &["asks", "list", "--root", &root]);
    let ask = id(&asks[0]);
    let choices: Vec<&str> =
        asks[0]["choices"].as_array().unwrap().iter().map(|choice| choice["id"].as_str().unwrap()).collect();
    assert_eq!(choices, ["open-extra-round", "stop-and-handoff", "accept", "abandon"]);
    assert_eq!(team.json("human", &["issues", "explain", &behind])["ready"], false);
    team.run("ann", &["issues", "close", &ask], 5);
    team.run("ann", &["issues", "update", &ask, "--status", "closed"], 5);
    assert_eq!(team.json("human", &["rounds", "show", &goal])["rounds"].as_array().unwrap().len(), 2);
    team.run("human", &["answer", &ask, "accept", "--note", "good enough", "--tick"], 0);
    assert_eq!(id(&team.ready(&root)), behind);
}
