//! Exit codes: what each number means to a script.

use insta::assert_snapshot;

use crate::gated::Gated;
use crate::stage::Stage;

#[test]
fn nothing_to_do_is_a_success() {
    let stage = Stage::new();
    let id = stage.id("issues create 'Write it'");
    stage.show("init");
    stage.show(&format!("issues update {id} --title 'Write it'"));
    stage.show(&format!("issues close {id}"));
    let events = stage.events();
    stage.show(&format!("issues close {id}"));
    stage.show(&format!("tick --root {id}"));
    assert_eq!(stage.events(), events);
    assert_snapshot!(stage.transcript());
}

#[test]
fn each_sort_of_error_has_its_code() {
    let stage = Stage::new();
    let id = stage.id("issues create 'Write it'");
    stage.cmd(&format!("issues claim {id}")).by("bob").ok();
    stage.refused(2, "issues create 'Write it' --priority 9");
    stage.refused(3, "issues get rg-none");
    stage.refused(4, &format!("issues claim {id}"));
    stage.refused(4, &format!("issues close {id}"));
    stage.refused(5, &format!("issues dep {id} parent {id}"));
    stage.write(
        ".roundgate/roundgate.db",
        "this is not a database, and it is longer than a page header would be, surely\n",
    );
    stage.refused(7, "issues list");
    assert_snapshot!(stage.transcript());
}

#[test]
fn who_came_second_to_a_claim_is_told_who_came_first() {
    let stage = Stage::new();
    let id = stage.id("issues create 'Write it'");
    stage.cmd(&format!("issues claim {id}")).by("bob").show();
    stage.cmd(&format!("issues claim {id}")).by("carla").refused(4);
    let nothing = stage.cmd("issues claim --next").by("carla");
    let error = nothing.refused(6);
    assert!(error.stderr.contains("nothing is ready"));
    let error = stage.cmd("issues claim --next --json").by("carla").run().error();
    assert_eq!((&error["code"], &error["retryable"]), (&"nothing_ready".into(), &true.into()));
    stage.cmd(&format!("issues claim {id}")).by("bob").show();
    stage.cmd(&format!("issues close {id} --epoch 7")).by("bob").refused(4);
    stage.cmd(&format!("issues release {id}")).by("carla").refused(4);
    stage.hours_pass(2);
    stage.cmd(&format!("issues claim {id}")).by("carla").show();
    stage.cmd(&format!("issues close {id} --epoch 1")).by("bob").refused(4);
    stage.cmd(&format!("issues close {id}")).by("carla").show();
    assert_snapshot!(stage.transcript());
}

#[test]
fn exit_status_says_who_must_move() {
    let (gated, ask, beyond) = Gated::escalated();
    let stage = &gated.stage;
    let both = |wanted: i32| {
        for line in [
            format!("tick --root {} --exit-status", gated.root),
            format!("issues validate {} --exit-status", gated.root),
        ] {
            assert_eq!(stage.cmd(&line).run().exit, wanted, "{line}");
        }
    };
    both(11);
    stage.ok(&format!("answer {ask} abandon --tick"));
    both(10);
    stage.ok(&format!("issues close {beyond}"));
    while stage.json(&format!("tick --root {}", gated.root))["final"] != true {}
    both(0);
    assert_eq!(stage.cmd(&format!("tick --root {}", gated.root)).run().exit, 0);
}

#[test]
fn exit_status_is_12_when_nobody_can_move() {
    let stage = Stage::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/import");
    stage.cmd("import --format beads").arg(folder.join("beads-odd.jsonl")).ok();
    stage.show("issues explain odd-1");
    stage.cmd("issues validate odd-1 --exit-status").show();
    stage.cmd("tick --root odd-1 --exit-status").show();
    assert_snapshot!(stage.transcript());
}

#[test]
fn a_hint_does_not_offer_what_is_over() {
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    let review = gated.rounds()["rounds"][0]["review"].as_str().unwrap().to_owned();
    let ran = stage.refused(4, &format!("rounds verdict {review} pass"));
    assert!(ran.stderr.contains("a tick has acted on it; roundgate rounds show"), "{ran:?}");
    stage.ok(&format!("answer {ask} abandon"));
    let ran = stage.refused(4, &format!("answer {ask} accept"));
    assert!(ran.stderr.contains("until a tick acts on it, ana may withdraw it"), "{ran:?}");
    stage.ok(&format!("tick --root {}", gated.root));
    let ran = stage.refused(4, &format!("answer {ask} accept"));
    assert!(ran.stderr.contains("a tick has acted on it; roundgate issues history"), "{ran:?}");
    for _ in 0..2 {
        stage.ok(&format!("cron create --root {} --every 6h", gated.root));
    }
    let ran = stage.refused(4, &format!("cron get {}", gated.root));
    assert!(ran.stderr.contains("hint: name the one that is meant by its own id"), "{ran:?}");
    stage.write("plan.toml", "[root]\n");
    let ran = stage.refused(2, "plan check plan.toml");
    assert!(ran.stderr.contains("hint: mend what is named there"), "{ran:?}");
}
