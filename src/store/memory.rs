//! The reference backend: everything in memory, for tests and as the measure of the others.

use std::collections::BTreeMap;

use super::contract::{EventQuery, Extent, PostQuery, Revision, Store, StoreError, Topic, recorded};
use super::numbering;
use crate::model::change::{Change, Event};
use crate::model::record::Post;
use crate::model::snapshot::Snapshot;

/// A store that ends with its process.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    snapshot: Snapshot,
    events: Vec<Event>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn all_posts(&self) -> impl Iterator<Item = &Post> {
        self.events.iter().filter_map(|event| match &event.change {
            Change::Posted { post } => Some(post),
            _ => None,
        })
    }
}

/// The latest `last` of a list, oldest first.
fn latest<T>(mut all: Vec<T>, last: Option<usize>) -> Vec<T> {
    let skip = last.map_or(0, |last| all.len().saturating_sub(last));
    all.drain(..skip);
    all
}

impl Store for Memory {
    fn snapshot(&self) -> Result<(Snapshot, Revision), StoreError> {
        Ok((self.snapshot.clone(), self.events.len() as Revision))
    }

    fn look(&self, read: &mut dyn FnMut(&Snapshot, Revision)) -> Result<(), StoreError> {
        read(&self.snapshot, self.events.len() as Revision);
        Ok(())
    }

    fn transact(
        &mut self,
        _extent: Extent,
        work: &mut dyn FnMut(&mut Snapshot, Revision) -> Option<Vec<Event>>,
    ) -> Result<Revision, StoreError> {
        let mut snapshot = self.snapshot.clone();
        let before = snapshot.folded();
        let events = work(&mut snapshot, self.events.len() as Revision).unwrap_or_default();
        numbering::check(&events, self.events.len() as Revision)?;
        for (_, done) in events.iter().cloned().filter_map(recorded) {
            if self.operation(&done.id, done.step)?.is_some() {
                let what = format!("step {} of {} was carried out before", done.step, done.id);
                return Err(StoreError::Unfit { what });
            }
        }
        if !events.is_empty() {
            let folded = snapshot.folded() - before;
            events.iter().skip(folded).for_each(|event| snapshot.fold(&event.change, event.at));
            self.snapshot = snapshot;
            self.events.extend(events);
        }
        Ok(self.events.len() as Revision)
    }

    fn events(&self, query: &EventQuery) -> Result<Vec<Event>, StoreError> {
        let asked = self.events.iter().filter(|event| {
            let about = query.subject.as_ref().is_none_or(|id| event.change.subject() == Some(id));
            about && event.seq > query.after
        });
        let asked = asked.take(query.first.unwrap_or(usize::MAX));
        Ok(latest(asked.cloned().collect(), query.last))
    }

    fn posts(&self, query: &PostQuery) -> Result<Vec<Post>, StoreError> {
        let asked = self.all_posts().filter(|post| query.topic.as_ref().is_none_or(|t| *t == post.topic));
        Ok(latest(asked.cloned().collect(), query.last))
    }

    fn topics(&self, prefix: &str) -> Result<Vec<Topic>, StoreError> {
        let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
        for post in self.all_posts().filter(|post| post.topic.starts_with(prefix)) {
            let empty = || Topic { name: post.topic.clone(), posts: 0, last_at: post.at };
            let topic = topics.entry(&post.topic).or_insert_with(empty);
            topic.posts += 1;
            topic.last_at = topic.last_at.max(post.at);
        }
        Ok(topics.into_values().collect())
    }
}
