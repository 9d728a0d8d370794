//! What acts read. A claim looks at the first that is ready; a pause looks at what is not settled below it,
//! once, and from then on a list has nothing of it. A page of a list reads what is on it, wherever it starts.

use roundgate::app::ambient::{Clock, Ids};
use roundgate::app::config::Config;
use roundgate::app::{Session, issues, pause};
use roundgate::model::act::claim;
use roundgate::model::act::create::NewIssue;
use roundgate::model::act::pause as act;
use roundgate::model::apply::{Author, apply_all};
use roundgate::model::frontier::List;
use roundgate::model::id::IssueId;
use roundgate::model::issue::{Outcome, Pause};
use roundgate::model::readiness::ready_issues;
use roundgate::model::search::{Page, found, ranked};
use roundgate::model::snapshot::Snapshot;
use roundgate::store::Extent;
use roundgate::store::sqlite::Sqlite;

fn create(session: &mut Session, title: &str, parent: Option<&str>) -> String {
    let new = NewIssue { title: title.to_owned(), ..NewIssue::default() };
    issues::create(session, new, parent).unwrap().value.id
}

/// A root with so much that is ready below it, and as much that is done.
fn tree(session: &mut Session, name: &str, many: usize) -> String {
    let root = create(session, name, None);
    for n in 0..many {
        create(session, &format!("{name} {n}"), Some(&root));
        let done = create(session, &format!("{name} {n} is done"), Some(&root));
        let wish = issues::CloseWish { outcome: Some(Outcome::Success), ..Default::default() };
        issues::close(session, &done, &wish).unwrap();
    }
    root
}

/// How many issues a snapshot has read by now: one that it has not is put behind them.
pub fn read(snapshot: &Snapshot, unseen: &str) -> usize {
    let unseen: IssueId = unseen.parse().unwrap();
    snapshot.graph().ix(&unseen).unwrap().to_string().parse().unwrap()
}

/// What `ready` reads at or below a root, or everywhere, and what it finds.
fn ready(session: &Session, root: Option<&str>, unseen: &str) -> (usize, usize) {
    let mut found = (0, 0);
    let root: Option<IssueId> = root.map(|root| root.parse().unwrap());
    let mut look = |snapshot: &Snapshot, _| {
        let within = root.as_ref().and_then(|root| snapshot.graph().ix(root));
        found = (ready_issues(snapshot, within).len(), read(snapshot, unseen));
    };
    session.store.look(&mut look).unwrap();
    found
}

/// A session at a store of its own.
pub fn session(folder: &std::path::Path) -> Session {
    Session {
        store: Box::new(Sqlite::init(&folder.join("store")).unwrap()),
        clock: Clock::Frozen(1_000),
        ids: Ids::new(Some(5)),
        actor: "ann".parse().unwrap(),
        config: Config::default(),
        operation: None,
    }
}

/// An issue that is closed, beside everything else.
pub fn unseen(session: &mut Session) -> String {
    let unseen = create(session, "Unseen", None);
    issues::close(session, &unseen, &issues::CloseWish::default()).unwrap();
    unseen
}

#[test]
fn a_claim_of_the_next_issue_reads_no_more_of_a_long_list_than_of_a_short_one() {
    let cost = |many: usize| {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        tree(&mut session, "Root", many);
        let unseen = unseen(&mut session);
        let mut cost = 0;
        let mut rehearsed = |snapshot: &mut Snapshot, _| {
            let (actor, lease) = ("bob".parse().unwrap(), 1_000);
            let wish = claim::Wish { actor, now: 1_000, lease, runner: None, step_retries: 2 };
            claim::claim_first(snapshot, None, None, |_| true, &wish).unwrap();
            cost = read(snapshot, &unseen);
            None
        };
        session.store.transact(Extent::Frontier, &mut rehearsed).unwrap();
        cost
    };
    assert_eq!(cost(200), cost(20));
}

