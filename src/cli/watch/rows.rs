//! The lines of each pane: what was read, in words, and nothing in them that a terminal obeys.

use super::view::{Pane, View};
use crate::app::view::{AskView, ReadyView};
use crate::app::watch::{Half, HeldLine, Ladder, Move, RootLine, Rung};
use crate::cli::log;
use crate::cli::output::line;
use crate::cli::render::moment;
use crate::model::counted::if_one;
use crate::model::issue::Millis;
use crate::model::record::Opinion;

/// How a piece of text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Name,
    Faint,
    Good,
    Bad,
    Busy,
    Human,
}

/// A line of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// By what it is found again when the lines change.
    pub key: String,
    pub pieces: Vec<(Tone, String)>,
    /// The ask it is about.
    pub ask: Option<String>,
}

impl Row {
    fn new(key: &str) -> Row {
        Row { key: key.to_owned(), pieces: Vec::new(), ask: None }
    }

    /// Adds a piece; an empty one adds nothing.
    fn and(mut self, tone: Tone, text: &str) -> Row {
        let text = line(text);
        if !text.is_empty() {
            self.pieces.push((tone, text.into_owned()));
        }
        self
    }

    fn about(mut self, ask: Option<&str>) -> Row {
        self.ask = ask.map(str::to_owned);
        self
    }
}

/// The lines of a pane.
pub fn rows(view: &View, pane: Pane) -> Vec<Row> {
    let overview = &view.overview;
    match pane {
        Pane::Roots => roots(view),
        Pane::Rounds => overview.ladders.lines.iter().flat_map(rounds).collect(),
        Pane::Ready => overview.ready.lines.iter().map(ready).collect(),
        Pane::Held => overview.held.lines.iter().map(|held| holding(held, view.now)).collect(),
        Pane::Asks => overview.asks.lines.iter().map(ask).collect(),
        Pane::Moves => overview.moves.lines.iter().map(|moved| what_moved(moved, view.now)).collect(),
    }
}

/// What a pane without lines says.
pub fn nothing(pane: Pane) -> &'static str {
    match pane {
        Pane::Roots => "no root has anything left to do",
        Pane::Rounds => "nothing is under rounds",
        Pane::Ready => "nothing is ready",
        Pane::Held => "nobody holds anything",
        Pane::Asks => "nobody is asked anything",
        Pane::Moves => "nothing happened here lately",
    }
}

/// How many lines a pane is about, and whether there are more.
pub fn count(view: &View, pane: Pane) -> (usize, bool) {
    let overview = &view.overview;
    match pane {
        Pane::Roots if view.only.is_some() => (1, false),
        Pane::Roots => (overview.roots.lines.len(), overview.roots.more),
        Pane::Rounds => (overview.ladders.lines.len(), overview.ladders.more),
        Pane::Ready => (overview.ready.lines.len(), overview.ready.more),
        Pane::Held => (overview.held.lines.len(), overview.held.more),
        Pane::Asks => (overview.asks.lines.len(), overview.asks.more),
        Pane::Moves => (overview.moves.lines.len(), overview.moves.more),
    }
}

fn roots(view: &View) -> Vec<Row> {
    if let (Some(_), Some(root)) = (&view.only, &view.overview.root) {
        return vec![root_row(root)];
    }
    let everything = Row::new("").and(Tone::Name, "everything");
    std::iter::once(everything).chain(view.overview.roots.lines.iter().map(root_row)).collect()
}

fn root_row(root: &RootLine) -> Row {
    let counted = |count: usize, what: &str| match count {
        0 => String::new(),
        1..=9 => format!("{count} {what}"),
        _ => format!("9+ {what}"),
    };
    let row = Row::new(&root.id).and(Tone::Name, &root.id);
    let row = if root.finished { row.and(Tone::Good, "final") } else { row };
    row.and(Tone::Human, &counted(root.asks, if_one(root.asks, "ask", "asks")))
        .and(Tone::Busy, &counted(root.held, "held"))
        .and(Tone::Good, &counted(root.ready, "ready"))
        .and(Tone::Plain, &root.title)
}

/// A ladder: the scope, and below it each attempt with its review.
fn rounds(ladder: &Ladder) -> Vec<Row> {
    let round = ladder.rungs.last().map_or(0, |rung| rung.number);
    let scope = Row::new(&ladder.scope)
        .and(Tone::Name, &ladder.scope)
        .and(state_tone(ladder.state), ladder.state)
        .and(Tone::Faint, &format!("{round}/{}", ladder.max_rounds))
        .and(Tone::Plain, &ladder.title)
        .about(ladder.ask.as_deref());
    std::iter::once(scope).chain(ladder.rungs.iter().flat_map(|rung| rung_rows(ladder, rung))).collect()
}

