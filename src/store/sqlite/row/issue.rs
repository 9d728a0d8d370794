//! Issues and edges.

use rusqlite::Row;
use rusqlite::types::Value;

use super::super::column::{self, Columns};
use super::super::table::Table;
use crate::model::change::Field;
use crate::model::graph::Edge;
use crate::model::id::IssueId;
use crate::model::issue::{Claim, Issue, Millis, Priority, State};
use crate::store::StoreError;

pub(in super::super) static ISSUES: Table = Table {
    name: "issues",
    key: &["id"],
    columns: &[
        "id",
        "parent",
        "parent_seq",
        "seq",
        "title",
        "body",
        "status",
        "outcome",
        "reason",
        "claim_actor",
        "claim_epoch",
        "claim_expires_at",
        "claim_runner",
        "claim_worker",
        "tags",
        "priority",
        "created_at",
        "updated_at",
        "revision",
        "epoch",
        "hands",
        "failed_steps",
        "policy",
        "work",
        "plan_key",
        "paused",
    ],
};

/// The columns that hold a state, in the order of [`state_values`].
const STATE: [&str; 8] = [
    "status",
    "outcome",
    "reason",
    "claim_actor",
    "claim_epoch",
    "claim_expires_at",
    "claim_runner",
    "claim_worker",
];

pub(in super::super) static EDGES: Table = Table {
    name: "edges",
    key: &["from_id", "kind", "to_id"],
    columns: &["from_id", "kind", "to_id", "seq"],
};

static ENDS: Table =
    Table { name: "edges", key: &["from_id", "to_id"], columns: &["one end", "the other end"] };

/// An issue that event `seq` created.
pub(in super::super) fn issue_row(
    issue: &Issue,
    parent: Option<&IssueId>,
    seq: u64,
) -> Result<Vec<Value>, StoreError> {
    let mut row = vec![
        column::text(issue.id.as_str()),
        column::maybe_text(parent.map(IssueId::as_str)),
        column::int(seq)?,
        column::int(seq)?,
        column::text(&issue.title),
        column::text(&issue.body),
    ];
    row.extend(state_values(&issue.state)?);
    row.extend([
        column::json(&issue.tags)?,
        column::int(issue.priority.get())?,
        column::int(issue.created_at)?,
        column::int(issue.updated_at)?,
        column::int(issue.revision)?,
        column::int(issue.epoch)?,
        column::json(&issue.hands)?,
        column::int(issue.failed_steps)?,
        column::json(&issue.policy)?,
        column::json(&issue.work)?,
        column::maybe_text(issue.key.as_ref()),
        column::maybe_json(issue.pause.as_ref())?,
    ]);
    Ok(row)
}

fn state_values(state: &State) -> Result<[Value; 8], StoreError> {
    let claim = state.claim();
    let number = |n: Option<u64>| n.map_or(Ok(Value::Null), column::int);
    Ok([
        column::text(state.status()),
        column::maybe_text(state.outcome().map(|outcome| outcome.as_str())),
        column::maybe_text(state.reason()),
        column::maybe_text(claim.map(|claim| claim.actor.as_str())),
        number(claim.map(|claim| claim.epoch))?,
        claim.map_or(Value::Null, |claim| Value::Integer(claim.expires_at)),
        column::maybe_json(claim.and_then(|claim| claim.runner.as_ref()))?,
        column::maybe_json(claim.and_then(|claim| claim.worker.as_ref()))?,
    ])
}

/// The statement and the values that put fields into an issue. It counts as one change of it.
pub(in super::super) fn changed_issue(
    id: &IssueId,
    fields: &[Field],
    at: Millis,
) -> Result<(String, Vec<Value>), StoreError> {
    let mut columns: Vec<&str> = Vec::new();
    let mut values = vec![column::text(id.as_str())];
    for field in fields {
        match field {
            Field::Title(title) => columns.push(put(&mut values, "title", column::text(title))),
            Field::Body(body) => columns.push(put(&mut values, "body", column::text(body))),
            Field::Tags(tags) => columns.push(put(&mut values, "tags", column::json(tags)?)),
            Field::Priority(priority) => {
                columns.push(put(&mut values, "priority", column::int(priority.get())?));
            }
            Field::State(state) => {
                columns.extend(STATE);
                values.extend(state_values(state)?);
            }
            Field::Epoch(epoch) => columns.push(put(&mut values, "epoch", column::int(*epoch)?)),
            Field::Hands(hands) => columns.push(put(&mut values, "hands", column::json(hands)?)),
            Field::FailedSteps(steps) => {
                columns.push(put(&mut values, "failed_steps", column::int(*steps)?));
            }
            Field::Policy(policy) => columns.push(put(&mut values, "policy", column::json(policy)?)),
            Field::Work(work) => columns.push(put(&mut values, "work", column::json(work)?)),
            Field::Key(key) => columns.push(put(&mut values, "plan_key", column::maybe_text(key.as_ref()))),
            Field::Pause(pause) => {
                columns.push(put(&mut values, "paused", column::maybe_json(pause.as_ref())?));
            }
        }
    }
    Ok(touched(columns, values, at))
}

