//! The lists of what can move: each is kept by a store with the issues that are on it, so that a tick
//! or a `ready` asks for the first of them and reads nothing else (section 10, "cost follows the live
//! frontier").
//!
//! A list is a condition on one node, its standing and the records beside it. Stores keep who is on
//! which; nobody believes them: whatever comes from a list is held against the condition again.

use std::cmp::Reverse;

use super::above::{Above, Aboves};
use super::graph::Ix;
use super::id::IssueId;
use super::issue::{Issue, Millis, Outcome, State};
use super::readiness::{judged, waits_for_tick};
use super::record::Heartbeat;
use super::snapshot::Snapshot;
use super::source::{Derived, Part, Place, Source};
use super::tag::Kind;

/// A list of issues. Stores know a list by its place here, so new ones come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    /// A worker may take it.
    Ready,
    /// Somebody holds it.
    Held,
    /// An open question, also where its answer would have no effect.
    Asking,
    /// An open question that was answered.
    Answered,
    /// A scope whose latest round was judged, and no tick has acted on that.
    Judged,
    /// It failed, and that is not resolved.
    Failed,
    /// Nobody holds it, and steps of it were lost.
    StepsLost,
    /// A scope that its policy has yet to open, and nothing is in the way.
    Opening,
    /// A container in which everything is settled.
    RollUp,
    /// A human has to close it: no worker does, and nothing is in the way.
    ByHand,
    /// It is open below something that ended.
    Stranded,
    /// Something in another tree blocks it.
    Abroad,
    /// It is not closed, or not resolved.
    Unsettled,
    /// A scope whose rounds go on.
    OpenScope,
    /// A node with a policy's tag that is not resolved.
    Gated,
    /// Open, and something that ticks drive.
    Driven,
    /// What makes its root one that a tick finishes: a scope, or a closed root.
    ToFinish,
    /// Heartbeats or cron entries were made for it.
    Clocked,
    /// One of them is enabled.
    Beating,
    /// Somebody paused it, and it is not settled.
    Paused,
    /// An open question that went away: what it is about was let go.
    Moot,
}

impl List {
    /// Every list.
    pub const ALL: [List; 21] = [
        List::Ready,
        List::Held,
        List::Asking,
        List::Answered,
        List::Judged,
        List::Failed,
        List::StepsLost,
        List::Opening,
        List::RollUp,
        List::ByHand,
        List::Stranded,
        List::Abroad,
        List::Unsettled,
        List::OpenScope,
        List::Gated,
        List::Driven,
        List::ToFinish,
        List::Clocked,
        List::Beating,
        List::Paused,
        List::Moot,
    ];

    /// The list's bit in [`Lists`].
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Whether what lies deepest comes first.
    pub fn innermost_first(self) -> bool {
        self == List::Judged
    }

    /// Whether an issue is on the list.
    pub fn has(self, snapshot: &Snapshot, ix: Ix) -> bool {
        self.own(snapshot, ix) && self.allowed_above(|| Above::of(snapshot.graph(), ix))
    }

