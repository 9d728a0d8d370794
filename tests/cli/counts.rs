//! One is counted as one.

use crate::gated::Gated;
use crate::stage::{Ran, Stage};

fn said(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn one_of_something_is_not_several() {
    let stage = Stage::new();
    stage.write(
        "plan.toml",
        "[root]\nkey = \"r\"\ntitle = \"Ship it\"\n\n[workers.one]\ncommand = [\"true\"]\n\n\
         [[goal]]\nkey = \"g\"\ntitle = \"Write it\"\nattempt = \"one\"\nreview = \"one\"\naccept = [\"it is there\"]\n",
    );
    assert!(stage.ok("plan check plan.toml").ends_with(": 1 goal, 1 worker, no faults\n"));
    let (gated, ask, _) = Gated::escalated();
    let stage = &gated.stage;
    assert!(stage.ok("status").contains(", 1 ask waiting for a human\n"));
    assert!(stage.ok(&format!("rounds show {}", gated.goal)).contains("  at most 1 round\n"));
    let dry = stage.cmd(&format!("answer {ask} abandon --with-dependents")).run();
    assert!(said(&dry).contains("1 issue that waits for the scope is skipped, too"), "{}", said(&dry));
    let parent = stage.id("issues create 'Write it'");
    stage.id(&format!("issues create 'A part' --parent {parent}"));
    let closed = stage.cmd(&format!("issues close {parent} --outcome skipped --reason moot")).run();
    assert!(said(&closed).contains("1 issue below stays open and is let go"), "{}", said(&closed));
    let beat = stage.ok(&format!("heartbeats create --root {} --max-ticks 1", gated.root));
    assert!(!beat.contains("1 due times"), "{beat}");
}
