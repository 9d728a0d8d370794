//! Events, posts and what the policies remember.

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use super::super::chain::{Hash, Head};
use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::change::Event;
use crate::model::duty::Duty;
use crate::model::id::IssueId;
use crate::model::operation::{Operation, OperationId};
use crate::model::record::{
    Annotation, Answer, Ask, Bounds, Opinion, PlanRecord, Post, Round, RoundEnd, Scope, ScopeEnd, Verdict,
};
use crate::store::{StoreError, Topic};

pub(in super::super) static EVENTS: Table = Table {
    name: "events",
    key: &["seq"],
    columns: &["seq", "at", "actor", "cause", "tick", "subject", "change", "hash"],
};

pub(in super::super) static POSTS: Table =
    Table { name: "posts", key: &["seq"], columns: &["seq", "topic", "author", "body", "at"] };

pub(in super::super) static SCOPES: Table = Table {
    name: "scopes",
    key: &["id"],
    columns: &["id", "policy", "max_rounds", "no_progress", "allow_self_review", "step_retries", "ended"],
};

pub(in super::super) static ROUNDS: Table = Table {
    name: "rounds",
    key: &["scope", "number"],
    columns: &[
        "scope",
        "number",
        "attempt",
        "review",
        "opinion",
        "verdict_reason",
        "verdict_by",
        "verdict_at",
        "verdict_evidence",
        "ended",
        "notes",
        "signature",
    ],
};

pub(in super::super) static ASKS: Table = Table {
    name: "asks",
    key: &["id"],
    columns: &["id", "kind", "scope", "round", "about", "question", "evidence", "choices", "answer", "duty"],
};

pub(in super::super) static PLANS: Table =
    Table { name: "plans", key: &["root"], columns: &["root", "folder", "workers", "said"] };

pub(in super::super) static FINISHED_ROOTS: Table =
    Table { name: "finished_roots", key: &["id"], columns: &["id"] };

pub(in super::super) static RESERVED_IDS: Table =
    Table { name: "reserved_ids", key: &["id"], columns: &["id"] };

pub(in super::super) static ANNOTATIONS: Table =
    Table { name: "annotations", key: &["seq"], columns: &["seq", "issue", "kind", "text"] };

pub(in super::super) static OPERATIONS: Table =
    Table { name: "operations", key: &["id", "step"], columns: &["id", "step", "seq"] };

pub(in super::super) static COMPACTED: Table =
    Table { name: "compacted", key: &["seq"], columns: &["seq", "compaction", "digest"] };

/// An event, with the hash that chains it to the one before.
pub(in super::super) fn event_row(event: &Event, before: Hash) -> Result<(Vec<Value>, Hash), StoreError> {
    let mut row = vec![
        column::int(event.seq)?,
        column::int(event.at)?,
        column::text(event.actor.as_str()),
        column::text(&event.cause),
        event.tick.map_or(Ok(Value::Null), column::int)?,
        column::maybe_text(event.change.subject().map(IssueId::as_str)),
        column::json(&event.change)?,
    ];
    let hash = before.then(row.iter().map(ValueRef::from));
    row.push(Value::Blob(hash.bytes().to_vec()));
    Ok((row, hash))
}

pub(in super::super) fn event_from(row: &Row<'_>) -> Result<Event, StoreError> {
    let mut row = Columns::of(row, &EVENTS);
    let seq = row.int()?;
    let at = row.int()?;
    let actor = row.actor()?;
    let cause = row.text()?.to_owned();
    let tick = row.maybe_int()?;
    row.skip();
    Ok(Event { seq, at, actor, cause, tick, change: row.json()? })
}

/// The number of an event and the hash it is stored with, of a row that was selected with all columns.
pub(in super::super) fn link_from(row: &Row<'_>) -> Result<Head, StoreError> {
    let mut row = Columns::of(row, &EVENTS);
    let seq = row.int()?;
    (1..EVENTS.columns.len() - 1).for_each(|_| row.skip());
    Ok(Head { seq, hash: row.hash()? })
}

/// What the hash of an event is over, beside the hash before it: its other columns as they are.
pub(in super::super) fn hashed(row: &Row<'_>) -> rusqlite::Result<Vec<Value>> {
    (0..EVENTS.columns.len() - 1).map(|n| row.get(n)).collect()
}

/// The hash that an event should have been stored with, from its other columns as they are.
pub(in super::super) fn due_hash(row: &Row<'_>, before: Hash) -> rusqlite::Result<Hash> {
    let columns = 0..EVENTS.columns.len() - 1;
    let values: Vec<ValueRef<'_>> = columns.map(|n| row.get_ref(n)).collect::<rusqlite::Result<_>>()?;
    Ok(before.then(values.into_iter()))
}

/// A post with the event that put it there.
pub(in super::super) fn numbered_post_from(row: &Row<'_>) -> Result<(u64, Post), StoreError> {
    let seq = Columns::of(row, &POSTS).int()?;
    Ok((seq, post_from(row)?))
}

