//! A view on a screen of any size. Pure: what it draws follows from the view and the size.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::ask;
use super::rows::{self, Row, Tone};
use super::text::{cut, wrapped};
use super::view::{Opened, Over, Pane, Step, View};
use crate::cli::output::{Failure, line};
use crate::cli::render::moment;

/// From this size on all panes are seen at once; below it one at a time.
const WIDE: u16 = 72;
const HIGH: u16 = 20;

const HELP: [(&str, &str); 9] = [
    ("Tab, Shift-Tab, h, l, 1 to 6", "the next pane, the one before, or that one"),
    ("j, k, arrows, PgUp, PgDn, g, G", "move along the lines"),
    ("", "in Roots: the other panes are about the root you are at"),
    ("Enter", "open the ask that the line is about"),
    ("a", "go to the asks"),
    ("r", "read again now; it does so by itself when something changes"),
    ("in an ask", "j, k choose; PgUp, PgDn scroll; Enter takes a choice"),
    ("", "y answers with it, n writes a note, Esc goes back"),
    ("q, Esc, Ctrl-C", "leave; Ctrl-Z suspends"),
];

/// Draws a view. Gives the first line in sight of what covers the panes.
pub fn draw(view: &View, frame: &mut Frame<'_>) -> usize {
    let below = said(view, frame.area());
    let height = u16::try_from(below.len()).unwrap_or(1);
    let parts = [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(height)];
    let [top, middle, bottom] = Layout::vertical(parts).areas(frame.area());
    frame.render_widget(Paragraph::new(header(view, top.width)), top);
    if middle.width >= WIDE && middle.height + 2 >= HIGH {
        all_panes(view, frame, middle);
    } else {
        one_pane(view, frame, middle);
    }
    frame.render_widget(Paragraph::new(below), bottom);
    match &view.over {
        Over::Nothing => 0,
        Over::Help(top) => help(view, *top, frame, middle),
        Over::Ask(opened) => opened_ask(view, opened, frame, middle),
    }
}

/// How a tone looks, where colours are wanted and where not.
pub fn style(tone: Tone, colour: bool) -> Style {
    let plain = Style::new();
    let coloured = |colour_of: Color| if colour { plain.fg(colour_of) } else { plain };
    match tone {
        Tone::Plain => plain,
        Tone::Name => plain.add_modifier(Modifier::BOLD),
        Tone::Faint => plain.add_modifier(Modifier::DIM),
        Tone::Good => coloured(Color::Green),
        Tone::Bad => coloured(Color::Red).add_modifier(Modifier::BOLD),
        Tone::Busy => coloured(Color::Cyan),
        Tone::Human => coloured(Color::Yellow).add_modifier(Modifier::BOLD),
    }
}

fn header(view: &View, width: u16) -> Line<'static> {
    let about = match &view.overview.root {
        Some(root) => format!("{} {}", root.id, line(&root.title)),
        None => "everything".to_owned(),
    };
    let time = moment(view.now);
    let of_day = time.get(11..).unwrap_or(&time).to_owned();
    let rest = format!("  revision {}  {}  {of_day}", view.overview.revision, view.actor);
    let name = style(Tone::Name, view.colour);
    let room = usize::from(width).saturating_sub(Span::raw(&rest).width());
    if room < 20 {
        return cut(Line::from(Span::styled(about, name)), width.into());
    }
    let mut whole = cut(Line::from(Span::styled(format!("roundgate  {about}"), name)), room);
    let gap = room.saturating_sub(whole.width());
    whole.push_span(Span::raw(" ".repeat(gap)));
    whole.push_span(Span::styled(rest, style(Tone::Faint, view.colour)));
    whole
}

/// What the last lines say: what is wrong, or what was done, or what comes next; and the keys.
fn said(view: &View, area: Rect) -> Vec<Line<'static>> {
    let (width, colour) = (usize::from(area.width), view.colour);
    let mut lines = match (&view.trouble, &view.notice, &view.overview.next) {
        (Some(failure), _, _) => failure_lines(failure, width, colour),
        (None, Some(notice), _) => wrapped(Tone::Good, notice, width, "  ", colour),
        (None, None, Some(next)) => vec![cut(Line::from(format!("next: {}", line(next))), width)],
        (None, None, None) => Vec::new(),
    };
    lines.truncate((area.height / 3).into());
    lines.push(cut(Line::from(Span::styled(keys(view), style(Tone::Faint, colour))), width));
    lines
}

/// The keys that do something now, those that matter most first.
fn keys(view: &View) -> &'static str {
    match &view.over {
        Over::Nothing => "q quit  ? help  Tab pane  j/k move  Enter open  r refresh",
        Over::Help(_) => "Esc back  j/k scroll",
        Over::Ask(opened) => match opened.step {
            Step::Choosing => "Esc back  j/k choose  Enter take it  PgUp/PgDn scroll",
            Step::Confirming { .. } => "y answer  n write a note  Esc back",
            Step::Writing { .. } => "Enter keep the note  Esc leave it as it was",
        },
    }
}

/// An error and the way out.
pub fn failure_lines(failure: &Failure, width: usize, colour: bool) -> Vec<Line<'static>> {
    let mut lines = wrapped(Tone::Bad, &format!("error: {}", failure.message), width, "  ", colour);
    if let Some(hint) = &failure.hint {
        lines.extend(wrapped(Tone::Plain, &format!("hint: {hint}"), width, "  ", colour));
    }
    lines
}

