//! Many processes at one store: one of them wins, nobody loses anything, and being killed leaves no
//! trace but what was committed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{EventQuery, Extent, Store};
use serde_json::Value;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.done("ann", &["init"]);
        place
    }

    fn store(&self) -> PathBuf {
        self.0.path().join(".roundgate")
    }

    fn start(&self, actor: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundgate"));
        for name in ["STORE", "NOW", "SEED"] {
            command.env_remove(format!("ROUNDGATE_{name}"));
        }
        command.args(arguments).current_dir(self.0.path()).env("ROUNDGATE_ACTOR", actor);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a command that must succeed, and gives what it printed as JSON.
    #[track_caller]
    fn done(&self, actor: &str, arguments: &[&str]) -> Value {
        let arguments: Vec<&str> = ["--json"].iter().chain(arguments).copied().collect();
        let output = self.start(actor, &arguments).wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        json(&output.stdout)
    }

    /// Makes an issue with these words and gives its id.
    fn create(&self, words: &[&str]) -> String {
        let arguments: Vec<&str> = ["issues", "create"].iter().chain(words).copied().collect();
        text(&self.done("ann", &arguments)["id"])
    }

    /// A scope whose first round is open, with the ids of its attempt and review.
    fn scope(&self, rounds: &str) -> (String, String, String) {
        let scope = self.create(&["The scope", "--accept", "good"]);
        let opened = self
            .done("ann", &["rounds", "open", &scope, "--max-review-rounds", rounds, "--no-progress", "0"]);
        let round = &opened["rounds"][0];
        (scope, text(&round["attempt"]), text(&round["review"]))
    }

    /// What is stored, after a look at the chain of events and at the rounds.
    #[track_caller]
    fn sound(&self) -> Snapshot {
        let store = Sqlite::open(&self.store()).unwrap();
        let snapshot = store.snapshot().unwrap().0;
        let mut replayed = Snapshot::default();
        for (event, seq) in store.events(&EventQuery::default()).unwrap().iter().zip(1..) {
            assert_eq!(event.seq, seq, "a gap in the events");
            replayed.fold(&event.change, event.at);
        }
        assert_eq!(replayed, snapshot, "the events tell another story than the tables");
        for scope in snapshot.scopes() {
            let numbers: Vec<u32> = snapshot.rounds(&scope.id).map(|round| round.number).collect();
            assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>(), "{}", scope.id);
        }
        snapshot
    }
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn finished(crowd: Vec<Child>) -> Vec<Output> {
    crowd.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

#[test]
fn of_eight_that_claim_one_issue_one_wins_and_seven_are_told_who() {
    let place = Place::new();
    for _ in 0..4 {
        let id = place.create(&["Wanted by all"]);
        let claim = |n: usize| place.start(&format!("agent{n}"), &["--json", "issues", "claim", &id]);
        let outputs = finished((0..8).map(claim).collect());
        let winners: Vec<usize> = (0..8).filter(|&n| outputs[n].status.success()).collect();
        let &[winner] = winners.as_slice() else { panic!("{winners:?} won: {outputs:#?}") };
        let winner = format!("agent{winner}");
        for output in outputs.iter().filter(|output| !output.status.success()) {
            assert_eq!(output.status.code(), Some(4), "{output:?}");
            let error = json(&output.stderr);
            assert!(text(&error["message"]).contains(&winner), "{error:#}");
        }
        let issue = place.done("ann", &["issues", "get", &id]);
        assert_eq!((&issue["claim"]["actor"], &issue["claim"]["epoch"]), (&winner.into(), &1.into()));
    }
    place.sound();
}

#[test]
fn a_crowd_that_claims_the_next_issue_is_given_each_once() {
    let place = Place::new();
    for n in 0..20 {
        place.create(&[&format!("Issue {n}")]);
    }
    let claim = |n: usize| place.start(&format!("agent{n}"), &["--json", "issues", "claim", "--next"]);
    let mut given = Vec::new();
    for wave in 0..3 {
        let outputs = finished((0..8).map(|n| claim(8 * wave + n)).collect());
        let (won, lost): (Vec<&Output>, Vec<&Output>) = outputs.iter().partition(|o| o.status.success());
        given.extend(won.iter().map(|output| text(&json(&output.stdout)["id"])));
        assert_eq!(won.len(), if wave < 2 { 8 } else { 4 }, "{lost:#?}");
        assert!(lost.iter().all(|output| json(&output.stderr)["code"] == "nothing_ready"), "{lost:#?}");
    }
    assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), 20, "{given:?}");
    place.sound();
}

