-- What somebody is still to be told. What was delivered or given up goes from here; the events keep its
-- history.

CREATE TABLE notices(
    id TEXT PRIMARY KEY CHECK (id = ask || ':' || kind || ':' || number),
    ask TEXT NOT NULL REFERENCES asks(id),
    kind TEXT NOT NULL CHECK (kind IN ('asked', 'reminder', 'due', 'timeout', 'moot')),
    number INTEGER NOT NULL CHECK (number > 0),
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    sender TEXT,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    failures INTEGER NOT NULL CHECK (failures >= 0),
    failed_at INTEGER,
    failure TEXT CHECK ((failure IS NULL) = (failed_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Whoever sends asks for the first that is due; and how it went the last time.
CREATE INDEX notices_by_due ON notices(due_at, id);
CREATE INDEX notices_by_failure ON notices(failed_at DESC, id) WHERE failed_at IS NOT NULL;
