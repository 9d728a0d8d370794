//! What the stores of tests leave to the store within them, so that each says only what is odd about it.

/// Methods of `Store` that ask `self.inner`, by their names.
macro_rules! passes_on {
    (snapshot) => {
        fn snapshot(
            &self,
        ) -> Result<
            (roundgate::model::snapshot::Snapshot, roundgate::store::Revision),
            roundgate::store::StoreError,
        > {
            self.inner.snapshot()
        }
    };
    (look) => {
        fn look(
            &self,
            read: &mut dyn FnMut(&roundgate::model::snapshot::Snapshot, roundgate::store::Revision),
        ) -> Result<(), roundgate::store::StoreError> {
            self.inner.look(read)
        }
    };
    (records) => {
        fn events(
            &self,
            query: &roundgate::store::EventQuery,
        ) -> Result<Vec<roundgate::model::change::Event>, roundgate::store::StoreError> {
            self.inner.events(query)
        }

        fn posts(
            &self,
            query: &roundgate::store::PostQuery,
        ) -> Result<Vec<roundgate::model::record::Post>, roundgate::store::StoreError> {
            self.inner.posts(query)
        }

        fn topics(&self, prefix: &str) -> Result<Vec<roundgate::store::Topic>, roundgate::store::StoreError> {
            self.inner.topics(prefix)
        }
    };
}
