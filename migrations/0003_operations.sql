-- Operations: acts that their callers gave a name (`--operation`), so that a retry applies once.
--
-- The event has all there is to know of one, its reply among it; here it is found by its name. The
-- primary key stands behind "once": of two that do the same operation at once, the second is dropped.
-- A command of several transactions has a step for each.

CREATE TABLE operations(
    id TEXT NOT NULL CHECK (id <> ''),
    step INTEGER NOT NULL CHECK (step >= 0),
    seq INTEGER NOT NULL REFERENCES events(seq),
    PRIMARY KEY (id, step)
) STRICT, WITHOUT ROWID;
