//! The questions the engine puts to humans: their words, their choices and what each will do.

use std::collections::BTreeSet;

use super::decision::Cause;
use super::forge::Forge;
use crate::model::act::answer::{ABANDON, EXTRA_ROUND};
use crate::model::act::assign;
use crate::model::act::verdict::topic;
use crate::model::counted::{counted, if_one};
use crate::model::duty::Duty;
use crate::model::gate;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Issue, Priority};
use crate::model::primitive::Primitive;
use crate::model::record::{Answer, Ask, AskKind, Choice, Round, RoundEnd, Scope};
use crate::model::snapshot::Snapshot;
use crate::model::tag::{ACTOR_USER, Kind, PROTOCOL, Tags};

/// How much of a text an ask shows: a preview, not a transcript.
pub const PREVIEW_CHARS: usize = 400;

/// The node and the record of an ask, with the parent it is put below.
pub struct AskNode {
    /// The node.
    pub issue: Issue,
    /// What is asked on it.
    pub record: Ask,
    /// Its parent.
    pub parent: Option<IssueId>,
}

impl AskNode {
    /// The primitives that put the ask into the graph and its question into its topic.
    pub fn primitives(self) -> Vec<Primitive> {
        let mut body = format!("QUESTION: {}", self.record.question);
        for line in &self.record.evidence {
            body.push_str("\n- ");
            body.push_str(line);
        }
        for choice in &self.record.choices {
            body.push_str(&format!("\n/answer {}  {}", choice.id, choice.effect));
        }
        let post = Primitive::Post { topic: topic(&self.issue.id), body };
        vec![
            Primitive::Create { issue: Box::new(self.issue), parent: self.parent },
            Primitive::OpenAsk { ask: Box::new(self.record) },
            post,
        ]
    }
}

/// A node of `kind:ask`.
fn node(forge: &mut Forge<'_>, title: String, body: String, priority: Priority) -> Issue {
    let tags = Tags::new().with(PROTOCOL).with(Kind::Ask.tag()).with("ctx:human").with(ACTOR_USER);
    Issue { body, priority, ..Issue::new(forge.id(), shortened(&title, 200), tags, forge.now) }
}

/// The ask with what the issues at and above the one it is about want of their asks.
fn assigned(snapshot: &Snapshot, about: Option<Ix>, ask: Ask, forge: &Forge<'_>) -> Ask {
    let duty = assign::duty(&assign::wanted(snapshot, about, forge.asks), &ask, forge.now);
    Ask { duty, ..ask }
}

fn choice(id: &str, label: &str, effect: String) -> Choice {
    Choice { id: id.to_owned(), label: label.to_owned(), effect }
}

