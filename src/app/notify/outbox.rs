//! What is in the outbox, and what people do about it.

use serde::{Deserialize, Serialize};

use super::sending::held_by_another;
use crate::app::view::Word;
use crate::app::{AppError, Changed, Session, resolve_root, session_resolve};
use crate::model::act::notice as act;
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::record::{Failure, Notice};
use crate::model::snapshot::Snapshot;
use crate::model::source::Outbox;

/// Something that is still to be told, as programs read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeView {
    /// Its id.
    pub id: String,
    /// The ask.
    pub ask: String,
    /// The root that is in.
    pub root: String,
    /// `asked reminder due timeout moot`.
    pub kind: Word,
    /// The how manieth of its kind.
    pub number: u32,
    /// What is asked.
    pub question: String,
    /// `waiting`, `sending` or `failed`.
    pub state: Word,
    /// When it came about, in epoch milliseconds.
    pub created_at: Millis,
    /// When it is sent at the earliest, 0 before all others; while it is being sent: when its sender is given up.
    pub due_at: Millis,
    /// Who is sending it.
    pub sender: Option<String>,
    /// How many times sending it was begun.
    pub attempts: u32,
    /// The last failure.
    pub last_failure: Option<Failure>,
}

impl NoticeView {
    fn of(snapshot: &Snapshot, notice: &Notice) -> Self {
        let (graph, ask) = (snapshot.graph(), &notice.id.ask);
        let root = graph.ix(ask).map_or(ask, |ix| graph.id(graph.root(ix)));
        let state = match (&notice.sender, &notice.failure) {
            (Some(_), _) => "sending",
            (None, Some(_)) => "failed",
            (None, None) => "waiting",
        };
        NoticeView {
            id: notice.id.to_string(),
            ask: ask.to_string(),
            root: root.to_string(),
            kind: notice.id.kind.as_str().into(),
            number: notice.id.number,
            question: snapshot.ask(ask).map(|ask| ask.question.clone()).unwrap_or_default(),
            state: state.into(),
            created_at: notice.created_at,
            due_at: notice.due_at,
            sender: notice.sender.as_ref().map(ToString::to_string),
            attempts: notice.attempts,
            last_failure: notice.failure.clone(),
        }
    }
}

/// How the outbox stands, in a few figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undelivered {
    /// How many notifications are still to be delivered.
    #[serde(rename = "undelivered")]
    pub count: usize,
    /// Since when the oldest of them waits, in epoch milliseconds.
    pub since: Option<Millis>,
    /// The last failure among them.
    pub last_failure: Option<Failure>,
}

/// What is not delivered, of a whole snapshot.
pub fn undelivered(snapshot: &Snapshot) -> Undelivered {
    let all = snapshot.outbox(Outbox::FirstDue, usize::MAX);
    Undelivered {
        count: all.len(),
        since: all.iter().map(|notice| notice.created_at).min(),
        last_failure: all.into_iter().filter_map(|notice| notice.failure).max_by_key(|failure| failure.at),
    }
}

/// What is not delivered, everywhere or of one root, what is due first in front.
///
/// # Errors
/// When the root is not there.
pub fn list(session: &Session, root: Option<&str>) -> Result<Vec<NoticeView>, AppError> {
    session.look(|snapshot| {
        let root = root.map(|text| resolve_root(snapshot, text)).transpose()?;
        let all = snapshot.outbox(Outbox::FirstDue, usize::MAX);
        let mut views: Vec<NoticeView> = all.iter().map(|notice| NoticeView::of(snapshot, notice)).collect();
        views.retain(|view| root.as_ref().is_none_or(|root| root.as_str() == view.root));
        Ok(views)
    })
}

/// Those that a notification's id or an ask names; all of them where nothing is named.
fn named(snapshot: &Snapshot, text: Option<&str>) -> Result<Vec<Notice>, AppError> {
    let mut all = snapshot.outbox(Outbox::FirstDue, usize::MAX);
    let Some(text) = text else { return Ok(all) };
    if text.contains(':') {
        all.retain(|notice| notice.id.to_string() == text);
    } else {
        let ask = session_resolve(snapshot, text)?;
        all.retain(|notice| notice.id.ask == ask);
    }
    if all.is_empty() {
        return Err(AppError::NoNotice(text.chars().take(60).collect()));
    }
    Ok(all)
}

fn alter(
    session: &mut Session,
    cause: &str,
    text: Option<&str>,
    act: impl Fn(&Snapshot, &Notice, Millis) -> Vec<Primitive>,
) -> Result<Changed<Vec<NoticeView>>, AppError> {
    session.change(cause, |work| {
        let found = named(&work.snapshot, text)?;
        let mut views = Vec::new();
        for notice in &found {
            let wanted = act(&work.snapshot, notice, work.now);
            work.apply(&wanted)?;
            let current = work.snapshot.notice(&notice.id).unwrap_or(notice);
            views.push(NoticeView::of(&work.snapshot, current));
        }
        Ok(views)
    })
}

/// Lets them be sent by the next who ticks, whatever they wait for. What is named does not wait for others.
///
/// # Errors
/// When what is named is not there.
pub fn retry(session: &mut Session, text: Option<&str>) -> Result<Changed<Vec<NoticeView>>, AppError> {
    // Where all are meant, none is left that failed.
    alter(session, "notify retry", text, |snapshot, notice, now| {
        let held = text.is_some() && held_by_another(snapshot, notice, now);
        act::retry(notice, held, now)
    })
}

/// Gives them up, and shows them as they were. The events remember them.
///
/// # Errors
/// When what is named is not there.
pub fn drop(session: &mut Session, text: Option<&str>) -> Result<Changed<Vec<NoticeView>>, AppError> {
    alter(session, "notify drop", text, |_, notice, _| vec![act::give_up(notice)])
}
