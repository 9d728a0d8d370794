//! How a scenario's transcript looks: primitives, decisions and the state after a step, as text for
//! people. It decides nothing.

use std::fmt::Write;

use roundgate::engine::review_gated::state as scope_state;
use roundgate::engine::{Cause, Decision, Transition};
use roundgate::model::graph::Ix;
use roundgate::model::id::IssueId;
use roundgate::model::issue::State;
use roundgate::model::primitive::Primitive;
use roundgate::model::readiness::ready_issues;
use roundgate::model::record::{Round, RoundEnd};
use roundgate::model::snapshot::Snapshot;

/// A primitive by its word, with short arguments.
pub fn primitive(primitive: &Primitive) -> String {
    let word = primitive.word();
    match primitive {
        Primitive::Create { issue, parent } => {
            let place = parent.as_ref().map_or(String::new(), |parent| format!(" in {parent}"));
            let notes = match issue.work.notes.as_slice() {
                [] => String::new(),
                notes => format!(" notes {notes:?}"),
            };
            format!("{word} {}{place} {:?}{notes}", issue.id, issue.title)
        }
        Primitive::Edit { id, fields } => {
            format!("{word} {id} {}", serde_json::to_string(fields).expect("fields are plain values"))
        }
        Primitive::Reparent { id, parent } => {
            format!("{word} {id} to {}", parent.as_ref().map_or("nothing", IssueId::as_str))
        }
        Primitive::Serial { blocker, blocked } | Primitive::Undep { blocker, blocked } => {
            format!("{word} {blocker} blocks {blocked}")
        }
        Primitive::Supersede { new, old } | Primitive::Unsupersede { new, old } => {
            format!("{word} {new} for {old}")
        }
        Primitive::Claim { id, claim } => format!("{word} {id} for {}, number {}", claim.actor, claim.epoch),
        Primitive::Release { id, lost } => format!("{word} {id}{}", if *lost { ", a step lost" } else { "" }),
        Primitive::Close { id, outcome, reason, by } => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(" {reason:?}"));
            let by = by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
            format!("{word} {id} {outcome}{reason}{by}")
        }
        Primitive::Open { id } => format!("{word} {id}"),
        Primitive::Post { topic, body } => {
            let lines: Vec<&str> = body.lines().collect();
            format!("{word} {topic}: {}", lines.join("\n      | "))
        }
        record => format!("{word} {}", self::record(record)),
    }
}

fn record(primitive: &Primitive) -> String {
    match primitive {
        Primitive::SetScope { scope } => {
            let end = scope.end.map_or(String::new(), |end| format!(" {end:?}").to_lowercase());
            format!("scope {} max {}{end}", scope.id, scope.bounds.max_rounds)
        }
        Primitive::SetRound { round } => format!("round {} {}", round.scope, self::round(round)),
        Primitive::OpenAsk { ask } => format!("ask {} {}", ask.id, ask.kind.as_str()),
        Primitive::SetAnswer { id, answer: Some(answer) } => {
            format!("answer {id} {} by {}", answer.choice, answer.by)
        }
        Primitive::SetAnswer { id, answer: None } => format!("answer {id} withdrawn"),
        Primitive::FinishRoot { id, finished } => {
            format!("root {id} {}", if *finished { "finished" } else { "alive again" })
        }
        other => format!("{other:?}"),
    }
}

/// A round's number and how it stands.
fn round(round: &Round) -> String {
    let verdict = round.verdict.as_ref().map(|verdict| {
        let reason = if verdict.reason.is_empty() { String::new() } else { format!(" {:?}", verdict.reason) };
        format!("{} by {}{reason}", verdict.opinion.as_str(), verdict.by)
    });
    let number = round.number;
    match (&round.end, verdict) {
        (Some(RoundEnd::Passed), _) => format!("{number} passed"),
        (Some(RoundEnd::Failed { notes, .. }), _) => format!("{number} failed {notes:?}"),
        (None, Some(verdict)) => format!("{number} {verdict}"),
        (None, None) => format!("{number} running"),
    }
}

/// What a tick decides.
pub fn decision(decision: &Decision) -> String {
    match decision {
        Decision::Act(transition) => {
            let why = match transition {
                Transition::NextRound { failed: round, cause, .. } => {
                    format!(" after round {round}, {}", because(cause))
                }
                Transition::Escalate { round, cause, no_progress, .. } => {
                    let early = if *no_progress { ", no progress" } else { "" };
                    format!(" after round {round}, {}{early}", because(cause))
                }
                _ => String::new(),
            };
            format!("act {} {}{why}", transition.kind(), transition.subject())
        }
        Decision::Wait(waiting) => {
            format!("wait for the {} on {}: {}", waiting.actor.as_str(), waiting.issue, waiting.what)
        }
        Decision::Done => "done".to_owned(),
        Decision::Stuck(why) => format!("stuck: {why}"),
    }
}

