//! Tags, and the protocol's vocabulary among them (`hierarchical-work.protocol/v1`).

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::quote::disturbs;

/// Longest accepted tag, in bytes.
pub const MAX_TAG_BYTES: usize = 128;

/// The tag that every protocol node carries.
pub const PROTOCOL: &str = "proto:hierarchical-work-v1";
/// Marks what a worker may execute.
pub const NODE_AGENT: &str = "node:agent";
/// Marks a container.
pub const NODE_ROOT: &str = "node:root";
/// Marks a question to a human.
pub const ACTOR_USER: &str = "actor:user";
/// Marks a scope under the review-gated policy.
pub const FLOW_REVIEW_GATED: &str = "flow:review-gated-v1";
/// Marks the attempt of a round.
pub const FLOW_ATTEMPT: &str = "flow:attempt";
/// Marks the review of a round.
pub const FLOW_REVIEW: &str = "flow:review";
/// Marks a root whose orchestration is shared with others than this policy (S3, "mu_ui").
pub const FLOW_SUBAGENTS: &str = "flow:subagents-v1";
/// Set by an import on open work whose parent is closed: it stays workable (section 3, `finished`).
pub const IMPORT_OPEN_BELOW_CLOSED: &str = "import:open-below-closed";

/// Policies of which at most one may own a node.
pub const SCOPE_POLICIES: [&str; 4] =
    [FLOW_REVIEW_GATED, "flow:bounded-retry-v1", "flow:checkpoint-v1", "flow:control-graph-v1"];

/// The families of which only the protocol's words are tags, each with these: a misspelt one would be
/// a policy that never acts. `kind:` and `proto:` have checks of their own.
const VOCABULARY: [(&str, &[&str]); 4] = [
    ("flow:", &[FLOW_REVIEW_GATED, FLOW_ATTEMPT, FLOW_REVIEW, FLOW_SUBAGENTS, "flow:escalation"]),
    ("ctx:", &["ctx:clean", "ctx:inherit", "ctx:human"]),
    ("node:", &[NODE_ROOT, NODE_AGENT]),
    ("actor:", &[ACTOR_USER]),
];

/// One tag: a short text without white space, control characters or commas.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tag(Arc<str>);

/// Why a text is not a tag.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TagError {
    /// No characters at all.
    #[error("a tag cannot be empty")]
    Empty,
    /// Longer than [`MAX_TAG_BYTES`].
    #[error("a tag has at most {MAX_TAG_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// White space, a comma, or what is not seen as it is.
    #[error(
        "a tag has no white space, commas or control characters, and nothing that has no width or turns the \
         line around; found {0:?}"
    )]
    BadCharacter(char),
}

impl Tag {
    /// A tag of the vocabulary above, known to be valid.
    pub fn known(text: &'static str) -> Self {
        debug_assert!(text.parse::<Tag>().is_ok());
        Tag(text.into())
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, TagError> {
        match text.chars().find(|&c| disturbs(c)) {
            Some(bad) => Err(TagError::BadCharacter(bad)),
            None => Tag::stored(text),
        }
    }
}

impl Tag {
    /// A tag as a store has it. Earlier releases took marks of direction and what has no width, too.
    ///
    /// # Errors
    /// What no release took.
    pub fn stored(text: &str) -> Result<Self, TagError> {
        if text.is_empty() {
            return Err(TagError::Empty);
        }
        if text.len() > MAX_TAG_BYTES {
            return Err(TagError::TooLong(text.len()));
        }
        match text.chars().find(|c| c.is_whitespace() || c.is_control() || *c == ',') {
            Some(bad) => Err(TagError::BadCharacter(bad)),
            None => Ok(Tag(text.into())),
        }
    }
}

impl TryFrom<String> for Tag {
    type Error = TagError;

