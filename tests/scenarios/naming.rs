//! Readable ids for what the engine makes: an attempt of G is `G.attempt_1`, and not a random text.

use roundgate::engine::{Forge, Transition, compile as compile_with};
use roundgate::model::duty::AskPolicy;
use roundgate::model::id::IssueId;
use roundgate::model::issue::Millis;
use roundgate::model::primitive::Primitive;
use roundgate::model::record::{AskKind, Bounds};
use roundgate::model::snapshot::Snapshot;

/// Compiles a transition twice: once with any ids, to learn what the new issues are, then with their names.
///
/// # Errors
/// When the transition does not compile.
pub fn compile(
    snapshot: &Snapshot,
    transition: &Transition,
    now: Millis,
    defaults: &Bounds,
) -> Result<Vec<Primitive>, String> {
    let with = |names: &[IssueId]| {
        let mut given = 0;
        let mut next_id = || {
            given += 1;
            names.get(given - 1).cloned().unwrap_or_else(|| placeholder(given))
        };
        let mut forge = Forge { now, defaults, asks: &AskPolicy::default(), next_id: &mut next_id };
        let primitives = compile_with(snapshot, transition, &mut forge);
        primitives.map(|primitives| (primitives, given)).ok_or(format!("{transition:?} did not compile"))
    };
    let (primitives, given) = with(&[])?;
    let names: Vec<IssueId> =
        (1..=given).map(|at| free(snapshot, &name(&primitives, &placeholder(at)))).collect();
    Ok(with(&names)?.0)
}

fn placeholder(at: usize) -> IssueId {
    format!("new-{at}").parse().expect("letters, a dash and a number")
}

/// A name that no issue has: the second bearer gets `_2`.
fn free(snapshot: &Snapshot, name: &str) -> IssueId {
    let tries = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name}_{n}")));
    let mut ids = tries.map(|name| name.parse().expect("made of ids, dots and numbers"));
    ids.find(|id| !snapshot.taken(id)).expect("there is always a number left")
}

/// What a new node should be called, by what the primitives make of it.
fn name(primitives: &[Primitive], new: &IssueId) -> String {
    let recorded = primitives.iter().find_map(|primitive| match primitive {
        Primitive::SetRound { round } if round.attempt == *new => {
            Some(format!("{}.attempt_{}", round.scope, round.number))
        }
        Primitive::SetRound { round } if round.review == *new => {
            Some(format!("{}.review_{}", round.scope, round.number))
        }
        Primitive::OpenAsk { ask } if ask.id == *new => match (ask.kind, &ask.scope, ask.round, &ask.about) {
            (AskKind::Rounds, Some(scope), Some(round), _) => Some(format!("{scope}.ask_{round}")),
            (AskKind::Handoff, Some(scope), Some(round), _) => Some(format!("{scope}.handoff_{round}")),
            (kind, _, _, Some(about)) => Some(format!("{about}.{}_ask", kind.as_str())),
            _ => None,
        },
        _ => None,
    });
    let succeeds = || {
        primitives.iter().find_map(|primitive| match primitive {
            Primitive::Supersede { new: successor, old } if successor == new => Some(format!("{old}.again")),
            _ => None,
        })
    };
    recorded.or_else(succeeds).unwrap_or_else(|| "new".to_owned())
}
