//! An ask in full: what is asked, what there is to know, the choices and what each does; and the question
//! whether a choice is meant.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::draw::failure_lines;
use super::rows::Tone;
use super::text::wrapped;
use super::view::{Opened, Step, View};
use crate::app::view::AskView;
use crate::cli::output::line;

/// The lines of an opened ask.
pub struct Page {
    pub lines: Vec<Line<'static>>,
    /// The lines that are to be kept in sight.
    pub at: Range<usize>,
}

/// An opened ask, in lines of a width.
pub fn page(view: &View, opened: &Opened, width: usize) -> Page {
    let mut page = Writer { lines: Vec::new(), at: 0..0, width, colour: view.colour };
    if let Some(refused) = &opened.refused {
        page.lines.extend(failure_lines(refused, width, view.colour));
        page.gap();
    }
    match view.asked() {
        None => page.text(Tone::Bad, "this ask is not there any more"),
        Some(ask) => match &opened.step {
            Step::Choosing => choosing(&mut page, ask, opened.choice),
            Step::Confirming { choice, note } => confirming(&mut page, view, ask, choice, note, false),
            Step::Writing { choice, note, .. } => confirming(&mut page, view, ask, choice, note, true),
        },
    }
    Page { lines: page.lines, at: page.at }
}

struct Writer {
    lines: Vec<Line<'static>>,
    at: Range<usize>,
    width: usize,
    colour: bool,
}

impl Writer {
    fn text(&mut self, tone: Tone, text: &str) {
        self.lines.extend(wrapped(tone, text, self.width, "", self.colour));
    }

    fn item(&mut self, tone: Tone, text: &str) {
        self.lines.extend(wrapped(tone, text, self.width, "    ", self.colour));
    }

    fn gap(&mut self) {
        self.lines.push(Line::default());
    }
}

fn choosing(page: &mut Writer, ask: &AskView, chosen: usize) {
    page.text(Tone::Faint, &format!("{} in {}", ask.status, ask.root));
    page.text(Tone::Name, &ask.question);
    ask.evidence.iter().for_each(|text| page.item(Tone::Plain, &format!("  - {text}")));
    page.gap();
    if let (Some(answer), Some(by)) = (&ask.answer, &ask.answered_by) {
        page.text(Tone::Good, &format!("answered {answer} by {by}"));
        page.text(Tone::Plain, ask.note.as_deref().unwrap_or_default());
        return;
    }
    if ask.status != "open" {
        page.text(Tone::Good, "it needs no answer any more");
        return;
    }
    for (nr, choice) in ask.choices.iter().enumerate() {
        let (from, here) = (page.lines.len(), nr == chosen);
        let mark = if here { ">" } else { " " };
        page.item(Tone::Human, &format!("{mark} {}  {}", choice.id, line(&choice.label)));
        page.item(Tone::Plain, &format!("    {}", line(&choice.effect)));
        if here {
            page.at = from..page.lines.len();
            let marked = Style::new().add_modifier(Modifier::REVERSED);
            page.lines[from..].iter_mut().for_each(|line| *line = std::mem::take(line).style(marked));
        }
    }
}

fn confirming(page: &mut Writer, view: &View, ask: &AskView, choice: &str, note: &str, writing: bool) {
    let from = page.lines.len();
    page.text(Tone::Name, &format!("Answer {} with {choice}, as {}?", ask.id, view.actor));
    let effect = ask.choices.iter().find(|one| one.id == choice).map(|one| line(&one.effect));
    page.text(Tone::Plain, &effect.unwrap_or_default());
    page.gap();
    let said = if note.is_empty() && !writing { "none".into() } else { line(note) };
    let end = if writing { "_" } else { "" };
    page.text(Tone::Human, &format!("note: {said}{end}"));
    page.at = from..page.lines.len();
}
