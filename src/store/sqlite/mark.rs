//! The high-water mark: a small file beside the database that says how far the events went. The chain
//! cannot tell that its end is missing; the mark can.
//!
//! It is written after each commit and never synced. So it may be behind, or lost, and that is fine;
//! it is never ahead of what was committed, unless something took commits back.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

use super::chain::{Hash, Head, hex};
use super::fault::{Stopped, explain_io};
use super::load;
use super::place::Place;
use crate::store::StoreError;

/// The name of the mark's file in a store's folder.
pub(super) const FILE: &str = "roundgate.mark";

/// What the file said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// There is none.
    Missing,
    /// Something else is in it.
    Garbled,
    /// This event was committed.
    At(Head),
}

fn path(place: &Place) -> PathBuf {
    place.folder.join(FILE)
}

/// Never follows a link, and never waits for the other end of a pipe.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    Ok(file)
}

/// Reads the mark of a store.
pub(super) fn read(place: &Place) -> Mark {
    let mut file = match open(&path(place), OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Mark::Missing,
        Err(_) => return Mark::Garbled,
    };
    let mut text = [0; 256];
    let length = file.read(&mut text).unwrap_or(0);
    parse(&text[..length]).map_or(Mark::Garbled, Mark::At)
}

/// Refuses a folder that has a mark and no database: it had a store, and lost it.
///
/// # Errors
/// [`StoreError::Lost`].
pub(super) fn refuse_lost(place: &Place) -> Result<(), StoreError> {
    let Mark::At(head) = read(place) else { return Ok(()) };
    // Again, behind the mark: somebody may have made both since.
    if place.taken()? {
        return Ok(());
    }
    Err(StoreError::Lost { path: place.folder.clone(), revision: head.seq, mark: path(place) })
}

/// Whether a folder had a store, and its database is gone.
pub fn lost(folder: &Path) -> bool {
    let refused = Place::in_folder(folder).and_then(|place| match place.taken()? {
        true => Ok(()),
        false => refuse_lost(&place),
    });
    matches!(refused, Err(StoreError::Lost { .. }))
}

/// Writes the mark of a store. One small write over the old one: it always has the same length, and a
/// half-written one does not fit its check.
///
/// # Errors
/// When it cannot be written, which nothing depends on.
pub(super) fn write(place: &Place, head: Head) -> io::Result<()> {
    open(&path(place), OFlags::WRONLY | OFlags::CREATE)?.write_all_at(print(head).as_bytes(), 0)
}

/// Takes the mark away, before another database takes the place of the one it is about.
///
/// # Errors
/// When it is there and stays there.
pub(super) fn remove(place: &Place) -> Result<(), StoreError> {
    match fs::remove_file(path(place)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(explain_io(&path(place), "remove", error))
        }
        _ => Ok(()),
    }
}

/// Refuses a store whose events do not go as far as the mark, or went another way.
pub(super) fn check(conn: &Connection, mark: &Mark) -> Result<(), Stopped> {
    match contradiction(conn, mark)? {
        Some(what) => Err(StoreError::Damaged { what }.into()),
        None => Ok(()),
    }
}

/// What a mark and the events say differently.
pub(super) fn contradiction(conn: &Connection, mark: &Mark) -> Result<Option<String>, Stopped> {
    let Mark::At(mark) = mark else { return Ok(None) };
    Ok(match load::link(conn, mark.seq)? {
        Some(link) if link == *mark => None,
        Some(_) => Some(format!("event {} is not the one that was committed ({FILE})", mark.seq)),
        None => {
            let last = load::head(conn)?.seq;
            Some(format!(
                "its last event is {last}, and {} were committed ({FILE}): the latest are lost; \
                 doctor --fix goes on without them",
                mark.seq
            ))
        }
    })
}

fn print(Head { seq, hash }: Head) -> String {
    let said = format!("roundgate 1 {seq:020} {}", hex(hash.bytes()));
    format!("{said} {}\n", check_of(&said))
}

fn parse(text: &[u8]) -> Option<Head> {
    let (said, check) = std::str::from_utf8(text).ok()?.strip_suffix('\n')?.rsplit_once(' ')?;
    let mut words = said.split(' ');
    let known = words.next()? == "roundgate" && words.next()? == "1" && check == check_of(said);
    let seq = words.next()?.parse().ok().filter(|&seq| seq > 0)?;
    let hash = Hash::of(unhex(words.next()?)?);
    (known && words.next().is_none()).then_some(Head { seq, hash })
}

fn check_of(said: &str) -> String {
    hex(&Sha256::digest(said.as_bytes())[..8])
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * n..2 * n + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head { seq: 42, hash: Hash::START };

    #[test]
    fn a_mark_reads_back_as_it_was_written() {
        assert_eq!(parse(print(HEAD).as_bytes()), Some(HEAD));
    }

    #[test]
    fn marks_have_one_length_so_that_one_fits_over_another() {
        let last = Head { seq: u64::MAX, ..HEAD };
        assert_eq!(print(HEAD).len(), print(last).len());
    }

    #[test]
    fn a_mark_with_any_byte_flipped_or_missing_is_none() {
        let whole = print(HEAD).into_bytes();
        for n in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[n] ^= 1;
            assert_eq!(parse(&flipped), None, "byte {n}");
            assert_eq!(parse(&whole[..n]), None, "{n} bytes");
        }
    }
}
