//! The `roundgate` program.

fn main() {}
