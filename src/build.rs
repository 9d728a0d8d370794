//! Tells the linker where the program lies. Run by cargo before it builds the rest.

use std::env;

/// The tables of time zones hold some 34,000 addresses. In a program that may lie anywhere, each start
/// writes all of them anew, which touches 1.1 MB of memory and takes as long as a tick's own work. So on
/// Linux with glibc an optimised build lies at a fixed place, and they are right as they are in the file.
/// The heap, the stack and the libraries still lie at random places.
fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") && is("PROFILE", "release") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // The floors of the benchmarks are to have no more to do than they must, either.
        println!("cargo::rustc-link-arg-benches=-no-pie");
    }
}
