//! Searching and listing, page by page. A page starts behind an issue, not behind a number of them: so it
//! costs the same wherever it is, and nothing comes twice when somebody adds issues meanwhile.

use std::str::FromStr;

use thiserror::Error;

use super::frontier::List;
use super::graph::Ix;
use super::id::IssueId;
use super::issue::Issue;
use super::snapshot::Snapshot;

/// The most phrases a search may have, and the most characters.
const MOST_PHRASES: usize = 32;
const MOST_CHARACTERS: usize = 1_000;

/// What is searched for: phrases, each of which stands in an issue's title or in its body. Case makes no
/// difference, and in a store that is a file accents make none either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    phrases: Vec<Phrase>,
}

/// Words that must stand side by side. Whatever is no letter and no digit only separates them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// The words, as they were given.
    pub text: String,
    /// Whether the last of them may go on.
    pub prefix: bool,
}

/// Why a text is no search.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// Nothing in it could be found.
    #[error("there is no word in it")]
    Empty,
    /// It is too much.
    #[error("a search has at most {MOST_PHRASES} words and {MOST_CHARACTERS} characters")]
    Long,
}

impl FromStr for Query {
    type Err = QueryError;

    /// Words between spaces, and between double quotes phrases. A `*` at the end of one lets it go on.
    /// There are no other signs, so that no text is an error of syntax.
    fn from_str(text: &str) -> Result<Query, QueryError> {
        if text.chars().nth(MOST_CHARACTERS).is_some() {
            return Err(QueryError::Long);
        }
        let mut phrases: Vec<Phrase> = Vec::new();
        for (n, part) in text.split('"').enumerate() {
            let quoted = n % 2 == 1;
            // What follows a quoted phrase at once can only let it go on.
            let part = match (quoted, part.strip_prefix('*'), phrases.last_mut()) {
                (false, Some(rest), Some(before)) if n > 0 => {
                    before.prefix = true;
                    rest
                }
                _ => part,
            };
            if quoted {
                phrases.extend(Phrase::of(part));
            } else {
                phrases.extend(part.split_whitespace().filter_map(Phrase::of));
            }
        }
        match phrases.len() {
            0 => Err(QueryError::Empty),
            1..=MOST_PHRASES => Ok(Query { phrases }),
            _ => Err(QueryError::Long),
        }
    }
}

impl Phrase {
    fn of(text: &str) -> Option<Phrase> {
        let prefix = text.ends_with('*');
        text.chars().any(char::is_alphanumeric).then(|| Phrase { text: text.to_owned(), prefix })
    }

    fn stands_in(&self, text: &[String]) -> bool {
        let wanted = words(&self.text);
        let Some((last, first)) = wanted.split_last() else { return false };
        text.windows(wanted.len()).any(|found| {
            let end = &found[first.len()];
            found.starts_with(first) && (end == last || self.prefix && end.starts_with(last.as_str()))
        })
    }
}

/// The words of a text, in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

impl Query {
    /// The phrases.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// Whether an issue has what is searched for.
    fn finds(&self, issue: &Issue) -> bool {
        let texts = [words(&issue.title), words(&issue.body)];
        self.phrases.iter().all(|phrase| texts.iter().any(|text| phrase.stands_in(text)))
    }
}

/// Which part of many issues is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Page<'a> {
    /// Only those with this status.
    pub status: Option<&'a str>,
    /// Only those behind this one.
    pub after: Option<&'a IssueId>,
    /// No more than so many.
    pub limit: usize,
}

impl Page<'_> {
    /// The page of issues that are in order.
    fn of(&self, snapshot: &Snapshot, all: impl IntoIterator<Item = Ix>) -> Vec<Ix> {
        let graph = snapshot.graph();
        let status = |ix: &Ix| self.status.is_none_or(|status| graph.issue(*ix).state.status() == status);
        let mut all = all.into_iter();
        if let Some(after) = self.after.and_then(|id| graph.ix(id)) {
            all.by_ref().find(|&ix| ix == after);
        }
        all.filter(status).take(self.limit).collect()
    }
}

