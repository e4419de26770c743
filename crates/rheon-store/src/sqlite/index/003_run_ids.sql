-- Runs are called runs.
ALTER TABLE runs RENAME COLUMN loop_id TO run_id;
ALTER TABLE entries RENAME COLUMN loop_id TO run_id;
ALTER TABLE tool_calls RENAME COLUMN loop_id TO run_id;
