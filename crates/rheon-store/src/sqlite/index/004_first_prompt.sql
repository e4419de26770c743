-- The title of a session that was given one; the column title is its first prompt.
ALTER TABLE sessions ADD COLUMN given_title TEXT NOT NULL DEFAULT '';
