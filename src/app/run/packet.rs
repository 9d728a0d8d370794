//! The task packet: what a worker reads on stdin, as one line of JSON.

use std::path::Path;

use serde::Serialize;

use crate::model::act::claim::Role;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::snapshot::Snapshot;
use crate::runner::argument_in;

/// A task, as a worker gets it. The order of the fields is part of the contract for workers without a
/// JSON parser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Packet {
    /// The version of this shape.
    pub v: u32,
    /// `attempt` or `review`.
    pub role: &'static str,
    /// The issue to work on.
    pub issue: Task,
    /// The root's id.
    pub root: String,
    /// The round, where there are rounds.
    pub round: Option<u32>,
    /// The bound, where there are rounds.
    pub max_rounds: Option<u32>,
    /// Acceptance criteria.
    pub accept: Vec<String>,
    /// Checks, as argument vectors with `./` already replaced by the plan's folder.
    pub verify: Vec<Vec<String>>,
    /// What earlier rounds found wrong.
    pub notes: Vec<String>,
    /// Results of what this work builds on.
    pub upstream: Vec<Upstream>,
}

/// The issue in a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The plan's key of the goal it belongs to.
    pub key: Option<String>,
    /// One line.
    pub title: String,
    /// What is wanted.
    pub body: String,
}

/// The result of earlier work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Upstream {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its outcome.
    pub outcome: Option<&'static str>,
    /// What it said at its end.
    pub result: String,
}

/// The packet for an issue.
pub fn packet(snapshot: &Snapshot, ix: Ix, role: Role, folder: Option<&Path>) -> Packet {
    let graph = snapshot.graph();
    let issue = graph.issue(ix);
    let round = snapshot.round_of(&issue.id);
    let scope = round.and_then(|round| snapshot.scope(&round.scope));
    let resolve = |argument: &String| {
        let located = folder.and_then(|folder| argument_in(folder, argument));
        located.map_or_else(|| argument.clone(), |path| path.to_string_lossy().into_owned())
    };
    let key = graph.self_and_ancestors(ix).find_map(|up| {
        let top = graph.parent(up).is_none();
        graph.issue(up).key.clone().filter(|_| !top)
    });
    Packet {
        v: 1,
        role: role.as_str(),
        issue: Task { id: issue.id.to_string(), key, title: issue.title.clone(), body: issue.body.clone() },
        root: graph.id(graph.root(ix)).to_string(),
        round: round.map(|round| round.number),
        max_rounds: scope.map(|scope| scope.bounds.max_rounds),
        accept: issue.work.accept.clone(),
        verify: issue.work.verify.iter().map(|argv| argv.iter().map(resolve).collect()).collect(),
        notes: issue.work.notes.clone(),
        upstream: upstream(snapshot, ix),
    }
}

/// What blocked the work, nearest first, and for a review the attempt.
fn upstream(snapshot: &Snapshot, ix: Ix) -> Vec<Upstream> {
    let graph = snapshot.graph();
    let mut seen: Vec<&IssueId> = Vec::new();
    let mut found = Vec::new();
    for at in graph.self_and_ancestors(ix) {
        for &blocker in graph.blockers(at) {
            let issue = graph.issue(blocker);
            if issue.state.closed() && !seen.contains(&&issue.id) {
                seen.push(&issue.id);
                // A scope closes when its rounds open; what came of it is what its last attempt said.
                let last = snapshot.last_round(&issue.id).and_then(|round| graph.get(&round.attempt));
                let told = &last.unwrap_or(issue).state;
                found.push(Upstream {
                    id: issue.id.to_string(),
                    title: issue.title.clone(),
                    outcome: told.outcome().map(|outcome| outcome.as_str()),
                    result: told.reason().unwrap_or_default().to_owned(),
                });
            }
        }
    }
    found
}
