//! Status documents and prompts: what they say, how they came to say it, and taking one out of sight.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::session::resolve_root;
use super::view::Word;
use super::{AppError, Changed, Session};
use crate::engine::status::{Doc, Envelope, prompt_doc, status_doc, texts};
use crate::model::change::{Change, Event};
use crate::model::document::{DocumentEdit, Documents};
use crate::model::id::IssueId;
use crate::model::issue::Millis;
use crate::model::primitive::Primitive;
use crate::model::snapshot::Snapshot;
use crate::store::EventQuery;

/// How many events are held at once to find the envelopes among them.
const PAGE: usize = 1_000;

/// A document and the root it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocView {
    /// The root.
    pub root: String,
    /// The document, in S3's shape.
    #[serde(flatten)]
    pub doc: Doc,
}

/// A document in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextView {
    /// The root.
    pub root: String,
    /// The document.
    pub ui_id: String,
    /// The words.
    pub text: String,
}

/// How many words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// One line.
    Compact,
    /// Several.
    Multiline,
}

/// An envelope and its circumstances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvelopeView {
    /// The event that it came with.
    pub seq: u64,
    /// When, in epoch milliseconds.
    pub at: Millis,
    /// The root.
    pub root: String,
    /// The envelope, in S3's shape.
    #[serde(flatten)]
    pub envelope: Envelope,
}

/// Every document that is to be seen, of one root or of all: by root, status documents first.
///
/// # Errors
/// When the root is not there.
pub fn list(session: &Session, root: Option<&str>) -> Result<Vec<DocView>, AppError> {
    session.look(|snapshot| {
        let root = root.map(|text| resolve_root(snapshot, text)).transpose()?;
        Ok(seen(snapshot, root.as_ref()))
    })
}

fn seen(snapshot: &Snapshot, root: Option<&IssueId>) -> Vec<DocView> {
    let roots = match root {
        Some(root) => vec![root.clone()],
        None => snapshot.described_roots().into_iter().collect(),
    };
    let each = roots.iter().flat_map(|root| {
        let documents = snapshot.documents(root);
        let status = documents.head.iter().filter(|head| head.shown);
        let status = status.map(|head| status_doc(head, &documents.parts));
        let prompts = documents.prompts.iter().filter(|prompt| prompt.shown).map(prompt_doc);
        let docs = status.chain(prompts).map(|doc| DocView { root: root.to_string(), doc });
        docs.collect::<Vec<_>>()
    });
    each.collect()
}

/// One document.
///
/// # Errors
/// When there is none of that name, or several roots have one and none was named.
pub fn get(session: &Session, ui_id: &str, root: Option<&str>) -> Result<DocView, AppError> {
    session.look(|snapshot| {
        let root = root.map(|text| resolve_root(snapshot, text)).transpose()?;
        named(snapshot, ui_id, root.as_ref())
    })
}

fn named(snapshot: &Snapshot, ui_id: &str, root: Option<&IssueId>) -> Result<DocView, AppError> {
    let mut found: Vec<DocView> =
        seen(snapshot, root).into_iter().filter(|view| view.doc.ui_id == ui_id).collect();
    let shown: String = ui_id.chars().take(60).collect();
    match (found.pop(), found.len()) {
        (None, _) => Err(AppError::NoDocument(shown)),
        (Some(only), 0) => Ok(only),
        (Some(last), others) => {
            let roots: Vec<String> =
                found.into_iter().take(8).map(|view| view.root).chain([last.root]).collect();
            let more = if others > 8 { " and more" } else { "" };
            Err(AppError::Usage(format!(
                "{} roots have {shown}: say which with --root ({}{more})",
                others + 1,
                roots.join(", ")
            )))
        }
    }
}

/// Every document in words.
///
/// # Errors
/// When the root is not there.
pub fn snapshot(session: &Session, extent: Extent, root: Option<&str>) -> Result<Vec<TextView>, AppError> {
    let told = list(session, root)?.into_iter().map(|view| {
        let texts = texts(&view.doc);
        let text = if extent == Extent::Compact { texts.compact } else { texts.multiline };
        TextView { root: view.root, ui_id: view.doc.ui_id, text }
    });
    Ok(told.collect())
}

