//! The quickstart's workers, each started with a packet made by hand, as `run` would start them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use roundgate::interop::plan_file::{PlanFile, parse};
use roundgate::runner::{AttemptReply, ReviewReply, parse_attempt, parse_review};
use serde_json::json;

/// A copy of the quickstart in a folder with an awkward name, and a folder to work in.
struct Quickstart {
    folder: tempfile::TempDir,
    plan: PlanFile,
}

impl Quickstart {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/plans");
        let to = folder.path().join("some 'plans' * é");
        fs::create_dir_all(to.join("quickstart")).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        for entry in fs::read_dir(from.join("quickstart")).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), to.join("quickstart").join(entry.file_name())).unwrap();
        }
        let plan = parse(&fs::read_to_string(from.join("quickstart.toml")).unwrap()).unwrap();
        Quickstart { folder, plan }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join("work/quickstart-out").join(name)
    }

    fn resolved(&self, command: &[String]) -> Vec<String> {
        let plans = self.folder.path().join("some 'plans' * é").display().to_string();
        command.iter().map(|word| word.replacen("./", &format!("{plans}/"), 1)).collect()
    }

    fn step(&self, role: &str, key: &str, notes: &[&str]) -> Vec<u8> {
        let goal = self.plan.goals.iter().find(|goal| goal.key == key).unwrap();
        let verify: Vec<_> = goal.verify.iter().map(|command| self.resolved(command)).collect();
        let packet = format!(
            r#"{{"v":1,"role":"{role}","issue":{{"id":"rg-a","title":{},"body":{},"key":"{key}"}},"root":"rg-r","round":1,"max_rounds":3,"accept":{},"verify":{},"notes":{},"upstream":[]}}"#,
            json!(goal.title),
            json!(goal.body),
            json!(goal.accept),
            json!(verify),
            json!(notes),
        );
        self.run(role, &packet)
    }

    fn run(&self, role: &str, packet: &str) -> Vec<u8> {
        let command = self.resolved(&self.plan.workers[role].command);
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .current_dir(self.folder.path().join("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(packet.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        output.stdout
    }

    fn attempt(&self, key: &str, notes: &[&str]) -> String {
        match parse_attempt(&self.step("attempt", key, notes)).unwrap() {
            AttemptReply::Success { result } => result,
            other => panic!("{other:?}"),
        }
    }

    fn review(&self, key: &str) -> ReviewReply {
        parse_review(&self.step("review", key, &[])).unwrap()
    }

    fn complaint(&self, key: &str) -> String {
        match self.review(key) {
            ReviewReply::NeedsWork { notes } => notes,
            other => panic!("{other:?}"),
        }
    }
}

fn pass() -> ReviewReply {
    ReviewReply::Pass { notes: "every check succeeded".to_owned() }
}

#[test]
fn the_first_attempt_fails_its_review_the_second_reads_the_notes_and_passes_and_then_the_report_passes() {
    let quickstart = Quickstart::new();
    assert_eq!(quickstart.attempt("words", &[]), "listed 30 words in quickstart-out/words.txt");
    let notes = quickstart.complaint("words");
    assert_eq!(notes, "words.txt lists a word in upper and lower case: Once and once");
    assert_eq!(quickstart.attempt("words", &[&notes]), "listed 27 words in quickstart-out/words.txt");
    assert_eq!(quickstart.review("words"), pass());
    assert_eq!(quickstart.attempt("report", &[]), "wrote quickstart-out/report.txt");
    assert_eq!(quickstart.review("report"), pass());
    assert_eq!(fs::read_to_string(quickstart.out("report.txt")).unwrap(), "words: 27\nlongest: behind\n");
}

#[test]
fn notes_about_something_else_do_not_make_the_attempt_guess() {
    let quickstart = Quickstart::new();
    quickstart.attempt("words", &["I like [it] \"not\" at all"]);
    assert!(quickstart.complaint("words").contains("upper and lower case"));
}

#[test]
fn the_review_believes_no_attempt_and_looks_at_the_files() {
    let quickstart = Quickstart::new();
    assert_eq!(quickstart.complaint("words"), "there is no quickstart-out/words.txt");
    quickstart.attempt("words", &["upper and lower case"]);
    let words = fs::read_to_string(quickstart.out("words.txt")).unwrap();
    for (changed, complaint) in [
        (words.replace("gate\n", ""), "words.txt lacks the word gate"),
        (words.replace("gate\n", "gate\ngatf\n"), "words.txt lists a word that the text has not: gatf"),
        (words.replace("gate\n", "gate gate\n"), "words.txt has a line that is not one word: line 9"),
        (format!("{words}a\n"), "words.txt is not sorted"),
    ] {
        fs::write(quickstart.out("words.txt"), changed).unwrap();
        assert_eq!(quickstart.complaint("words"), complaint);
    }
    fs::write(quickstart.out("words.txt"), &words).unwrap();
    quickstart.attempt("report", &[]);
    for (report, complaint) in [
        ("words: 26\nlongest: behind\n", "report.txt tells of 26 words, the list has 27"),
        ("words: 27\nlongest: bananas\n", "the longest word of report.txt is not in the list"),
        ("words: 27\nlongest: gate\n", "the list has a longer word than gate"),
    ] {
        fs::write(quickstart.out("report.txt"), report).unwrap();
        assert_eq!(quickstart.complaint("report"), complaint);
    }
}

#[test]
fn a_review_without_checks_does_not_pass_and_one_failing_check_of_several_is_enough() {
    let quickstart = Quickstart::new();
    let review = |verify: &str| {
        let packet =
            format!(r#"{{"role":"review","accept":["\"verify\":[["],"verify":{verify},"notes":[]}}"#);
        parse_review(&quickstart.run("review", &packet)).unwrap()
    };
    let needs_work = |notes: &str| ReviewReply::NeedsWork { notes: notes.to_owned() };
    assert_eq!(review("[]"), needs_work("there is no verify command to judge this work by"));
    assert_eq!(review(r#"[["true"],["test","1","=","1"]]"#), pass());
    assert_eq!(review(r#"[["true"],["sh","-c","echo no luck >&2; exit 3"]]"#), needs_work("no luck"));
    assert_eq!(review(r#"[["false"],["true"]]"#), needs_work("a check failed without a word: false"));
}

#[test]
fn an_attempt_at_an_unknown_goal_is_a_failure() {
    let quickstart = Quickstart::new();
    let stdout = quickstart.run("attempt", r#"{"role":"attempt","issue":{"key":"other"},"notes":[]}"#);
    let reply = parse_attempt(&stdout).unwrap();
    assert_eq!(reply, AttemptReply::Failure { result: "this worker does not know that goal".to_owned() });
}