    fn try_from(text: String) -> Result<Self, TagError> {
        Tag::stored(&text)
    }
}

impl From<Tag> for String {
    fn from(tag: Tag) -> String {
        tag.0.as_ref().to_owned()
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of tags, in order. The questions the rules ask of it are methods here and nowhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeSet<Tag>);

/// What a set of tags says a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A container of a whole effort; never executable.
    Root,
    /// A top-level objective.
    Goal,
    /// An independent child.
    Spawn,
    /// A child that inherits upstream results.
    Fork,
    /// The fan-in of an expansion.
    Synth,
    /// A question to a human; never executable.
    Ask,
}

/// Why a set of tags is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TagSetError {
    /// More than one `kind:*`.
    #[error("a node has one kind, not both {0} and {1}")]
    TwoKinds(Tag, Tag),
    /// A `kind:*` outside the vocabulary.
    #[error(
        "{0} is not a kind; the kinds are kind:root, kind:goal, kind:spawn, kind:fork, kind:synth and kind:ask"
    )]
    UnknownKind(Tag),
    /// A `proto:*` this program does not speak.
    #[error("{0} is not a protocol this program speaks; it speaks {PROTOCOL}")]
    UnknownProtocol(Tag),
    /// Two policies want the same node.
    #[error("one policy acts on a node, not both {0} and {1}")]
    TwoPolicies(Tag, Tag),
    /// A `flow:*` scope policy this engine does not implement.
    #[error("{0} is not a policy this engine knows; it knows {FLOW_REVIEW_GATED}")]
    UnknownPolicy(Tag),
    /// A word that the protocol does not have.
    #[error("{tag} is not a tag of the protocol; of this family it has {known}")]
    UnknownWord {
        /// The tag.
        tag: Tag,
        /// What the family has.
        known: String,
    },
    /// A question is answered; no policy opens it.
    #[error("{0} does not go on a question: a human's answer settles it, and no policy opens it")]
    AskWithPolicy(Tag),
    /// Containers and questions are not executable.
    #[error("{0} and {NODE_AGENT} exclude each other: containers and questions are never executable")]
    NotExecutable(Tag),
    /// A tag that only the program itself sets.
    #[error("{0} is set by the program itself")]
    Reserved(Tag),
}

impl Kind {
    /// Every kind, in the protocol's order.
    pub const ALL: [Kind; 6] = [Kind::Root, Kind::Goal, Kind::Spawn, Kind::Fork, Kind::Synth, Kind::Ask];

    /// The kind's tag.
    pub fn tag(self) -> &'static str {
        match self {
            Kind::Root => "kind:root",
            Kind::Goal => "kind:goal",
            Kind::Spawn => "kind:spawn",
            Kind::Fork => "kind:fork",
            Kind::Synth => "kind:synth",
            Kind::Ask => "kind:ask",
        }
    }
}

impl Tags {
    /// No tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tag of the vocabulary.
    pub fn with(mut self, known: &'static str) -> Self {
        self.0.insert(Tag::known(known));
        self
    }

    /// Whether the set has this tag.
    pub fn has(&self, tag: &str) -> bool {
        self.0.iter().any(|t| t.as_str() == tag)
    }

    /// Whether the set has all of these.
    pub fn all(&self, tags: &[Tag]) -> bool {
        tags.iter().all(|tag| self.has(tag.as_str()))
    }

    /// Adds a tag; says whether it was new.
    pub fn insert(&mut self, tag: Tag) -> bool {
        self.0.insert(tag)
    }

    /// Removes a tag; says whether it was there.
    pub fn remove(&mut self, tag: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|t| t.as_str() != tag);
        self.0.len() != before
    }

    /// The tags in order.
    pub fn iter(&self) -> impl Iterator<Item = &Tag> {
        self.0.iter()
    }

    /// The node's kind, if it has one.
    pub fn kind(&self) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| self.has(k.tag()))
    }

    /// Whether a worker may execute the node.
    pub fn executable(&self) -> bool {
        self.has(NODE_AGENT)
    }

    /// Whether the node is a question to a human.
    pub fn ask(&self) -> bool {
        self.has(Kind::Ask.tag())
    }

    /// Whether the node holds others and is completed by rolling them up (a root, an imported epic).
    pub fn container(&self) -> bool {
        !self.executable() && !self.ask() && (self.has(NODE_ROOT) || self.has(Kind::Root.tag()))
    }

    /// Whether the review-gated policy owns the node.
    pub fn review_gated(&self) -> bool {
        self.has(FLOW_REVIEW_GATED)
    }

    /// Brings a user's tags into shape: `node:agent` unless the kind forbids it, `node:root` on a
    /// `kind:root`, `ctx:human` and `actor:user` on a `kind:ask`.
    pub fn completed(mut self) -> Self {
        if self.has(Kind::Root.tag()) {
            self.0.insert(Tag::known(NODE_ROOT));
        }
        if self.ask() {
            self.0.insert(Tag::known("ctx:human"));
            self.0.insert(Tag::known(ACTOR_USER));
        }
        if !self.has(NODE_ROOT) && !self.ask() {
            self.0.insert(Tag::known(NODE_AGENT));
        }
        self
    }

    /// Checks the set as a whole, as a user may write it.
    ///
    /// # Errors
    /// The first rule of the vocabulary that the set breaks.
    pub fn check(&self) -> Result<(), TagSetError> {
        let mut kind: Option<&Tag> = None;
        let mut policy: Option<&Tag> = None;
        for tag in self.iter() {
            let text = tag.as_str();
            if text.starts_with("kind:") {
                if !Kind::ALL.iter().any(|k| k.tag() == text) {
                    return Err(TagSetError::UnknownKind(tag.clone()));
                }
                if let Some(other) = kind.replace(tag) {
                    return Err(TagSetError::TwoKinds(other.clone(), tag.clone()));
                }
            }
            if text.starts_with("proto:") && text != PROTOCOL {
                return Err(TagSetError::UnknownProtocol(tag.clone()));
            }
            if SCOPE_POLICIES.contains(&text)
                && let Some(other) = policy.replace(tag)
            {
                return Err(TagSetError::TwoPolicies(other.clone(), tag.clone()));
            }
            check_word(tag)?;
            let forbids_agent = text == NODE_ROOT || text == Kind::Root.tag() || text == Kind::Ask.tag();
            if forbids_agent && self.executable() {
                return Err(TagSetError::NotExecutable(tag.clone()));
            }
        }
        match policy {
            Some(tag) if self.ask() => Err(TagSetError::AskWithPolicy(tag.clone())),
            Some(tag) if tag.as_str() != FLOW_REVIEW_GATED => Err(TagSetError::UnknownPolicy(tag.clone())),
            _ => Ok(()),
        }
    }
}

