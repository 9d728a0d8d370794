//! Which documents are to be set and removed after some changes: as data, to be applied in the
//! transaction that made them.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{ESCALATION, decided_abroad, part_text, prompt_text, status_name};
use super::touched::{Rule, Touched};
use crate::model::change::Change;
use crate::model::document::{DocumentEdit, Head, Part, PartEdit, PartText, Prompt, PromptText};
use crate::model::frontier::List;
use crate::model::graph::Ix;
use crate::model::id::IssueId;
use crate::model::issue::{Millis, Outcome};
use crate::model::primitive::Primitive;
use crate::model::record::AskKind;
use crate::model::snapshot::Snapshot;
use crate::model::source::Take;

/// What brings the documents up to date after these changes, which led to this snapshot, and with which
/// the `shifted` nodes came to be resolved or let go, or ceased to be. Prompts go before status documents
/// go; status documents come before prompts come.
pub fn brought_up_to_date<'c>(
    snapshot: &Snapshot,
    changes: impl Iterator<Item = &'c Change>,
    shifted: &BTreeSet<Ix>,
    now: Millis,
) -> Vec<Primitive> {
    brought_up_to_date_by(&Rule::ALL, snapshot, changes, shifted, now)
}

/// The same by some of the rules that find what was touched.
pub fn brought_up_to_date_by<'c>(
    rules: &[Rule],
    snapshot: &Snapshot,
    changes: impl Iterator<Item = &'c Change>,
    shifted: &BTreeSet<Ix>,
    now: Millis,
) -> Vec<Primitive> {
    updates(snapshot, &Touched::by(snapshot, changes, shifted, rules), now)
}

/// What brings every document up to date, whatever changed.
pub fn renewed(snapshot: &Snapshot, now: Millis) -> Vec<Primitive> {
    let mut roots = snapshot.described_roots();
    [List::OpenScope, List::Asking].into_iter().for_each(|list| roots.extend(snapshot.roots_on(list)));
    let mut all = Touched::default();
    for root in &roots {
        let touched = Touched::root(snapshot, root);
        all.scopes.extend(touched.scopes);
        all.asks.extend(touched.asks);
    }
    all.roots = roots;
    updates(snapshot, &all, now)
}

/// What the documents of a store say otherwise than its issues do, in words.
pub fn faults(snapshot: &Snapshot) -> Vec<String> {
    let wanted = renewed(snapshot, 0).into_iter();
    let said = wanted.map(|primitive| match primitive {
        Primitive::SetDocument { edit } => {
            let (root, ui_id) = edit.document();
            format!("{ui_id} of {root} is not what follows from the issues")
        }
        Primitive::RemoveDocument { root, ui_id, .. } => format!("{ui_id} of {root} has no reason any more"),
        other => format!("{} was not expected", other.word()),
    });
    said.collect()
}

fn updates(snapshot: &Snapshot, touched: &Touched, now: Millis) -> Vec<Primitive> {
    let mut roots: BTreeMap<IssueId, Root> = BTreeMap::new();
    for root in &touched.roots {
        roots.entry(root.clone()).or_default();
    }
    for scope in &touched.scopes {
        let before = snapshot.part(scope);
        let after = part_text(snapshot, scope).zip(root_of(snapshot, scope));
        let stays = before.zip(after.as_ref()).is_some_and(|(part, (_, root))| part.root == *root);
        if let Some(part) = before.filter(|_| !stays) {
            roots.entry(part.root.clone()).or_default().gone.push(part.clone());
        }
        let Some((text, root)) = after else { continue };
        let before = before.filter(|_| stays).cloned();
        let said = Said { scope: scope.clone(), before, abroad: decided_abroad(snapshot, scope), text };
        if said.is_new() {
            roots.entry(root).or_default().said.push(said);
        }
    }
    for ask in &touched.asks {
        let before = snapshot.prompt(ask);
        let after = prompt_text(snapshot, ask).zip(root_of(snapshot, ask));
        let stays = before.zip(after.as_ref()).is_some_and(|(prompt, (_, root))| prompt.root == *root);
        if let Some(prompt) = before.filter(|_| !stays) {
            roots.entry(prompt.root.clone()).or_default().settled.push(prompt.clone());
        }
        if let Some((text, root)) = after
            && (!stays || before.is_none_or(|prompt| prompt.text != text))
        {
            let before = before.filter(|_| stays).cloned();
            roots.entry(root).or_default().asked.push((ask.clone(), before, text));
        }
    }
    let (mut removals, mut rest) = (Vec::new(), Vec::new());
    for (id, root) in roots {
        let (removed, set) = root.updates(snapshot, &id, now);
        removals.extend(removed);
        rest.extend(set);
    }
    // What leaves one document for another leaves first.
    removals.into_iter().chain(rest).collect()
}

