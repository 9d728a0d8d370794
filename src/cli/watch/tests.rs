//! The view on screens of several sizes, from stores that were worked on through the use cases, at a frozen
//! moment; and what keys do to it.

mod panic;
mod stage;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::draw::draw;
use super::keys::Key;
use super::view::{Effect, Over, Pane, Step, View};
use crate::app::watch::Wanted;
use crate::cli::command_line::Program;
use crate::cli::output::{Failure, line};
use stage::{NOW, Stage};

/// A view on a screen, cell by cell; what was scrolled to is taken back in, as the loop does.
fn drawn(view: &mut View, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let mut top = 0;
    terminal.draw(|frame| top = draw(view, frame)).unwrap();
    view.drawn_from(top);
    terminal.backend().buffer().clone()
}

/// The same as text.
fn text(view: &mut View, width: u16, height: u16) -> String {
    let buffer = drawn(view, width, height);
    let rows = buffer.content().chunks(width.into());
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    rows.map(|cells| format!("{}\n", row(cells).trim_end())).collect()
}

/// The lines of a buffer that are marked.
fn marked(buffer: &Buffer) -> Vec<String> {
    let rows = buffer.content().chunks(buffer.area.width.into());
    let kept = |cell: &&ratatui::buffer::Cell| cell.modifier.contains(Modifier::REVERSED);
    let marked = rows.map(|cells| cells.iter().filter(kept).map(|cell| cell.symbol()).collect::<String>());
    marked.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// Presses keys, reading again where that is asked for; gives the last effect.
fn press(view: &mut View, stage: &Stage, keys: &[Key]) -> Option<Effect> {
    let mut last = None;
    for key in keys {
        last = view.press(key.clone());
        if matches!(last, Some(Effect::Reload | Effect::Answer { .. })) {
            let overview = stage.overview(&view.wanted());
            view.show(overview);
        }
    }
    last
}

fn letters(text: &str) -> Vec<Key> {
    text.chars().map(Key::Char).collect()
}

/// A view on a store with two roots: rounds, an ask, what is ready and what is held.
fn worked() -> (Stage, View) {
    let stage = Stage::worked();
    let view = stage.view();
    (stage, view)
}

#[test]
fn everything_is_seen_at_once_where_there_is_room() {
    let (_, mut view) = worked();
    insta::assert_snapshot!("everything", text(&mut view, 120, 34));
}

#[test]
fn a_root_that_somebody_is_at_is_what_the_other_panes_are_about() {
    let (stage, mut view) = worked();
    press(&mut view, &stage, &[Key::Down]);
    insta::assert_snapshot!("one_root", text(&mut view, 80, 24));
    assert_eq!(press(&mut view, &stage, &[Key::Up]), Some(Effect::Reload));
    assert!(view.overview.root.is_none());
}

#[test]
fn on_a_small_screen_there_is_one_pane_at_a_time() {
    let (stage, mut view) = worked();
    let mut all = String::new();
    for _ in Pane::ALL {
        all.push_str(&text(&mut view, 40, 10));
        press(&mut view, &stage, &[Key::Tab]);
    }
    assert_eq!(view.pane, Pane::Roots, "Tab goes round");
    insta::assert_snapshot!("small", all);
}

#[test]
fn an_empty_store_says_so_in_every_pane() {
    let stage = Stage::new();
    let mut view = stage.view();
    insta::assert_snapshot!("empty", text(&mut view, 80, 24));
}

#[test]
fn an_ask_is_opened_chosen_from_and_confirmed_before_anything_is_answered() {
    let (stage, mut view) = worked();
    let mut all = String::new();
    press(&mut view, &stage, &[Key::Char('a'), Key::Enter]);
    all.push_str(&text(&mut view, 80, 24));
    press(&mut view, &stage, &[Key::Down, Key::Char('j'), Key::Enter]);
    all.push_str(&text(&mut view, 80, 12));
    let note = [letters("n"), letters("good enougj"), vec![Key::Backspace], letters("h")].concat();
    press(&mut view, &stage, &note);
    all.push_str(&text(&mut view, 80, 12));
    assert_eq!(press(&mut view, &stage, &letters("y")), None, "a letter of the note is no answer");
    press(&mut view, &stage, &[Key::Backspace, Key::Enter]);
    all.push_str(&text(&mut view, 40, 10));
    insta::assert_snapshot!("ask", all);
    let ask = view.overview.asks.lines[0].id.clone();
    let answer = Effect::Answer { ask, choice: "accept".to_owned(), note: "good enough".to_owned() };
    assert_eq!(press(&mut view, &stage, &letters("y")), Some(answer));
}

#[test]
fn leaving_a_note_puts_back_the_one_before() {
    let (stage, mut view) = worked();
    let keys = [vec![Key::Char('a'), Key::Enter, Key::Enter], letters("n"), letters("one"), vec![Key::Enter]];
    press(&mut view, &stage, &keys.concat());
    press(&mut view, &stage, &[letters("n"), letters(" two"), vec![Key::Esc]].concat());
    let Over::Ask(opened) = &view.over else { panic!("{:?}", view.over) };
    let step = Step::Confirming { choice: "open-extra-round".to_owned(), note: "one".to_owned() };
    assert_eq!(opened.step, step);
    press(&mut view, &stage, &[Key::Esc, Key::Esc]);
    assert_eq!(view.over, Over::Nothing);
}

#[test]
fn what_is_pasted_is_a_note_or_nothing() {
    let (stage, mut view) = worked();
    press(&mut view, &stage, &[Key::Char('a')]);
    let paste = Key::Paste("\u{1b}jj q y".to_owned());
    assert_eq!(press(&mut view, &stage, std::slice::from_ref(&paste)), None);
    assert_eq!((view.pane, &view.over), (Pane::Asks, &Over::Nothing));
    press(&mut view, &stage, &[Key::Enter, Key::Enter, paste.clone()]);
    let confirming =
        |view: &View| matches!(&view.over, Over::Ask(o) if matches!(o.step, Step::Confirming { .. }));
    assert!(confirming(&view));
    press(&mut view, &stage, &[Key::Char('n'), paste, Key::Enter]);
    assert!(text(&mut view, 80, 24).contains("note: \\u{1b}jj q y"));
}

#[test]
fn an_answer_that_is_refused_says_why_beside_the_ask() {
    let (mut stage, mut view) = worked();
    press(&mut view, &stage, &[Key::Char('a'), Key::Enter, Key::Enter]);
    let ask = view.overview.asks.lines[0].id.clone();
    stage.answer("bob", &ask, "abandon").unwrap();
    assert!(matches!(press(&mut view, &stage, &letters("y")), Some(Effect::Answer { .. })));
    let error = stage.answer("ann", &ask, "open-extra-round").unwrap_err();
    view.not_answered(Failure::of(&error, &Program::default()));
    insta::assert_snapshot!("refused", text(&mut view, 80, 24));
}

#[test]
fn an_ask_that_was_answered_meanwhile_takes_no_choice() {
    let (mut stage, mut view) = worked();
    press(&mut view, &stage, &[Key::Char('a'), Key::Enter]);
    let ask = view.overview.asks.lines[0].id.clone();
    stage.answer("bob", &ask, "accept").unwrap();
    press(&mut view, &stage, &letters("r"));
    assert_eq!(press(&mut view, &stage, &[Key::Enter, Key::Char('y')]), None);
    assert!(text(&mut view, 80, 24).contains("answered accept by bob"));
    stage.tick();
    press(&mut view, &stage, &letters("r"));
    assert!(text(&mut view, 80, 24).contains("settled in"));
}

#[test]
fn a_long_ask_is_read_by_pages_and_the_choice_is_kept_in_sight() {
    let (stage, mut view) = worked();
    press(&mut view, &stage, &[Key::Char('a'), Key::Enter]);
    let first = text(&mut view, 40, 10);
    assert!(first.contains("Max review rounds"), "{first}");
    (0..20).for_each(|_| {
        press(&mut view, &stage, &[Key::PageDown]);
        text(&mut view, 40, 10);
    });
    let last = text(&mut view, 40, 10);
    press(&mut view, &stage, &[Key::PageUp]);
    assert_ne!(text(&mut view, 40, 10), last, "there was nothing to scroll back from");
    for choice in ["stop-and-handoff", "accept", "abandon", "abandon"] {
        press(&mut view, &stage, &[Key::Down]);
        let marked = marked(&drawn(&mut view, 40, 10));
        assert!(marked.iter().any(|line| line.starts_with(&format!("> {choice}"))), "{marked:?}");
    }
}

#[test]
fn the_keys_are_told_and_scrolled_through() {
    let (stage, mut view) = worked();
    press(&mut view, &stage, &letters("?"));
    let mut all = text(&mut view, 80, 24);
    text(&mut view, 40, 10);
    press(&mut view, &stage, &[Key::PageDown, Key::PageDown]);
    all.push_str(&text(&mut view, 40, 10));
    insta::assert_snapshot!("help", all);
    assert_eq!(press(&mut view, &stage, &[Key::Esc]), None);
    assert_eq!(view.over, Over::Nothing);
}

#[test]
fn what_is_wrong_is_said_and_what_was_read_stays() {
    let (stage, mut view) = worked();
    let error = crate::store::StoreError::Missing { path: "/tmp/\u{1b}]0;gone\u{7}".into() };
    view.trouble = Some(Failure::of(&error.into(), &Program::default()));
    insta::assert_snapshot!("trouble", text(&mut view, 80, 24));
    view.show(stage.overview(&view.wanted()));
    assert!(view.trouble.is_none());
}

#[test]
fn the_keys_that_leave_leave() {
    let (stage, mut view) = worked();
    for key in [Key::Char('q'), Key::Esc, Key::Control('c')] {
        assert_eq!(press(&mut view, &stage, &[key]), Some(Effect::Quit));
    }
    press(&mut view, &stage, &[Key::Char('a'), Key::Enter, Key::Enter]);
    assert_eq!(press(&mut view, &stage, &[Key::Control('c')]), Some(Effect::Quit), "also in an ask");
    assert_eq!(press(&mut view, &stage, &[Key::Control('z')]), Some(Effect::Suspend));
}

#[test]
fn the_line_somebody_is_at_is_found_again_when_others_come_before_it() {
    let (mut stage, mut view) = worked();
    press(&mut view, &stage, &letters("3"));
    let at = |view: &mut View| marked(&drawn(view, 120, 34)).concat();
    assert!(at(&mut view).contains("Write the parser"));
    stage.create("Urgent", 1);
    view.show(stage.overview(&view.wanted()));
    assert_eq!(view.overview.ready.lines[0].issue.title, "Urgent");
    assert!(at(&mut view).contains("Write the parser"));
    press(&mut view, &stage, &letters("g"));
    assert!(at(&mut view).contains("Urgent"));
}

#[test]
fn the_line_somebody_is_at_is_in_sight_however_far_down() {
    let mut stage = Stage::new();
    (0..120).for_each(|nr| stage.create(&format!("Job {nr:03}"), 3));
    let mut view = stage.view();
    press(&mut view, &stage, &[Key::Char('3'), Key::PageDown, Key::PageDown, Key::Down]);
    let screen = drawn(&mut view, 80, 24);
    let is = |view: &View, nr: usize| view.overview.ready.lines[nr].issue.title.clone();
    assert!(marked(&screen).concat().contains(&is(&view, 21)), "{:?}", marked(&screen));
    let told = text(&mut view, 80, 24);
    assert!(told.contains("3 Ready 100+"), "what is left out is not told:\n{told}");
    press(&mut view, &stage, &letters("G"));
    assert!(marked(&drawn(&mut view, 80, 24)).concat().contains(&is(&view, 99)));
}

#[test]
fn a_lease_counts_down_and_its_end_is_a_reason_to_read_again() {
    let (_, mut view) = worked();
    press(&mut view, &Stage::new(), &letters("4"));
    assert!(
        text(&mut view, 80, 24).contains("60m 00s left") || text(&mut view, 80, 24).contains("1h 00m left")
    );
    assert!(!view.overview.aged(NOW + 3_599_999));
    assert!(view.overview.aged(NOW + 3_600_000));
    view.now = NOW + 3_600_000 + 61_000;
    assert!(text(&mut view, 80, 24).contains("ran out 1m 01s ago"));
}

#[test]
fn without_colours_no_cell_has_one() {
    let (stage, mut view) = worked();
    let coloured = |buffer: &Buffer| {
        buffer.content().iter().filter(|cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset)).count()
    };
    assert!(coloured(&drawn(&mut view, 120, 34)) > 0);
    view.colour = false;
    for keys in [&[][..], &[Key::Char('a'), Key::Enter], &[Key::Enter]] {
        press(&mut view, &stage, keys);
        assert_eq!(coloured(&drawn(&mut view, 120, 34)), 0);
    }
}

