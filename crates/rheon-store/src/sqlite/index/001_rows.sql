-- One row per session; `number` stands for its id in the other tables and is never given twice, so that a rebuild can
-- tell the rows it made from older ones.
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    path BLOB NOT NULL,
    parent_id TEXT,
    parent_seq INTEGER,
    title TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'unfinished',
    created_ms INTEGER NOT NULL DEFAULT 0,
    active_ms INTEGER NOT NULL DEFAULT 0,
    models TEXT NOT NULL DEFAULT '[]',
    turns INTEGER NOT NULL DEFAULT 0,
    -- The newest event that the rows tell of.
    seq INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The pages of a list: newest first, of one project or of all.
CREATE INDEX sessions_by_activity ON sessions (active_ms DESC, id DESC);
CREATE INDEX sessions_by_project ON sessions (project, active_ms DESC, id DESC);
CREATE INDEX sessions_by_parent ON sessions (parent_id) WHERE parent_id IS NOT NULL;

-- The model that each run called last; the end of a call does not say it again.
CREATE TABLE runs (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    loop_id TEXT NOT NULL,
    model TEXT NOT NULL,
    PRIMARY KEY (session, loop_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    loop_id TEXT NOT NULL,
    role TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- The text as the search sees it, where that is another one.
    words TEXT,
    UNIQUE (session, seq)
) STRICT;

CREATE TABLE tool_calls (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    loop_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    state TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    PRIMARY KEY (session, loop_id, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    calls_unpriced INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    total INTEGER NOT NULL,
    cost_micro_usd INTEGER NOT NULL,
    PRIMARY KEY (session, model)
) STRICT, WITHOUT ROWID;

-- Present while a rebuild is under way or was interrupted.
CREATE TABLE rebuild (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    -- Sessions with this number or a smaller one were there before it began.
    session_before INTEGER NOT NULL
) STRICT;
