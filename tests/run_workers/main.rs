//! `run` and the workers it starts: whatever they print or do, a result is what they were asked for,
//! and everything else costs a step, never a round and never the truth.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[macro_use]
#[path = "../store_double/mod.rs"]
mod store_double;
mod asks;
mod bad_answers;
mod by_command;
mod failing_store;
mod limits;
mod packets;
#[path = "../run_fixture/mod.rs"]
mod run_fixture;
mod side_by_side;
mod stops;

use roundgate::model::id::IssueId;
use roundgate::model::issue::Issue;
use roundgate::model::record::{Ask, Round};
use run_fixture::World;

/// What every worker begins with: it reads its packet, notes its step, and knows how to answer.
const PRELUDE: &str = r#"
packet=$(cat)
[ -n "$packet" ] || exit 0
key=${packet#*'"key":"'}; key=${key%%'"'*}
round=${packet#*'"round":'}; round=${round%%,*}
role=${packet#*'"role":"'}; role=${role%%'"'*}
echo "$ROUNDGATE_ISSUE $key $role $round" >>journal
success() { printf '{"outcome":"success","result":"%s"}\n' "${1:-done}"; exit 0; }
failure() { printf '{"outcome":"failure","result":"%s"}\n' "$1"; exit 0; }
pass() { echo '{"verdict":"pass","notes":"good"}'; exit 0; }
needs_work() { printf '{"verdict":"needs_work","notes":"%s"}\n' "$1"; exit 0; }
"#;

const GOAL: &str = "[[goal]]\nkey = \"a\"\ntitle = \"Goal a\"\naccept = [\"good\"]\n";

/// One gated goal, and workers that do what the script says after the prelude.
fn world(script: &str, defaults: &str) -> World {
    World::new(&format!("{PRELUDE}{script}"), defaults, GOAL)
}

/// The steps as the workers noted them, without the ids.
fn steps(world: &World) -> Vec<String> {
    let lines = world.lines("journal");
    lines.iter().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

/// The rounds of every scope, in order.
fn rounds(world: &World) -> Vec<Round> {
    world.stored().0.all_rounds().cloned().collect()
}

/// The asks that are not closed.
fn open_asks(world: &World) -> Vec<Ask> {
    let (snapshot, _) = world.stored();
    let open = |ask: &&Ask| !snapshot.graph().get(&ask.id).unwrap().state.closed();
    snapshot.asks().filter(open).cloned().collect()
}

#[track_caller]
fn only_ask(world: &World) -> Ask {
    let mut asks = open_asks(world);
    assert_eq!(asks.len(), 1, "{asks:#?}");
    asks.remove(0)
}

#[track_caller]
fn answer(world: &World, ask: &IssueId, choice: &str) {
    let said = world.says(&["answer", ask.as_str(), choice, "--note", "so it be"]);
    assert_eq!(said.code, Some(0), "{said:#?}");
}

fn issue(world: &World, title: &str) -> Issue {
    let (snapshot, _) = world.stored();
    snapshot.graph().issues().find(|issue| issue.title == title).unwrap().clone()
}