    /// What the list wants of the node itself and the records beside it.
    fn own(self, snapshot: &Snapshot, ix: Ix) -> bool {
        let graph = snapshot.graph();
        let (issue, standing) = (graph.issue(ix), graph.standing(ix));
        let open = issue.state == State::Open;
        let not_closed = !issue.state.closed();
        match self {
            List::Ready => {
                open && issue.tags.executable()
                    && standing.unresolved_children == 0
                    && !waits_for_tick(snapshot, ix)
                    && !judged(snapshot, ix)
            }
            List::Held => issue.state.claim().is_some(),
            List::Asking => not_closed && issue.tags.ask(),
            List::Answered => {
                not_closed
                    && issue.tags.ask()
                    && snapshot.ask(&issue.id).is_some_and(|ask| ask.answer.is_some())
            }
            List::Judged => {
                running(snapshot, ix) && {
                    let round = snapshot.last_round(&issue.id);
                    round.is_some_and(|round| round.verdict.is_some() && round.end.is_none())
                }
            }
            List::Failed => !standing.resolved && issue.state.outcome().is_some_and(Outcome::unsuccessful),
            List::StepsLost => open && issue.failed_steps > 0,
            List::Opening => open && issue.tags.review_gated() && snapshot.scope(&issue.id).is_none(),
            List::RollUp => {
                open && issue.tags.container()
                    && standing.children > 0
                    && standing.unresolved_children == 0
                    && standing.open_children == 0
                    && !waits_for_tick(snapshot, ix)
            }
            List::ByHand => not_closed && !issue.tags.executable() && standing.unresolved_children == 0,
            List::Stranded => not_closed,
            List::Abroad => {
                not_closed && standing.open_blockers > 0 && {
                    let root = graph.root(ix);
                    snapshot.relation().own_open_blockers(ix).any(|blocker| graph.root(blocker) != root)
                }
            }
            List::Unsettled => not_closed || !standing.resolved,
            List::OpenScope => running(snapshot, ix),
            List::Gated => issue.tags.review_gated() && (!standing.resolved || waits_for_tick(snapshot, ix)),
            List::Driven => {
                let policy = issue.tags.container() || issue.tags.review_gated() || issue.tags.ask();
                not_closed && policy && !standing.let_go
            }
            List::ToFinish => {
                let closed_root =
                    graph.parent(ix).is_none() && !not_closed && issue.tags.has(Kind::Root.tag());
                (closed_root || snapshot.scope(&issue.id).is_some())
                    && !snapshot.root_finished(graph.id(graph.root(ix)))
            }
            List::Clocked => !snapshot.heartbeats_at(&issue.id).is_empty(),
            List::Beating => snapshot.heartbeats_at(&issue.id).iter().any(Heartbeat::enabled),
            List::Moot => {
                not_closed && standing.let_go && issue.tags.ask() && snapshot.ask(&issue.id).is_some()
            }
            List::Paused => issue.pause.is_some() && (not_closed || !standing.resolved),
        }
    }

    /// Whether what lies above is only looked at when the list is read: below what was let go, nobody
    /// walks down either.
    fn looks_up(self) -> bool {
        self == List::Moot
    }

    /// What the list wants of what lies above.
    fn allowed_above(self, above: impl FnOnce() -> Above) -> bool {
        let allowed: fn(Above) -> bool = match self {
            List::Ready | List::Opening | List::RollUp | List::ByHand => {
                |above| !above.blocked && !above.paused && !above.ended()
            }
            List::StepsLost | List::Judged => |above| !above.paused && !above.ended(),
            List::Failed | List::Moot => |above| !above.paused,
            List::Answered | List::OpenScope => |above| !above.ended(),
            List::Stranded => |above| above.finished,
            _ => return true,
        };
        allowed(above())
    }
}

/// A scope that was opened and has not ended.
fn running(snapshot: &Snapshot, ix: Ix) -> bool {
    let issue = snapshot.graph().issue(ix);
    let goes_on = issue.state.outcome().is_none_or(|outcome| outcome == Outcome::Expanded);
    goes_on && snapshot.scope(&issue.id).is_some_and(|scope| scope.end.is_none())
}

/// The lists an issue is on, one bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lists(pub u32);

impl Lists {
    /// Whether a list is among them.
    pub fn has(self, list: List) -> bool {
        self.0 & list.bit() != 0
    }

    /// The lists a store keeps an issue on. Below work that was imported open under something closed,
    /// nobody walks down to find what a change above lets go on; so there what comes from above is only
    /// looked at when the list is read. The same goes for some lists everywhere.
    fn of(snapshot: &Snapshot, ix: Ix, above: &Above) -> Lists {
        let on = |list: &&List| {
            list.own(snapshot, ix) && (above.imported || list.looks_up() || list.allowed_above(|| *above))
        };
        Lists(List::ALL.iter().filter(on).fold(0, |bits, list| bits | list.bit()))
    }
}

