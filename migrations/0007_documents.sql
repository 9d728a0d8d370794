-- Status documents (S3, "mu_ui visibility and handoff"): a head for each root, a part for each open
-- scope, a prompt for each open ask. A change writes the rows of what it touched and no others; the
-- text around them is made when somebody reads.

CREATE TABLE document_heads(
    root TEXT PRIMARY KEY REFERENCES issues(id),
    ui_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    updated_at INTEGER NOT NULL,
    shown INTEGER NOT NULL CHECK (shown IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE document_parts(
    scope TEXT PRIMARY KEY REFERENCES issues(id),
    root TEXT NOT NULL REFERENCES issues(id),
    place INTEGER NOT NULL CHECK (place > 0),
    name TEXT NOT NULL,
    abroad INTEGER NOT NULL CHECK (abroad IN (0, 1)),
    text TEXT NOT NULL CHECK (json_valid(text))
) STRICT, WITHOUT ROWID;

CREATE INDEX document_parts_by_root ON document_parts(root, place);

-- What happens in other trees decides over these, so that every change looks at them.
CREATE INDEX document_parts_abroad ON document_parts(scope) WHERE abroad = 1;

CREATE TABLE document_prompts(
    ask TEXT PRIMARY KEY REFERENCES issues(id),
    root TEXT NOT NULL REFERENCES issues(id),
    ui_id TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    updated_at INTEGER NOT NULL,
    shown INTEGER NOT NULL CHECK (shown IN (0, 1)),
    text TEXT NOT NULL CHECK (json_valid(text)),
    UNIQUE (root, ui_id)
) STRICT, WITHOUT ROWID;
