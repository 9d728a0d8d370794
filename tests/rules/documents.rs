//! Some of a root's documents, as a store has them and as a transaction has changed them so far.

use roundgate::app::{Session, issues, rounds};
use roundgate::model::act::create::NewIssue;
use roundgate::model::apply::{Author, apply_all};
use roundgate::model::document::{DocumentEdit, PartEdit};
use roundgate::model::id::IssueId;
use roundgate::model::issue::Policy;
use roundgate::model::primitive::Primitive;
use roundgate::model::snapshot::Snapshot;
use roundgate::model::source::Take;
use roundgate::model::tag::{FLOW_REVIEW_GATED, Kind, Tags};
use roundgate::store::Extent;

use crate::costs::session;

fn create(session: &mut Session, kind: Kind, flow: Option<&'static str>, parent: Option<&str>) -> String {
    let tags = Tags::new().with(kind.tag());
    let tags = flow.into_iter().fold(tags, Tags::with);
    let new = NewIssue { title: kind.tag().to_string(), tags, ..NewIssue::default() };
    issues::create(session, new, parent).unwrap().value.id
}

/// A root with so many open scopes and as many open asks, and what a look at it with changes finds.
fn changed<T>(many: usize, look: impl Fn(&mut Snapshot, &IssueId) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let root = create(&mut session, Kind::Root, None, None);
    for _ in 0..many {
        let scope = create(&mut session, Kind::Goal, Some(FLOW_REVIEW_GATED), Some(&root));
        rounds::open(&mut session, &scope, Policy::default()).unwrap();
        create(&mut session, Kind::Ask, None, Some(&root));
    }
    let root: IssueId = root.parse().unwrap();
    let mut found = None;
    let mut rehearsed = |snapshot: &mut Snapshot, _| {
        found = Some(look(snapshot, &root));
        None
    };
    session.store.transact(Extent::Frontier, &mut rehearsed).unwrap();
    found.unwrap()
}

fn apply(snapshot: &mut Snapshot, primitive: Primitive) {
    apply_all(snapshot, &[primitive], &Author { actor: "ann".parse().unwrap(), at: 1_000 }).unwrap();
}

fn scopes(snapshot: &Snapshot, root: &IssueId, take: Take) -> Vec<IssueId> {
    snapshot.parts_of(root, take).into_iter().map(|part| part.scope.clone()).collect()
}

fn asks(snapshot: &Snapshot, root: &IssueId, take: Take) -> Vec<IssueId> {
    snapshot.prompts_of(root, take).into_iter().map(|prompt| prompt.ask.clone()).collect()
}

#[test]
fn some_of_the_parts_are_found_behind_those_that_went() {
    changed(4, |snapshot, root| {
        let all = snapshot.documents(root);
        let names: Vec<IssueId> = all.parts.iter().map(|part| part.scope.clone()).collect();
        let gone = |part| PartEdit { before: Some(Box::new(part)), after: None };
        let head = Box::new(all.head.clone().unwrap());
        let parts = vec![gone(all.parts[0].clone()), gone(all.parts[3].clone())];
        let edit = DocumentEdit::Status { before: Some(head.clone()), after: head, parts };
        apply(snapshot, Primitive::SetDocument { edit: Box::new(edit) });
        assert_eq!(scopes(snapshot, root, Take::ALL), names[1..3]);
        assert_eq!(scopes(snapshot, root, Take::First(1)), names[1..2]);
        assert_eq!(scopes(snapshot, root, Take::Last(1)), names[2..3]);
        assert_eq!(scopes(snapshot, root, Take::First(9)), names[1..3]);
    });
}

#[test]
fn some_of_the_parts_are_found_without_those_that_another_root_has_now() {
    changed(2, |snapshot, root| {
        let all = snapshot.documents(root);
        let names: Vec<IssueId> = all.parts.iter().map(|part| part.scope.clone()).collect();
        let other: IssueId = "rg-other".parse().unwrap();
        let mut moved = all.parts[0].clone();
        let before = Some(Box::new(moved.clone()));
        moved.root = other.clone();
        let mut head = all.head.clone().unwrap();
        head.root = other.clone();
        let parts = vec![PartEdit { before, after: Some(Box::new(moved)) }];
        let edit = DocumentEdit::Status { before: None, after: Box::new(head), parts };
        apply(snapshot, Primitive::SetDocument { edit: Box::new(edit) });
        assert_eq!(scopes(snapshot, root, Take::First(1)), names[1..2]);
        assert_eq!(scopes(snapshot, &other, Take::First(1)), names[0..1]);
    });
}

#[test]
fn some_of_the_prompts_are_found_behind_those_that_went() {
    changed(3, |snapshot, root| {
        let all = snapshot.documents(root).prompts;
        let names: Vec<IssueId> = all.iter().map(|prompt| prompt.ask.clone()).collect();
        let ui_id = all[0].ui_id.clone();
        assert_eq!(snapshot.prompt_named(root, &ui_id).map(|prompt| &prompt.ask), Some(&names[0]));
        apply(
            snapshot,
            Primitive::RemoveDocument { root: root.clone(), ui_id: ui_id.clone(), hidden: false },
        );
        assert_eq!(asks(snapshot, root, Take::First(1)), names[1..2]);
        assert_eq!(asks(snapshot, root, Take::ALL), names[1..3]);
        assert_eq!(snapshot.prompt_named(root, &ui_id), None);
    });
}
