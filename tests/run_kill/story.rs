//! One plan with a bit of everything (a failed review, a failed attempt, a goal without rounds), and
//! what must be true of its store and of its workers' journal however often it was interrupted.

use std::collections::BTreeMap;
use std::fmt::Write;

use roundgate::model::change::{Change, Event, Field};
use roundgate::model::graph::{EdgeKind, Ix};
use roundgate::model::id::IssueId;
use roundgate::model::issue::State;
use roundgate::model::record::RoundEnd;
use roundgate::model::snapshot::Snapshot;

use crate::run_fixture::{Said, World};

/// Every worker. What it answers follows from its packet alone, so that a step that was lost and is
/// done again comes to the same. A journal line tells issue, process and time of each worker that was
/// fed; one that is to kill its runner before that knows itself by its number only. `$PPID` is only ever signalled when it is the program under test.
const WORKER: &str = r#"
once() { mkdir "once-$1" 2>/dev/null; }
kill_runner() {
    read -r name <"/proc/$PPID/comm" && [ "$name" = roundgate ] && kill -9 "$PPID"
}
echo >>begun
[ "${KILL_AT:-}" = "$(($(wc -l <begun))) unfed" ] && once kill && kill_runner
packet=$(cat)
if [ -z "$packet" ]; then
    echo "$$" >>starved
    exit 0
fi
echo "$ROUNDGATE_ISSUE $$ $(date +%s%N)" >>journal
key=${packet#*'"key":"'}; key=${key%%'"'*}
round=${packet#*'"round":'}; round=${round%%,*}
role=${packet#*'"role":"'}; role=${role%%'"'*}
step="$key $role $round"
echo "$step" >>steps
if [ "${SLEEP_AT:-}" = "$step" ] && once sleep; then
    sleep 600 &
    echo "$$ $!" >sleeping.new && mv sleeping.new sleeping
    wait
fi
[ "${KILL_AT:-}" = "$step fed" ] && once kill && kill_runner
case $step in
"a review 1") echo '{"verdict":"needs_work","notes":"there is too little of it"}' ;;
"b attempt 1") echo '{"outcome":"failure","result":"it cannot be done so"}' ;;
*review*) echo '{"verdict":"pass","notes":"good"}' ;;
*) echo '{"outcome":"success","result":"done"}' ;;
esac
[ "${KILL_AT:-}" = "$step answered" ] && once kill && kill_runner
exit 0
"#;

/// Lost steps are what these tests are about, so they are tried again as often as it takes.
const DEFAULTS: &str = "step_retries = 100";

const GOALS: &str = r#"
[[goal]]
key = "a"
title = "Goal a"
accept = ["good"]
[[goal]]
key = "b"
title = "Goal b"
accept = ["good"]
after = ["a"]
[[goal]]
key = "c"
title = "Goal c"
flow = "none"
after = ["a"]
"#;

pub struct Story {
    pub world: World,
}

impl Story {
    pub fn new() -> Story {
        Story { world: World::new(WORKER, DEFAULTS, GOALS) }
    }

    /// Runs the plan with one more variable for its workers.
    pub fn says_with(&self, name: &str, value: &str) -> Said {
        Said::of(self.world.command(&["run", "plan.toml"]).env(name, value).output().unwrap())
    }

    /// The steps in the order in which they were begun, each once.
    pub fn steps(&self) -> Vec<String> {
        let mut steps = self.world.lines("steps");
        let mut seen = std::collections::BTreeSet::new();
        steps.retain(|step| seen.insert(step.clone()));
        steps
    }

    /// Holds the store and the journal to each other, and gives the graph up to ids.
    #[track_caller]
    pub fn ended(&self) -> String {
        let (snapshot, events) = self.world.stored();
        check_chain(&snapshot, &events);
        self.check_journal(&events);
        let held = snapshot.graph().issues().find(|issue| !issue.state.closed());
        assert!(held.is_none(), "{held:?} is not closed");
        canonical(&snapshot)
    }

