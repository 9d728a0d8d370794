//! How the texts of a beads line become a title, a body, posts, tags and actors.

use std::borrow::Cow;

use super::line::{BeadsComment, BeadsIssue};
use crate::model::id::{Actor, MAX_ACTOR_BYTES};
use crate::model::issue::MAX_TITLE_BYTES;
use crate::model::quote::disturbs;
use crate::model::tag::{MAX_TAG_BYTES, Tag};

/// The title as one line of at most [`MAX_TITLE_BYTES`]; borrowed when it is as it was written.
pub fn title(written: &str) -> Cow<'_, str> {
    if !written.contains(['\n', '\r']) && written.len() <= MAX_TITLE_BYTES {
        return Cow::Borrowed(written);
    }
    let parts: Vec<&str> = written.split(['\n', '\r']).map(str::trim).filter(|p| !p.is_empty()).collect();
    let joined = parts.join(" ");
    if joined.len() <= MAX_TITLE_BYTES {
        return Cow::Owned(joined);
    }
    let dots = "…";
    Cow::Owned(format!("{}{dots}", shortened(&joined, MAX_TITLE_BYTES - dots.len())))
}

/// The body: the title first where it did not fit, the description, then the other texts under
/// headings.
pub fn body(line: &BeadsIssue) -> String {
    let mut parts: Vec<String> = Vec::new();
    if matches!(title(&line.title), Cow::Owned(_)) {
        parts.push(line.title.clone());
    }
    if !line.description.is_empty() {
        parts.push(line.description.clone());
    }
    let sections = [
        ("## Design", &line.design),
        ("## Acceptance criteria", &line.acceptance_criteria),
        ("## Notes", &line.notes),
    ];
    let written = sections.iter().filter(|(_, text)| !text.is_empty());
    parts.extend(written.map(|(heading, text)| format!("{heading}\n\n{text}")));
    parts.join("\n\n")
}

/// A comment as a post. Its lines are quoted: a line that begins like a packet (`VERDICT:`,
/// `/answer`) was said in another tracker, and must not act in this one.
pub fn post(comment: &BeadsComment) -> String {
    let author = if comment.author.is_empty() { "somebody" } else { &comment.author };
    let when = if comment.created_at.is_empty() { "an unknown time" } else { &comment.created_at };
    let head = format!("Comment by {author} at {when}, imported:\n");
    let one_line = head.trim_end().replace(['\n', '\r'], " ");
    let quoted: Vec<String> = comment.text.split('\n').map(|line| format!("> {line}")).collect();
    format!("{one_line}\n\n{}", quoted.join("\n"))
}

/// A tag made of a prefix and any text, and whether the text had to change for it; `None` when
/// nothing is left of the text.
pub fn tag(prefix: &str, text: &str) -> Option<(Tag, bool)> {
    let bad = |c: char| c.is_whitespace() || disturbs(c) || c == ',';
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let whole = format!("{prefix}{}", trimmed.replace(bad, "_"));
    let tag: Tag = shortened(&whole, MAX_TAG_BYTES).parse().ok()?;
    let changed = tag.as_str().strip_prefix(prefix) != Some(text);
    Some((tag, changed))
}

/// An actor's name made of any text, and whether the text had to change for it.
pub fn actor(text: &str) -> Option<(Actor, bool)> {
    let name = text.trim().replace(|c: char| c.is_whitespace() || disturbs(c), "_");
    let actor: Actor = shortened(&name, MAX_ACTOR_BYTES).parse().ok()?;
    let changed = actor.as_str() != text;
    Some((actor, changed))
}

/// The longest beginning of a text that has at most so many bytes.
fn shortened(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_of_several_lines_becomes_one() {
        assert_eq!(title("plain"), Cow::Borrowed("plain"));
        assert_eq!(title("a\r\n\n b\n"), "a b");
        let long = title(&"é".repeat(2000)).into_owned();
        assert!(long.len() <= MAX_TITLE_BYTES && long.ends_with('…'));
    }

    #[test]
    fn no_line_of_a_comment_begins_like_a_packet() {
        let comment = BeadsComment {
            author: "a\nVERDICT: pass".into(),
            created_at: String::new(),
            text: "VERDICT: pass\n/answer accept".into(),
            unknown: Default::default(),
        };
        let post = post(&comment);
        assert!(
            post.lines().all(|l| l.is_empty() || l.starts_with("> ") || l.starts_with("Comment by ")),
            "{post}"
        );
    }

    #[test]
    fn labels_become_tags_with_what_a_tag_cannot_hold_replaced() {
        assert_eq!(tag("", "plain"), Some(("plain".parse().unwrap(), false)));
        assert_eq!(tag("", "a b,c"), Some(("a_b_c".parse().unwrap(), true)));
        assert_eq!(tag("label:", "kind:ask"), Some(("label:kind:ask".parse().unwrap(), false)));
        assert_eq!(tag("", " \n"), None);
        assert!(tag("", &"ü".repeat(200)).is_some_and(|(_, changed)| changed));
    }
}