#[test]
fn hostile_texts_reach_no_cell_raw_on_a_screen_of_any_size() {
    let stage = Stage::hostile();
    let mut view = stage.view();
    let safe = |buffer: &Buffer| {
        for cell in buffer.content() {
            assert_eq!(line(cell.symbol()), cell.symbol(), "a terminal would obey that");
        }
    };
    let walks = [
        &[][..],
        &[Key::Down],
        &[Key::Char('a'), Key::Enter],
        &[Key::Down],
        &[Key::Enter],
        &[Key::Char('n'), Key::Char('\u{202e}')],
    ];
    let mut escaped = 0;
    for keys in walks {
        press(&mut view, &stage, keys);
        for (width, height) in [(1, 1), (2, 2), (3, 4), (20, 5), (40, 10), (72, 20), (80, 24), (200, 60)] {
            let buffer = drawn(&mut view, width, height);
            safe(&buffer);
            escaped += buffer.content().iter().filter(|cell| cell.symbol() == "\\").count();
        }
    }
    assert!(escaped > 100, "the hostile texts are not there at all: {escaped}");
}

#[test]
fn a_store_in_a_file_is_seen_as_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (mut memory, mut file) = (Stage::worked(), Stage::worked_in(folder.path()));
    let everything = Wanted::default();
    let root = memory.overview(&everything).roots.lines[0].id.clone();
    let one = Wanted { root: Some(root), ask: None };
    for more in [false, true] {
        assert_eq!(memory.overview(&everything), file.overview(&everything));
        assert_eq!(memory.overview(&one), file.overview(&one));
        assert_eq!(memory.overview(&everything).ready.more, more);
        // More than anybody looks through, which a store in a file is asked for piece by piece.
        for stage in [&mut memory, &mut file] {
            (0..120).for_each(|nr| stage.create(&format!("Job {nr}"), 4));
        }
    }
}
