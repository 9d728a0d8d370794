//! What the view remembers beside what it shows: the pane and line somebody is at, and the ask before
//! them; and what a key does to that. Pure.

use super::keys::Key;
use super::rows::{Row, rows};
use crate::app::view::AskView;
use crate::app::watch::{Overview, Wanted};
use crate::cli::output::Failure;
use crate::model::issue::Millis;

/// How many lines a page has, for the keys that go by pages.
const PAGE: usize = 10;

/// The parts of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    Roots,
    Rounds,
    Ready,
    Held,
    Asks,
    Moves,
}

impl Pane {
    pub const ALL: [Pane; 6] = [Pane::Roots, Pane::Rounds, Pane::Ready, Pane::Held, Pane::Asks, Pane::Moves];

    pub fn title(self) -> &'static str {
        match self {
            Pane::Roots => "Roots",
            Pane::Rounds => "Rounds",
            Pane::Ready => "Ready",
            Pane::Held => "Held",
            Pane::Asks => "Asks",
            Pane::Moves => "Latest",
        }
    }

    fn moved(self, by: usize) -> Pane {
        Pane::ALL[(self as usize + by) % Pane::ALL.len()]
    }
}

/// The line somebody is at: found again by its key when the lines change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    pub at: usize,
    key: String,
}

impl Cursor {
    fn go(&mut self, to: usize, rows: &[Row]) {
        self.at = to.min(rows.len().saturating_sub(1));
        self.key = rows.get(self.at).map(|row| row.key.clone()).unwrap_or_default();
    }

    fn settle(&mut self, rows: &[Row]) {
        let to = rows.iter().position(|row| row.key == self.key).unwrap_or(self.at);
        self.go(to, rows);
    }
}

/// How far somebody is with an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Reading it, and looking at its choices.
    Choosing,
    /// Asked whether a choice is meant.
    Confirming { choice: String, note: String },
    /// Writing the note to a choice.
    Writing { choice: String, note: String, before: String },
}

/// An ask that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub id: String,
    pub choice: usize,
    pub step: Step,
    /// The first line that is to be shown; where there is none, the choice is kept in sight.
    pub top: Option<usize>,
    /// The first line that was shown.
    pub shown: usize,
    /// Why it could not be answered.
    pub refused: Option<Failure>,
}

/// What covers the panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    Nothing,
    /// The keys, from this line on.
    Help(usize),
    Ask(Opened),
}

/// What a key asks for beyond the view itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Quit,
    Suspend,
    /// Draw all of it again: something else wrote on the terminal.
    Redraw,
    /// Read again: something else is wanted, or somebody wants to be sure.
    Reload,
    Answer {
        ask: String,
        choice: String,
        note: String,
    },
}

/// Everything that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    pub overview: Overview,
    pub now: Millis,
    pub actor: String,
    /// The root that was named on the command line.
    pub only: Option<String>,
    pub pane: Pane,
    pub cursors: [Cursor; 6],
    pub over: Over,
    /// What was done last.
    pub notice: Option<String>,
    /// Why what is shown may be old.
    pub trouble: Option<Failure>,
    pub colour: bool,
}

impl View {
    pub fn new(overview: Overview, actor: String, only: Option<String>, colour: bool) -> View {
        let now = overview.at;
        let mut view = View {
            overview,
            now,
            actor,
            only,
            pane: Pane::Roots,
            cursors: Default::default(),
            over: Over::Nothing,
            notice: None,
            trouble: None,
            colour,
        };
        view.settle();
        view
    }

    /// What is to be read for it.
    pub fn wanted(&self) -> Wanted {
        let chosen = &self.cursors[Pane::Roots as usize].key;
        let root = self.only.clone().or_else(|| Some(chosen.clone()).filter(|id| !id.is_empty()));
        let ask = match &self.over {
            Over::Ask(opened) => Some(opened.id.clone()),
            _ => None,
        };
        Wanted { root, ask }
    }

    /// Takes in what was read.
    pub fn show(&mut self, overview: Overview) {
        self.overview = overview;
        self.trouble = None;
        self.settle();
    }