fn rung_rows(ladder: &Ladder, rung: &Rung) -> [Row; 2] {
    let row = |role: &str, half: &Half| {
        Row::new(&half.id)
            .and(Tone::Faint, &format!("  {:<9}", format!("{role}_{}", rung.number)))
            .and(Tone::Name, &half.id)
            .about(ladder.ask.as_deref())
    };
    let standing = |row: Row, half: &Half| {
        let holder = half.holder.as_ref().map_or(String::new(), |by| format!("by {by}"));
        row.and(word_tone(half.word), half.word).and(Tone::Busy, &holder)
    };
    let review = row("review", &rung.review);
    // What a judged review is closed with follows from its verdict.
    let review = match &rung.verdict {
        Some((Opinion::Pass, by)) => review.and(Tone::Good, &format!("pass by {by}")),
        Some((Opinion::NeedsWork, by)) => review.and(Tone::Bad, &format!("needs_work by {by}")),
        None => standing(review, &rung.review),
    };
    let attempt = standing(row("attempt", &rung.attempt), &rung.attempt);
    [attempt, review.and(Tone::Faint, first_line(&rung.notes))]
}

fn ready(ready: &ReadyView) -> Row {
    let issue = &ready.issue;
    let role = match (ready.role, ready.round) {
        (Some(role), Some(round)) => format!("{role}_{round}"),
        (role, _) => role.unwrap_or_default().to_owned(),
    };
    Row::new(&issue.id)
        .and(Tone::Name, &issue.id)
        .and(Tone::Faint, &format!("p{}", issue.priority))
        .and(Tone::Good, &role)
        .and(Tone::Plain, &issue.title)
}

fn holding(held: &HeldLine, now: Millis) -> Row {
    let left = held.expires_at - now;
    let (tone, time) = if left > 0 {
        (Tone::Faint, format!("{} left", span(left)))
    } else {
        (Tone::Bad, format!("ran out {} ago", span(-left)))
    };
    Row::new(&held.id)
        .and(Tone::Name, &held.id)
        .and(Tone::Busy, &held.actor)
        .and(tone, &time)
        .and(Tone::Plain, &held.title)
}

fn ask(ask: &AskView) -> Row {
    let status = match (&ask.answer, &ask.answered_by) {
        (Some(answer), Some(by)) => (Tone::Good, format!("answered {answer} by {by}")),
        _ => (Tone::Human, ask.status.to_string()),
    };
    Row::new(&ask.id)
        .and(Tone::Name, &ask.id)
        .and(status.0, &status.1)
        .and(Tone::Plain, first_line(&ask.question))
        .about(Some(&ask.id))
}

fn what_moved(moved: &Move, now: Millis) -> Row {
    let event = &moved.event;
    let (who, cause) = match event.cause.strip_prefix("tick ") {
        Some(transition) if event.tick.is_some() => (String::new(), transition.to_owned()),
        _ => (event.actor.to_string(), event.cause.clone()),
    };
    let others = moved.events - 1;
    let more = if others == 0 { String::new() } else { format!("(+{others})") };
    Row::new(&event.seq.to_string())
        .and(Tone::Faint, &when(event.at, now))
        .and(if event.tick.is_some() { Tone::Good } else { Tone::Name }, &cause)
        .and(Tone::Busy, &who)
        .and(Tone::Plain, &moved.pass.clone().unwrap_or_else(|| log::what(&event.change)))
        .and(Tone::Faint, &more)
}

/// The time of a day, or the day where it is not today.
fn when(at: Millis, now: Millis) -> String {
    let (then, today) = (moment(at), moment(now));
    let part = if then.get(..10) == today.get(..10) { then.get(11..) } else { then.get(5..16) };
    part.map_or_else(|| then.clone(), str::to_owned)
}

/// A span of time: its two largest units.
fn span(ms: Millis) -> String {
    let seconds = ms / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {:02}s", seconds % 60),
        (0, _, _) => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {:02}h", hours % 24),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn state_tone(state: &str) -> Tone {
    match state {
        "passed" | "waived" => Tone::Good,
        "round_failed" | "stuck" => Tone::Bad,
        "escalated" | "handed_off" => Tone::Human,
        "abandoned" | "no_round" => Tone::Faint,
        _ => Tone::Busy,
    }
}

fn word_tone(word: &str) -> Tone {
    match word {
        "success" => Tone::Good,
        "failure" | "needs_work" | "missing" => Tone::Bad,
        "in_progress" => Tone::Busy,
        _ => Tone::Faint,
    }
}
