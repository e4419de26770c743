-- Full-text search over entries. The index holds no text of its own: it reads the view, and triggers keep it in step.
CREATE VIEW entries_words AS SELECT number, coalesce(words, text) AS text FROM entries;

CREATE VIRTUAL TABLE entries_search USING fts5 (
    text,
    content = 'entries_words',
    content_rowid = 'number',
    tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co So'"
);

CREATE TRIGGER entries_inserted AFTER INSERT ON entries BEGIN
    INSERT INTO entries_search (rowid, text) VALUES (new.number, coalesce(new.words, new.text));
END;

CREATE TRIGGER entries_deleted AFTER DELETE ON entries BEGIN
    INSERT INTO entries_search (entries_search, rowid, text)
    VALUES ('delete', old.number, coalesce(old.words, old.text));
END;

CREATE TRIGGER entries_updated AFTER UPDATE ON entries BEGIN
    INSERT INTO entries_search (entries_search, rowid, text)
    VALUES ('delete', old.number, coalesce(old.words, old.text));
    INSERT INTO entries_search (rowid, text) VALUES (new.number, coalesce(new.words, new.text));
END;

-- What was there before the search was.
INSERT INTO entries_search (entries_search) VALUES ('rebuild');