#[test]
fn who_comes_with_the_number_of_an_old_claim_is_told_what_became_of_it() {
    let place = Place::new();
    let id = place.create(&["Work"]);
    let close = || {
        let close = place.start("ann", &["issues", "close", &id, "--epoch", "1"]).wait_with_output().unwrap();
        assert_eq!(close.status.code(), Some(4), "{close:?}");
        String::from_utf8(close.stderr).unwrap()
    };
    place.done("ann", &["issues", "claim", &id]);
    place.done("ann", &["issues", "release", &id]);
    assert!(close().contains("is not held under the fencing number 1 any more"), "{}", close());
    place.done("ann", &["issues", "claim", &id]);
    assert!(close().contains("was claimed again since: the fencing number is 2, not 1"), "{}", close());
}

#[test]
fn eight_ticks_at_once_open_exactly_one_second_round() {
    for _ in 0..4 {
        let place = Place::new();
        let (scope, attempt, review) = place.scope("5");
        place.done("ann", &["issues", "close", &attempt]);
        place.done("bob", &["rounds", "verdict", &review, "needs_work", "--note", "too short"]);
        let outputs =
            finished((0..8).map(|_| place.start("clock", &["--json", "tick", "--root", &scope])).collect());
        assert!(outputs.iter().all(|output| output.status.success()), "{outputs:#?}");
        let applied = outputs.iter().filter(|output| json(&output.stdout)["applied"] == true).count();
        assert_eq!(applied, 1, "{outputs:#?}");
        let snapshot = place.sound();
        assert_eq!((snapshot.all_rounds().count(), snapshot.graph().len()), (2, 5));
    }
}

/// Whether the graph has the scope, and two nodes for each of its rounds; all but the last have ended.
fn rounds_are_whole(snapshot: &Snapshot) -> bool {
    let rounds: Vec<_> = snapshot.all_rounds().collect();
    let going_on = rounds.iter().filter(|round| round.end.is_none()).count();
    snapshot.graph().len() == 1 + 2 * rounds.len() && going_on == 1
}

#[test]
fn a_tick_that_does_not_commit_as_one_is_noticed() {
    let place = Place::new();
    let (scope, attempt, review) = place.scope("5");
    place.done("ann", &["issues", "close", &attempt]);
    place.done("bob", &["rounds", "verdict", &review, "needs_work", "--note", "too short"]);
    place.done("clock", &["tick", "--root", &scope]);
    assert!(rounds_are_whole(&place.sound()));
    let events = Sqlite::open(&place.store()).unwrap().events(&EventQuery::default()).unwrap();
    let tick = events.last().unwrap().tick;
    let first = events.iter().position(|event| event.tick == tick).unwrap();
    // The planted bug: the tick was killed after a commit of some of its events.
    let halves = (first + 1..events.len()).map(|end| {
        let above = tempfile::tempdir().unwrap();
        let mut store = Sqlite::init(&above.path().join("store")).unwrap();
        store.transact(Extent::Frontier, &mut |_, _| Some(events[..end].to_vec())).unwrap();
        rounds_are_whole(&store.snapshot().unwrap().0)
    });
    let halves: Vec<bool> = halves.collect();
    // Before the first of its nodes there is nothing to see, and after its last edge it is all there.
    assert!(halves.iter().filter(|whole| !**whole).count() * 2 > halves.len(), "{halves:?}");
}

