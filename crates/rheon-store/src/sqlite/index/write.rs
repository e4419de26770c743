//! Writes to the index: the events of one session, in order, each once.

use crate::sqlite::rusqlite::{Connection, Error, OptionalExtension, params};
use rheon_types::{Event, RunId};

use super::row::{CallState, SessionSource, SessionStatus};
use super::rows::{Row, rows_of};
use crate::sqlite::files::path_bytes;
use crate::sqlite::full_text::segmented;
use crate::sqlite::number::{self, COUNT_MAX, stored};
use std::borrow::Cow;

/// How many models of a session are stored.
const MODELS_MAX: usize = 16;

/// The result of recording events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexUpdate {
    /// The number of new events.
    pub taken: u64,
    /// The number of events that were already indexed.
    pub known: u64,
    /// The first event the index is missing, if the given events start after it. They were not added: read the log
    /// from this event on and record again.
    pub missing_from: Option<u64>,
}

/// The row of a session while events are added; written once per batch.
pub(super) struct OpenSession<'a> {
    connection: &'a Connection,
    number: i64,
    first_prompt: String,
    given_title: String,
    status: SessionStatus,
    created_ms: Option<i64>,
    active_ms: i64,
    models: Vec<String>,
    turns: u64,
    seq: u64,
    parent_seq: Option<u64>,
}

impl<'a> OpenSession<'a> {
    /// Reads or creates the row of the session, and updates its source.
    pub(super) fn new(connection: &'a Connection, source: &SessionSource) -> Result<Self, Error> {
        let parent = source.parent.as_ref();
        let mut statement = connection.prepare_cached(
            "INSERT INTO sessions (id, project, path, parent_id, parent_seq) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (id) DO UPDATE SET project = excluded.project, path = excluded.path, \
             parent_id = excluded.parent_id, parent_seq = excluded.parent_seq \
             RETURNING number, title, status, created_ms, active_ms, models, turns, seq, given_title",
        )?;
        let values = params![
            source.session_id.as_str(),
            source.project,
            path_bytes(&source.path),
            parent.map(|parent| parent.session_id.as_str()),
            parent.map(|parent| stored(parent.seq)),
        ];
        statement.query_row(values, |row| {
            let seq = number::read(row.get(7)?);
            Ok(Self {
                connection,
                number: row.get(0)?,
                first_prompt: row.get(1)?,
                given_title: row.get(8)?,
                status: row.get(2)?,
                created_ms: if seq == 0 { None } else { Some(row.get(3)?) },
                active_ms: row.get(4)?,
                models: serde_json::from_str(&row.get::<_, String>(5)?).unwrap_or_default(),
                turns: number::read(row.get(6)?),
                seq,
                parent_seq: parent.map(|parent| parent.seq),
            })
        })
    }

    /// Adds an event if it is the next one. Live-only events are ignored.
    pub(super) fn add(&mut self, event: &Event, recorded: &mut IndexUpdate) -> Result<(), Error> {
        if !event.kind.is_durable() || recorded.missing_from.is_some() {
            return Ok(());
        }
        if event.seq <= self.seq {
            recorded.known += 1;
            return Ok(());
        }
        // The log of a fork may start at the fork point.
        let begins_fork =
            self.seq == 0 && self.parent_seq.is_some_and(|seq| event.seq == seq.saturating_add(1));
        if event.seq != self.seq.saturating_add(1) && !begins_fork {
            recorded.missing_from = Some(self.seq.saturating_add(1));
            return Ok(());
        }
        recorded.taken += 1;
        self.seq = event.seq;
        self.active_ms = stored(event.at.as_millis());
        self.created_ms.get_or_insert(self.active_ms);
        let (run_id, rows) = rows_of(event);
        rows.into_iter().try_for_each(|row| self.put(&run_id, row))
    }

