//! What `watch` shows: the roots with something left to do, and of all of them or of one the rounds, what
//! is ready, who holds what, the questions, and what happened last. Read from the lists of what can move,
//! and never more of them than a person looks through.

use std::path::Path;
use std::time::Duration;

use super::config::Config;
use super::session::resolve_root;
use super::view::{AskView, ReadyView};
use super::{AppError, Session, asks, place, tick};
use crate::engine::{decide, review_gated, roots_to_move};
use crate::model::change::{Change, Event};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::record::{Bounds, Opinion, Round};
use crate::model::snapshot::Snapshot;
use crate::store::sqlite::{Options, Sqlite};
use crate::store::{EventQuery, Revision};

/// How many lines of a sort are read.
const MOST: usize = 100;
/// How far the counts of a root go.
const COUNTED: usize = 9;
/// How many of the latest events are looked through.
const EVENTS: usize = 300;
/// How long somebody who looks is kept waiting by others.
const PATIENCE: Duration = Duration::from_secs(2);

/// What somebody wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only this root; an id or a unique prefix.
    pub root: Option<String>,
    /// The ask that is open before them.
    pub ask: Option<String>,
}

/// The first lines of something.
#[derive(Debug, Clone, PartialEq)]
pub struct First<T> {
    /// The lines.
    pub lines: Vec<T>,
    /// Whether there are more.
    pub more: bool,
}

/// A root with something left to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootLine {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How many asks wait, up to ten.
    pub asks: usize,
    /// How much is held, up to ten.
    pub held: usize,
    /// How much is ready, up to ten.
    pub ready: usize,
    /// Whether a tick has found it final.
    pub finished: bool,
}

/// One of the two halves of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Half {
    /// The issue.
    pub id: String,
    /// Its outcome or its status.
    pub word: &'static str,
    /// Who holds it.
    pub holder: Option<String>,
}

/// A round: an attempt and its review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Its number, from 1.
    pub number: u32,
    /// The attempt.
    pub attempt: Half,
    /// The review.
    pub review: Half,
    /// What was found, and by whom.
    pub verdict: Option<(Opinion, String)>,
    /// What was found wrong, or good.
    pub notes: String,
}

/// A scope and its rounds, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// The scope.
    pub scope: String,
    /// Its title.
    pub title: String,
    /// Its state.
    pub state: &'static str,
    /// Its bound.
    pub max_rounds: u32,
    /// The open ask about it.
    pub ask: Option<String>,
    /// Its rounds.
    pub rungs: Vec<Rung>,
}

/// Work that somebody holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldLine {
    /// The issue.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The holder.
    pub actor: String,
    /// When the lease runs out, in epoch milliseconds.
    pub expires_at: Millis,
}

/// What one act or one tick changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// The event that tells most.
    pub event: Event,
    /// How many events there were.
    pub events: usize,
    /// The title of what the tick said of itself, where it was one.
    pub pass: Option<String>,
}

/// All of it, as of one revision.
#[derive(Debug, Clone, PartialEq)]
pub struct Overview {
    /// The revision it is at least of.
    pub revision: Revision,
    /// When it was read.
    pub at: Millis,
    /// The roots.
    pub roots: First<RootLine>,
    /// The root that was wanted.
    pub root: Option<RootLine>,
    /// What comes next for it, in words.
    pub next: Option<String>,
    /// The scopes: first those that go on.
    pub ladders: First<Ladder>,
    /// What is ready.
    pub ready: First<ReadyView>,
    /// What is held.
    pub held: First<HeldLine>,
    /// The questions.
    pub asks: First<AskView>,
    /// What happened last, the latest first.
    pub moves: First<Move>,
    /// The ask that was wanted.
    pub ask: Option<AskView>,
}

impl Overview {
    /// Whether time alone has changed it: a lease has run out since it was read.
    pub fn aged(&self, now: Millis) -> bool {
        self.held.lines.iter().any(|held| (self.at + 1..=now).contains(&held.expires_at))
    }
}

/// Opens a store for somebody who looks, and must not be kept waiting for long.
///
/// # Errors
/// As for [`place::open`].
pub fn open(folder: &Path, config: &Config) -> Result<Sqlite, AppError> {
    Ok(Sqlite::open_with(folder, &Options { deadline: PATIENCE, ..place::options(config) })?)
}

/// The revision of the store: a few rows, and nothing is kept.
///
/// # Errors
/// When the store cannot be read.
pub fn revision(session: &Session) -> Result<Revision, AppError> {
    let mut found = 0;
    session.store.look(&mut |_, revision| found = revision)?;
    Ok(found)
}

