//! A panic while the terminal is ours: the terminal is given back first, and then the panic is told.

#[path = "../../../../tests/watch/tmux.rs"]
mod tmux;

use super::super::screen::Screen;
use tmux::Tmux;

/// The variable that makes a process of this test one that panics.
const PANIC: &str = "ROUNDGATE_TEST_PANIC";

/// Not a test, but what the other starts.
#[test]
fn a_program_that_panics_on_its_screen() {
    if std::env::var_os(PANIC).is_none() {
        return;
    }
    let (stage, _screen) = (super::Stage::worked(), Screen::take());
    let mut screen = _screen.unwrap();
    screen.draw(&stage.view()).unwrap();
    // Until somebody has seen it.
    std::io::stdin().lines().next();
    panic!("told on a screen that is given back");
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_is_told() {
    let Some(tmux) = Tmux::start(100, 30) else { return };
    let program = std::env::current_exe().unwrap();
    tmux.before();
    tmux.line(&format!(
        "{PANIC}=1 {} --exact cli::watch::tests::panic::a_program_that_panics_on_its_screen --nocapture",
        program.display()
    ));
    tmux.wait_for("Roots");
    tmux.keys(&["C-j"]);
    let screen = tmux.wait_for("told on a screen that is given back");
    assert!(!screen.contains("Roots"), "told on the other screen:\n{screen}");
    tmux.after();
}
