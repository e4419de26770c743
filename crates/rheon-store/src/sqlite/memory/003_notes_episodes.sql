-- What the files of notes say, for the search; the files are the truth and the rows are made anew from them.
CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Empty where it is a note of the user, for every project.
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    text TEXT NOT NULL,
    -- All of it as the search sees it.
    words TEXT NOT NULL,
    UNIQUE (project, name)
) STRICT;

-- What happened in earlier sessions, one row each.
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    summary TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    -- The summary as the search sees it.
    words TEXT NOT NULL
) STRICT;

CREATE INDEX episodes_by_project ON episodes (project, at_ms DESC);

-- One search over both, so that a note and an episode can be compared: even numbers are notes, odd ones episodes.
CREATE VIEW recall_words AS
    SELECT 2 * id AS id, words AS text FROM notes
    UNION ALL
    SELECT 2 * id + 1 AS id, words AS text FROM episodes;

CREATE VIRTUAL TABLE recall_search USING fts5 (
    text,
    content = 'recall_words',
    content_rowid = 'id',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co So'"
);

CREATE TRIGGER notes_inserted AFTER INSERT ON notes BEGIN
    INSERT INTO recall_search (rowid, text) VALUES (2 * new.id, new.words);
END;

CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
    INSERT INTO recall_search (recall_search, rowid, text) VALUES ('delete', 2 * old.id, old.words);
END;

CREATE TRIGGER notes_updated AFTER UPDATE OF words ON notes BEGIN
    INSERT INTO recall_search (recall_search, rowid, text) VALUES ('delete', 2 * old.id, old.words);
    INSERT INTO recall_search (rowid, text) VALUES (2 * new.id, new.words);
END;

CREATE TRIGGER episodes_inserted AFTER INSERT ON episodes BEGIN
    INSERT INTO recall_search (rowid, text) VALUES (2 * new.id + 1, new.words);
END;

CREATE TRIGGER episodes_deleted AFTER DELETE ON episodes BEGIN
    INSERT INTO recall_search (recall_search, rowid, text) VALUES ('delete', 2 * old.id + 1, old.words);
END;

CREATE TRIGGER episodes_updated AFTER UPDATE OF words ON episodes BEGIN
    INSERT INTO recall_search (recall_search, rowid, text) VALUES ('delete', 2 * old.id + 1, old.words);
    INSERT INTO recall_search (rowid, text) VALUES (2 * new.id + 1, new.words);
END;
