//! Writing: one event, and what it comes to in the tables. Says in SQL what
//! [`Snapshot::fold`](crate::model::snapshot::Snapshot::fold) says in memory, and is held to it by the
//! contract tests. Stricter in one thing: a change about something that is not there is refused.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::chain::Hash;
use super::fault::Stopped;
use super::{row, search};
use crate::model::change::{Change, Event};
use crate::model::document::DocumentEdit;
use crate::store::StoreError;

/// Writes one event after the one with the hash `before`, and gives its own. To be called within a
/// transaction, in the order of the events.
pub(super) fn event(conn: &Connection, event: &Event, before: Hash) -> Result<Hash, Stopped> {
    let (values, hash) = row::event_row(event, before)?;
    run(conn, &row::EVENTS.insert(), values)?;
    project(conn, event)?;
    Ok(hash)
}

/// Writes what one event comes to in the tables.
pub(super) fn project(conn: &Connection, event: &Event) -> Result<(), Stopped> {
    let (seq, at) = (event.seq, event.at);
    let expect_one = |touched: usize| match touched {
        1 => Ok(()),
        _ => {
            let what = format!("event {seq}, {}, is about something that is not there", event.change.name());
            Err(Stopped::Store(StoreError::Unfit { what }))
        }
    };
    match &event.change {
        Change::IssueCreated { issue, parent } => {
            run(conn, &row::ISSUES.insert(), row::issue_row(issue, parent.as_ref(), seq)?)?;
            search::put_in(conn, &issue.id)?;
        }
        Change::IssueChanged { id, after, .. } => {
            let (statement, values) = row::changed_issue(id, after, at)?;
            let searched = search::changes(after);
            if searched {
                search::take_out(conn, id)?;
            }
            expect_one(run(conn, &statement, values)?)?;
            if searched {
                search::put_in(conn, id)?;
            }
        }
        Change::ParentSet { id, after, .. } => {
            let (statement, values) = row::moved_issue(id, after.as_ref(), seq, at)?;
            expect_one(run(conn, &statement, values)?)?;
        }
        Change::EdgeAdded { edge } => {
            run(conn, &row::EDGES.insert(), row::edge_row(edge, seq)?)?;
        }
        Change::EdgeRemoved { edge } => {
            expect_one(run(conn, &row::EDGES.delete(), row::edge_key(edge))?)?;
        }
        Change::Posted { post } => {
            run(conn, &row::POSTS.insert(), row::post_row(post, seq)?)?;
        }
        Change::OperationDone { operation } => {
            run(conn, &row::OPERATIONS.insert(), row::operation_row(operation, seq)?)?;
        }
        // What it did to other rows was done with it, and is not done again by a replay.
        Change::Compacted { .. } => {}
        Change::ScopeSet { after, .. } => {
            run(conn, &row::SCOPES.upsert(), row::scope_row(after)?)?;
        }
        Change::RoundSet { after, .. } => {
            run(conn, &row::ROUNDS.upsert(), row::round_row(after)?)?;
        }
        Change::AskOpened { ask } => {
            run(conn, &row::ASKS.insert(), row::ask_row(ask)?)?;
        }
        Change::AnswerSet { id, after, .. } => {
            let (statement, values) = row::answered_ask(id, after.as_deref())?;
            expect_one(run(conn, &statement, values)?)?;
        }
        Change::DutySet { id, after, .. } => {
            let (statement, values) = row::assigned_ask(id, after.as_deref())?;
            expect_one(run(conn, &statement, values)?)?;
        }
        Change::AskReminded { id, duty } => {
            let (statement, values) = row::assigned_ask(id, Some(duty))?;
            expect_one(run(conn, &statement, values)?)?;
        }
        Change::PlanSet { after, .. } => {
            run(conn, &row::PLANS.upsert(), row::plan_row(after)?)?;
        }
        Change::RootFinished { id, finished: true } => {
            run(conn, &row::FINISHED_ROOTS.insert_once(), row::id_row(id))?;
        }
        Change::RootFinished { id, finished: false } => {
            run(conn, &row::FINISHED_ROOTS.delete(), row::id_row(id))?;
        }
        Change::HeartbeatSet { after, .. } => {
            run(conn, &row::HEARTBEATS.upsert(), row::heartbeat_row(after)?)?;
        }
        Change::HeartbeatRemoved { heartbeat } => {
            expect_one(run(conn, &row::HEARTBEATS.delete(), row::heartbeat_key(&heartbeat.id))?)?;
        }
        Change::NoticeSet { after, .. } => {
            run(conn, &row::NOTICES.upsert(), row::notice_row(after)?)?;
        }
        Change::NoticeEnded { notice, .. } => {
            expect_one(run(conn, &row::NOTICES.delete(), row::notice_key(&notice.id))?)?;
        }
        Change::IdReserved { id } => {
            run(conn, &row::RESERVED_IDS.insert_once(), row::id_row(id))?;
        }
        Change::Annotated { annotation } => {
            run(conn, &row::ANNOTATIONS.insert(), row::annotation_row(annotation, seq)?)?;
        }
        Change::DocumentSet { edit } => document(conn, edit)?,
        Change::DocumentRemoved { root, ui_id, hidden: true } => {
            for (statement, values) in [row::hidden_head(root, ui_id), row::hidden_prompt(root, ui_id)] {
                run(conn, statement, values)?;
            }
        }
        Change::DocumentRemoved { root, ui_id, hidden: false } => {
            let (statement, values) = row::removed_head(root, ui_id);
            if run(conn, statement, values)? > 0 {
                let (statement, values) = row::removed_parts(root);
                run(conn, statement, values)?;
            }
            let (statement, values) = row::removed_prompt(root, ui_id);
            run(conn, statement, values)?;
        }
    }
    Ok(())
}

/// Writes a document's new text.
fn document(conn: &Connection, edit: &DocumentEdit) -> Result<(), Stopped> {
    match edit {
        DocumentEdit::Status { after, parts, .. } => {
            run(conn, &row::HEADS.upsert(), row::head_row(after)?)?;
            for part in parts {
                match (&part.before, &part.after) {
                    (_, Some(after)) => {
                        run(conn, &row::PARTS.upsert(), row::part_row(after)?)?;
                    }
                    (Some(before), None) => {
                        let (statement, values) = row::removed_part(before);
                        run(conn, statement, values)?;
                    }
                    (None, None) => {}
                }
            }
        }
        DocumentEdit::Prompt { after, .. } => {
            run(conn, &row::PROMPTS.upsert(), row::prompt_row(after)?)?;
        }
    }
    Ok(())
}

/// Runs a statement; says how many rows it touched.
fn run(conn: &Connection, statement: &str, values: Vec<Value>) -> Result<usize, Stopped> {
    Ok(conn.prepare_cached(statement)?.execute(params_from_iter(values))?)
}
