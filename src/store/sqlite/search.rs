//! The words of all titles and bodies, by which issues are found. Kept in the transaction of whatever
//! changes them. The table of words has no texts of its own: it points into `issues`.

use rusqlite::types::Value;
use rusqlite::{Connection, Rows};

use super::check::Finding;
use super::fault::Stopped;
use crate::model::change::Field;
use crate::model::id::IssueId;
use crate::model::search::{Phrase, Query};

/// Whether fields of an issue are searched.
pub(super) fn changes(fields: &[Field]) -> bool {
    fields.iter().any(|field| matches!(field, Field::Title(_) | Field::Body(_)))
}

/// Puts the words of an issue in.
pub(super) fn put_in(conn: &Connection, id: &IssueId) -> Result<(), Stopped> {
    let sql = "INSERT INTO search(rowid, title, body) SELECT seq, title, body FROM issues WHERE id = ?1";
    conn.prepare_cached(sql)?.execute((id.as_str(),))?;
    Ok(())
}

/// Takes the words of an issue out, before its texts change: what is to be taken out must be said.
pub(super) fn take_out(conn: &Connection, id: &IssueId) -> Result<(), Stopped> {
    let sql = "INSERT INTO search(search, rowid, title, body)
               SELECT 'delete', seq, title, body FROM issues WHERE id = ?1";
    conn.prepare_cached(sql)?.execute((id.as_str(),))?;
    Ok(())
}

/// Takes everything out.
pub(super) fn empty(conn: &Connection) -> Result<(), Stopped> {
    conn.execute("INSERT INTO search(search) VALUES ('delete-all')", ())?;
    Ok(())
}

/// A search in the words of FTS5. Each phrase is quoted, so that nothing in it is a sign of that language.
pub(super) fn matching(query: &Query) -> String {
    let quoted = |phrase: &Phrase| {
        let text = phrase.text.replace('"', "\"\"").replace('\0', " ");
        format!("\"{text}\"{}", if phrase.prefix { " *" } else { "" })
    };
    query.phrases().iter().map(quoted).collect::<Vec<_>>().join(" AND ")
}

/// Whether the words are those of the issues: each at its place, and no others. They are put together
/// again in memory, and both are read in their order.
pub(super) fn check(conn: &Connection) -> Result<Finding, Stopped> {
    let again = Connection::open_in_memory()?;
    let table: String =
        conn.query_row("SELECT sql FROM sqlite_schema WHERE name = 'search'", (), |row| row.get(0))?;
    again.execute_batch("CREATE TABLE issues(seq INTEGER PRIMARY KEY, title TEXT, body TEXT); BEGIN;")?;
    again.execute_batch(&table)?;
    let mut texts = conn.prepare("SELECT seq, title, body FROM issues")?;
    let mut texts = texts.query(())?;
    let mut put = again.prepare("INSERT INTO search(rowid, title, body) VALUES (?1, ?2, ?3)")?;
    while let Some(row) = texts.next()? {
        put.execute((row.get::<_, i64>(0)?, row.get::<_, Value>(1)?, row.get::<_, Value>(2)?))?;
    }
    // They come in the order of words, issues and places, whatever order they were put in.
    const WORDS: &str = "SELECT term, doc, col, offset FROM temp.search_words";
    for conn in [conn, &again] {
        conn.execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_words USING fts5vocab(main, search, instance)",
        )?;
    }
    let (mut found, mut due) = (conn.prepare(WORDS)?, again.prepare(WORDS)?);
    compared(&mut found.query(())?, &mut due.query(())?)
}

fn compared(found: &mut Rows<'_>, due: &mut Rows<'_>) -> Result<Finding, Stopped> {
    let mut words: u64 = 0;
    loop {
        let (found, due) = (word(found)?, word(due)?);
        match (found, due) {
            (None, None) => return Ok(Finding::Sound(format!("{words} words, as the issues have them"))),
            (found, due) if found == due => words += 1,
            (found, due) => {
                let (_, doc, ..) = due.or(found).unwrap_or_default();
                let what = format!("the words of the issue that event {doc} made are not as they should be");
                return Ok(Finding::Fault(what));
            }
        }
    }
}

type Word = (Vec<u8>, i64, String, i64);

fn word(rows: &mut Rows<'_>) -> Result<Option<Word>, Stopped> {
    let Some(row) = rows.next()? else { return Ok(None) };
    let term = row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec();
    Ok(Some((term, row.get(1)?, row.get(2)?, row.get(3)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_search_is_a_sign_of_the_language_of_searches() {
        let query: Query = "NEAR( a:b \"two words\"* ^x O'Neil".parse().unwrap();
        assert_eq!(matching(&query), r#""NEAR(" AND "a:b" AND "two words" * AND "^x" AND "O'Neil""#);
    }
}
