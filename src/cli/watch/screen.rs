//! The terminal: taken over, and given back as it was, however the program ends.

use std::io::{self, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw::draw;
use super::view::View;

/// Whether the terminal is ours: whoever gives it back does so once.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal while it is ours. Dropping it gives the terminal back, and so does a panic, before it says
/// what happened.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    pub fn take() -> io::Result<Screen> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        enter().and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout()))).map_or_else(
            |error| {
                give_back();
                Err(error)
            },
            |terminal| Ok(Screen { terminal }),
        )
    }

    /// Draws a view, at whatever size the terminal has now; gives the first line of an open ask.
    pub fn draw(&mut self, view: &View) -> io::Result<usize> {
        let mut top = 0;
        self.terminal.draw(|frame| top = draw(view, frame))?;
        Ok(top)
    }

    /// Draws all of it anew the next time.
    pub fn forget(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Gives the terminal to somebody else for a while.
    pub fn lend(&mut self, to: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        give_back();
        let done = to();
        enter()?;
        self.forget()?;
        done
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide)
}

/// There is nobody left to tell when this fails: the terminal is gone.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