    fn settle(&mut self) {
        for pane in Pane::ALL {
            let rows = rows(self, pane);
            self.cursors[pane as usize].settle(&rows);
        }
    }

    /// The ask that is open, as it was read last.
    pub fn asked(&self) -> Option<&AskView> {
        let Over::Ask(opened) = &self.over else { return None };
        let listed = || self.overview.asks.lines.iter().find(|ask| ask.id == opened.id);
        self.overview.ask.as_ref().filter(|ask| ask.id == opened.id).or_else(listed)
    }

    /// What was recorded of an answer; then the ask needs nobody any more.
    pub fn answered(&mut self, told: String) {
        self.over = Over::Nothing;
        self.notice = Some(told);
    }

    /// An answer that was not taken.
    pub fn not_answered(&mut self, failure: Failure) {
        self.notice = None;
        if let Over::Ask(opened) = &mut self.over {
            // What may be tried again is still meant, with the note that was typed.
            if !failure.retryable {
                opened.step = Step::Choosing;
            }
            opened.top = Some(0);
            opened.refused = Some(failure);
        }
    }

    /// What a key does.
    pub fn press(&mut self, key: Key) -> Option<Effect> {
        self.notice = None;
        match key {
            Key::Control('c') => return Some(Effect::Quit),
            Key::Control('z') => return Some(Effect::Suspend),
            Key::Control('l') => return Some(Effect::Redraw),
            Key::Control(_) => return None,
            _ => {}
        }
        match std::mem::replace(&mut self.over, Over::Nothing) {
            Over::Nothing => self.press_in_panes(&key),
            Over::Help(top) => {
                match key {
                    Key::Down | Key::Char('j') => self.over = Over::Help(top + 1),
                    Key::Up | Key::Char('k') => self.over = Over::Help(top.saturating_sub(1)),
                    Key::PageDown => self.over = Over::Help(top + PAGE / 2),
                    Key::PageUp => self.over = Over::Help(top.saturating_sub(PAGE / 2)),
                    _ => {}
                }
                None
            }
            Over::Ask(opened) => self.press_in_ask(opened, &key),
        }
    }

    /// Goes back to all roots, where one of them was chosen by hand.
    pub fn leave_root(&mut self) -> bool {
        let chosen = self.only.is_none() && !self.cursors[Pane::Roots as usize].key.is_empty();
        self.cursors[Pane::Roots as usize] = Cursor::default();
        chosen
    }

    fn press_in_panes(&mut self, key: &Key) -> Option<Effect> {
        match key {
            Key::Char('q') | Key::Esc => return Some(Effect::Quit),
            Key::Char('r') => return Some(Effect::Reload),
            Key::Char('?') => self.over = Over::Help(0),
            Key::Tab | Key::Right | Key::Char('l') => self.pane = self.pane.moved(1),
            Key::BackTab | Key::Left | Key::Char('h') => {
                self.pane = self.pane.moved(Pane::ALL.len() - 1);
            }
            Key::Char('a') => self.pane = Pane::Asks,
            Key::Char(c @ '1'..='6') => self.pane = Pane::ALL[*c as usize - '1' as usize],
            Key::Enter => return self.open(),
            _ => return self.walk(key),
        }
        None
    }

    /// Moves along the lines of the pane.
    fn walk(&mut self, key: &Key) -> Option<Effect> {
        let rows = rows(self, self.pane);
        let cursor = &mut self.cursors[self.pane as usize];
        let (at, before) = (cursor.at, cursor.key.clone());
        match key {
            Key::Down | Key::Char('j') => cursor.go(at + 1, &rows),
            Key::Up | Key::Char('k') => cursor.go(at.saturating_sub(1), &rows),
            Key::PageDown => cursor.go(at + PAGE, &rows),
            Key::PageUp => cursor.go(at.saturating_sub(PAGE), &rows),
            Key::Home | Key::Char('g') => cursor.go(0, &rows),
            Key::End | Key::Char('G') => cursor.go(usize::MAX, &rows),
            _ => {}
        }
        // The root that somebody is at is the one that the other panes are about.
        (self.pane == Pane::Roots && cursor.key != before).then_some(Effect::Reload)
    }

