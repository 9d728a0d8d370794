//! The loop: a key or a change of the store, and the view drawn anew. Between two looks at the store
//! nothing of it is held.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGQUIT, SIGTSTP};

use super::keys::{Heard, Keyboard};
use super::screen::Screen;
use super::view::{Effect, View};
use crate::app::ambient::Clock;
use crate::app::asks::{self, AnswerWish};
use crate::app::watch::{self, Overview, Wanted};
use crate::app::{AppError, Session, config, place};
use crate::cli::asks::{at_this_store, told};
use crate::cli::context::Context;
use crate::cli::signals::{asked_to_end, hear};
use crate::store::StoreError;

/// How long keys are waited for before the store is asked for news.
const SLICE: Duration = Duration::from_millis(200);
/// How many slices a store that failed is left alone.
const AFTER_TROUBLE: u32 = 5;
/// How many slices pass after a reading, so that a busy store does not keep the machine busy.
const AFTER_READING: u32 = 2;

/// The store, as long as there is one.
pub struct Source<'a> {
    context: &'a Context,
    folder: PathBuf,
    session: Option<Session>,
    /// Which file was opened.
    file: Option<(u64, u64)>,
}

impl<'a> Source<'a> {
    pub fn new(context: &'a Context, folder: PathBuf) -> Self {
        Source { context, folder, session: None, file: None }
    }

    /// The session at the store that is there now.
    fn session(&mut self) -> Result<&mut Session, AppError> {
        let file = place::database_number(&self.folder);
        if file.is_none() || file != self.file {
            self.session = None;
        }
        if file.is_none() {
            return Err(StoreError::Missing { path: self.folder.clone() }.into());
        }
        let session = match self.session.take() {
            Some(session) => session,
            None => self.open(&self.folder)?,
        };
        self.file = file;
        Ok(self.session.insert(session))
    }

    fn open(&self, folder: &Path) -> Result<Session, AppError> {
        let config = config::load(folder)?;
        self.context.session_at(watch::open(folder, &config)?, config)
    }

    /// Reads what is wanted.
    pub fn read(&mut self, wanted: &Wanted) -> Result<Overview, AppError> {
        let mut overview = watch::load(self.session()?, wanted)?;
        if let Some(ask) = &mut overview.ask {
            at_this_store(self.context, ask);
        }
        Ok(overview)
    }

    fn answer(&mut self, ask: &str, choice: String, note: String) -> Result<String, AppError> {
        let wish = AnswerWish { choice, note, ..AnswerWish::default() };
        Ok(told(&asks::answer(self.session()?, ask, wish)?))
    }
}

/// What others ask for, beside the keys.
pub struct Asked {
    /// To end.
    pub stop: Arc<AtomicBool>,
    /// To stop until somebody lets it go on, as Ctrl-Z does.
    pub suspend: Arc<AtomicBool>,
}

/// Listens to the signals that can be heard.
pub fn signals() -> Result<Asked, AppError> {
    let asked = Asked { stop: asked_to_end()?, suspend: Arc::default() };
    hear(SIGQUIT, &asked.stop)?;
    hear(SIGTSTP, &asked.suspend)?;
    Ok(asked)
}

pub struct Live<'a> {
    pub source: Source<'a>,
    pub view: View,
    pub clock: Clock,
    pub asked: Asked,
    /// How many slices the store is left alone.
    pub rest: u32,
}

impl Live<'_> {
    /// Goes on until somebody wants to leave, or the terminal is gone.
    pub fn go_on(&mut self, screen: &mut Screen, keyboard: &mut Keyboard) -> io::Result<()> {
        while !self.asked.stop.load(Ordering::Relaxed) {
            if self.asked.suspend.swap(false, Ordering::Relaxed) {
                screen.lend(suspend)?;
            }
            self.view.now = self.clock.now();
            let drawn = screen.draw(&self.view);
            // Whoever hung up took the terminal along.
            if self.asked.stop.load(Ordering::Relaxed) {
                break;
            }
            self.view.drawn_from(drawn?);
            let Heard::Keys(keys) = keyboard.wait(SLICE)? else { break };
            if keys.is_empty() {
                self.look_for_news();
            }
            for key in keys {
                match self.view.press(key) {
                    None => {}
                    Some(Effect::Quit) => return Ok(()),
                    Some(Effect::Suspend) => screen.lend(suspend)?,
                    Some(Effect::Redraw) => {
                        screen.forget()?;
                        self.read();
                    }
                    Some(Effect::Reload) => self.read(),
                    Some(Effect::Answer { ask, choice, note }) => {
                        self.view.notice = Some("answering...".to_owned());
                        screen.draw(&self.view)?;
                        self.answer(&ask, choice, note);
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks the store for its revision, and reads when that is another, or when a lease has run out.
    fn look_for_news(&mut self) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let known = self.view.overview.revision;
        let aged = self.view.overview.aged(self.clock.now()) || self.view.trouble.is_some();
        match self.source.session().and_then(|session| watch::revision(session)) {
            Ok(revision) if revision == known && !aged => {}
            Ok(_) => self.read(),
            Err(error) => self.trouble(error),
        }
    }

    fn read(&mut self) {
        self.rest = AFTER_READING;
        match self.source.read(&self.view.wanted()) {
            Ok(overview) => self.view.show(overview),
            // The root somebody was at is not in the store that is there now.
            Err(AppError::NoIssue(_)) if self.view.leave_root() => self.read(),
            Err(error) => self.trouble(error),
        }
    }

    /// What is shown stays, with a word about why it may be old.
    fn trouble(&mut self, error: AppError) {
        self.rest = AFTER_TROUBLE;
        self.view.trouble = Some(self.source.context.failure(&error));
    }

    fn answer(&mut self, ask: &str, choice: String, note: String) {
        match self.source.answer(ask, choice, note) {
            Ok(told) => self.view.answered(told),
            Err(error) => self.view.not_answered(self.source.context.failure(&error)),
        }
        self.read();
    }
}

/// Stops, as a program does that Ctrl-Z is typed at, until somebody lets it go on. Not by the signal that
/// is listened to.
fn suspend() -> io::Result<()> {
    Ok(kill_current_process_group(Signal::STOP)?)
}