#[test]
fn ticks_killed_at_random_moments_leave_all_of_a_round_or_nothing_of_it() {
    let place = Place::new();
    let (scope, ..) = place.scope("100");
    let mut whole = Duration::from_millis(50);
    let mut rng = fastrand::Rng::with_seed(1041);
    let mut killed = 0;
    for n in 0_u32..40 {
        let mut tick = place.start("clock", &["tick", "--root", &scope]);
        // Every fourth lives, so that a slow machine gets on as well, and tells how long a life is; every
        // fourth is killed at once, so that a fast one does not outrun them all.
        let started = Instant::now();
        if n % 4 > 0 {
            std::thread::sleep(whole.mul_f64(0.6 * rng.f64() * f64::from(n % 4 - 1)));
            tick.kill().unwrap();
        }
        killed += usize::from(tick.wait().unwrap().code().is_none());
        if n % 4 == 0 {
            whole = whole.min(started.elapsed());
        }
        let snapshot = place.sound();
        let round = snapshot.all_rounds().max_by_key(|round| round.number).unwrap();
        assert!(rounds_are_whole(&snapshot), "half a round");
        // Whoever is to move next moves.
        let attempt = snapshot.graph().get(&round.attempt).unwrap();
        if !attempt.state.closed() {
            place.done("ann", &["issues", "close", attempt.id.as_str()]);
        }
        if round.verdict.is_none() {
            let note = format!("complaint {n}");
            place.done("bob", &["rounds", "verdict", round.review.as_str(), "needs_work", "--note", &note]);
        }
    }
    assert!(killed > 5, "only {killed} were killed");
    let rounds = place.sound().all_rounds().count();
    assert!(rounds > 5, "only {rounds} rounds");
}

#[test]
fn sixteen_processes_open_a_store_whose_log_nobody_folded_in() {
    for _ in 0..3 {
        let place = Place::new();
        place.create(&["Folded in"]);
        // A writer that never closes: what is copied meanwhile is what a crash leaves.
        let store = Sqlite::open(&place.store()).unwrap();
        let left = place.create(&["In the log"]);
        let crashed = place.0.path().join("crashed");
        std::fs::create_dir(&crashed).unwrap();
        for name in ["roundgate.db", "roundgate.db-wal"] {
            std::fs::copy(place.store().join(name), crashed.join(name)).unwrap();
        }
        drop(store);
        assert!(std::fs::metadata(crashed.join("roundgate.db-wal")).unwrap().len() > 0);

        let folder = crashed.display().to_string();
        let crowd = (0..16).map(|n| match n % 4 {
            0 => place.start("ann", &["--json", "--store", &folder, "issues", "create", &format!("New {n}")]),
            _ => place.start("ann", &["--json", "--store", &folder, "issues", "get", &left]),
        });
        let outputs = finished(crowd.collect());
        assert!(outputs.iter().all(|output| output.status.success()), "{outputs:#?}");
        let store = Sqlite::open(&crashed).unwrap();
        assert_eq!(store.snapshot().unwrap().0.graph().len(), 2 + 4);
    }
}

#[test]
fn a_poller_beside_four_writers_misses_nothing_that_was_acknowledged() {
    let place = Place::new();
    let acknowledged = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let place = &place;
                scope.spawn(move || {
                    let titles = (0..10).map(|n| format!("Issue {n} of writer {writer}"));
                    titles.map(|title| place.create(&[&title])).collect::<Vec<String>>()
                })
            })
            .collect();
        let mut seen = BTreeSet::new();
        while !writers.iter().all(|writer| writer.is_finished()) {
            let ready = place.done("poller", &["issues", "ready"]);
            let now: BTreeSet<String> =
                ready.as_array().unwrap().iter().map(|issue| text(&issue["id"])).collect();
            assert!(now.is_superset(&seen), "what was there is gone: {seen:?} {now:?}");
            seen = now;
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<BTreeSet<String>>()
    });
    assert_eq!(acknowledged.len(), 40);
    let ready = place.done("poller", &["issues", "ready"]);
    let there: BTreeSet<String> = ready.as_array().unwrap().iter().map(|issue| text(&issue["id"])).collect();
    assert_eq!(there, acknowledged);
    place.sound();
}