/// What a store has to keep of issues beside the issues.
#[derive(Debug)]
pub struct Deriving<'s> {
    snapshot: &'s Snapshot,
    aboves: Aboves<'s>,
}

impl<'s> Deriving<'s> {
    /// Of issues of this snapshot.
    pub fn of(snapshot: &'s Snapshot) -> Self {
        Deriving { snapshot, aboves: Aboves::of(snapshot.graph()) }
    }

    /// Of one of them.
    pub fn derived(&mut self, ix: Ix) -> Derived {
        let (snapshot, graph) = (self.snapshot, self.snapshot.graph());
        let above = self.aboves.at(ix);
        Derived {
            root: graph.id(above.root).clone(),
            depth: above.depth,
            priority: graph.issue(ix).priority,
            standing: *graph.standing(ix),
            lists: Lists::of(snapshot, ix, &above),
            due: due(snapshot, ix),
        }
    }
}

/// When there is something to do about an issue: its lease ends, or somebody is to be reminded of it, or
/// nobody has answered it in time.
fn due(snapshot: &Snapshot, ix: Ix) -> Option<Millis> {
    let issue = snapshot.graph().issue(ix);
    if let Some(claim) = issue.state.claim() {
        return Some(claim.expires_at);
    }
    let asking = !issue.state.closed() && issue.tags.ask();
    let ask = asking.then(|| snapshot.ask(&issue.id)).flatten().filter(|ask| ask.answer.is_none())?;
    ask.duty.as_ref()?.next()
}

/// The place of an issue, so many levels down, in a list.
pub fn place(list: List, issue: &Issue, depth: u32) -> Place {
    Place {
        depth: Reverse(if list.innermost_first() { depth } else { 0 }),
        priority: issue.priority,
        created_at: issue.created_at,
        id: issue.id.clone(),
    }
}

/// How many entries of a list are read at first, and how many after that.
const FIRST_PAGE: usize = 2;
const PAGE: usize = 24;
/// How many are read at once where all are wanted.
const LONG_PAGE: usize = 1_000;

/// A list, or the part of it at or below a node, to be looked through.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'s> {
    snapshot: &'s Snapshot,
    list: List,
    root: Option<Ix>,
    /// Only what lies at or below this node, where that is not the root.
    below: Option<Ix>,
    due_by: Option<Millis>,
}

impl<'s> Listed<'s> {
    /// A list of a snapshot, or what is on it at or below a node.
    pub fn of(snapshot: &'s Snapshot, list: List, top: Option<Ix>) -> Self {
        let root = top.map(|top| snapshot.graph().root(top));
        Listed { snapshot, list, root, below: top.filter(|_| top != root), due_by: None }
    }

    /// Only leases that end by then, and asks of which something is due.
    pub fn due_by(self, at: Millis) -> Self {
        Listed { due_by: Some(at), ..self }
    }

    /// The first on the list of which something holds.
    pub fn first(&self, want: impl Fn(Ix) -> bool) -> Option<Ix> {
        let best = self.here().into_iter().find(|(_, ix)| want(*ix));
        let stored = self.stored(&want, best.as_ref().map(|(place, _)| place));
        stored.or(best.map(|(_, ix)| ix))
    }

    /// Everything on the list, in its order.
    pub fn all(&self) -> Vec<Ix> {
        self.some(None, usize::MAX, |_| true)
    }

    /// The first so many on the list.
    pub fn up_to(&self, most: usize) -> Vec<Ix> {
        self.some(None, most, |_| true)
    }

