//! The `roundgate` program: parses a command, calls its use case, prints what came of it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    roundgate::cli::main()
}
