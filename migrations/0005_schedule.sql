-- What the clock remembers: heartbeats and cron entries. Due times follow from the rhythm and the anchor
-- and are not kept. What is deleted goes from here; the events keep its history.

CREATE TABLE heartbeats(
    id TEXT PRIMARY KEY CHECK (id LIKE 'hb-%'),
    kind TEXT NOT NULL CHECK (kind IN ('heartbeat', 'cron')),
    root TEXT NOT NULL REFERENCES issues(id),
    title TEXT NOT NULL,
    reason TEXT NOT NULL,
    rhythm TEXT NOT NULL CHECK (json_valid(rhythm)),
    lasts INTEGER NOT NULL CHECK (lasts > 0),
    max_ticks INTEGER CHECK (max_ticks > 0),
    overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue')),
    anchor INTEGER NOT NULL,
    halted TEXT CHECK (json_valid(halted)),
    last_run INTEGER,
    skipped INTEGER NOT NULL CHECK (skipped >= 0),
    gap TEXT CHECK (json_valid(gap)),
    triggered TEXT CHECK (json_valid(triggered)),
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A root has one clock of its own, whoever makes it.
CREATE UNIQUE INDEX heartbeats_once ON heartbeats(root) WHERE kind = 'heartbeat';

CREATE INDEX heartbeats_by_root ON heartbeats(root);