pub(in super::super) fn post_row(post: &Post, seq: u64) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::int(seq)?,
        column::text(&post.topic),
        column::text(post.author.as_str()),
        column::text(&post.body),
        column::int(post.at)?,
    ])
}

pub(in super::super) fn post_from(row: &Row<'_>) -> Result<Post, StoreError> {
    let mut row = Columns::of(row, &POSTS);
    row.skip();
    Ok(Post {
        topic: row.text()?.to_owned(),
        author: row.actor()?,
        body: row.text()?.to_owned(),
        at: row.int()?,
    })
}

pub(in super::super) fn operation_row(operation: &Operation, seq: u64) -> Result<Vec<Value>, StoreError> {
    Ok(vec![column::text(operation.id.as_str()), column::int(operation.step)?, column::int(seq)?])
}

pub(in super::super) fn operation_from(row: &Row<'_>) -> Result<(OperationId, u32, u64), StoreError> {
    let mut row = Columns::of(row, &OPERATIONS);
    Ok((row.parsed()?, row.int()?, row.int()?))
}

pub(in super::super) fn compacted_from(row: &Row<'_>) -> Result<(u64, u64, Hash), StoreError> {
    let mut row = Columns::of(row, &COMPACTED);
    Ok((row.int()?, row.int()?, row.hash()?))
}

/// Each topic from a name on, in order of names.
pub(in super::super) const TOPICS: &str =
    "SELECT topic, count(*), max(at) FROM posts WHERE topic >= ?1 GROUP BY topic ORDER BY topic";

/// The columns of [`TOPICS`], for messages.
static TOPIC_COLUMNS: Table =
    Table { name: "posts", key: &["topic"], columns: &["topic", "count(*)", "max(at)"] };

pub(in super::super) fn topic_from(row: &Row<'_>) -> Result<Topic, StoreError> {
    let mut row = Columns::of(row, &TOPIC_COLUMNS);
    Ok(Topic { name: row.text()?.to_owned(), posts: row.int()?, last_at: row.int()? })
}

pub(in super::super) fn scope_row(scope: &Scope) -> Result<Vec<Value>, StoreError> {
    let ended = scope.end.map(|end| match end {
        ScopeEnd::Passed => "passed",
        ScopeEnd::Waived => "waived",
        ScopeEnd::Abandoned => "abandoned",
    });
    Ok(vec![
        column::text(scope.id.as_str()),
        column::text(&scope.policy),
        column::int(scope.bounds.max_rounds)?,
        column::int(scope.bounds.no_progress)?,
        column::int(scope.bounds.allow_self_review)?,
        column::int(scope.bounds.step_retries)?,
        column::maybe_text(ended),
    ])
}

pub(in super::super) fn scope_from(row: &Row<'_>) -> Result<Scope, StoreError> {
    let mut row = Columns::of(row, &SCOPES);
    Ok(Scope {
        id: row.parsed()?,
        policy: row.text()?.to_owned(),
        bounds: Bounds {
            max_rounds: row.int()?,
            no_progress: row.int()?,
            allow_self_review: row.int::<i64>()? != 0,
            step_retries: row.int()?,
        },
        end: row.maybe_word()?,
    })
}

pub(in super::super) fn round_row(round: &Round) -> Result<Vec<Value>, StoreError> {
    let verdict = round.verdict.as_ref();
    let (ended, notes, signature) = match &round.end {
        None => (None, None, None),
        Some(RoundEnd::Passed) => (Some("passed"), None, None),
        Some(RoundEnd::Failed { notes, signature }) => (Some("failed"), Some(notes), signature.as_ref()),
    };
    Ok(vec![
        column::text(round.scope.as_str()),
        column::int(round.number)?,
        column::text(round.attempt.as_str()),
        column::text(round.review.as_str()),
        column::maybe_text(verdict.map(|verdict| verdict.opinion.as_str())),
        column::maybe_text(verdict.map(|verdict| &verdict.reason)),
        column::maybe_text(verdict.map(|verdict| verdict.by.as_str())),
        verdict.map_or(Value::Null, |verdict| Value::Integer(verdict.at)),
        column::maybe_json(verdict.map(|verdict| &verdict.evidence))?,
        column::maybe_text(ended),
        column::maybe_text(notes),
        column::maybe_text(signature),
    ])
}

pub(in super::super) fn round_from(row: &Row<'_>) -> Result<Round, StoreError> {
    let mut row = Columns::of(row, &ROUNDS);
    Ok(Round {
        scope: row.parsed()?,
        number: row.int()?,
        attempt: row.parsed()?,
        review: row.parsed()?,
        verdict: verdict_from(&mut row)?,
        end: round_end_from(&mut row)?,
    })
}

/// The columns that tell a round from others.
static ROUND_KEYS: Table = Table { name: "rounds", key: &["scope", "number"], columns: &["scope", "number"] };

pub(in super::super) fn round_key_from(row: &Row<'_>) -> Result<(IssueId, u32), StoreError> {
    let mut row = Columns::of(row, &ROUND_KEYS);
    Ok((row.parsed()?, row.int()?))
}