    /// The first so many of which something holds, behind an issue where one is named.
    pub fn some(&self, after: Option<&IssueId>, limit: usize, want: impl Fn(Ix) -> bool) -> Vec<Ix> {
        let mut after = after.and_then(|id| self.snapshot.graph().ix(id)).map(|ix| self.place(ix));
        let mut found = self.here();
        found.retain(|(place, ix)| after.as_ref().is_none_or(|after| place > after) && want(*ix));
        let (mut stored, mut least) = (Vec::new(), FIRST_PAGE);
        while let Some(source) = self.snapshot.graph().source().filter(|_| stored.len() < limit) {
            let size = limit.saturating_sub(stored.len()).clamp(least, LONG_PAGE);
            least = PAGE;
            let page = self.page(source, after.as_ref(), size);
            self.snapshot.gather(&page.iter().map(|place| place.id.clone()).collect::<Vec<_>>());
            after = page.last().filter(|_| page.len() == size).cloned();
            let here = page.into_iter().filter_map(|place| self.stored_at(&place).map(|ix| (place, ix)));
            stored.extend(here.filter(|(_, ix)| want(*ix)));
            if after.is_none() {
                break;
            }
        }
        found.extend(stored);
        found.sort();
        found.into_iter().map(|(_, ix)| ix).take(limit).collect()
    }

    /// Whether there is anything on the list.
    pub fn any(&self) -> bool {
        self.first(|_| true).is_some()
    }

    /// What is on the list among the nodes that the store does not know as they are now: all of them, in
    /// a whole graph.
    fn here(&self) -> Vec<(Place, Ix)> {
        let graph = self.snapshot.graph();
        let candidates: Vec<Ix> = match (graph.source(), self.root) {
            (Some(_), root) => {
                let touched = graph.touched().into_iter();
                touched.filter(|&ix| root.is_none_or(|root| graph.root(ix) == root)).collect()
            }
            (None, Some(root)) => graph.subtree(root),
            (None, None) => graph.indices().collect(),
        };
        let on = candidates.into_iter().filter(|&ix| self.takes(ix));
        let mut found: Vec<(Place, Ix)> = on.map(|ix| (self.place(ix), ix)).collect();
        found.sort();
        found
    }

    /// The first of the store's list of which something holds, up to a bound.
    fn stored(&self, want: &dyn Fn(Ix) -> bool, bound: Option<&Place>) -> Option<Ix> {
        let source = self.snapshot.graph().source()?;
        let (mut after, mut size) = (None, FIRST_PAGE);
        loop {
            let page = self.page(source, after.as_ref(), size);
            for place in &page {
                if bound.is_some_and(|bound| place >= bound) {
                    return None;
                }
                if let Some(ix) = self.stored_at(place).filter(|&ix| want(ix)) {
                    return Some(ix);
                }
            }
            after = Some(page.last().filter(|_| page.len() == size)?.clone());
            size = PAGE;
        }
    }

    /// A page of the store's list.
    fn page(&self, source: &dyn Source, after: Option<&Place>, limit: usize) -> Vec<Place> {
        let root = self.root.map(|root| self.snapshot.graph().id(root));
        source.listed(self.list, &Part { root, after, due_by: self.due_by, limit })
    }

    /// What the store has at a place, where that is on the list now and is not known better here.
    fn stored_at(&self, place: &Place) -> Option<Ix> {
        let ix = self.snapshot.graph().ix(&place.id)?;
        (!self.overlaid(ix) && self.takes(ix)).then_some(ix)
    }

    fn place(&self, ix: Ix) -> Place {
        let graph = self.snapshot.graph();
        place(self.list, graph.issue(ix), graph.depth(ix))
    }

    fn overlaid(&self, ix: Ix) -> bool {
        self.snapshot.graph().is_touched(ix)
    }

    fn takes(&self, ix: Ix) -> bool {
        self.below.is_none_or(|top| self.snapshot.graph().at_or_below(ix, top))
            && self.due_by.is_none_or(|by| due(self.snapshot, ix).is_some_and(|due| due <= by))
            && self.list.has(self.snapshot, ix)
    }
}