    /// Nobody works on what has its result, works unclaimed, or works unrecorded.
    #[track_caller]
    fn check_journal(&self, events: &[Event]) {
        let journal: Vec<Step> = self.world.lines("journal").iter().map(|line| Step::parse(line)).collect();
        let mut claims: BTreeMap<&IssueId, usize> = BTreeMap::new();
        let mut results: BTreeMap<&IssueId, &Event> = BTreeMap::new();
        for event in events {
            match (&event.change, event.cause.as_str()) {
                (Change::IssueChanged { id, .. }, "run claim") => {
                    assert!(!results.contains_key(id), "{id} was claimed after its result was stored");
                    *claims.entry(id).or_default() += 1;
                }
                (Change::IssueChanged { id, .. }, "run complete") => {
                    assert!(results.insert(id, event).is_none(), "{id} has two results");
                }
                (Change::RoundSet { after, .. }, "run verdict") => {
                    let id = &after.review;
                    assert!(results.insert(id, event).is_none(), "{id} has two verdicts");
                }
                _ => {}
            }
        }
        for step in &journal {
            let id = &step.issue;
            let recorded = events.iter().find(|event| worker_of(event, id) == Some(step.pid));
            let recorded = recorded.unwrap_or_else(|| panic!("{step:?} was fed and never recorded"));
            assert!(recorded.at <= step.at, "{step:?} was fed before it was recorded");
            let stored = results.get(id).unwrap_or_else(|| panic!("{step:?} led to nothing"));
            assert!(step.at <= stored.at, "{step:?} began after the result was stored");
            let times = journal.iter().filter(|other| other.issue == *id).count();
            assert!(times <= claims[id], "{id} was done {times} times and claimed {} times", claims[id]);
        }
        for id in results.keys() {
            assert!(journal.iter().any(|step| step.issue == **id), "{id} has a result that nobody made");
        }
    }
}

/// A line of the journal.
#[derive(Debug)]
struct Step {
    issue: IssueId,
    pid: u32,
    /// In milliseconds, as events have it.
    at: i64,
}

impl Step {
    fn parse(line: &str) -> Step {
        let fields: Vec<&str> = line.split(' ').collect();
        let nanos: i64 = fields[2].parse().unwrap();
        Step { issue: fields[0].parse().unwrap(), pid: fields[1].parse().unwrap(), at: nanos / 1_000_000 }
    }
}

/// The worker that an event records for an issue.
fn worker_of(event: &Event, issue: &IssueId) -> Option<u32> {
    let Change::IssueChanged { id, after, .. } = &event.change else { return None };
    let claim = after.iter().find_map(|field| match field {
        Field::State(State::InProgress { claim }) => Some(claim),
        _ => None,
    });
    claim.filter(|_| id == issue)?.worker.as_ref().map(|worker| worker.pid)
}

/// The events have no gap, and played from the first to the last they give what the store holds.
#[track_caller]
fn check_chain(snapshot: &Snapshot, events: &[Event]) {
    let mut replayed = Snapshot::default();
    for (event, seq) in events.iter().zip(1..) {
        assert_eq!(event.seq, seq, "a gap in the events");
        replayed.fold(&event.change, event.at);
    }
    assert_eq!(&replayed, snapshot, "the events tell another story than the tables");
}

/// The graph with titles from the root down in place of ids, and without what a lost step may change.
fn canonical(snapshot: &Snapshot) -> String {
    let graph = snapshot.graph();
    let path = |ix: Ix| {
        let mut titles: Vec<&str> =
            graph.self_and_ancestors(ix).map(|up| graph.issue(up).title.as_str()).collect();
        titles.reverse();
        titles.join(" / ")
    };
    let paths = |ends: &[Ix]| {
        let mut paths: Vec<String> = ends.iter().map(|&end| path(end)).collect();
        paths.sort();
        paths.join(", ")
    };
    let mut issues: Vec<String> = graph
        .indices()
        .map(|ix| {
            let (node, issue) = (graph.node(ix), graph.issue(ix));
            let tags: Vec<String> = issue.tags.iter().map(ToString::to_string).collect();
            format!(
                "{}\n  {:?} {:?} {}\n  key {:?} notes {:?}\n  {} {}\n  {} {}\n",
                path(ix),
                issue.state.outcome(),
                issue.state.reason(),
                tags.join(" "),
                issue.key,
                issue.work.notes,
                EdgeKind::Blocks.as_str(),
                paths(&node.blocks),
                EdgeKind::Supersedes.as_str(),
                paths(&node.supersedes),
            )
        })
        .collect();
    issues.sort();
    assert!(issues.windows(2).all(|pair| pair[0] != pair[1]), "two issues of one name:\n{}", issues.concat());
    let mut rounds: Vec<String> = Vec::new();
    for round in snapshot.all_rounds() {
        let at = |id: &IssueId| path(graph.ix(id).unwrap());
        let verdict = round.verdict.as_ref().map(|verdict| (verdict.opinion, verdict.reason.as_str()));
        let end = round.end.as_ref().map(|end| match end {
            RoundEnd::Passed => "passed".to_owned(),
            RoundEnd::Failed { notes, .. } => format!("failed: {notes}"),
        });
        let mut line = format!("round {} of {}: {verdict:?} {end:?}\n", round.number, at(&round.scope));
        writeln!(line, "  {}\n  {}", at(&round.attempt), at(&round.review)).unwrap();
        rounds.push(line);
    }
    rounds.sort();
    let finished = snapshot.finished_roots().count();
    format!("{}{}{finished} finished, {} asks\n", issues.concat(), rounds.concat(), snapshot.asks().count())
}