/// The issues that have what is searched for, the latest first.
pub fn found(snapshot: &Snapshot, query: &Query, page: &Page<'_>) -> Vec<Ix> {
    let graph = snapshot.graph();
    if let Some(source) = graph.source() {
        return gathered(snapshot, &source.found(query, page));
    }
    let mut all: Vec<Ix> = graph.indices().collect();
    all.reverse();
    let behind = Page { limit: usize::MAX, ..*page }.of(snapshot, all);
    behind.into_iter().filter(|&ix| query.finds(graph.issue(ix))).take(page.limit).collect()
}

/// The issues, or those at or below one, in the total order: priority, age, id.
pub fn ranked(snapshot: &Snapshot, below: Option<Ix>, page: &Page<'_>) -> Vec<Ix> {
    let graph = snapshot.graph();
    let Some(source) = graph.source() else {
        let all = below.map_or_else(|| graph.indices().collect(), |top| graph.subtree(top));
        return in_order(snapshot, all, page);
    };
    let listed = below.is_none_or(|top| graph.parent(top).is_none());
    match page.status.and_then(list_with).filter(|_| listed) {
        Some(list) => {
            let status = |ix| page.status == Some(graph.issue(ix).state.status());
            snapshot.listed(list, below).some(page.after, page.limit, status)
        }
        None => gathered(snapshot, &source.ranked(below.map(|top| graph.id(top)), page)),
    }
}

/// The list that has all issues with a status, and few others.
fn list_with(status: &str) -> Option<List> {
    match status {
        "open" => Some(List::Unsettled),
        "in_progress" => Some(List::Held),
        _ => None,
    }
}

fn in_order(snapshot: &Snapshot, mut all: Vec<Ix>, page: &Page<'_>) -> Vec<Ix> {
    let graph = snapshot.graph();
    let after = page.after.and_then(|id| graph.get(id)).map(Issue::rank);
    all.retain(|&ix| after.as_ref().is_none_or(|after| graph.issue(ix).rank() > *after));
    all.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
    Page { after: None, ..*page }.of(snapshot, all)
}

fn gathered(snapshot: &Snapshot, ids: &[IssueId]) -> Vec<Ix> {
    snapshot.gather(ids);
    ids.iter().filter_map(|id| snapshot.graph().ix(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<(String, bool)> {
        let query: Query = text.parse().unwrap();
        query.phrases.into_iter().map(|phrase| (phrase.text, phrase.prefix)).collect()
    }

    #[test]
    fn words_and_quoted_phrases_are_searched_for() {
        let due = |all: &[(&str, bool)]| -> Vec<(String, bool)> {
            all.iter().map(|(text, prefix)| ((*text).to_owned(), *prefix)).collect()
        };
        assert_eq!(phrases("lexer  fails"), due(&[("lexer", false), ("fails", false)]));
        assert_eq!(phrases("pars* \"two words\""), due(&[("pars*", true), ("two words", false)]));
        assert_eq!(phrases("\"two wor\"* x"), due(&[("two wor", true), ("x", false)]));
        assert_eq!(
            phrases("AND OR NEAR(a b)"),
            due(&[("AND", false), ("OR", false), ("NEAR(a", false), ("b)", false)])
        );
        assert_eq!(phrases("\"never closed"), due(&[("never closed", false)]));
        assert_eq!(phrases("a\"b\"c - ^ * :"), due(&[("a", false), ("b", false), ("c", false)]));
    }

    #[test]
    fn a_text_without_words_and_one_that_is_too_long_are_no_search() {
        for empty in ["", "  ", "\"\"", "* - ^ ( ) : ' \u{1b}"] {
            assert_eq!(empty.parse::<Query>(), Err(QueryError::Empty), "{empty:?}");
        }
        assert_eq!("a ".repeat(33).parse::<Query>(), Err(QueryError::Long));
        assert_eq!("a".repeat(1_001).parse::<Query>(), Err(QueryError::Long));
        assert!("a ".repeat(32).parse::<Query>().is_ok());
    }

    #[test]
    fn phrases_stand_side_by_side_whatever_separates_them() {
        let text = words("The Lexer splits Strings-with escapes.");
        let stands = |phrase: &str| Phrase::of(phrase).unwrap().stands_in(&text);
        assert!(stands("lexer") && stands("strings with") && stands("strings_WITH/esc*"));
        assert!(!stands("lex") && !stands("lexer strings") && !stands("escapes the"));
    }
}
