//! `claim`, `renew`, `release`: who works on what (section 6). A claim is one compare-and-set.

use super::find;
use super::reviewer::may_judge;
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::{Actor, IssueId};
use crate::model::issue::{Claim, Millis, Process};
use crate::model::primitive::Primitive;
use crate::model::readiness::{Hindrance, hindrances};
use crate::model::refusal::Refusal;
use crate::model::snapshot::Snapshot;
use crate::model::steps::used_up;
use crate::model::tag::{FLOW_ATTEMPT, FLOW_REVIEW};

/// Which half of a round an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The attempt.
    Attempt,
    /// The review.
    Review,
}

impl Role {
    /// The role's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Attempt => "attempt",
            Role::Review => "review",
        }
    }

    /// The role of an issue, if it is part of a round or tagged as such.
    pub fn of(snapshot: &Snapshot, ix: Ix) -> Option<Role> {
        let issue = snapshot.graph().issue(ix);
        if issue.tags.has(FLOW_ATTEMPT) {
            Some(Role::Attempt)
        } else if issue.tags.has(FLOW_REVIEW) {
            Some(Role::Review)
        } else {
            None
        }
    }
}

/// Who wants an issue, from when and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// Who.
    pub actor: Actor,
    /// Now.
    pub now: Millis,
    /// How long the lease lasts, in milliseconds.
    pub lease: Millis,
    /// The runner, when a runner takes it.
    pub runner: Option<Process>,
    /// The step retries of what has no bound of its own.
    pub step_retries: u32,
}

/// Gives an issue to an actor, or renews what the actor already holds. Two runners of one actor are two
/// holders: what one of them works on, the other must not start as well.
///
/// # Errors
/// When somebody else holds it, when it is not ready, or when the actor may not judge it.
pub fn claim(snapshot: &Snapshot, id: &IssueId, wish: &Wish) -> Result<Vec<Primitive>, Refusal> {
    let ix = find(snapshot, id)?;
    let issue = snapshot.graph().issue(ix);
    if let Some(held) = issue.state.claim() {
        let own = held.actor == wish.actor && (wish.runner.is_none() || wish.runner == held.runner);
        if own && !held.expired(wish.now) {
            let renewed = Claim { expires_at: wish.now.saturating_add(wish.lease), ..held.clone() };
            return Ok(vec![Primitive::Claim { id: id.clone(), claim: renewed }]);
        }
        if !held.expired(wish.now) {
            return Err(Refusal::HeldBy { id: id.clone(), by: held.actor.clone() });
        }
    }
    let mut others = hindrances(snapshot, ix);
    others.retain(|hindrance| !matches!(hindrance, Hindrance::Held { .. }));
    others.extend(used_up(snapshot, ix, wish.step_retries));
    if !others.is_empty() {
        return Err(not_ready(id, &others));
    }
    may_judge(snapshot, id, &wish.actor)?;
    let claim = Claim {
        actor: wish.actor.clone(),
        epoch: issue.epoch + 1,
        expires_at: wish.now.saturating_add(wish.lease),
        runner: wish.runner.clone(),
        worker: None,
    };
    let lost = issue.state.claim().map(|_| Primitive::Release { id: id.clone(), lost: true });
    Ok(lost.into_iter().chain([Primitive::Claim { id: id.clone(), claim }]).collect())
}

/// Claims the first issue that the actor may take: of those that are ready, or else of those whose lease
/// ran out, at or below an issue or anywhere. Looks no further than that.
///
/// # Errors
/// [`Refusal::NothingReady`] when there is none.
pub fn claim_first(
    snapshot: &Snapshot,
    within: Option<Ix>,
    role: Option<Role>,
    takes: impl Fn(Ix) -> bool,
    wish: &Wish,
) -> Result<(IssueId, Vec<Primitive>), Refusal> {
    let id = |ix: Ix| snapshot.graph().id(ix);
    let in_role = |ix: Ix| role.is_none() || Role::of(snapshot, ix) == role;
    let fits = |ix: Ix| in_role(ix) && takes(ix) && claim(snapshot, id(ix), wish).is_ok();
    let lapsed = || snapshot.listed(List::Held, within).due_by(wish.now).first(fits);
    let Some(ix) = snapshot.listed(List::Ready, within).first(fits).or_else(lapsed) else {
        let whom = role.map_or(String::new(), |role| format!(" for the role {}", role.as_str()));
        return Err(Refusal::NothingReady(format!("{whom} that {} may take", wish.actor)));
    };
    Ok((id(ix).clone(), claim(snapshot, id(ix), wish)?))
}

/// Prolongs the lease of the holder, and records the worker that a runner started.
///
/// # Errors
/// When the actor does not hold it, or the fencing number is an old one.
pub fn renew(
    snapshot: &Snapshot,
    id: &IssueId,
    wish: &Wish,
    epoch: Option<u64>,
    worker: Option<Process>,
) -> Result<Vec<Primitive>, Refusal> {
    let held = holder(snapshot, id, &wish.actor, epoch)?;
    let claim = Claim {
        expires_at: wish.now.saturating_add(wish.lease),
        worker: worker.or_else(|| held.worker.clone()),
        ..held.clone()
    };
    Ok(vec![Primitive::Claim { id: id.clone(), claim }])
}

