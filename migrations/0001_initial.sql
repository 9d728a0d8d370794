-- The first schema of a roundgate store.
--
-- `events` is the record; every other table is what its events come to, kept beside it so that a
-- store can be read without replaying. Nothing is computed in SQL: no triggers, no views.
--
-- A `seq` column names the event that put the row there. Reading by it gives every list back in the
-- order in which it grew, so that a snapshot read from here equals the one folded from the events.
--
-- An open store must have exactly these statements in its schema, so this file never changes once
-- it was released; what comes later is 0002, and so on. Comments stand between statements only.
--
-- Events are chained: `hash` is SHA-256 over the hash before it and every other column of the row.

CREATE TABLE events(
    seq INTEGER PRIMARY KEY CHECK (seq > 0),
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    cause TEXT NOT NULL,
    tick INTEGER CHECK (tick > 0 AND tick <= seq),
    subject TEXT,
    change TEXT NOT NULL CHECK (json_valid(change)),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX events_by_subject ON events(subject) WHERE subject IS NOT NULL;

-- The state of an issue is spread over columns; the checks at the end are `model::issue::State`:
-- only work in progress is held, and only what is closed has an outcome.
CREATE TABLE issues(
    seq INTEGER PRIMARY KEY REFERENCES events(seq),
    id TEXT NOT NULL UNIQUE CHECK (id <> ''),
    parent TEXT REFERENCES issues(id) CHECK (parent <> id),
    parent_seq INTEGER NOT NULL REFERENCES events(seq),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'closed')),
    outcome TEXT CHECK (outcome IN ('success', 'failure', 'needs_work', 'skipped', 'expanded')),
    reason TEXT,
    claim_actor TEXT,
    claim_epoch INTEGER,
    claim_expires_at INTEGER,
    claim_runner TEXT CHECK (json_valid(claim_runner)),
    claim_worker TEXT CHECK (json_valid(claim_worker)),
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    priority INTEGER NOT NULL CHECK (priority BETWEEN 1 AND 5),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    revision INTEGER NOT NULL CHECK (revision > 0),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    hands TEXT NOT NULL CHECK (json_valid(hands)),
    failed_steps INTEGER NOT NULL CHECK (failed_steps >= 0),
    policy TEXT NOT NULL CHECK (json_valid(policy)),
    work TEXT NOT NULL CHECK (json_valid(work)),
    plan_key TEXT,
    CHECK ((status = 'closed') = (outcome IS NOT NULL)),
    CHECK (status = 'closed' OR reason IS NULL),
    CHECK ((status = 'in_progress') = (claim_actor IS NOT NULL)),
    CHECK ((claim_actor IS NULL) = (claim_epoch IS NULL)),
    CHECK ((claim_actor IS NULL) = (claim_expires_at IS NULL)),
    CHECK (claim_actor IS NOT NULL OR (claim_runner IS NULL AND claim_worker IS NULL))
) STRICT;

CREATE INDEX issues_by_parent ON issues(parent) WHERE parent IS NOT NULL;

CREATE TABLE edges(
    from_id TEXT NOT NULL REFERENCES issues(id),
    kind TEXT NOT NULL CHECK (kind IN ('blocks', 'supersedes')),
    to_id TEXT NOT NULL REFERENCES issues(id),
    seq INTEGER NOT NULL REFERENCES events(seq),
    PRIMARY KEY (from_id, kind, to_id),
    CHECK (from_id <> to_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX edges_by_to ON edges(to_id, kind);

CREATE TABLE scopes(
    id TEXT PRIMARY KEY REFERENCES issues(id),
    policy TEXT NOT NULL,
    max_rounds INTEGER NOT NULL CHECK (max_rounds >= 0),
    no_progress INTEGER NOT NULL CHECK (no_progress >= 0),
    allow_self_review INTEGER NOT NULL CHECK (allow_self_review IN (0, 1)),
    step_retries INTEGER NOT NULL CHECK (step_retries >= 0),
    ended TEXT CHECK (ended IN ('passed', 'waived', 'abandoned'))
) STRICT, WITHOUT ROWID;

-- Two ticks that open the same round at once cannot both succeed: the primary key and the two
-- unique columns stand behind that. A round may be written before its scope, in one transaction.
CREATE TABLE rounds(
    scope TEXT NOT NULL REFERENCES scopes(id) DEFERRABLE INITIALLY DEFERRED,
    number INTEGER NOT NULL CHECK (number > 0),
    attempt TEXT NOT NULL UNIQUE REFERENCES issues(id),
    review TEXT NOT NULL UNIQUE REFERENCES issues(id),
    opinion TEXT CHECK (opinion IN ('pass', 'needs_work')),
    verdict_reason TEXT,
    verdict_by TEXT,
    verdict_at INTEGER,
    verdict_evidence TEXT CHECK (json_valid(verdict_evidence)),
    ended TEXT CHECK (ended IN ('passed', 'failed')),
    notes TEXT,
    signature TEXT,
    PRIMARY KEY (scope, number),
    CHECK (attempt <> review),
    CHECK ((opinion IS NULL) = (verdict_reason IS NULL)),
    CHECK ((opinion IS NULL) = (verdict_by IS NULL)),
    CHECK ((opinion IS NULL) = (verdict_at IS NULL)),
    CHECK ((opinion IS NULL) = (verdict_evidence IS NULL)),
    CHECK ((ended IS 'failed') = (notes IS NOT NULL)),
    CHECK (ended IS 'failed' OR signature IS NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE asks(
    id TEXT PRIMARY KEY REFERENCES issues(id),
    kind TEXT NOT NULL CHECK (kind IN ('rounds', 'handoff', 'failure', 'steps', 'question')),
    scope TEXT REFERENCES issues(id),
    round INTEGER CHECK (round > 0),
    about TEXT REFERENCES issues(id),
    question TEXT NOT NULL,
    evidence TEXT NOT NULL CHECK (json_valid(evidence)),
    choices TEXT NOT NULL CHECK (json_valid(choices)),
    answer TEXT CHECK (json_valid(answer))
) STRICT, WITHOUT ROWID;

-- A round is escalated once for each kind of reason, whoever ticks.
CREATE UNIQUE INDEX asks_once ON asks(scope, round, kind) WHERE scope IS NOT NULL;

CREATE TABLE plans(
    root TEXT PRIMARY KEY REFERENCES issues(id),
    folder TEXT NOT NULL,
    workers TEXT NOT NULL CHECK (json_valid(workers))
) STRICT, WITHOUT ROWID;

CREATE TABLE finished_roots(
    id TEXT PRIMARY KEY REFERENCES issues(id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reserved_ids(
    id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- No reference to issues: an import may have something to say about an id that it only reserved.
CREATE TABLE annotations(
    seq INTEGER PRIMARY KEY REFERENCES events(seq),
    issue TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE posts(
    seq INTEGER PRIMARY KEY REFERENCES events(seq),
    topic TEXT NOT NULL,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX posts_by_topic ON posts(topic);
