//! Compaction: what old events need not keep in the store, and what is remembered of moving it away.

use serde::{Deserialize, Serialize};

use super::change::Change;

/// What stands for the body of a post that was moved to an archive.
pub const MOVED: &str = "(moved to an archive by roundgate compact)";

/// One compaction, as its event records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compaction {
    /// The name of the archive, as it was written.
    pub archive: String,
    /// SHA-256 of the archive, in hexadecimal digits.
    pub sha256: String,
    /// How many events it has.
    pub events: u64,
    /// A digest of what is left of them, in hexadecimal digits.
    pub left: String,
}

/// What is left of a change: the same to whoever folds it, without what it was before and without the
/// body of a post. `None` where nothing could go.
pub fn thin(change: &Change) -> Option<Change> {
    let mut left = change.clone();
    match &mut left {
        Change::IssueChanged { before, .. } => before.clear(),
        Change::ScopeSet { before, .. } => *before = None,
        Change::RoundSet { before, .. } => *before = None,
        Change::AnswerSet { before, .. } => *before = None,
        Change::DutySet { before, .. } => *before = None,
        Change::PlanSet { before, .. } => *before = None,
        Change::HeartbeatSet { before, .. } => *before = None,
        Change::DocumentSet { edit } => edit.forget_before(),
        Change::NoticeSet { before, .. } => *before = None,
        Change::Posted { post } if post.body.len() > MOVED.len() => MOVED.clone_into(&mut post.body),
        _ => {}
    }
    (left != *change).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::Field;
    use crate::model::record::Post;

    fn post(body: &str) -> Change {
        let (topic, author) = ("issue:rg-1".to_owned(), "ann".parse().unwrap());
        Change::Posted { post: Post { topic, author, body: body.to_owned(), at: 1 } }
    }

    #[test]
    fn what_is_folded_stays() {
        let after = vec![Field::Title("new".to_owned())];
        let before = vec![Field::Title("old".to_owned())];
        let id: crate::model::id::IssueId = "rg-1".parse().unwrap();
        let whole = Change::IssueChanged { id: id.clone(), before, after: after.clone() };
        assert_eq!(thin(&whole), Some(Change::IssueChanged { id: id.clone(), before: vec![], after }));
        assert_eq!(thin(&Change::IdReserved { id }), None);
    }

    #[test]
    fn a_long_post_goes_and_thinning_twice_is_thinning_once() {
        let left = thin(&post(&"long ".repeat(50))).unwrap();
        assert_eq!(left, post(MOVED));
        assert_eq!(thin(&left), None);
        assert_eq!(thin(&post("short")), None);
    }
}
