//! The inbox: what humans are asked, and what they answer.

use super::due::Due;
use super::session::resolve;
use super::view::AskView;
use super::{AppError, Changed, Session, Work};
use crate::engine::{PREVIEW_CHARS, dependents, shortened};
use crate::model::act::answer;
use crate::model::act::assign::{self, Assignment};
use crate::model::act::verdict::topic;
use crate::model::duty::Fallback;
use crate::model::frontier::List;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::Millis;
use crate::model::record::{Answer, Ask, AskKind};
use crate::model::snapshot::Snapshot;
use crate::model::tag::Tag;
use crate::store::PostQuery;

/// How the post of a step that failed begins.
pub(super) const STEP_FAILED: &str = "STEP FAILED";
/// How many posts of an issue are looked through for the last of them.
const LATELY: usize = 20;

/// The asks that are open, or all of them, and have these tags, in the total order.
///
/// # Errors
/// When the root is not there.
pub fn list(
    session: &Session,
    root: Option<&str>,
    tags: &[Tag],
    all: bool,
) -> Result<Vec<AskView>, AppError> {
    let of = |snapshot: &Snapshot| {
        let root = root.map(|text| resolve(snapshot, text)).transpose()?;
        let asks = found(snapshot, root.as_ref(), tags, all).into_iter();
        Ok(asks.map(|ask| AskView::of(snapshot, ask)).collect())
    };
    session.look(of)
}

/// The asks at or below a root, or anywhere.
pub(super) fn found<'s>(
    snapshot: &'s Snapshot,
    root: Option<&IssueId>,
    tags: &[Tag],
    all: bool,
) -> Vec<&'s Ask> {
    let graph = snapshot.graph();
    let within = |ask: &&Ask| match (root.and_then(|root| graph.ix(root)), graph.ix(&ask.id)) {
        (Some(root), Some(ix)) => graph.at_or_below(ix, root),
        _ => true,
    };
    let open = |ask: &&Ask| {
        let ix = graph.ix(&ask.id);
        ix.is_some_and(|ix| !graph.issue(ix).state.closed() && !snapshot.relation().let_go(ix))
    };
    let tagged = |ask: &&Ask| graph.get(&ask.id).is_some_and(|issue| issue.tags.all(tags));
    let asks = if all { snapshot.every_ask() } else { asking(snapshot, root) };
    let mut asks: Vec<&Ask> =
        asks.into_iter().filter(within).filter(tagged).filter(|ask| all || open(ask)).collect();
    let rank = |ask: &Ask| graph.get(&ask.id).map(|issue| issue.rank());
    asks.sort_by(|a, b| rank(a).cmp(&rank(b)));
    asks
}

/// The asks on the list of those that are open, which need not be walked through to be found.
fn asking<'s>(snapshot: &'s Snapshot, root: Option<&IssueId>) -> Vec<&'s Ask> {
    let graph = snapshot.graph();
    let below = root.and_then(|root| graph.ix(root));
    let found = snapshot.listed(List::Asking, below).all().into_iter();
    found.filter_map(|ix| snapshot.ask(graph.id(ix))).collect()
}

/// One ask.
///
/// # Errors
/// When the issue is not there, or not an ask.
pub fn show(session: &Session, text: &str) -> Result<AskView, AppError> {
    let (view, about) = session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        let ask = snapshot.ask(&id).ok_or(crate::model::refusal::Refusal::NotAnAsk(id))?;
        Ok((AskView::of(snapshot, ask), about_steps(ask)))
    })?;
    with_last_step(session, view, about)
}

/// The issue whose steps failed, where an ask is about that.
fn about_steps(ask: &Ask) -> Option<IssueId> {
    ask.about.clone().filter(|_| ask.kind == AskKind::Steps)
}

/// An ask about failed steps with why the last one did: that stands in the topic of the issue.
fn with_last_step(session: &Session, mut view: AskView, about: Option<IssueId>) -> Result<AskView, AppError> {
    let Some(about) = about else { return Ok(view) };
    let posts = session.store.posts(&PostQuery { topic: Some(topic(&about)), last: Some(LATELY) })?;
    let failed = posts.iter().rev().find(|post| post.body.starts_with(STEP_FAILED));
    if let Some(post) = failed {
        view.evidence.insert(view.evidence.len().min(1), shortened(&post.body, PREVIEW_CHARS));
    }
    Ok(view)
}

/// An ask that somebody looks at, as long as there is one of that id.
#[cfg(feature = "watch")]
pub(super) fn seen(snapshot: &Snapshot, text: &str) -> Option<AskView> {
    let ask = snapshot.ask(&text.parse().ok()?)?;
    Some(AskView::of(snapshot, ask))
}