/// Roots, what is ready and what is held on the left, rounds, asks and moves on the right.
fn all_panes(view: &View, frame: &mut Frame<'_>, area: Rect) {
    let [left, right] = Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).areas(area);
    let share = |parts: [u16; 3]| parts.map(Constraint::Fill);
    let panes = [
        (left, [Pane::Roots, Pane::Ready, Pane::Held], [1, 1, 1]),
        (right, [Pane::Rounds, Pane::Asks, Pane::Moves], [2, 1, 2]),
    ];
    for (column, panes, parts) in panes {
        let areas: [Rect; 3] = Layout::vertical(share(parts)).areas(column);
        panes.into_iter().zip(areas).for_each(|(pane, area)| one(view, pane, frame, area));
    }
}

/// The pane somebody is at, under a line that says which there are.
fn one_pane(view: &View, frame: &mut Frame<'_>, area: Rect) {
    one(view, view.pane, frame, area);
}

fn one(view: &View, pane: Pane, frame: &mut Frame<'_>, area: Rect) {
    let focused = view.pane == pane;
    let tone = if focused { Tone::Name } else { Tone::Faint };
    let (count, more) = rows::count(view, pane);
    let more = if more { "+" } else { "" };
    let place = Pane::ALL.iter().position(|one| *one == pane).unwrap_or(0) + 1;
    let title = format!(" {place} {} {count}{more} ", pane.title());
    let block = Block::bordered()
        .title(Span::styled(title, style(tone, view.colour)))
        .border_style(style(tone, view.colour));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let rows = rows::rows(view, pane);
    if rows.is_empty() {
        let nothing = Line::from(Span::styled(rows::nothing(pane), style(Tone::Faint, view.colour)));
        frame.render_widget(Paragraph::new(cut(nothing, inside.width.into())), inside);
        return;
    }
    let (at, height) = (view.cursors[pane as usize].at, usize::from(inside.height));
    let first = at.saturating_sub(height.saturating_sub(1)).min(rows.len().saturating_sub(height));
    let lines = rows.iter().enumerate().skip(first).take(height).map(|(nr, row)| {
        let shown = row_line(row, inside.width.into(), view.colour);
        if focused && nr == at { shown.style(Style::new().add_modifier(Modifier::REVERSED)) } else { shown }
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inside);
}

fn row_line(row: &Row, width: usize, colour: bool) -> Line<'static> {
    let mut spans = Vec::new();
    for (tone, text) in &row.pieces {
        if !spans.is_empty() {
            spans.push(Span::raw("  "));
        }
        spans.push(Span::styled(text.clone(), style(*tone, colour)));
    }
    let mut shown = cut(Line::from(spans), width);
    // The mark of the line somebody is at goes as far as the pane.
    shown.push_span(Span::raw(" ".repeat(width.saturating_sub(shown.width()))));
    shown
}

/// A box over the middle, with a border; gives what is inside.
fn boxed(title: &str, lines: usize, view: &View, frame: &mut Frame<'_>, area: Rect) -> Rect {
    let height = u16::try_from(lines + 2).unwrap_or(u16::MAX).min(area.height);
    let width = box_width(area);
    let at = Rect::new(area.x + (area.width - width) / 2, area.y + (area.height - height) / 2, width, height);
    let block = Block::bordered().title(Span::styled(format!(" {title} "), style(Tone::Name, view.colour)));
    let inside = block.inner(at);
    frame.render_widget(Clear, at);
    frame.render_widget(block, at);
    inside
}

fn box_width(area: Rect) -> u16 {
    area.width.min(100)
}

fn help(view: &View, top: usize, frame: &mut Frame<'_>, area: Rect) -> usize {
    let width = usize::from(box_width(area)).saturating_sub(2);
    let mut lines = Vec::new();
    for (keys, does) in HELP {
        let narrow = width < 60;
        let text =
            if narrow { format!("{keys} {does}").trim().to_owned() } else { format!("{keys:<31} {does}") };
        let indent = if narrow { "  ".to_owned() } else { " ".repeat(32) };
        lines.extend(wrapped(Tone::Plain, &text, width, &indent, view.colour));
    }
    let inside = boxed("Keys", lines.len(), view, frame, area);
    part(lines, top, frame, inside)
}

/// Draws lines from one of them on, and gives the one.
fn part(lines: Vec<Line<'static>>, top: usize, frame: &mut Frame<'_>, area: Rect) -> usize {
    let height = usize::from(area.height);
    let top = top.min(lines.len().saturating_sub(height));
    let shown: Vec<Line<'_>> = lines.into_iter().skip(top).take(height).collect();
    frame.render_widget(Paragraph::new(shown), area);
    top
}

fn opened_ask(view: &View, opened: &Opened, frame: &mut Frame<'_>, area: Rect) -> usize {
    let width = usize::from(box_width(area)).saturating_sub(2);
    let page = ask::page(view, opened, width);
    let inside = boxed(&opened.id, page.lines.len(), view, frame, area);
    let height = usize::from(inside.height);
    let in_sight = page.at.end.saturating_sub(height).min(page.at.start);
    part(page.lines, opened.top.unwrap_or(in_sight), frame, inside)
}