fn root_of(snapshot: &Snapshot, id: &IssueId) -> Option<IssueId> {
    let graph = snapshot.graph();
    graph.ix(id).map(|ix| graph.id(graph.root(ix)).clone())
}

/// What is said of a scope, and was said before in the same document.
struct Said {
    scope: IssueId,
    before: Option<Part>,
    abroad: bool,
    text: PartText,
}

impl Said {
    fn is_new(&self) -> bool {
        self.is_seen() || self.before.as_ref().is_some_and(|part| part.abroad != self.abroad)
    }

    /// Whether it is other than it was to whoever reads the document.
    fn is_seen(&self) -> bool {
        self.before.as_ref().is_none_or(|part| part.text != self.text)
    }
}

/// What is new of one root.
#[derive(Default)]
struct Root {
    gone: Vec<Part>,
    said: Vec<Said>,
    settled: Vec<Prompt>,
    asked: Vec<(IssueId, Option<Prompt>, PromptText)>,
}

impl Root {
    /// What is removed, and what is set after that.
    fn updates(self, snapshot: &Snapshot, root: &IssueId, now: Millis) -> (Vec<Primitive>, Vec<Primitive>) {
        let mut removed: Vec<Primitive> =
            self.settled.iter().map(|prompt| removal(root, &prompt.ui_id)).collect();
        let head = snapshot.head(root);
        let name = status_name(snapshot, root);
        let renamed = head.is_some_and(|head| head.ui_id != name);
        let mut set = Vec::new();
        if self.wanted(snapshot, root) {
            let parts = self.parts(snapshot, root, renamed);
            let before = head.filter(|_| !renamed);
            if let Some(head) = head.filter(|_| renamed) {
                removed.push(removal(root, &head.ui_id));
            }
            if before.is_none() || !parts.is_empty() {
                let next = || Head {
                    root: root.clone(),
                    ui_id: name.to_owned(),
                    version: before.map_or(1, |head| head.version + 1),
                    updated_at: now,
                    shown: true,
                };
                let seen = !self.gone.is_empty() || self.said.iter().any(Said::is_seen);
                let after = Box::new(before.filter(|_| !seen).cloned().unwrap_or_else(next));
                let before = before.cloned().map(Box::new);
                set.push(document(DocumentEdit::Status { before, after, parts }));
            }
        } else if let Some(head) = head {
            removed.push(removal(root, &head.ui_id));
        }
        set.extend(self.prompts(snapshot, root, now));
        (removed, set)
    }

    /// A status document comes with the first open scope, and stays until the root is final or has failed,
    /// or what is left of it is in a human's hands.
    fn wanted(&self, snapshot: &Snapshot, root: &IssueId) -> bool {
        if !self.said.is_empty() || self.a_part_stays(snapshot, root) {
            return true;
        }
        let graph = snapshot.graph();
        let Some(top) = graph.ix(root).filter(|&ix| graph.parent(ix).is_none()) else { return false };
        let failed = graph.issue(top).state.outcome().is_some_and(Outcome::unsuccessful);
        let over = failed || snapshot.root_finished(root);
        snapshot.head(root).is_some() && !over && !self.handed_off(snapshot, root)
    }

