//! The use cases of single issues.

use serde::{Deserialize, Serialize};

use super::config::Config;
use super::due::Due;
pub use super::pages::{Filter, Paged, history, list, log, log_after, ready, search};
use super::session::{Work, resolve};
use super::view::IssueView;
use super::{AppError, Changed, Session};
use crate::model::act::claim::{self, Wish};
use crate::model::act::close::{self, Closing};
use crate::model::act::create::{self, NewIssue};
use crate::model::act::update::{self, Update};
use crate::model::act::verdict::topic;
use crate::model::act::{edges, open, packet, retry};
use crate::model::graph::{EdgeKind, Ix};
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Millis, Process};
use crate::model::primitive::Primitive;
use crate::model::snapshot::Snapshot;
use crate::model::tag::Tag;

/// An issue that an act was about, as it is now.
fn shown(work: &Work, id: &IssueId) -> Result<IssueView, AppError> {
    let ix = work.snapshot.graph().ix(id).ok_or_else(|| AppError::NoIssue(id.to_string()))?;
    Ok(IssueView::of(&work.snapshot, ix))
}

fn index(snapshot: &Snapshot, id: &IssueId) -> Result<Ix, AppError> {
    snapshot.graph().ix(id).ok_or_else(|| AppError::NoIssue(id.to_string()))
}

/// Creates an issue. `parent` is an id or a unique prefix.
///
/// # Errors
/// What [`create::create`] refuses.
pub fn create(
    session: &mut Session,
    new: NewIssue,
    parent: Option<&str>,
) -> Result<Changed<IssueView>, AppError> {
    create_due(session, new, parent, None)
}

