CREATE TABLE goals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    text TEXT NOT NULL,
    status TEXT NOT NULL,
    percent INTEGER NOT NULL CHECK (percent BETWEEN 0 AND 100),
    note TEXT NOT NULL,
    session_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX goals_by_project ON goals (project, status, updated_ms DESC);

CREATE TABLE learnings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Empty where it holds for every project.
    project TEXT NOT NULL,
    text TEXT NOT NULL,
    -- The text as the search sees it, where that is another one.
    words TEXT,
    status TEXT NOT NULL,
    evidence_for INTEGER NOT NULL,
    evidence_against INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    UNIQUE (project, text)
) STRICT;

CREATE VIEW learnings_words AS SELECT id, coalesce(words, text) AS text FROM learnings;

CREATE VIRTUAL TABLE learnings_search USING fts5 (
    text,
    content = 'learnings_words',
    content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co So'"
);

CREATE TRIGGER learnings_inserted AFTER INSERT ON learnings BEGIN
    INSERT INTO learnings_search (rowid, text) VALUES (new.id, coalesce(new.words, new.text));
END;

CREATE TRIGGER learnings_deleted AFTER DELETE ON learnings BEGIN
    INSERT INTO learnings_search (learnings_search, rowid, text)
    VALUES ('delete', old.id, coalesce(old.words, old.text));
END;

CREATE TRIGGER learnings_updated AFTER UPDATE OF text, words ON learnings BEGIN
    INSERT INTO learnings_search (learnings_search, rowid, text)
    VALUES ('delete', old.id, coalesce(old.words, old.text));
    INSERT INTO learnings_search (rowid, text) VALUES (new.id, coalesce(new.words, new.text));
END;

CREATE TABLE approvals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Empty where it holds for every project.
    project TEXT NOT NULL,
    list TEXT NOT NULL,
    rule TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    UNIQUE (project, list, rule)
) STRICT;
