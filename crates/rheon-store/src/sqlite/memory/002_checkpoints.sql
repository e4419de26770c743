-- Each row says what changed since the one before it in the same session; a `whole` row says everything.
CREATE TABLE checkpoints (
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    whole INTEGER NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;
