//! What a plan reads when it is applied: its own root, whatever else the store has.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use roundgate::app::issues;
use roundgate::app::plan::{self, Plan, PlanReport};
use roundgate::model::act::create::NewIssue;
use roundgate::model::change::Event;
use roundgate::model::id::IssueId;
use roundgate::model::snapshot::Snapshot;
use roundgate::store::sqlite::Sqlite;
use roundgate::store::{Extent, Revision, Store, StoreError};

use crate::costs;

const PLAN: &str = r#"
[root]
key = "parser"
title = "Ship the parser"
[workers.attempt]
command = ["true"]
[workers.review]
command = ["true"]
[[goal]]
key = "lexer"
title = "Write the lexer"
accept = ["every fixture tokenises"]
[[goal]]
key = "tree"
title = "Build the tree"
accept = ["every fixture parses"]
after = ["lexer"]
"#;

/// A store that notes how many issues were read in each transaction.
struct Counted {
    inner: Sqlite,
    unseen: IssueId,
    read: Rc<RefCell<Vec<usize>>>,
}

impl Store for Counted {
    passes_on!(snapshot);
    passes_on!(look);
    passes_on!(records);

    fn transact(
        &mut self,
        extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        let (unseen, read) = (self.unseen.clone(), Rc::clone(&self.read));
        self.inner.transact(extent, &mut |snapshot, revision| {
            let events = work(snapshot, revision);
            read.borrow_mut().push(costs::read(snapshot, unseen.as_str()));
            events
        })
    }
}

fn plan_in(folder: &Path, text: &str) -> Plan {
    let file = folder.join("plan.toml");
    std::fs::write(&file, text).unwrap();
    plan::read(&file).unwrap()
}

/// Beside so many other trees, each with a key: what a plan reads the first time, again, and changed.
fn read_beside(others: usize) -> Vec<usize> {
    let folder = tempfile::tempdir().unwrap();
    let mut session = costs::session(folder.path());
    for n in 0..others {
        let text = PLAN.replace("\"parser\"", &format!("\"other-{n}\""));
        plan::apply(&mut session, &plan_in(folder.path(), &text)).unwrap();
    }
    let unseen = costs::unseen(&mut session).parse().unwrap();
    let inner = Sqlite::open(&folder.path().join("store")).unwrap();
    let read = Rc::default();
    session.store = Box::new(Counted { inner, unseen, read: Rc::clone(&read) });
    let created = |report: &PlanReport| report.created.len();
    let as_it_is = plan_in(folder.path(), PLAN);
    let preview = plan::preview(&session, &as_it_is).unwrap();
    let applied = plan::apply(&mut session, &as_it_is).unwrap();
    assert_eq!((created(&preview), created(&applied.value)), (3, 3));
    let again = plan::apply(&mut session, &as_it_is).unwrap();
    assert!(!again.changed && again.value.unchanged.len() == 3);
    let changed = plan_in(folder.path(), &PLAN.replace("Build the tree", "Grow the tree"));
    assert_eq!(plan::apply(&mut session, &changed).unwrap().value.updated, ["tree"]);
    drop(session);
    Rc::into_inner(read).unwrap().into_inner()
}

#[test]
fn a_plan_reads_its_own_root_and_nothing_of_what_is_beside_it() {
    let (few, many) = (read_beside(2), read_beside(40));
    assert_eq!(few, many);
    assert!(few.len() == 3 && few.iter().all(|read| *read <= 4), "{few:?}");
}

#[test]
fn a_plan_finds_the_first_root_of_its_key_and_no_leaf_and_no_child() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = costs::session(folder.path());
    let key = |title: &str| NewIssue {
        title: title.to_owned(),
        key: Some("parser".to_owned()),
        ..NewIssue::default()
    };
    let leaf = issues::create(&mut session, key("A leaf"), None).unwrap().value.id;
    let above =
        issues::create(&mut session, NewIssue { title: "Above".to_owned(), ..NewIssue::default() }, None);
    issues::create(&mut session, key("A child"), Some(&above.unwrap().value.id)).unwrap();
    let made = plan::apply(&mut session, &plan_in(folder.path(), PLAN)).unwrap().value;
    assert!(made.created.contains(&"parser".to_owned()) && made.root != leaf, "{made:?}");
    let again = plan::apply(&mut session, &plan_in(folder.path(), PLAN)).unwrap().value;
    assert_eq!(again.root, made.root);
}
