//! The forum: posts in topics, and the packets among them that are acts.

use serde::{Deserialize, Serialize};

use super::asks::human_answer;
use super::issues::{bound_packet, issue_of_topic};
use super::session::resolve;
use super::view::Word;
use super::{AppError, Changed, Session};
use crate::model::act::{answer, packet, verdict};
use crate::model::issue::check_text;
use crate::model::primitive::Primitive;
use crate::model::record::{Post, Verdict};
use crate::store::{PostQuery, Topic};

/// Longest accepted name of a topic, in bytes.
pub const MAX_TOPIC_BYTES: usize = 256;

/// What a post turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The post.
    pub post: Post,
    /// The act it carried: `verdict`, `answer` or `max_review_rounds`.
    pub act: Option<Word>,
    /// Why it is no act, where it reads like one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<Word>,
}

/// The topic that is meant: that of an issue has the issue's id in full, also where a unique prefix is given.
///
/// # Errors
/// When no issue, or more than one, has that id.
pub fn full_topic(session: &Session, text: &str) -> Result<String, AppError> {
    let Some(id) = text.strip_prefix("issue:") else { return Ok(text.to_owned()) };
    session.look(|snapshot| Ok(verdict::topic(&resolve(snapshot, id)?)))
}

/// Posts to a topic. A `VERDICT:` in a review's topic, an `/answer` in an ask's and a
/// `max_review_rounds=N` in a scope's are acts, carried out in the same transaction.
///
/// # Errors
/// A bad topic or text, and whatever forbids the act; then nothing is posted either.
pub fn post(session: &mut Session, topic: &str, body: &str) -> Result<Changed<Posted>, AppError> {
    check_topic(topic)?;
    if body.trim().is_empty() {
        return Err(AppError::Usage("a post cannot be empty".to_owned()));
    }
    check_text("post", body).map_err(|error| AppError::Refusal(error.into()))?;
    session.change("forum post", |work| {
        work.apply(&[Primitive::Post { topic: topic.to_owned(), body: body.to_owned() }])?;
        let (act, primitives) = act(work, topic, body)?;
        work.apply(&primitives)?;
        let (author, at) = (work.actor.clone(), work.now);
        let post = Post { topic: topic.to_owned(), author, body: body.to_owned(), at };
        let notice = packet::reads_like_an_act(body).filter(|_| act.is_none());
        Ok(Posted { post, act: act.map(Word::from), notice: notice.map(Word::from) })
    })
}

fn act(
    work: &super::Work,
    topic: &str,
    body: &str,
) -> Result<(Option<&'static str>, Vec<Primitive>), AppError> {
    let snapshot = &work.snapshot;
    let Some(id) = issue_of_topic(snapshot, topic) else { return Ok((None, Vec::new())) };
    if snapshot.review_round(&id).is_some() {
        let Some((opinion, reason)) = packet::verdict(body)? else { return Ok((None, Vec::new())) };
        let by = work.actor.clone();
        let given = Verdict { opinion, reason, by, at: work.now, evidence: Vec::new() };
        return Ok((Some("verdict"), verdict::judge(snapshot, &id, given, true)?));
    }
    if snapshot.ask(&id).is_some() {
        let Some((choice, note)) = packet::answer(body)? else { return Ok((None, Vec::new())) };
        let given = human_answer(work, choice, note, None, false);
        let primitives = answer::answer(snapshot, &id, given)?;
        return Ok(((!primitives.is_empty()).then_some("answer"), primitives));
    }
    let primitives = bound_packet(snapshot, &id, body, work.now)?;
    let act = (!primitives.is_empty()).then_some("max_review_rounds");
    Ok((act, primitives))
}

/// The latest posts of a topic, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub fn read(session: &Session, topic: &str, last: Option<usize>) -> Result<Vec<Post>, AppError> {
    check_topic(topic)?;
    Ok(session.store.posts(&PostQuery { topic: Some(topic.to_owned()), last })?)
}

/// The topics whose name starts with a prefix.
///
/// # Errors
/// When the store cannot be read.
pub fn topics(session: &Session, prefix: &str) -> Result<Vec<Topic>, AppError> {
    Ok(session.store.topics(prefix)?)
}

fn check_topic(topic: &str) -> Result<(), AppError> {
    let bad = topic.is_empty()
        || topic.len() > MAX_TOPIC_BYTES
        || topic.chars().any(|c| c.is_whitespace() || c.is_control());
    if bad {
        let shown: String = topic.chars().take(60).collect();
        return Err(AppError::Usage(format!(
            "a topic is 1 to {MAX_TOPIC_BYTES} bytes without white space, such as issue:rg-abcd, not {shown:?}"
        )));
    }
    Ok(())
}
