//! What a snapshot knows of the outbox.

use super::Snapshot;
use crate::model::record::{Notice, NoticeId};
use crate::model::source::Outbox;

impl Snapshot {
    /// Everything in the outbox of a whole snapshot, by id.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.all(&self.graph).flatten()
    }

    /// One notice, while it is in the outbox.
    pub fn notice(&self, id: &NoticeId) -> Option<&Notice> {
        let found = self.notices.get(id, &self.graph, |source| Some(source.notice(id)));
        found.and_then(Option::as_ref)
    }

    /// The first so many of the outbox in an order, found without reading the others. To be asked before
    /// anything is folded.
    pub fn outbox(&self, order: Outbox, limit: usize) -> Vec<Notice> {
        if let Some(source) = self.graph.source() {
            return source.outbox(order, limit);
        }
        let mut found: Vec<(String, &Notice)> = self.notices().map(|n| (n.id.to_string(), n)).collect();
        match order {
            Outbox::FirstDue => found.sort_by(|(a, x), (b, y)| x.due_at.cmp(&y.due_at).then(a.cmp(b))),
            Outbox::LastFailed => {
                found.retain(|(_, notice)| notice.failure.is_some());
                let failed = |notice: &Notice| notice.failure.as_ref().map(|failure| failure.at);
                found.sort_by(|(a, x), (b, y)| failed(y).cmp(&failed(x)).then(a.cmp(b)));
            }
        }
        found.into_iter().take(limit).map(|(_, notice)| notice.clone()).collect()
    }

    pub(super) fn set_notice(&mut self, notice: &Notice) {
        self.notices.put(&notice.id, Some(notice.clone()));
    }

    pub(super) fn remove_notice(&mut self, id: &NoticeId) {
        self.notices.put(id, None);
    }
}