/// The same, for an ask that is due at a time of its own.
///
/// # Errors
/// As [`create()`], and a due time that is none or over.
pub fn create_due(
    session: &mut Session,
    new: NewIssue,
    parent: Option<&str>,
    due: Option<&Due>,
) -> Result<Changed<IssueView>, AppError> {
    session.change("issues create", |work| {
        let parent = parent.map(|text| resolve(&work.snapshot, text)).transpose()?;
        let id = work.new_id();
        let now = work.now;
        let due_at = due.map(|due| due.at(now)).transpose()?;
        let new = NewIssue { parent, due_at, configured: work.asks.clone(), ..new };
        let primitives = create::create(&work.snapshot, &id, new, now)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// One issue.
///
/// # Errors
/// When there is none of that id.
pub fn get(session: &Session, text: &str) -> Result<IssueView, AppError> {
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        Ok(IssueView::of(snapshot, index(snapshot, &id)?))
    })
}

/// The children of an issue that have these tags, in the total order.
///
/// # Errors
/// When there is no such issue.
pub fn children(session: &Session, text: &str, tags: &[Tag]) -> Result<Vec<IssueView>, AppError> {
    session.look(|snapshot| {
        let graph = snapshot.graph();
        let ix = index(snapshot, &resolve(snapshot, text)?)?;
        let mut found = graph.children(ix).to_vec();
        found.retain(|&ix| graph.issue(ix).tags.all(tags));
        found.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
        Ok(found.into_iter().map(|ix| IssueView::of(snapshot, ix)).collect())
    })
}

/// Changes what an issue says.
///
/// # Errors
/// What [`update::update`] refuses.
pub fn update(session: &mut Session, text: &str, wanted: &Update) -> Result<Changed<IssueView>, AppError> {
    session.change("issues update", |work| {
        let id = resolve(&work.snapshot, text)?;
        let wanted = Update { configured: work.asks.clone(), ..wanted.clone() };
        let primitives = update::update(&work.snapshot, &id, &wanted, work.now)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// How an issue is to be claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claiming {
    /// How long the lease lasts, in milliseconds; the configuration's when `None`.
    pub lease: Option<Millis>,
    /// The runner, when a runner takes it.
    pub runner: Option<Process>,
}

impl Claiming {
    /// What somebody wishes who claims so, by this configuration.
    fn wish(&self, work: &Work, config: &Config) -> Wish {
        Wish {
            actor: work.actor.clone(),
            now: work.now,
            lease: self.lease.unwrap_or(config.lease),
            runner: self.runner.clone(),
            step_retries: config.bounds.step_retries,
        }
    }
}

/// Claims an issue, or renews what the actor holds.
///
/// # Errors
/// What [`claim::claim`] refuses.
pub fn claim(session: &mut Session, text: &str, claiming: &Claiming) -> Result<Changed<IssueView>, AppError> {
    let config = session.config.clone();
    session.change("issues claim", |work| {
        let id = resolve(&work.snapshot, text)?;
        let primitives = claim::claim(&work.snapshot, &id, &claiming.wish(work, &config))?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// Claims the first ready issue that the actor may take.
///
/// # Errors
/// When there is none.
pub fn claim_next(
    session: &mut Session,
    filter: &Filter,
    claiming: &Claiming,
) -> Result<Changed<IssueView>, AppError> {
    let config = session.config.clone();
    session.change("issues claim", |work| {
        let within = filter.within(&work.snapshot)?;
        let (wish, snapshot) = (claiming.wish(work, &config), &work.snapshot);
        let takes = |ix| filter.takes(snapshot, ix);
        let (id, primitives) = claim::claim_first(snapshot, within, filter.role, takes, &wish)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// Prolongs a lease.
///
/// # Errors
/// What [`claim::renew`] refuses.
pub fn renew(
    session: &mut Session,
    text: &str,
    epoch: Option<u64>,
    lease: Option<Millis>,
    worker: Option<Process>,
) -> Result<Changed<IssueView>, AppError> {
    let config = session.config.clone();
    session.change("issues renew", |work| {
        let id = resolve(&work.snapshot, text)?;
        let wish = Claiming { lease, runner: None }.wish(work, &config);
        let primitives = claim::renew(&work.snapshot, &id, &wish, epoch, worker)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// Gives an issue back.
///
/// # Errors
/// What [`claim::release`] refuses.
pub fn release(
    session: &mut Session,
    text: &str,
    epoch: Option<u64>,
) -> Result<Changed<IssueView>, AppError> {
    session.change("issues release", |work| {
        let id = resolve(&work.snapshot, text)?;
        let actor = work.actor.clone();
        let primitives = claim::release(&work.snapshot, &id, &actor, epoch, false)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// How an issue is to be closed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloseWish {
    /// The outcome.
    pub outcome: Option<crate::model::issue::Outcome>,
    /// Why.
    pub reason: Option<String>,
    /// Whether a skip takes along what is open below.
    pub cascade: bool,
    /// The fencing number.
    pub epoch: Option<u64>,
}

impl CloseWish {
    fn by(&self, actor: &Actor, now: Millis) -> Closing {
        Closing {
            outcome: self.outcome,
            reason: self.reason.clone(),
            cascade: self.cascade,
            actor: actor.clone(),
            epoch: self.epoch,
            now,
        }
    }
}

/// What a close did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The issue as it is now.
    pub issue: IssueView,
    /// Whether the close was a verdict, which the next tick acts on.
    pub verdict: bool,
    /// What is still open below it.
    pub open_below: usize,
    /// What a cascade skipped below it.
    #[serde(default)]
    pub skipped: usize,
}

/// Closes an issue; on a review that is a verdict.
///
/// # Errors
/// What [`close::close`] refuses.
pub fn close(session: &mut Session, text: &str, wanted: &CloseWish) -> Result<Changed<Closed>, AppError> {
    session.change("issues close", |work| {
        let id = resolve(&work.snapshot, text)?;
        let closing = wanted.by(&work.actor, work.now);
        let primitives = close::close(&work.snapshot, &id, &closing)?;
        let ix = index(&work.snapshot, &id)?;
        let before = close::open_below(&work.snapshot, ix).len();
        work.apply(&primitives)?;
        let open_below = close::open_below(&work.snapshot, ix).len();
        Ok(Closed {
            issue: shown(work, &id)?,
            verdict: work.snapshot.review_round(&id).is_some(),
            open_below,
            skipped: if wanted.cascade { before.saturating_sub(open_below) } else { 0 },
        })
    })
}

/// What a cascading skip would take along: ids and titles.
///
/// # Errors
/// As for [`close()`].
pub fn cascade_preview(
    session: &Session,
    text: &str,
    wanted: &CloseWish,
) -> Result<Vec<(IssueId, String)>, AppError> {
    let closing = wanted.by(&session.actor, session.clock.now());
    session.look(|snapshot| {
        let id = resolve(snapshot, text)?;
        close::close(snapshot, &id, &closing)?;
        let ix = index(snapshot, &id)?;
        let below = close::open_below(snapshot, ix);
        let titled = below.into_iter().filter_map(|id| {
            let title = snapshot.graph().get(&id)?.title.clone();
            Some((id, title))
        });
        Ok(titled.collect())
    })
}

/// Reopens an issue, or gives it back.
///
/// # Errors
/// What [`open::open`] refuses.
pub fn open(session: &mut Session, text: &str) -> Result<Changed<IssueView>, AppError> {
    session.change("issues open", |work| {
        let id = resolve(&work.snapshot, text)?;
        let actor = work.actor.clone();
        let primitives = open::open(&work.snapshot, &id, &actor)?;
        work.apply(&primitives)?;
        shown(work, &id)
    })
}

/// A relation between two issues, as `dep` and `undep` take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepKind {
    /// The first blocks the second.
    Blocks,
    /// The second is the parent of the first.
    Parent,
}

impl DepKind {
    /// The relation's word.
    pub fn as_str(self) -> &'static str {
        match self {
            DepKind::Blocks => EdgeKind::Blocks.as_str(),
            DepKind::Parent => "parent",
        }
    }
}

/// A relation that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// The blocker, or the child.
    pub first: IssueId,
    /// The blocked, or the parent.
    pub second: IssueId,
    /// The parent that the child was taken from: a node has one parent at most.
    pub moved_from: Option<IssueId>,
}

/// Adds a relation.
///
/// # Errors
/// What [`edges::block`] and [`edges::reparent`] refuse.
pub fn dep(
    session: &mut Session,
    first: &str,
    kind: DepKind,
    second: &str,
) -> Result<Changed<Added>, AppError> {
    session.change("issues dep", |work| {
        let (a, b) = (resolve(&work.snapshot, first)?, resolve(&work.snapshot, second)?);
        let graph = work.snapshot.graph();
        let parent = graph.ix(&a).and_then(|ix| graph.parent(ix)).map(|ix| graph.id(ix).clone());
        let moved_from = parent.filter(|parent| kind == DepKind::Parent && *parent != b);
        let primitives = match kind {
            DepKind::Blocks => edges::block(&work.snapshot, &a, &b)?,
            DepKind::Parent => edges::reparent(&work.snapshot, &a, Some(&b))?,
        };
        work.apply(&primitives)?;
        Ok(Added { first: a, second: b, moved_from })
    })
}

/// Takes a relation out; gives the two ids.
///
/// # Errors
/// What [`edges::unblock`] and [`edges::reparent`] refuse.
pub fn undep(
    session: &mut Session,
    first: &str,
    kind: DepKind,
    second: &str,
) -> Result<Changed<(IssueId, IssueId)>, AppError> {
    session.change("issues undep", |work| {
        let (a, b) = (resolve(&work.snapshot, first)?, resolve(&work.snapshot, second)?);
        let primitives = match kind {
            DepKind::Blocks => edges::unblock(&work.snapshot, &a, &b)?,
            DepKind::Parent => {
                let graph = work.snapshot.graph();
                let parent = graph.ix(&a).and_then(|ix| graph.parent(ix)).map(|p| graph.id(p));
                if parent != Some(&b) {
                    return Err(AppError::NoIssue(format!("{b} among the parents of {a}")));
                }
                edges::reparent(&work.snapshot, &a, None)?
            }
        };
        work.apply(&primitives)?;
        Ok((a, b))
    })
}

/// Makes a successor of a failed issue.
///
/// # Errors
/// What [`retry::retry`] refuses.
pub fn retry(
    session: &mut Session,
    text: &str,
    note: Option<String>,
) -> Result<Changed<IssueView>, AppError> {
    session.change("issues retry", |work| {
        let id = resolve(&work.snapshot, text)?;
        let (successor, now) = (work.new_id(), work.now);
        let primitives = retry::retry(&work.snapshot, &id, &successor, note, now)?;
        work.apply(&primitives)?;
        shown(work, &successor)
    })
}

/// A post's packets, acted on: the primitives beside the post itself.
pub(super) fn bound_packet(
    snapshot: &Snapshot,
    id: &IssueId,
    body: &str,
    now: Millis,
) -> Result<Vec<Primitive>, AppError> {
    let Some(issue) = snapshot.graph().get(id) else { return Ok(Vec::new()) };
    if !issue.tags.review_gated() {
        return Ok(Vec::new());
    }
    let Some(rounds) = packet::round_bound(body)? else { return Ok(Vec::new()) };
    let mut policy = issue.policy.clone();
    policy.max_review_rounds_posted = Some(rounds);
    Ok(update::update(snapshot, id, &Update { policy: Some(policy), ..Update::default() }, now)?)
}

/// The topic of an issue and the issue it names, if a topic is one.
pub(super) fn issue_of_topic(snapshot: &Snapshot, name: &str) -> Option<IssueId> {
    let id: IssueId = name.strip_prefix("issue:")?.parse().ok()?;
    snapshot.graph().ix(&id).map(|_| id)
}

/// The topic of an issue.
pub fn topic_of(id: &IssueId) -> String {
    topic(id)
}

/// The name of an actor who acts for another: `name.role`.
///
/// # Errors
/// When the name gets too long.
pub fn actor_in_role(actor: &Actor, role: &str) -> Result<Actor, AppError> {
    let text = format!("{actor}.{role}");
    text.parse().map_err(|source| AppError::BadActor { text, source })
}