fn put(values: &mut Vec<Value>, column: &'static str, value: Value) -> &'static str {
    values.push(value);
    column
}

/// The statement and the values that give an issue another parent by event `seq`.
pub(in super::super) fn moved_issue(
    id: &IssueId,
    parent: Option<&IssueId>,
    seq: u64,
    at: Millis,
) -> Result<(String, Vec<Value>), StoreError> {
    let values =
        vec![column::text(id.as_str()), column::maybe_text(parent.map(IssueId::as_str)), column::int(seq)?];
    Ok(touched(vec!["parent", "parent_seq"], values, at))
}

/// Every change of an issue moves its time and its revision, as folding it does.
fn touched(mut columns: Vec<&str>, mut values: Vec<Value>, at: Millis) -> (String, Vec<Value>) {
    columns.push("updated_at");
    values.push(Value::Integer(at));
    let statement = ISSUES.update(&columns).replacen(" SET ", " SET revision = revision + 1, ", 1);
    (statement, values)
}

/// An issue, with its parent and the event that put it there.
pub(in super::super) fn issue_from(row: &Row<'_>) -> Result<(Issue, Option<IssueId>, u64), StoreError> {
    let mut row = Columns::of(row, &ISSUES);
    let id = row.parsed()?;
    let parent = row.maybe_parsed()?;
    let parent_seq = row.int()?;
    row.skip();
    let issue = Issue {
        id,
        title: row.text()?.to_owned(),
        body: row.text()?.to_owned(),
        state: state_from(&mut row)?,
        tags: row.json()?,
        priority: priority_from(&mut row)?,
        created_at: row.int()?,
        updated_at: row.int()?,
        revision: row.int()?,
        epoch: row.int()?,
        hands: row.json()?,
        failed_steps: row.int()?,
        policy: row.json()?,
        work: row.json()?,
        key: row.maybe_text()?.map(str::to_owned),
        pause: row.maybe_json()?,
    };
    Ok((issue, parent, parent_seq))
}

fn state_from(row: &mut Columns<'_>) -> Result<State, StoreError> {
    let status = row.text()?;
    let outcome = row.maybe_word()?;
    let reason = row.maybe_text()?.map(str::to_owned);
    let holder = row.maybe_actor()?;
    let epoch = row.maybe_int()?;
    let expires_at = row.maybe_int()?;
    let runner = row.maybe_json()?;
    let worker = row.maybe_json()?;
    match (status, outcome, holder, epoch, expires_at) {
        ("open", None, None, None, None) => Ok(State::Open),
        ("in_progress", None, Some(actor), Some(epoch), Some(expires_at)) => {
            Ok(State::InProgress { claim: Claim { actor, epoch, expires_at, runner, worker } })
        }
        ("closed", Some(outcome), None, None, None) => Ok(State::Closed { outcome, reason }),
        _ => row.contradiction("status, outcome and claim contradict each other"),
    }
}

fn priority_from(row: &mut Columns<'_>) -> Result<Priority, StoreError> {
    let number: u8 = row.int()?;
    Priority::try_from(number).or_else(|why| row.contradiction(&why.to_string()))
}

/// An edge that event `seq` added.
pub(in super::super) fn edge_row(edge: &Edge, seq: u64) -> Result<Vec<Value>, StoreError> {
    let mut row = edge_key(edge);
    row.push(column::int(seq)?);
    Ok(row)
}

/// What tells an edge from others.
pub(in super::super) fn edge_key(edge: &Edge) -> Vec<Value> {
    vec![column::text(edge.from.as_str()), column::text(edge.kind.as_str()), column::text(edge.to.as_str())]
}

/// The two ends of an edge, of a row that was selected with them alone.
pub(in super::super) fn ends_from(row: &Row<'_>) -> Result<(IssueId, IssueId), StoreError> {
    let mut row = Columns::of(row, &ENDS);
    Ok((row.parsed()?, row.parsed()?))
}

/// An edge, with the event that added it.
pub(in super::super) fn edge_from(row: &Row<'_>) -> Result<(Edge, u64), StoreError> {
    let mut row = Columns::of(row, &EDGES);
    let edge = Edge { from: row.parsed()?, kind: row.word()?, to: row.parsed()? };
    Ok((edge, row.int()?))
}
