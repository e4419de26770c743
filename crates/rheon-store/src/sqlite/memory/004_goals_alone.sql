-- Rules that the user's answers became are in the user's settings, and checkpoints are in the journal and beside it: nothing read these.
DROP TABLE approvals;
DROP TABLE checkpoints;

-- How far a goal is, the task list of the session says.
ALTER TABLE goals DROP COLUMN percent;
ALTER TABLE goals DROP COLUMN note;