/// Checks that the protocol has a tag of one of its own families.
fn check_word(tag: &Tag) -> Result<(), TagSetError> {
    let text = tag.as_str();
    let Some((_, known)) = VOCABULARY.iter().find(|(family, _)| text.starts_with(family)) else {
        return Ok(());
    };
    if known.contains(&text) || SCOPE_POLICIES.contains(&text) {
        return Ok(());
    }
    Err(TagSetError::UnknownWord { tag: tag.clone(), known: known.join(", ") })
}

impl FromIterator<Tag> for Tags {
    fn from_iter<I: IntoIterator<Item = Tag>>(tags: I) -> Self {
        Tags(tags.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(texts: &[&str]) -> Tags {
        texts.iter().map(|t| t.parse().unwrap()).collect()
    }

    #[test]
    fn a_tag_has_no_white_space_or_commas() {
        for bad in ["", "a b", "a\nb", "a,b", "a\u{7}"] {
            assert!(bad.parse::<Tag>().is_err(), "{bad:?}");
        }
        assert!("area:ünicode".parse::<Tag>().is_ok());
    }

    #[test]
    fn a_new_tag_is_seen_as_it_is_and_an_old_one_can_still_be_read() {
        for bad in ['\u{202e}', '\u{200b}', '\u{feff}'] {
            let text = format!("area:{bad}x");
            assert_eq!(text.parse::<Tag>(), Err(TagError::BadCharacter(bad)));
            assert_eq!(serde_json::from_value::<Tag>(text.clone().into()).unwrap().as_str(), text);
        }
    }

    #[test]
    fn new_issues_are_executable_unless_their_kind_forbids_it() {
        assert!(tags(&[]).completed().executable());
        assert!(tags(&["kind:goal"]).completed().executable());
        assert!(!tags(&["kind:root"]).completed().executable());
        assert!(!tags(&["node:root"]).completed().executable());
        let ask = tags(&["kind:ask"]).completed();
        assert!(!ask.executable() && ask.has("actor:user") && ask.has("ctx:human"));
    }

    #[test]
    fn contradictory_or_unknown_protocol_tags_are_refused() {
        assert!(matches!(tags(&["kind:goal", "kind:fork"]).check(), Err(TagSetError::TwoKinds(..))));
        assert!(matches!(tags(&["kind:epic"]).check(), Err(TagSetError::UnknownKind(_))));
        assert!(matches!(tags(&["proto:other-v2"]).check(), Err(TagSetError::UnknownProtocol(_))));
        assert!(matches!(tags(&["kind:ask", NODE_AGENT]).check(), Err(TagSetError::NotExecutable(_))));
        assert!(matches!(
            tags(&[FLOW_REVIEW_GATED, "flow:checkpoint-v1"]).check(),
            Err(TagSetError::TwoPolicies(..))
        ));
        assert!(matches!(tags(&["flow:checkpoint-v1"]).check(), Err(TagSetError::UnknownPolicy(_))));
        for misspelt in
            ["flow:review-gated-v2", "flow:review-gated", "flow:", "ctx:clear", "node:agents", "actor:me"]
        {
            let error = tags(&[misspelt]).check().unwrap_err();
            assert!(error.to_string().starts_with(&format!("{misspelt} is not a tag")), "{error}");
        }
        let round = ["flow:attempt", "flow:review", "flow:escalation", "ctx:human", NODE_ROOT, ACTOR_USER];
        round.iter().for_each(|tag| assert_eq!(tags(&[tag]).check(), Ok(())));
        assert!(tags(&["kind:goal", PROTOCOL, "ctx:clean", "free"]).completed().check().is_ok());
    }
}
