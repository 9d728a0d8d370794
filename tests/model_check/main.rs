//! Every state that three agents, a human and a clock can bring two scopes into, each held to the laws.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod key;
mod laws;
mod moves;
mod search;
mod tick;
mod world;

use search::{Figures, search};
use world::{Left, Setup, Work};

fn scope(name: &'static str, rounds: u32) -> Work {
    Work { name, rounds: Some(rounds), after: None }
}

fn run(setup: &Setup) -> Figures {
    let started = std::time::Instant::now();
    match search(setup) {
        Ok(figures) => {
            println!("{}: {figures} in {:?}", setup.name, started.elapsed());
            figures
        }
        Err(found) => panic!("{}: {found}", setup.name),
    }
}

#[test]
fn try_out() {
    let left = Left { crashes: 1, slow: 1, ..Left::default() };
    let base = Setup { name: "one", work: vec![scope("a", 2)], step_retries: 1, no_progress: 0, inner_rounds: 1, left, bug: None };
    run(&base);
    if false {
    run(&Setup { name: "grant", left: Left { grants: 1, ..left }, ..base.clone() });
    run(&Setup { name: "two of each", left: Left { crashes: 2, slow: 2, ..left }, ..base.clone() });
    }
    if false { run(&Setup { name: "chain", work: vec![scope("a", 2), Work { after: Some("a"), ..scope("b", 1) }], ..base.clone() });
    run(&Setup { name: "plain", work: vec![scope("a", 2), Work { name: "w", rounds: None, after: Some("a") }], ..base.clone() });
    }
    let left = Left { crashes: 0, slow: 0, ..left };
    if false {     run(&Setup { name: "side", work: vec![scope("a", 1), scope("b", 1)], left, ..base.clone() });
} run(&Setup { name: "nested", left: Left { plans: 1, ..left }, ..base.clone() });
}