    fn put(&mut self, run_id: &RunId, row: Row) -> Result<(), Error> {
        match row {
            Row::FirstPrompt(prompt) => {
                if self.first_prompt.is_empty() {
                    self.first_prompt = prompt;
                }
                Ok(())
            }
            Row::Title(title) => {
                self.given_title = title;
                Ok(())
            }
            Row::Status(status) => {
                self.status = status;
                Ok(())
            }
            Row::Turn => {
                self.turns = self.turns.saturating_add(1);
                Ok(())
            }
            Row::Model(model) => self.put_model(run_id, model),
            Row::Answered(model) => self.put_answered(run_id, model),
            Row::Entry { role, text } => {
                let words = match segmented(&text) {
                    Cow::Borrowed(_) => None,
                    Cow::Owned(words) => Some(words),
                };
                self.execute(
                    "INSERT INTO entries (session, seq, run_id, role, at_ms, text, words) \
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![self.number, stored(self.seq), run_id.as_str(), role, self.active_ms, text, words],
                )
            }
            Row::Spent { usage, cost } => {
                let model = self.model_of(run_id)?;
                self.put_spent(&model, usage, cost)
            }
            Row::CallStart { call_id, name, arguments } => self.execute(
                "INSERT INTO tool_calls (session, seq, run_id, call_id, name, arguments, state, duration_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0) ON CONFLICT DO UPDATE SET seq = excluded.seq, \
                 name = excluded.name, arguments = excluded.arguments, state = excluded.state, duration_ms = 0",
                params![
                    self.number,
                    stored(self.seq),
                    run_id.as_str(),
                    call_id.as_str(),
                    name.as_str(),
                    arguments,
                    CallState::Started
                ],
            ),
            Row::CallEnd { call_id, name, state, duration_ms } => self.execute(
                "INSERT INTO tool_calls (session, seq, run_id, call_id, name, arguments, state, duration_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, '', ?6, ?7) ON CONFLICT DO UPDATE SET state = excluded.state, \
                 duration_ms = excluded.duration_ms",
                params![
                    self.number,
                    stored(self.seq),
                    run_id.as_str(),
                    call_id.as_str(),
                    name.as_str(),
                    state,
                    stored(duration_ms)
                ],
            ),
        }
    }

    /// The model that answered, if it is another than the one that was asked.
    fn put_answered(&mut self, run_id: &RunId, model: String) -> Result<(), Error> {
        let asked = self.model_of(run_id)?;
        // Services answer with the full name of a version.
        let name = asked.rsplit('/').next().unwrap_or(&asked);
        let is_asked = model.is_empty() || model.starts_with(name) || asked.ends_with(&model);
        if is_asked { Ok(()) } else { self.put_model(run_id, model) }
    }

    fn put_model(&mut self, run_id: &RunId, model: String) -> Result<(), Error> {
        self.execute(
            "INSERT INTO runs (session, run_id, model) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET model = excluded.model",
            params![self.number, run_id.as_str(), model],
        )?;
        if self.models.len() < MODELS_MAX && !self.models.contains(&model) {
            self.models.push(model);
        }
        Ok(())
    }

    fn model_of(&self, run_id: &RunId) -> Result<String, Error> {
        let mut statement =
            self.connection.prepare_cached("SELECT model FROM runs WHERE session = ?1 AND run_id = ?2")?;
        let model =
            statement.query_row(params![self.number, run_id.as_str()], |row| row.get(0)).optional()?;
        Ok(model.unwrap_or_default())
    }

    fn put_spent(
        &self,
        model: &str,
        usage: rheon_types::Usage,
        cost: Option<rheon_types::MicroUsd>,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO usage (session, model, calls, calls_unpriced, input, output, cache_read, cache_write, total, \
             cost_micro_usd) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO UPDATE SET \
             calls = calls + 1, calls_unpriced = calls_unpriced + excluded.calls_unpriced, \
             input = min(input + excluded.input, ?10), output = min(output + excluded.output, ?10), \
             cache_read = min(cache_read + excluded.cache_read, ?10), \
             cache_write = min(cache_write + excluded.cache_write, ?10), total = min(total + excluded.total, ?10), \
             cost_micro_usd = min(cost_micro_usd + excluded.cost_micro_usd, ?10)",
            params![
                self.number,
                model,
                i64::from(cost.is_none()),
                stored(usage.input),
                stored(usage.output),
                stored(usage.cache_read),
                stored(usage.cache_write),
                stored(usage.total()),
                stored(cost.unwrap_or_default().0),
                stored(COUNT_MAX - 1),
            ],
        )
    }

    /// Writes the row of the session.
    pub(super) fn close(self) -> Result<(), Error> {
        let models = serde_json::Value::from(self.models.clone()).to_string();
        self.execute(
            "UPDATE sessions SET title = ?2, status = ?3, created_ms = ?4, active_ms = ?5, models = ?6, turns = ?7, \
             seq = ?8, given_title = ?9 WHERE number = ?1",
            params![
                self.number,
                self.first_prompt,
                self.status,
                self.created_ms.unwrap_or(self.active_ms),
                self.active_ms,
                models,
                stored(self.turns),
                stored(self.seq),
                self.given_title,
            ],
        )
    }

    fn execute(&self, sql: &str, values: impl crate::sqlite::rusqlite::Params) -> Result<(), Error> {
        self.connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Removes a session and all its rows.
pub(super) fn remove(connection: &Connection, session_id: &str) -> Result<bool, Error> {
    Ok(connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([session_id])? > 0)
}