/// One ask that can still be answered.
///
/// # Errors
/// When it is settled, or somebody was first.
pub fn show_open(session: &Session, text: &str) -> Result<AskView, AppError> {
    let (view, about) = session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        let ask = answer::unanswered(snapshot, &id)?;
        Ok((AskView::of(snapshot, ask), about_steps(ask)))
    })?;
    with_last_step(session, view, about)
}

/// What is to be different about who is to answer; `None` leaves it, an inner `None` takes it away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssignWish {
    /// Who.
    pub to: Option<Option<Actor>>,
    /// When it is due.
    pub due: Option<Option<Due>>,
    /// The time between two reminders, in milliseconds.
    pub remind: Option<Option<Millis>>,
    /// After how long nobody's answer is which choice.
    pub timeout: Option<Option<(Millis, String)>>,
}

/// Says who is to answer an ask, and by when.
///
/// # Errors
/// What [`assign::assign`] refuses, and a due time that is none or over.
pub fn assign(session: &mut Session, text: &str, wish: AssignWish) -> Result<Changed<AskView>, AppError> {
    session.change("asks assign", |work| {
        let (id, now) = (resolve(&work.snapshot, text)?, work.now);
        let assignment = Assignment {
            to: wish.to,
            due_at: wish.due.map(|due| due.map(|due| due.at(now)).transpose()).transpose()?,
            remind_every: wish.remind,
            default: wish.timeout.map(|timeout| {
                timeout.map(|(after, choice)| Fallback { at: now.saturating_add(after), choice, since: now })
            }),
        };
        let primitives = assign::assign(&work.snapshot, &id, assignment, now)?;
        work.apply(&primitives)?;
        view(work, &id)
    })
}

/// What a human wants to answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerWish {
    /// The choice.
    pub choice: String,
    /// What there is to say.
    pub note: String,
    /// How many further rounds.
    pub rounds: Option<u32>,
    /// Whether everything that waits is given up too.
    pub with_dependents: bool,
}

pub(super) fn human_answer(
    work: &Work,
    choice: String,
    note: String,
    rounds: Option<u32>,
    with_dependents: bool,
) -> Answer {
    Answer { choice, note, by: work.actor.clone(), at: work.now, rounds, with_dependents }
}

/// Records an answer; the effect comes with the next tick.
///
/// # Errors
/// What [`answer::answer`] refuses.
pub fn answer(session: &mut Session, text: &str, wish: AnswerWish) -> Result<Changed<AskView>, AppError> {
    session.change("answer", |work| {
        let id = resolve(&work.snapshot, text)?;
        let given = human_answer(work, wish.choice, wish.note, wish.rounds, wish.with_dependents);
        let primitives = answer::answer(&work.snapshot, &id, given)?;
        work.apply(&primitives)?;
        view(work, &id)
    })
}

/// Takes an answer back, as long as no tick has used it.
///
/// # Errors
/// What [`answer::withdraw`] refuses.
pub fn withdraw(session: &mut Session, text: &str) -> Result<Changed<AskView>, AppError> {
    session.change("answer withdraw", |work| {
        let id = resolve(&work.snapshot, text)?;
        let actor = work.actor.clone();
        let primitives = answer::withdraw(&work.snapshot, &id, &actor)?;
        work.apply(&primitives)?;
        view(work, &id)
    })
}

fn view(work: &Work, id: &IssueId) -> Result<AskView, AppError> {
    let ask = work.snapshot.ask(id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
    Ok(AskView::of(&work.snapshot, ask))
}

/// What an answer would skip beyond the scope, were it given: ids and titles.
///
/// # Errors
/// What [`answer()`] refuses.
pub fn preview(session: &Session, text: &str, wish: &AnswerWish) -> Result<Vec<(IssueId, String)>, AppError> {
    let AnswerWish { choice, note, rounds, with_dependents } = wish.clone();
    let (by, at) = (session.actor.clone(), session.clock.now());
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        answer::answer(snapshot, &id, Answer { choice, note, by, at, rounds, with_dependents })?;
        Ok(())
    })?;
    if wish.with_dependents { dependents_of(session, text) } else { Ok(Vec::new()) }
}

/// What `abandon --with-dependents` would skip beyond the scope: ids and titles.
///
/// # Errors
/// When the ask is not there.
pub fn dependents_of(session: &Session, text: &str) -> Result<Vec<(IssueId, String)>, AppError> {
    session.look(|snapshot| {
        let (id, graph) = (resolve(snapshot, text)?, snapshot.graph());
        let scope = snapshot.ask(&id).and_then(|ask| ask.scope.as_ref()).and_then(|scope| graph.ix(scope));
        let waiting = scope.map(|scope| dependents(snapshot, scope)).unwrap_or_default();
        Ok(waiting.into_iter().map(|ix| (graph.id(ix).clone(), graph.issue(ix).title.clone())).collect())
    })
}