    /// Opens the ask that the line is about.
    fn open(&mut self) -> Option<Effect> {
        let rows = rows(self, self.pane);
        let id = rows.get(self.cursors[self.pane as usize].at)?.ask.clone()?;
        let top = Some(0);
        self.over = Over::Ask(Opened { id, choice: 0, step: Step::Choosing, top, shown: 0, refused: None });
        Some(Effect::Reload)
    }

    fn press_in_ask(&mut self, mut opened: Opened, key: &Key) -> Option<Effect> {
        self.over = Over::Ask(opened.clone());
        let open = self.asked().filter(|ask| ask.status == "open");
        let choices: Vec<String> =
            open.map_or_else(Vec::new, |ask| ask.choices.iter().map(|choice| choice.id.clone()).collect());
        let back = matches!(key, Key::Esc | Key::Char('q'));
        let effect = match opened.step.clone() {
            Step::Choosing if back => {
                self.over = Over::Nothing;
                return None;
            }
            Step::Choosing => opened.choose(key, &choices),
            Step::Confirming { .. } if back => {
                (opened.step, opened.top) = (Step::Choosing, None);
                None
            }
            Step::Confirming { choice, note } => opened.confirm(key, choice, note),
            Step::Writing { choice, note, before } => {
                opened.step = written(key, choice, note, before);
                None
            }
        };
        self.over = Over::Ask(opened);
        effect
    }

    /// From which line on what covers the panes was drawn: nobody scrolls further than there is text.
    pub fn drawn_from(&mut self, top: usize) {
        match &mut self.over {
            Over::Nothing => {}
            Over::Help(from) => *from = top,
            Over::Ask(opened) => {
                opened.shown = top;
                opened.top = opened.top.map(|_| top);
            }
        }
    }
}

impl Opened {
    /// Moves among the choices, or through the text, or takes a choice.
    fn choose(&mut self, key: &Key, choices: &[String]) -> Option<Effect> {
        let last = choices.len().saturating_sub(1);
        match key {
            Key::Down | Key::Char('j') | Key::Tab => {
                (self.choice, self.top) = ((self.choice + 1).min(last), None);
            }
            Key::Up | Key::Char('k') | Key::BackTab => {
                (self.choice, self.top) = (self.choice.saturating_sub(1), None);
            }
            Key::Enter => {
                if let Some(choice) = choices.get(self.choice) {
                    self.top = Some(0);
                    self.refused = None;
                    self.step = Step::Confirming { choice: choice.clone(), note: String::new() };
                }
            }
            Key::Char('r') => return Some(Effect::Reload),
            _ => self.scroll(key),
        }
        None
    }

    /// Answers, or turns to the note.
    fn confirm(&mut self, key: &Key, choice: String, note: String) -> Option<Effect> {
        match key {
            Key::Char('y') => return Some(Effect::Answer { ask: self.id.clone(), choice, note }),
            Key::Char('n') => self.step = Step::Writing { choice, before: note.clone(), note },
            _ => self.scroll(key),
        }
        None
    }

    fn scroll(&mut self, key: &Key) {
        match key {
            Key::PageDown => self.top = Some(self.shown + PAGE / 2),
            Key::PageUp => self.top = Some(self.shown.saturating_sub(PAGE / 2)),
            Key::Home => self.top = Some(0),
            _ => {}
        }
    }
}

/// The note with one key more. Only the note takes what is pasted: no paste may stand for keys.
fn written(key: &Key, choice: String, mut note: String, before: String) -> Step {
    match key {
        Key::Enter => return Step::Confirming { choice, note },
        Key::Esc => return Step::Confirming { choice, note: before },
        Key::Backspace => drop(note.pop()),
        Key::Char(c) => note.push(*c),
        Key::Paste(text) => note.push_str(text),
        _ => {}
    }
    Step::Writing { choice, note, before }
}