/// Takes a document out of sight, until what it is about gives it another text.
///
/// # Errors
/// As [`get`].
pub fn remove(
    session: &mut Session,
    ui_id: &str,
    root: Option<&str>,
) -> Result<Changed<RemovedView>, AppError> {
    session.change("ui remove", |work| {
        let root = root.map(|text| resolve_root(&work.snapshot, text)).transpose()?;
        let view = named(&work.snapshot, ui_id, root.as_ref())?;
        let root: IssueId = resolve_root(&work.snapshot, &view.root)?;
        let ui_id = view.doc.ui_id;
        work.apply(&[Primitive::RemoveDocument { root, ui_id: ui_id.clone(), hidden: true }])?;
        Ok(RemovedView { root: view.root, action: "remove".into(), ui_id })
    })
}

/// An envelope that removed a document, and the document's root.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemovedView {
    /// The root.
    pub root: String,
    /// `remove`.
    pub action: Word,
    /// The document.
    pub ui_id: String,
}

/// The latest envelopes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Latest {
    /// What was set and removed, oldest first.
    pub rows: VecDeque<EnvelopeView>,
    /// How many came before.
    pub earlier: usize,
}

/// The latest so many of what was set and removed, or all of it. History is read in pages: no more of it is
/// held than one, beside what is shown.
///
/// # Errors
/// When the root is not there.
pub fn log(session: &Session, root: Option<&str>, last: Option<usize>) -> Result<Latest, AppError> {
    let subject = match root {
        Some(text) => Some(session.look(|snapshot| resolve_root(snapshot, text))?),
        None => None,
    };
    let mut of: BTreeMap<IssueId, Documents> = BTreeMap::new();
    let mut latest = Latest::default();
    let mut query = EventQuery { subject, first: Some(PAGE), ..EventQuery::default() };
    loop {
        let page = session.store.events(&query)?;
        query.after = page.last().map_or(query.after, |event| event.seq);
        let end = page.len() < PAGE;
        for view in page.iter().filter_map(|event| told_by(event, &mut of)) {
            latest.rows.push_back(view);
            if last.is_some_and(|last| latest.rows.len() > last) {
                latest.rows.pop_front();
                latest.earlier += 1;
            }
        }
        if end {
            return Ok(latest);
        }
    }
}

/// The envelope that an event came with, behind those before it.
fn told_by(event: &Event, of: &mut BTreeMap<IssueId, Documents>) -> Option<EnvelopeView> {
    let (root, envelope) = match &event.change {
        Change::DocumentSet { edit } => {
            let root = edit.document().0;
            let doc = doc_of(of.entry(root.clone()).or_default(), edit)?;
            (root, Envelope::Set { doc: Box::new(doc) })
        }
        Change::DocumentRemoved { root, ui_id, hidden } => {
            let documents = of.entry(root.clone()).or_default();
            let shown = documents.shows(ui_id);
            documents.remove(ui_id, *hidden);
            (root, Some(Envelope::Remove { ui_id: ui_id.clone() }).filter(|_| shown)?)
        }
        _ => return None,
    };
    Some(EnvelopeView { seq: event.seq, at: event.at, root: root.to_string(), envelope })
}

/// The document that an edit gave another text, if it did.
fn doc_of(documents: &mut Documents, edit: &DocumentEdit) -> Option<Doc> {
    match edit {
        DocumentEdit::Status { after, .. } => {
            let same = documents.head.as_ref() == Some(after.as_ref());
            documents.set(edit);
            (!same).then(|| status_doc(after, &documents.parts))
        }
        DocumentEdit::Prompt { after, .. } => {
            documents.set(edit);
            Some(prompt_doc(after))
        }
    }
}

/// An envelope for a table: its action, its document, the revision and the summary.
pub fn told(envelope: &Envelope) -> [String; 4] {
    match envelope {
        Envelope::Set { doc } => {
            ["set".to_owned(), doc.ui_id.clone(), doc.revision.version.to_string(), doc.summary.clone()]
        }
        Envelope::Remove { ui_id } => ["remove".to_owned(), ui_id.clone(), String::new(), String::new()],
    }
}
