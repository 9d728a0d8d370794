//! Keys: what a terminal sends for them, and waiting for it. Read here and not by crossterm, whose reader
//! never comes back from a terminal that is gone.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// How long after an escape character what comes next is still part of the same key.
const REST: Duration = Duration::from_millis(50);
/// How many such times the rest of a paste is waited for.
const GIVEN_UP: u32 = 40;
/// How much of a paste is waited for.
const LONGEST: usize = 1 << 16;

const PASTE: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// A key, as far as the view knows any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Control(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    /// Text that was pasted, in one line.
    Paste(String),
}

/// What came in while somebody waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// These keys, or none.
    Keys(Vec<Key>),
    /// The terminal is gone.
    Gone,
}

enum Parsed {
    Key(Key, usize),
    /// Bytes that are no key the view knows.
    Skip(usize),
    /// The beginning of something.
    Part,
}

/// The keyboard.
pub struct Keyboard {
    /// The terminal, where stdin is something else.
    tty: Option<File>,
    pending: Vec<u8>,
    /// How often in a row nothing more came.
    waited: u32,
}

impl Keyboard {
    pub fn open() -> io::Result<Keyboard> {
        let tty = if io::stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) };
        Ok(Keyboard { tty, pending: Vec::new(), waited: 0 })
    }

    /// Waits for keys, or until so much time has passed, or a signal came.
    pub fn wait(&mut self, patience: Duration) -> io::Result<Heard> {
        let patience = if self.pending.is_empty() { patience } else { REST };
        let stdin = io::stdin();
        let fd = self.tty.as_ref().map_or_else(|| stdin.as_fd(), |tty| tty.as_fd());
        let mut bytes = [0; 4096];
        let ended = match heard(fd, patience, &mut bytes)? {
            None => return Ok(Heard::Gone),
            Some(count) => {
                self.pending.extend_from_slice(&bytes[..count]);
                count == 0
            }
        };
        let keys = keys(&mut self.pending, ended);
        self.waited = if ended { self.waited.saturating_add(1) } else { 0 };
        if self.waited >= GIVEN_UP {
            // A paste without an end must not keep every later key.
            self.pending.clear();
        }
        Ok(Heard::Keys(keys))
    }
}

/// What a terminal has sent: 0 bytes when it sent nothing for so long, nothing at all when it is gone.
fn heard(fd: BorrowedFd<'_>, patience: Duration, bytes: &mut [u8]) -> io::Result<Option<usize>> {
    let mut waiting = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let time = Timespec::try_from(patience).map_err(io::Error::other)?;
    match poll(&mut waiting, Some(&time)) {
        Ok(0) | Err(Errno::INTR) => return Ok(Some(0)),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match rustix::io::read(fd, bytes) {
        Ok(0) | Err(Errno::IO) => Ok(None),
        Ok(count) => Ok(Some(count)),
        Err(Errno::INTR | Errno::AGAIN) => Ok(Some(0)),
        Err(error) => Err(error.into()),
    }
}

/// Takes the keys out of what was sent. What may be the beginning of one stays, unless nothing more came.
fn keys(pending: &mut Vec<u8>, ended: bool) -> Vec<Key> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < pending.len() {
        match parse(&pending[at..], ended) {
            Parsed::Key(key, used) => {
                found.push(key);
                at += used;
            }
            Parsed::Skip(used) => at += used,
            Parsed::Part => break,
        }
    }
    pending.drain(..at);
    found
}

fn parse(bytes: &[u8], ended: bool) -> Parsed {
    let part = |key: Option<Key>| match (ended, key) {
        (false, _) => Parsed::Part,
        (true, Some(key)) => Parsed::Key(key, bytes.len()),
        (true, None) => Parsed::Skip(bytes.len()),
    };
    match bytes {
        [0x1b] => part(Some(Key::Esc)),
        [0x1b, b'[' | b'O'] => part(None),
        // Of the keypad; behind `[` it begins what a mouse did.
        [0x1b, b'O', b'M', ..] => Parsed::Key(Key::Enter, 3),
        [0x1b, b'[', b'M', ..] => Parsed::Skip(bytes.len().min(6)),
        [0x1b, b'O', last, ..] => named(&[], *last).map_or(Parsed::Skip(3), |key| Parsed::Key(key, 3)),
        [0x1b, b'[', ..] if bytes.starts_with(PASTE) => pasted(bytes),
        [0x1b, b'[', b'[', ..] => Parsed::Skip(bytes.len().min(4)),
        [0x1b, b'[', rest @ ..] => match rest.iter().position(|byte| matches!(byte, 0x40..=0x7e)) {
            None => part(None),
            Some(end) => {
                named(&rest[..end], rest[end]).map_or(Parsed::Skip(end + 3), |key| Parsed::Key(key, end + 3))
            }
        },
        // A letter with Alt, or after a quick Esc.
        [0x1b, ..] => Parsed::Key(Key::Esc, 1),
        [b'\r' | b'\n', ..] => Parsed::Key(Key::Enter, 1),
        [b'\t', ..] => Parsed::Key(Key::Tab, 1),
        [0x08 | 0x7f, ..] => Parsed::Key(Key::Backspace, 1),
        [letter @ 1..=26, ..] => Parsed::Key(Key::Control(char::from(letter + b'a' - 1)), 1),
        [0..=31, ..] => Parsed::Skip(1),
        [first, ..] => letter(bytes, *first, ended),
        [] => Parsed::Part,
    }
}

