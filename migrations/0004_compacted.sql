-- Events whose bulk was moved to an archive (`roundgate compact`).
--
-- Such an event keeps its place in the chain and its hash, which is that of what it was. What is left
-- of it has a digest of its own, and the event that recorded the compaction has one of all of these:
-- so nothing that is left can be changed without being found, and the archive proves the rest. The rows
-- come before the event that records them, in one transaction.

CREATE TABLE compacted(
    seq INTEGER PRIMARY KEY REFERENCES events(seq),
    compaction INTEGER NOT NULL REFERENCES events(seq) DEFERRABLE INITIALLY DEFERRED CHECK (compaction > seq),
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
