//! One parser under libFuzzer: the one that `ROUNDGATE_FUZZ_TARGET` names, held to the laws in
//! `tests/parsers/laws/`. `.ci/fuzz` builds and runs it.

#![no_main]

#[path = "../../parsers/laws/mod.rs"]
mod laws;

use std::sync::LazyLock;

use laws::{Behind, TARGETS, Target};
use libfuzzer_sys::{Corpus, fuzz_target};

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ROUNDGATE_FUZZ_TARGET").unwrap_or_default();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let chosen = TARGETS.into_iter().find(|target| target.name == name);
    chosen.unwrap_or_else(|| panic!("ROUNDGATE_FUZZ_TARGET is one of {}", names.join(", ")))
});

fuzz_target!(|input: &[u8]| -> Corpus {
    if let Err(broken) = (CHOSEN.law)(input, Behind::Memory) {
        panic!("{}: {broken}", CHOSEN.name);
    }
    Corpus::Keep
});
