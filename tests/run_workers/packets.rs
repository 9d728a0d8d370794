//! What a worker is told.

use std::fs;

use serde_json::{Value, json};

use crate::PRELUDE;
use crate::run_fixture::World;

const GOALS: &str = r#"
[[goal]]
key = "a"
title = "Goal a"
body = "Say \"a\"."
accept = ["a is said", "and heard"]
verify = [["sh", "./checks/a.sh", "--in=./x"], ["./checks/b"]]
[[goal]]
key = "b"
title = "Goal b"
accept = ["good"]
after = ["a", "c"]
[[goal]]
key = "c"
title = "Goal c"
flow = "none"
after = ["a"]
"#;

const SCRIPT: &str = r#"
echo "$packet" >"packet-$key-$role-$round"
pwd >"pwd-$key-$role-$round"
echo "$ROUNDGATE_STORE $ROUNDGATE_ROOT $ROUNDGATE_ISSUE $ROUNDGATE_ACTOR" >"env-$key-$role-$round"
case "$key $role $round" in
"a review 1") needs_work "say it louder" ;;
"a attempt 2") failure "lost the voice" ;;
*review*) pass ;;
esac
success "$key by $role in round $round""#;

fn packet(world: &World, name: &str) -> Value {
    let text = fs::read_to_string(world.path("work").join(format!("packet-{name}"))).unwrap();
    assert_eq!(text.lines().count(), 1, "{name}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn packets_say_what_is_wanted_what_was_wrong_and_what_it_builds_on() {
    let world = World::new(&format!("{PRELUDE}{SCRIPT}"), "", GOALS);
    // Called from another folder than the plan's: workers run there, and `./` is still the plan's.
    fs::create_dir(world.path("work")).unwrap();
    let mut run = world.command(&["run", "../plan.toml"]);
    let status = run.current_dir(world.path("work")).output().unwrap().status;
    assert!(status.success());
    let here = world.path("").canonicalize().unwrap();
    let below = |name: &str| here.join(name).display().to_string();
    let (snapshot, _) = {
        let store = roundgate::store::sqlite::Sqlite::open(&world.path("work/.roundgate")).unwrap();
        roundgate::store::Store::snapshot(&store).unwrap()
    };
    let graph = snapshot.graph();
    let id = |title: &str| graph.issues().find(|issue| issue.title == title).unwrap().id.to_string();

    let first = packet(&world, "a-attempt-1");
    let expected = json!({
        "v": 1,
        "role": "attempt",
        "issue": {
            "id": id("Attempt 1: Goal a"), "key": "a", "title": "Attempt 1: Goal a", "body": first["issue"]["body"],
        },
        "root": id("The root"),
        "round": 1,
        "max_rounds": 3,
        "accept": ["a is said", "and heard"],
        "verify": [["sh", below("checks/a.sh"), "--in=./x"], [below("checks/b")]],
        "notes": [],
        "upstream": [],
    });
    assert_eq!(first, expected);
    assert!(first["issue"]["body"].as_str().unwrap().contains("Say \"a\"."), "{first:#}");

    let review = packet(&world, "a-review-1");
    assert_eq!((&review["role"], &review["verify"]), (&json!("review"), &first["verify"]));
    let result = json!([{
        "id": id("Attempt 1: Goal a"), "title": "Attempt 1: Goal a",
        "outcome": "success", "result": "a by attempt in round 1",
    }]);
    assert_eq!(review["upstream"], result);

    let second = packet(&world, "a-attempt-2");
    assert_eq!(second["notes"], json!(["say it louder"]), "of the review of round 1");
    let third = packet(&world, "a-attempt-3");
    assert_eq!(third["notes"], json!(["say it louder", "lost the voice"]), "of the failed attempt as well");
    assert_eq!((&third["round"], &third["verify"]), (&json!(3), &first["verify"]));

    let plain = packet(&world, "c-attempt-null");
    assert_eq!((&plain["round"], &plain["max_rounds"]), (&Value::Null, &Value::Null));
    let a = json!({
        "id": id("Goal a"), "title": "Goal a", "outcome": "success", "result": "a by attempt in round 3",
    });
    assert_eq!(plain["upstream"], json!([a]));
    let c = json!({
        "id": id("Goal c"), "title": "Goal c", "outcome": "success", "result": "c by attempt in round null",
    });
    assert_eq!(packet(&world, "b-attempt-1")["upstream"], json!([a, c]));

    let work = here.join("work").display().to_string();
    let read = |name: &str| fs::read_to_string(world.path("work").join(name)).unwrap().trim().to_owned();
    assert_eq!(read("pwd-a-review-1"), work);
    let (root, review) = (id("The root"), id("Review 1: Goal a"));
    assert_eq!(read("env-a-review-1"), format!("{work}/.roundgate {root} {review} ann.review"));
}
