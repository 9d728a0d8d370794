-- What follows for each issue from everything else, kept beside it so that nobody has to read the whole
-- graph to know what can move. Written in the transaction of whatever changes it; the events know nothing
-- of it, and `doctor --fix` makes it again.

-- `lists` has one bit for each list of `model::frontier::List` that the issue is on; `due` is when the
-- lease of its holder ends.
CREATE TABLE standing(
    id TEXT PRIMARY KEY REFERENCES issues(id),
    root TEXT NOT NULL,
    depth INTEGER NOT NULL CHECK (depth >= 0),
    priority INTEGER NOT NULL,
    resolved INTEGER NOT NULL CHECK (resolved IN (0, 1)),
    let_go INTEGER NOT NULL CHECK (let_go IN (0, 1)),
    children INTEGER NOT NULL CHECK (children >= 0),
    open_children INTEGER NOT NULL CHECK (open_children >= 0),
    unresolved_children INTEGER NOT NULL CHECK (unresolved_children >= 0),
    open_blockers INTEGER NOT NULL CHECK (open_blockers >= 0),
    lists INTEGER NOT NULL CHECK (lists >= 0),
    due INTEGER
) STRICT, WITHOUT ROWID;

-- The lists, each in its order: what lies deepest first where the list wants that, then by priority,
-- age and id.
CREATE TABLE frontier(
    list INTEGER NOT NULL,
    root TEXT NOT NULL,
    level INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id TEXT NOT NULL REFERENCES issues(id),
    PRIMARY KEY (list, root, level, priority, created_at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX frontier_anywhere ON frontier(list, level, priority, created_at, id);