fn letter(bytes: &[u8], first: u8, ended: bool) -> Parsed {
    let length = match first {
        0x00..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Parsed::Skip(1),
    };
    match bytes.get(..length) {
        None if ended => Parsed::Skip(1),
        None => Parsed::Part,
        Some(letter) => match str::from_utf8(letter).ok().and_then(|text| text.chars().next()) {
            Some(c) => Parsed::Key(Key::Char(c), length),
            None => Parsed::Skip(1),
        },
    }
}

/// The key of an escape sequence, by what stands before its last byte and by that.
fn named(numbers: &[u8], last: u8) -> Option<Key> {
    let first = numbers.split(|byte| *byte == b';').next().unwrap_or_default();
    Some(match (last, first) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', b"1" | b"7") => Key::Home,
        (b'F', _) | (b'~', b"4" | b"8") => Key::End,
        (b'Z', _) => Key::BackTab,
        (b'~', b"5") => Key::PageUp,
        (b'~', b"6") => Key::PageDown,
        _ => return None,
    })
}

fn pasted(bytes: &[u8]) -> Parsed {
    let rest = &bytes[PASTE.len()..];
    match rest.windows(PASTE_END.len()).position(|window| window == PASTE_END) {
        Some(end) => {
            let text = String::from_utf8_lossy(&rest[..end]);
            let line = text.replace(|c: char| c.is_control(), " ");
            Parsed::Key(Key::Paste(line), PASTE.len() + end + PASTE_END.len())
        }
        None if rest.len() > LONGEST => Parsed::Skip(bytes.len()),
        None => Parsed::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Key> {
        keys(&mut bytes.to_vec(), true)
    }

    #[test]
    fn letters_controls_and_sequences_are_keys() {
        assert_eq!(all("jü世".as_bytes()), [Key::Char('j'), Key::Char('ü'), Key::Char('世')]);
        assert_eq!(
            all(b"\r\t\x7f\x03\x1a"),
            [Key::Enter, Key::Tab, Key::Backspace, Key::Control('c'), Key::Control('z')]
        );
        let arrows = [Key::Up, Key::Down, Key::Right, Key::Left];
        assert_eq!(all(b"\x1b[A\x1b[B\x1bOC\x1b[1;5D"), arrows);
        assert_eq!(
            all(b"\x1b[5~\x1b[6~\x1b[H\x1b[4~\x1b[Z"),
            [Key::PageUp, Key::PageDown, Key::Home, Key::End, Key::BackTab]
        );
    }

    #[test]
    fn an_escape_is_a_key_only_when_nothing_follows() {
        let mut pending = b"q\x1b".to_vec();
        assert_eq!(keys(&mut pending, false), [Key::Char('q')]);
        pending.extend_from_slice(b"[A");
        assert_eq!(keys(&mut pending, false), [Key::Up]);
        assert!(pending.is_empty());
        assert_eq!(all(b"\x1b"), [Key::Esc]);
        assert_eq!(all(b"\x1b\x1bq"), [Key::Esc, Key::Esc, Key::Char('q')]);
    }

    #[test]
    fn what_is_no_key_is_none_and_stops_nothing() {
        assert_eq!(all(b"\xff\x80\x1b[15~\x1b[[Aj"), [Key::Char('j')]);
        assert_eq!(all(b"\x1b[<0;3"), []);
        assert_eq!(all(b"\xe4\xb8"), []);
        for byte in 0..=255 {
            let mut pending = vec![byte];
            keys(&mut pending, true);
            assert!(pending.is_empty(), "{byte} stays");
        }
    }

    #[test]
    fn a_paste_is_one_line_and_no_keys() {
        let mut pending = b"\x1b[200~jj\ry".to_vec();
        assert_eq!(keys(&mut pending, true), []);
        pending.extend_from_slice(b"\x1b\x1b[201~q");
        assert_eq!(keys(&mut pending, false), [Key::Paste("jj y ".to_owned()), Key::Char('q')]);
    }

    #[test]
    fn a_click_is_no_enter_and_the_keypad_s_enter_is() {
        assert_eq!(all(b"\x1b[M yyj"), [Key::Char('j')]);
        assert_eq!(all(b"\x1bOMj"), [Key::Enter, Key::Char('j')]);
    }

    #[test]
    fn a_paste_without_an_end_is_given_up() {
        let (ours, mut theirs) = std::io::pipe().unwrap();
        let tty = Some(File::from(std::os::fd::OwnedFd::from(ours)));
        let mut keyboard = Keyboard { tty, pending: b"\x1b[200~half".to_vec(), waited: 0 };
        for _ in 0..GIVEN_UP {
            assert_eq!(keyboard.wait(Duration::ZERO).unwrap(), Heard::Keys(Vec::new()));
        }
        io::Write::write_all(&mut theirs, b"q").unwrap();
        assert_eq!(keyboard.wait(Duration::from_secs(5)).unwrap(), Heard::Keys(vec![Key::Char('q')]));
    }

    #[test]
    fn a_terminal_that_is_gone_is_noticed() {
        let (ours, theirs) = std::io::pipe().unwrap();
        let mut bytes = [0; 8];
        assert_eq!(heard(ours.as_fd(), Duration::ZERO, &mut bytes).unwrap(), Some(0));
        drop(theirs);
        assert_eq!(heard(ours.as_fd(), Duration::ZERO, &mut bytes).unwrap(), None);
    }
}
