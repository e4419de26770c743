-- A title that somebody gave a session; the column title is its first prompt.
ALTER TABLE sessions ADD COLUMN given_title TEXT NOT NULL DEFAULT '';