/// The first characters of a text, on one line.
pub fn shortened(text: &str, limit: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let kept: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// What waits for a scope or for anything in it, in words for a choice's effect.
fn releases(snapshot: &Snapshot, scope: Ix) -> String {
    let (graph, relation) = (snapshot.graph(), snapshot.relation());
    let below = graph.subtree(scope);
    let edges = below.iter().flat_map(|&ix| graph.blocks(ix).iter().copied());
    let outside: BTreeSet<Ix> =
        edges.filter(|&ix| !relation.resolved(ix) && !graph.at_or_below(ix, scope)).collect();
    let waiting: Vec<&str> = outside.iter().map(|&ix| graph.issue(ix).title.as_str()).collect();
    match waiting.len() {
        0 => "nothing waits for it".to_owned(),
        1..=3 => format!("releases: {}", shortened(&waiting.join("; "), 200)),
        more => format!("releases {more} issues that wait for it"),
    }
}

/// The choices of an ask, with what each does now: what waits may be more or less than when it was asked.
pub fn choices(snapshot: &Snapshot, ask: &Ask) -> Vec<Choice> {
    let at = |id: &Option<IssueId>| snapshot.graph().ix(id.as_ref()?);
    let now = match ask.kind {
        AskKind::Question => None,
        AskKind::Rounds => at(&ask.scope).map(|ix| after_rounds(snapshot, ix, ask.round.unwrap_or_default())),
        AskKind::Handoff => at(&ask.scope).map(|ix| after_handoff(snapshot, ix)),
        AskKind::Failure => at(&ask.about).map(|ix| after_failure(snapshot, ix)),
        AskKind::Steps => at(&ask.about).map(|ix| after_steps(snapshot, ix, ask.scope.as_ref())),
    };
    let now = now.unwrap_or_default();
    let same = |asked: &Choice| now.iter().find(|now| now.id == asked.id).unwrap_or(asked).clone();
    ask.choices.iter().map(same).collect()
}

fn after_rounds(snapshot: &Snapshot, scope: Ix, k: u32) -> Vec<Choice> {
    let releases = releases(snapshot, scope);
    vec![
        choice(
            EXTRA_ROUND,
            "Open one extra round",
            format!("opens round {} (or more, with --rounds)", k + 1),
        ),
        choice(
            "stop-and-handoff",
            "Stop and hand off",
            "no more rounds; a human takes the work over, and what waits keeps waiting".to_owned(),
        ),
        choice(
            "accept",
            "Accept as it is",
            format!("overrides the verdict, with your name and reason; {releases}"),
        ),
        choice(ABANDON, "Abandon", format!("gives up everything open in this scope; {releases}")),
    ]
}

fn after_handoff(snapshot: &Snapshot, scope: Ix) -> Vec<Choice> {
    let releases = releases(snapshot, scope);
    vec![
        choice("done", "Done by hand", format!("the work is finished; {releases}")),
        choice(ABANDON, "Abandon", format!("gives up everything open in this scope; {releases}")),
    ]
}

fn after_failure(snapshot: &Snapshot, failed: Ix) -> Vec<Choice> {
    vec![
        choice("retry", "Try again", "a successor with the notes takes over".to_owned()),
        choice("skip", "Go on without it", format!("it is let go; {}", releases(snapshot, failed))),
    ]
}

fn after_steps(snapshot: &Snapshot, ix: Ix, scope: Option<&IssueId>) -> Vec<Choice> {
    let give_up = match scope {
        Some(scope) => choice(ABANDON, "Abandon", format!("gives up the scope {scope}")),
        None => choice("skip", "Go on without it", format!("it is skipped; {}", releases(snapshot, ix))),
    };
    let again = "the count of failed steps starts again, and the next step gets the note";
    vec![choice("retry", "Try again", again.to_owned()), give_up]
}

/// The ask for exhausted rounds (S3, table row 5), or for rounds that make no progress.
pub fn rounds(
    snapshot: &Snapshot,
    scope: &Scope,
    round: &Round,
    notes: &str,
    (cause, no_progress): (&Cause, bool),
    forge: &mut Forge<'_>,
) -> Option<AskNode> {
    let graph = snapshot.graph();
    let ix = graph.ix(&scope.id)?;
    let issue = graph.issue(ix);
    let k = round.number;
    let (title, question) = if no_progress {
        (
            format!("No progress: {}", issue.title),
            format!(
                "The last rounds of \"{}\" failed in the same way. Should execution open another attempt or stop for manual intervention?",
                issue.title
            ),
        )
    } else {
        (
            format!("Review rounds exhausted: {}", issue.title),
            format!(
                "Max review rounds were reached on \"{}\". Should execution open another attempt or stop for manual intervention?",
                issue.title
            ),
        )
    };
    let what = match cause {
        Cause::Verdict => "its review said needs_work",
        Cause::AttemptFailed => "its attempt failed",
    };
    let mut evidence = vec![format!("round {k} of {} failed: {what}", scope.bounds.max_rounds)];
    if !notes.is_empty() {
        evidence.push(format!("last notes: {}", shortened(notes, PREVIEW_CHARS)));
    }
    let earlier = snapshot.rounds(&scope.id).filter(|earlier| earlier.number < k).filter_map(notes_before);
    let earlier: Vec<String> = earlier.collect();
    if !earlier.is_empty() {
        evidence.push(format!("earlier: {}", shortened(&earlier.join("; "), PREVIEW_CHARS)));
    }
    evidence.push(format!("everything: roundgate rounds show {}", scope.id));
    let node = node(forge, title, question.clone(), issue.priority);
    let record = Ask {
        id: node.id.clone(),
        kind: AskKind::Rounds,
        scope: Some(scope.id.clone()),
        round: Some(k),
        about: Some(round.attempt.clone()),
        question,
        evidence,
        choices: after_rounds(snapshot, ix, k),
        answer: None,
        duty: None,
    };
    let record = assigned(snapshot, Some(ix), record, forge);
    Some(AskNode { issue: node, record, parent: Some(round.review.clone()) })
}

fn notes_before(round: &Round) -> Option<String> {
    match &round.end {
        Some(RoundEnd::Failed { notes, .. }) if !notes.is_empty() => {
            Some(format!("round {}: {notes}", round.number))
        }
        _ => None,
    }
}

/// The ask that a human holds after `stop-and-handoff`.
pub fn handoff(
    snapshot: &Snapshot,
    first: &Ask,
    answer: &Answer,
    forge: &mut Forge<'_>,
) -> Option<(Issue, Ask)> {
    let graph = snapshot.graph();
    let scope = graph.ix(first.scope.as_ref()?)?;
    let issue = graph.issue(scope);
    let question = format!("\"{}\" was handed to a human. Is it done, or given up?", issue.title);
    let node = node(forge, format!("Handed off: {}", issue.title), question.clone(), issue.priority);
    let mut evidence = vec![format!("handed off by {} after round {}", answer.by, first.round.unwrap_or(0))];
    if !answer.note.is_empty() {
        evidence.push(shortened(&answer.note, PREVIEW_CHARS));
    }
    evidence.extend(first.evidence.iter().filter(|line| !line.starts_with("earlier: ")).cloned());
    let record = Ask {
        id: node.id.clone(),
        kind: AskKind::Handoff,
        scope: first.scope.clone(),
        round: first.round,
        about: first.about.clone(),
        question,
        evidence,
        choices: after_handoff(snapshot, scope),
        answer: None,
        duty: None,
    };
    let record = assigned(snapshot, Some(scope), record, forge);
    let held = record.duty.unwrap_or_else(|| Duty::since(forge.now));
    let duty = Some(Duty { assignee: Some(answer.by.clone()), ..held });
    Some((node, Ask { duty, ..record }))
}

/// The ask for a failure that no policy takes care of.
pub fn failure(snapshot: &Snapshot, failed: Ix, forge: &mut Forge<'_>) -> AskNode {
    let graph = snapshot.graph();
    let issue = graph.issue(failed);
    let outcome = issue.state.outcome().map_or("failure", |outcome| outcome.as_str());
    let question = format!("\"{}\" ended as {outcome}. Try it again, or go on without it?", issue.title);
    let node = node(forge, format!("Failed: {}", issue.title), question.clone(), issue.priority);
    let reason = issue.state.reason().filter(|reason| !reason.is_empty());
    let evidence = vec![
        format!("reason: {}", shortened(reason.unwrap_or("none was given"), PREVIEW_CHARS)),
        format!("everything: roundgate issues history {}", issue.id),
    ];
    let record = Ask {
        id: node.id.clone(),
        kind: AskKind::Failure,
        scope: None,
        round: None,
        about: Some(issue.id.clone()),
        question,
        evidence,
        choices: after_failure(snapshot, failed),
        answer: None,
        duty: None,
    };
    let record = assigned(snapshot, Some(failed), record, forge);
    AskNode { issue: node, record, parent: graph.parent(failed).map(|p| graph.id(p).clone()) }
}

/// The ask for steps that were lost or failed too often. It is a child of the issue, which therefore
/// waits for it.
pub fn steps(snapshot: &Snapshot, ix: Ix, forge: &mut Forge<'_>) -> AskNode {
    let graph = snapshot.graph();
    let issue = graph.issue(ix);
    let tries = issue.failed_steps;
    let question = format!("The worker on \"{}\" failed {}. Try again?", issue.title, counted(tries, "time"));
    let node = node(forge, format!("Steps failed: {}", issue.title), question.clone(), issue.priority);
    let round = snapshot.round_of(&issue.id).or_else(|| gate::judged_by(snapshot, ix).first().copied());
    let scope = round.map(|round| round.scope.clone());
    let record = Ask {
        id: node.id.clone(),
        kind: AskKind::Steps,
        scope: scope.clone(),
        // A round may come to several step asks; its own ask is one of a kind.
        round: None,
        about: Some(issue.id.clone()),
        question,
        evidence: vec![
            format!("{} {} lost or failed", counted(tries, "step"), if_one(tries, "was", "were")),
            format!("everything: roundgate forum read issue:{}", issue.id),
        ],
        choices: after_steps(snapshot, ix, scope.as_ref()),
        answer: None,
        duty: None,
    };
    let record = assigned(snapshot, Some(ix), record, forge);
    AskNode { issue: node, record, parent: Some(issue.id.clone()) }
}