#[test]
fn a_pause_reads_what_is_not_settled_below_it_once_and_ready_reads_nothing_of_it_afterwards() {
    const MANY: usize = 60;
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let paused = tree(&mut session, "Paused", MANY);
    tree(&mut session, "Other", 5);
    let unseen = unseen(&mut session);
    let (found, cost) = ready(&session, Some(&paused), &unseen);
    assert!(found == MANY && cost >= MANY, "{found} {cost}");

    let mut touched = (0, 0);
    let id: IssueId = paused.parse().unwrap();
    let mut rehearsed = |snapshot: &mut Snapshot, _| {
        let wish = Pause { by: "ann".parse().unwrap(), at: 1_000, reason: "no money".to_owned() };
        let primitives = act::pause(snapshot, &id, wish).unwrap();
        let by = Author { actor: "ann".parse().unwrap(), at: 1_000 };
        apply_all(snapshot, &primitives, &by).unwrap();
        touched = (snapshot.graph().touched().len(), read(snapshot, &unseen));
        None
    };
    session.store.transact(Extent::Frontier, &mut rehearsed).unwrap();
    // Written anew: the root, and what is ready. Read: all its children, and nothing of the other root.
    assert_eq!(touched, (MANY + 1, 2 * MANY + 1));

    pause::pause(&mut session, &paused, "no money").unwrap();
    let (found, cost) = ready(&session, Some(&paused), &unseen);
    assert!(found == 0 && cost <= 2, "{found} {cost}");
    let (found, cost) = ready(&session, None, &unseen);
    assert!(found == 5 && cost <= 5 + 3, "{found} {cost}");
}

#[test]
fn a_page_of_a_list_or_a_search_reads_what_is_on_it_wherever_it_starts() {
    const ROWS: usize = 20;
    let cost = |many: usize| {
        let folder = tempfile::tempdir().unwrap();
        let mut session = session(folder.path());
        let root = tree(&mut session, "Root", many);
        let top = create(&mut session, "Top", Some(&root));
        tree(&mut session, "Other", many);
        for n in 0..many {
            create(&mut session, &format!("Leaf {n}"), Some(&top));
        }
        let unseen = unseen(&mut session);
        let mut costs = Vec::new();
        for (below, status, words) in [
            (None, None, None),
            (None, Some("open"), None),
            (None, Some("in_progress"), None),
            (None, Some("closed"), None),
            (Some(&root), None, None),
            (Some(&root), Some("open"), None),
            (Some(&top), None, None),
            (Some(&top), Some("open"), None),
            (None, None, Some("root")),
            (None, Some("closed"), Some("ro* done")),
        ] {
            let page_of = |after: Option<&IssueId>| {
                let mut seen = (0, None);
                let mut look = |snapshot: &Snapshot, _| {
                    let page = Page { status, after, limit: ROWS };
                    let rows = match words {
                        Some(words) => found(snapshot, &str::parse(words).unwrap(), &page),
                        None => {
                            let below: Option<IssueId> = below.map(|id: &String| id.parse().unwrap());
                            ranked(snapshot, below.and_then(|id| snapshot.graph().ix(&id)), &page)
                        }
                    };
                    let last = rows.last().map(|&ix| snapshot.graph().id(ix).clone());
                    seen = (read(snapshot, &unseen), last);
                };
                session.store.look(&mut look).unwrap();
                seen
            };
            let (first, last) = page_of(None);
            let (second, _) = page_of(last.as_ref());
            let most = ROWS + 10;
            assert!(first <= most && second <= most, "{below:?} {status:?} {words:?}: {first}, {second}");
            costs.push((first, second));
        }
        costs
    };
    // What stands above the rows of a page is read, too: one root or two.
    let (many, few) = (cost(200), cost(60));
    let near = |a: usize, b: usize| a.abs_diff(b) <= 2;
    let alike = |(a, b): (&(usize, usize), &(usize, usize))| near(a.0, b.0) && near(a.1, b.1);
    assert!(many.len() == few.len() && many.iter().zip(&few).all(alike), "{many:?} {few:?}");
}

#[test]
fn the_first_of_a_long_list_costs_no_more_than_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(folder.path());
    let root: IssueId = tree(&mut session, "Root", 200).parse().unwrap();
    let unseen = unseen(&mut session);
    let cost = |most: usize| {
        let mut cost = 0;
        let mut look = |snapshot: &Snapshot, _| {
            let within = snapshot.graph().ix(&root);
            assert_eq!(snapshot.listed(List::Ready, within).up_to(most).len(), most);
            cost = read(snapshot, &unseen);
        };
        session.store.look(&mut look).unwrap();
        cost
    };
    assert!(cost(1) <= 5 && cost(2) <= 5 && cost(10) <= 13, "{} {} {}", cost(1), cost(2), cost(10));
}