    /// Whether the document goes on to speak of a scope. As many parts are looked at as go, and one more.
    fn a_part_stays(&self, snapshot: &Snapshot, root: &IssueId) -> bool {
        let some = snapshot.parts_of(root, Take::First(self.gone.len().saturating_add(1)));
        some.into_iter().any(|part| self.stays(part))
    }

    /// The place of the last part that stays.
    fn last_place(&self, snapshot: &Snapshot, root: &IssueId) -> Option<u32> {
        let some = snapshot.parts_of(root, Take::Last(self.gone.len().saturating_add(1)));
        some.into_iter().rfind(|part| self.stays(part)).map(|part| part.place)
    }

    fn stays(&self, part: &Part) -> bool {
        !self.gone.iter().any(|gone| gone.scope == part.scope)
    }

    fn handed_off(&self, snapshot: &Snapshot, root: &IssueId) -> bool {
        let settled = |ask: &IssueId| self.settled.iter().any(|prompt| prompt.ask == *ask);
        let stay = snapshot.prompts_of(root, Take::ALL).into_iter().map(|prompt| &prompt.ask);
        let asks = stay.filter(|ask| !settled(ask)).chain(self.asked.iter().map(|(ask, ..)| ask));
        let mut kinds = asks.filter_map(|ask| snapshot.ask(ask)).map(|ask| ask.kind);
        kinds.any(|kind| kind == AskKind::Handoff)
    }

    fn parts(&self, snapshot: &Snapshot, root: &IssueId, renamed: bool) -> Vec<PartEdit> {
        let boxed = |part: &Part| Some(Box::new(part.clone()));
        let mut edits: Vec<PartEdit> =
            self.gone.iter().map(|part| PartEdit { before: boxed(part), after: None }).collect();
        if renamed {
            let unsaid = |part: &&Part| !self.said.iter().any(|said| said.scope == part.scope);
            let there = snapshot.parts_of(root, Take::ALL).into_iter();
            let kept = there.filter(|part| self.stays(part)).filter(unsaid);
            edits.extend(kept.map(|part| PartEdit { before: None, after: boxed(part) }));
        }
        let mut last = self.last_place(snapshot, root);
        for Said { scope, before, abroad, text } in &self.said {
            let (scope, abroad, text) = (scope.clone(), *abroad, text.clone());
            let after = match before {
                Some(before) => Part { abroad, text, ..before.clone() },
                None => {
                    let name = last.map_or_else(|| "policy".to_owned(), |_| format!("policy:{scope}"));
                    let place = last.map_or(1, |last| last.saturating_add(1));
                    last = Some(place);
                    Part { scope, root: root.clone(), place, name, abroad, text }
                }
            };
            edits.push(PartEdit { before: before.as_ref().and_then(boxed), after: boxed(&after) });
        }
        edits
    }

    fn prompts(&self, snapshot: &Snapshot, root: &IssueId, now: Millis) -> Vec<Primitive> {
        let named = self.asked.first().and_then(|_| snapshot.prompt_named(root, ESCALATION));
        let mut first = named.is_none_or(|named| self.settled.iter().any(|gone| gone.ask == named.ask));
        let mut set = Vec::new();
        for (ask, before, text) in &self.asked {
            let ui_id = match before {
                Some(before) => before.ui_id.clone(),
                None if std::mem::take(&mut first) => ESCALATION.to_owned(),
                None => format!("{ESCALATION}:{ask}"),
            };
            let after = Prompt {
                ask: ask.clone(),
                root: root.clone(),
                ui_id,
                version: before.as_ref().map_or(1, |prompt| prompt.version + 1),
                updated_at: now,
                shown: true,
                text: text.clone(),
            };
            let before = before.clone().map(Box::new);
            set.push(document(DocumentEdit::Prompt { before, after: Box::new(after) }));
        }
        set
    }
}

fn document(edit: DocumentEdit) -> Primitive {
    Primitive::SetDocument { edit: Box::new(edit) }
}

fn removal(root: &IssueId, ui_id: &str) -> Primitive {
    Primitive::RemoveDocument { root: root.clone(), ui_id: ui_id.to_owned(), hidden: false }
}