fn because(cause: &Cause) -> &'static str {
    match cause {
        Cause::Verdict => "needs_work",
        Cause::AttemptFailed => "attempt failed",
    }
}

/// Every issue below its parent: status or outcome, kind and flow, title, and what holds it up.
pub fn tree(snapshot: &Snapshot) -> String {
    let graph = snapshot.graph();
    let mut rows: Vec<[String; 5]> = Vec::new();
    for top in graph.indices().filter(|&ix| graph.parent(ix).is_none()) {
        branch(snapshot, top, 0, &mut rows);
    }
    let mut out = String::new();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (ids, states, tags) = (width(0), width(1), width(2));
    for [id, state, tag, title, more] in &rows {
        let line = format!("  {id:ids$}  {state:states$}  {tag:tags$}  {title}{more}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// How things stand: rounds, open asks, what is ready, who moves next, and whether the root is final.
pub fn standing(snapshot: &Snapshot, root: Option<&IssueId>, next: &str) -> String {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let mut out = String::new();
    for scope in snapshot.scopes() {
        let rounds: Vec<String> = snapshot.rounds(&scope.id).map(round).collect();
        let state = graph.ix(&scope.id).map_or("", |ix| scope_state(snapshot, ix).as_str());
        let _ = writeln!(
            out,
            "  rounds  {} {state}, max {}: {}",
            scope.id,
            scope.bounds.max_rounds,
            rounds.join(" | ")
        );
    }
    for ask in snapshot.asks() {
        let open =
            graph.ix(&ask.id).is_some_and(|ix| !graph.issue(ix).state.closed() && !relation.let_go(ix));
        if open {
            let choices: Vec<&str> = ask.choices.iter().map(|choice| choice.id.as_str()).collect();
            let answer = ask.answer.as_ref();
            let answer = answer.map_or(String::new(), |a| format!(", answered {} by {}", a.choice, a.by));
            let _ =
                writeln!(out, "  ask     {} {}: {}{answer}", ask.id, ask.kind.as_str(), choices.join(" | "));
        }
    }
    let ready: Vec<&str> = ready_issues(snapshot, None).into_iter().map(|ix| graph.id(ix).as_str()).collect();
    let ready = if ready.is_empty() { "nothing".to_owned() } else { ready.join(", ") };
    let is_final = root.and_then(|root| graph.ix(root)).is_some_and(|root| relation.is_final(root));
    let _ = writeln!(out, "  ready   {ready}");
    let _ = writeln!(out, "  next    {next}");
    let _ = writeln!(out, "  final   {}", if is_final { "yes" } else { "no" });
    out
}

fn branch(snapshot: &Snapshot, ix: Ix, depth: usize, rows: &mut Vec<[String; 5]>) {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let node = graph.node(ix);
    let names = |list: &[Ix]| list.iter().map(|&x| graph.id(x).as_str()).collect::<Vec<_>>().join(", ");
    let state = match &node.issue.state {
        State::Open => "open".to_owned(),
        State::InProgress { claim } => format!("held by {}", claim.actor),
        State::Closed { outcome, .. } => outcome.to_string(),
    };
    let blockers: Vec<Ix> = node.blockers.iter().copied().filter(|&b| !relation.resolved(b)).collect();
    let mut more = Vec::new();
    if node.issue.failed_steps > 0 {
        more.push(format!("{} steps lost", node.issue.failed_steps));
    }
    if !blockers.is_empty() {
        more.push(format!("blocked by {}", names(&blockers)));
    } else if relation.blocked(ix) && !node.issue.state.closed() {
        more.push("blocked above".to_owned());
    }
    if !node.superseded_by.is_empty() {
        more.push(format!("superseded by {}", names(&node.superseded_by)));
    }
    if relation.let_go(ix) && node.issue.state.outcome() != Some(roundgate::model::issue::Outcome::Skipped) {
        more.push("let go".to_owned());
    }
    let more = if more.is_empty() { String::new() } else { format!("  ({})", more.join("; ")) };
    rows.push([
        format!("{}{}", "  ".repeat(depth), node.issue.id),
        state,
        tags(snapshot, ix),
        format!("{:?}", node.issue.title),
        more,
    ]);
    for &child in &node.children {
        branch(snapshot, child, depth + 1, rows);
    }
}

/// The kind and the flow of a node, in short.
fn tags(snapshot: &Snapshot, ix: Ix) -> String {
    let tags = &snapshot.graph().issue(ix).tags;
    let short = tags.iter().filter_map(|tag| match tag.as_str() {
        "flow:review-gated-v1" => Some("gated"),
        tag => tag.strip_prefix("kind:").or_else(|| tag.strip_prefix("flow:")),
    });
    let mut short: Vec<&str> = short.collect();
    short.reverse();
    if short.is_empty() && tags.container() {
        short.push("container");
    }
    short.join(" ")
}