fn verdict_from(row: &mut Columns<'_>) -> Result<Option<Verdict>, StoreError> {
    let opinion: Option<Opinion> = row.maybe_word()?;
    let reason = row.maybe_text()?.map(str::to_owned);
    let by = row.maybe_actor()?;
    let at = row.maybe_int()?;
    let evidence = row.maybe_json()?;
    match (opinion, reason, by, at, evidence) {
        (None, None, None, None, None) => Ok(None),
        (Some(opinion), Some(reason), Some(by), Some(at), Some(evidence)) => {
            Ok(Some(Verdict { opinion, reason, by, at, evidence }))
        }
        _ => row.contradiction("half a verdict"),
    }
}

fn round_end_from(row: &mut Columns<'_>) -> Result<Option<RoundEnd>, StoreError> {
    let ended = row.maybe_text()?;
    let notes = row.maybe_text()?.map(str::to_owned);
    let signature = row.maybe_text()?.map(str::to_owned);
    match (ended, notes) {
        (None, None) => Ok(None),
        (Some("passed"), None) => Ok(Some(RoundEnd::Passed)),
        (Some("failed"), Some(notes)) => Ok(Some(RoundEnd::Failed { notes, signature })),
        _ => row.contradiction("an end and notes that contradict each other"),
    }
}

pub(in super::super) fn ask_row(ask: &Ask) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::text(ask.id.as_str()),
        column::text(ask.kind.as_str()),
        column::maybe_text(ask.scope.as_ref().map(IssueId::as_str)),
        ask.round.map_or(Ok(Value::Null), column::int)?,
        column::maybe_text(ask.about.as_ref().map(IssueId::as_str)),
        column::text(&ask.question),
        column::json(&ask.evidence)?,
        column::json(&ask.choices)?,
        column::maybe_json(ask.answer.as_ref())?,
        column::maybe_json(ask.duty.as_ref())?,
    ])
}

/// The statement and the values that give an ask its answer, or take it back.
pub(in super::super) fn answered_ask(
    id: &IssueId,
    answer: Option<&Answer>,
) -> Result<(String, Vec<Value>), StoreError> {
    Ok((ASKS.update(&["answer"]), vec![column::text(id.as_str()), column::maybe_json(answer)?]))
}

/// The statement and the values that say who is to answer an ask, and by when.
pub(in super::super) fn assigned_ask(
    id: &IssueId,
    duty: Option<&Duty>,
) -> Result<(String, Vec<Value>), StoreError> {
    Ok((ASKS.update(&["duty"]), vec![column::text(id.as_str()), column::maybe_json(duty)?]))
}

pub(in super::super) fn ask_from(row: &Row<'_>) -> Result<Ask, StoreError> {
    let mut row = Columns::of(row, &ASKS);
    Ok(Ask {
        id: row.parsed()?,
        kind: row.word()?,
        scope: row.maybe_parsed()?,
        round: row.maybe_int()?,
        about: row.maybe_parsed()?,
        question: row.text()?.to_owned(),
        evidence: row.json()?,
        choices: row.json()?,
        answer: row.maybe_json()?,
        duty: row.maybe_json()?,
    })
}

pub(in super::super) fn plan_row(plan: &PlanRecord) -> Result<Vec<Value>, StoreError> {
    let Some(folder) = plan.folder.to_str() else {
        let what = format!("the plan's folder {} is not UTF-8", plan.folder.display());
        return Err(StoreError::Unfit { what });
    };
    Ok(vec![
        column::text(plan.root.as_str()),
        column::text(folder),
        column::json(&plan.workers)?,
        column::json(&plan.said)?,
    ])
}

pub(in super::super) fn plan_from(row: &Row<'_>) -> Result<PlanRecord, StoreError> {
    let mut row = Columns::of(row, &PLANS);
    Ok(PlanRecord {
        root: row.parsed()?,
        folder: row.text()?.into(),
        workers: row.json()?,
        said: row.json()?,
    })
}

/// A row of a table that only lists ids.
pub(in super::super) fn id_row(id: &IssueId) -> Vec<Value> {
    vec![column::text(id.as_str())]
}

/// The id in such a row.
pub(in super::super) fn id_from(row: &Row<'_>, table: &'static Table) -> Result<IssueId, StoreError> {
    Columns::of(row, table).parsed()
}

pub(in super::super) fn annotation_row(annotation: &Annotation, seq: u64) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        column::int(seq)?,
        column::text(annotation.issue.as_str()),
        column::text(&annotation.kind),
        column::text(&annotation.text),
    ])
}

pub(in super::super) fn annotation_from(row: &Row<'_>) -> Result<Annotation, StoreError> {
    let mut row = Columns::of(row, &ANNOTATIONS);
    row.skip();
    Ok(Annotation { issue: row.parsed()?, kind: row.text()?.to_owned(), text: row.text()?.to_owned() })
}