/// Reads what is wanted. Writes nothing.
///
/// # Errors
/// When the store cannot be read, or what is wanted is not there.
pub fn load(session: &Session, wanted: &Wanted) -> Result<Overview, AppError> {
    // What is written between the two shows as a newer revision the next time somebody asks.
    let revision = revision(session)?;
    let events = session.store.events(&EventQuery { last: Some(EVENTS), ..EventQuery::default() })?;
    session.look(|snapshot| {
        let now = session.clock.now();
        let root = wanted.root.as_deref().map(|text| resolve_root(snapshot, text)).transpose()?;
        let at = root.as_ref().and_then(|id| snapshot.graph().ix(id));
        let decided = |root: Ix| tick::next(&decide(snapshot, root, now, &session.config.bounds));
        Ok(Overview {
            revision,
            at: now,
            roots: roots(snapshot, now, &session.config.bounds, at),
            root: at.map(|root| root_line(snapshot, root)),
            next: at.map(decided),
            ladders: ladders(session, snapshot, at),
            ready: first(snapshot, List::Ready, at, |ix| Some(ReadyView::of(snapshot, ix))),
            held: first(snapshot, List::Held, at, |ix| held(snapshot, ix)),
            asks: first(snapshot, List::Asking, at, |ix| open_ask(snapshot, ix)),
            moves: moves(snapshot, events, root.as_ref()),
            ask: wanted.ask.as_deref().and_then(|text| asks::seen(snapshot, text)),
        })
    })
}

/// The first lines made of what is on a list.
fn first<T>(snapshot: &Snapshot, list: List, root: Option<Ix>, line: impl Fn(Ix) -> Option<T>) -> First<T> {
    let mut found = snapshot.listed(list, root).up_to(MOST + 1);
    let more = found.len() > MOST;
    found.truncate(MOST);
    First { lines: found.into_iter().filter_map(line).collect(), more }
}

/// The roots that a tick may have something to do for, by rank, and the one that is looked at.
fn roots(snapshot: &Snapshot, now: Millis, defaults: &Bounds, looked_at: Option<Ix>) -> First<RootLine> {
    let graph = snapshot.graph();
    let all = roots_to_move(snapshot, now, defaults);
    let more = all.len() > MOST;
    let mut found: Vec<Ix> = all.iter().take(MOST).filter_map(|id| graph.ix(id)).collect();
    found.extend(looked_at.filter(|ix| !found.contains(ix)));
    found.sort_by(|&a, &b| graph.issue(a).rank().cmp(&graph.issue(b).rank()));
    First { lines: found.into_iter().map(|ix| root_line(snapshot, ix)).collect(), more }
}

fn root_line(snapshot: &Snapshot, root: Ix) -> RootLine {
    let issue = snapshot.graph().issue(root);
    let count = |list: List| snapshot.listed(list, Some(root)).up_to(COUNTED + 1).len();
    RootLine {
        id: issue.id.to_string(),
        title: issue.title.clone(),
        asks: count(List::Asking),
        held: count(List::Held),
        ready: count(List::Ready),
        finished: snapshot.root_finished(&issue.id),
    }
}

/// The scopes that go on, and those of roots that go on.
fn ladders(session: &Session, snapshot: &Snapshot, root: Option<Ix>) -> First<Ladder> {
    let mut found = snapshot.listed(List::Gated, root).up_to(MOST + 1);
    if found.len() <= MOST {
        let opened = snapshot.listed(List::ToFinish, root).up_to(2 * MOST + 1);
        let ended = opened.into_iter().filter(|ix| !found.contains(ix)).collect::<Vec<_>>();
        found.extend(ended.into_iter().filter(|&ix| snapshot.graph().issue(ix).tags.review_gated()));
    }
    let more = found.len() > MOST;
    found.truncate(MOST);
    First { lines: found.into_iter().map(|ix| ladder(session, snapshot, ix)).collect(), more }
}

fn ladder(session: &Session, snapshot: &Snapshot, scope: Ix) -> Ladder {
    let issue = snapshot.graph().issue(scope);
    let ask = review_gated::open_asks(snapshot, scope).into_iter().next();
    Ladder {
        scope: issue.id.to_string(),
        title: issue.title.clone(),
        state: review_gated::state(snapshot, scope).as_str(),
        max_rounds: review_gated::max_rounds(snapshot, issue, &session.config.bounds),
        ask: ask.map(|ask| ask.id.to_string()),
        rungs: snapshot.rounds(&issue.id).map(|round| rung(snapshot, round)).collect(),
    }
}

