//! What the tests of the stores have in common.

use roundgate::model::change::{Change, Event};
use roundgate::model::id::{Actor, IssueId};
use roundgate::model::issue::{Issue, Millis, Policy, Priority, State, Work};
use roundgate::model::record::Post;
use roundgate::model::tag::Tags;
use roundgate::store::{Extent, Revision, Store, StoreError};

pub fn id(text: &str) -> IssueId {
    text.parse().expect("an id")
}

pub fn actor(text: &str) -> Actor {
    text.parse().expect("an actor")
}

/// An open issue without anything to it.
pub fn plain(name: &str, at: Millis) -> Issue {
    Issue {
        id: id(name),
        title: format!("The title of {name}"),
        body: String::new(),
        state: State::Open,
        tags: Tags::new(),
        priority: Priority::default(),
        created_at: at,
        updated_at: at,
        revision: 1,
        epoch: 0,
        hands: [].into(),
        failed_steps: 0,
        policy: Policy::default(),
        work: Work::default(),
        key: None,
        pause: None,
    }
}

pub fn created(issue: Issue, parent: Option<&str>) -> Change {
    Change::IssueCreated { issue: Box::new(issue), parent: parent.map(id) }
}

pub fn post(topic: &str, body: &str, at: Millis) -> Change {
    let post = Post { topic: topic.to_owned(), author: actor("ann"), body: body.to_owned(), at };
    Change::Posted { post }
}

/// Events of the changes, numbered from a revision on.
pub fn events(changes: Vec<Change>, revision: Revision) -> Vec<Event> {
    let first = revision + 1;
    let numbered = changes.into_iter().zip(first..);
    numbered
        .map(|(change, seq)| Event {
            seq,
            at: 1_000 + seq as Millis,
            actor: actor("ann"),
            cause: "test".to_owned(),
            tick: (seq % 2 == 0).then_some(first),
            change,
        })
        .collect()
}

/// Commits changes in one transaction.
pub fn commit(store: &mut dyn Store, changes: Vec<Change>) -> Result<Revision, StoreError> {
    let mut changes = Some(changes);
    store.transact(Extent::Frontier, &mut |_, revision| {
        changes.take().map(|changes| events(changes, revision))
    })
}