/// Gives an issue back; `lost` counts a failed step.
///
/// # Errors
/// When the actor does not hold it, or the fencing number is an old one.
pub fn release(
    snapshot: &Snapshot,
    id: &IssueId,
    actor: &Actor,
    epoch: Option<u64>,
    lost: bool,
) -> Result<Vec<Primitive>, Refusal> {
    holder(snapshot, id, actor, epoch)?;
    Ok(vec![Primitive::Release { id: id.clone(), lost }])
}

/// Takes an issue back from a runner that is known to be dead, which costs a step. Nothing where it is no
/// longer held under that fencing number, or was not held by a runner.
pub fn reclaim(snapshot: &Snapshot, id: &IssueId, epoch: u64) -> Vec<Primitive> {
    let held = snapshot.graph().get(id).and_then(|issue| issue.state.claim());
    let same = held.is_some_and(|held| held.epoch == epoch && held.runner.is_some());
    same.then(|| Primitive::Release { id: id.clone(), lost: true }).into_iter().collect()
}

/// The claim of an issue that the actor must hold.
///
/// # Errors
/// When nobody or somebody else holds it, or the fencing number is an old one.
pub fn holder<'s>(
    snapshot: &'s Snapshot,
    id: &IssueId,
    actor: &Actor,
    epoch: Option<u64>,
) -> Result<&'s Claim, Refusal> {
    let issue = snapshot.graph().issue(find(snapshot, id)?);
    let held = issue.state.claim();
    if let Some(given) = epoch.filter(|&given| held.is_none_or(|held| held.epoch != given)) {
        return Err(Refusal::Fenced { id: id.clone(), given, current: issue.epoch });
    }
    match held {
        Some(held) if held.actor == *actor => Ok(held),
        Some(held) => Err(Refusal::HeldBy { id: id.clone(), by: held.actor.clone() }),
        None => Err(Refusal::NotHolder { id: id.clone(), actor: actor.clone() }),
    }
}

pub(super) fn not_ready(id: &IssueId, hindrances: &[Hindrance]) -> Refusal {
    let why: Vec<String> = hindrances.iter().map(Hindrance::text).collect();
    Refusal::NotReady { id: id.clone(), why: why.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::change::Change;
    use crate::model::issue::{Issue, State};
    use crate::model::tag::Tags;

    fn held_by(runner: Option<Process>) -> (Snapshot, IssueId) {
        let id: IssueId = "rg-a".parse().unwrap();
        let claim = Claim { actor: "ann".parse().unwrap(), epoch: 1, expires_at: 100, runner, worker: None };
        let mut issue = Issue::new(id.clone(), "work".to_owned(), Tags::new().completed(), 1);
        issue.state = State::InProgress { claim };
        issue.epoch = 1;
        let mut snapshot = Snapshot::default();
        snapshot.fold(&Change::IssueCreated { issue: Box::new(issue), parent: None }, 1);
        (snapshot, id)
    }

    fn runner(pid: u32) -> Option<Process> {
        Some(Process { boot_id: "boot".to_owned(), pid, started: 1, pid_namespace: None })
    }

    fn wish(runner: Option<Process>) -> Wish {
        Wish { actor: "ann".parse().unwrap(), now: 50, lease: 100, runner, step_retries: 2 }
    }

    #[test]
    fn the_same_actor_renews_and_keeps_the_fencing_number() {
        for (holder, wanted) in [(None, None), (runner(7), runner(7)), (runner(7), None)] {
            let (snapshot, id) = held_by(holder.clone());
            let renewed = claim(&snapshot, &id, &wish(wanted)).unwrap();
            let expected = Claim {
                expires_at: 150,
                epoch: 1,
                ..snapshot.graph().get(&id).unwrap().state.claim().unwrap().clone()
            };
            assert_eq!(renewed, [Primitive::Claim { id, claim: expected }]);
        }
    }

    #[test]
    fn only_what_a_runner_still_holds_under_the_same_number_is_taken_back_from_it() {
        let (snapshot, id) = held_by(runner(7));
        assert_eq!(reclaim(&snapshot, &id, 1), [Primitive::Release { id: id.clone(), lost: true }]);
        assert_eq!(reclaim(&snapshot, &id, 2), []);
        assert_eq!(reclaim(&held_by(None).0, &id, 1), []);
    }

    #[test]
    fn another_runner_of_the_same_actor_is_another_holder() {
        for holder in [runner(7), None] {
            let (snapshot, id) = held_by(holder);
            let refused = claim(&snapshot, &id, &wish(runner(8))).unwrap_err();
            assert!(matches!(refused, Refusal::HeldBy { .. }), "{refused}");
        }
    }
}