fn rung(snapshot: &Snapshot, round: &Round) -> Rung {
    use crate::model::record::RoundEnd;
    let verdict = round.verdict.as_ref();
    let failure = match &round.end {
        Some(RoundEnd::Failed { notes, .. }) => notes.as_str(),
        _ => "",
    };
    Rung {
        number: round.number,
        attempt: half(snapshot, &round.attempt),
        review: half(snapshot, &round.review),
        verdict: verdict.map(|verdict| (verdict.opinion, verdict.by.to_string())),
        notes: verdict.map_or(failure, |verdict| &verdict.reason).to_owned(),
    }
}

fn half(snapshot: &Snapshot, id: &IssueId) -> Half {
    let state = snapshot.graph().get(id).map(|issue| &issue.state);
    let word = state.map_or("missing", |state| match state.outcome() {
        Some(outcome) => outcome.as_str(),
        None => state.status(),
    });
    let claim = state.and_then(|state| state.claim());
    Half { id: id.to_string(), word, holder: claim.map(|claim| claim.actor.to_string()) }
}

fn held(snapshot: &Snapshot, ix: Ix) -> Option<HeldLine> {
    let issue = snapshot.graph().issue(ix);
    issue.state.claim().map(|claim| HeldLine {
        id: issue.id.to_string(),
        title: issue.title.clone(),
        actor: claim.actor.to_string(),
        expires_at: claim.expires_at,
    })
}

fn open_ask(snapshot: &Snapshot, ix: Ix) -> Option<AskView> {
    let ask = snapshot.ask(snapshot.graph().id(ix))?;
    (!snapshot.relation().let_go(ix)).then(|| AskView::of(snapshot, ask))
}

/// The latest acts and ticks, of all roots or of one.
fn moves(snapshot: &Snapshot, events: Vec<Event>, root: Option<&IssueId>) -> First<Move> {
    let graph = snapshot.graph();
    let about = |event: &Event| subject(&event.change).and_then(|id| graph.ix(&id));
    let wanted = |found: &[Event]| {
        root.is_none_or(|root| found.iter().filter_map(about).any(|ix| graph.id(graph.root(ix)) == root))
    };
    let together =
        |a: &Event, b: &Event| (a.tick, a.at, &a.actor, &a.cause) == (b.tick, b.at, &b.actor, &b.cause);
    let before = events.first().is_some_and(|event| event.seq > 1);
    let groups: Vec<&[Event]> = events.chunk_by(together).rev().filter(|group| wanted(group)).collect();
    let told = groups.iter().take(MOST).filter_map(|group| {
        let event = group.iter().max_by_key(|event| (tells(&event.change), event.seq))?.clone();
        Some(Move { event, events: group.len(), pass: group.iter().find_map(pass_title) })
    });
    First { lines: told.collect(), more: before || groups.len() > MOST }
}

/// The title of an ORCH_PASS post of a tick. What others post is not taken for one.
fn pass_title(event: &Event) -> Option<String> {
    let Change::Posted { post } = &event.change else { return None };
    let title = post.body.lines().next()?.strip_prefix("ORCH_PASS: ")?;
    event.tick.map(|_| title.to_owned())
}

/// The issue that a change is about, also where a post is about it.
fn subject(change: &Change) -> Option<IssueId> {
    match change {
        Change::Posted { post } => post.topic.strip_prefix("issue:")?.parse().ok(),
        _ => change.subject().cloned(),
    }
}

/// How much a change says of what went on.
fn tells(change: &Change) -> u8 {
    match change {
        Change::RootFinished { .. } => 9,
        Change::AskOpened { .. } | Change::AnswerSet { .. } => 8,
        Change::AskReminded { .. } | Change::RoundSet { .. } => 7,
        Change::ScopeSet { .. } => 6,
        Change::HeartbeatSet { .. } | Change::HeartbeatRemoved { .. } | Change::DutySet { .. } => 5,
        Change::IssueCreated { .. } | Change::PlanSet { .. } | Change::Compacted { .. } => 4,
        Change::IssueChanged { .. } => 3,
        Change::EdgeAdded { .. } | Change::EdgeRemoved { .. } | Change::ParentSet { .. } => 2,
        Change::Posted { .. } => 1,
        Change::IdReserved { .. }
        | Change::Annotated { .. }
        | Change::OperationDone { .. }
        | Change::DocumentSet { .. }
        | Change::DocumentRemoved { .. }
        | Change::NoticeSet { .. }
        | Change::NoticeEnded { .. } => 0,
    }
}
