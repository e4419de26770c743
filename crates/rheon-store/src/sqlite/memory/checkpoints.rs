//! Checkpoints of conversations: which message was the last one and a little state, as changes since the one before.
//!
//! Messages are in the journal; none is copied here.

use crate::sqlite::rusqlite::types::Type;
use crate::sqlite::rusqlite::{Connection, Error, params};
use rheon_types::{SessionId, Timestamp};

use super::delta::{Delta, State};
use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::number::{self, limit, stored};

/// The largest state, as JSON.
const STATE_BYTES_MAX: usize = 64 << 10;
/// After so many changes the next checkpoint says everything, so that reading one is cheap.
const DELTAS_MAX: usize = 15;

/// Where the state stands in a row that is read.
const STATE_COLUMN: usize = 3;

/// Where a conversation stood.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// The event of the last message.
    pub seq: u64,
    /// When it was kept.
    pub at: Timestamp,
    /// Whatever belongs to it and is in no message.
    pub state: State,
}

/// A checkpoint that could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The state is too large.
    #[error(
        "the state of a checkpoint has {bytes} bytes and may have {STATE_BYTES_MAX}: leave out what the journal holds"
    )]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
    /// It does not follow the newest one.
    #[error("a checkpoint at event {seq} cannot follow one at event {newest}")]
    NotNext {
        /// Its event.
        seq: u64,
        /// The event of the newest one.
        newest: u64,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// The checkpoints in a memory.
#[derive(Debug)]
pub struct Checkpoints<'a> {
    database: &'a Database,
}

impl<'a> Checkpoints<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Keeps a checkpoint after the ones that are there.
    pub fn save(&self, session_id: &SessionId, checkpoint: &Checkpoint) -> Result<(), CheckpointError> {
        let whole = text_of(&checkpoint.state);
        if whole.len() > STATE_BYTES_MAX {
            return Err(CheckpointError::TooLarge { bytes: whole.len() });
        }
        let newest = self.database.write(|connection| {
            let chain = chain(connection, session_id)?;
            if let Some(last) = chain.last()
                && last.seq >= checkpoint.seq
            {
                return Ok(Some(last.seq));
            }
            let is_whole = chain.is_empty() || chain.len() > DELTAS_MAX;
            let state = if is_whole {
                whole
            } else {
                let before = newest_of(chain)?.map(|newest| newest.state).unwrap_or_default();
                serde_json::to_string(&Delta::between(&before, &checkpoint.state))
                    .map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))?
            };
            connection.execute(
                "INSERT INTO checkpoints (session_id, seq, at_ms, whole, state) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    session_id.as_str(),
                    stored(checkpoint.seq),
                    stored(checkpoint.at.as_millis()),
                    is_whole,
                    state
                ],
            )?;
            Ok(None)
        })?;
        match newest {
            Some(newest) => Err(CheckpointError::NotNext { seq: checkpoint.seq, newest }),
            None => Ok(()),
        }
    }

    /// The newest checkpoint of a session.
    pub fn latest(&self, session_id: &SessionId) -> Result<Option<Checkpoint>, DatabaseError> {
        self.database.read(|connection| newest_of(chain(connection, session_id)?))
    }

    /// Forgets all checkpoints of a session but the `kept` newest, and says how many were forgotten.
    pub fn prune(&self, session_id: &SessionId, kept: usize) -> Result<usize, DatabaseError> {
        self.database.write(|connection| {
            if kept == 0 {
                return connection
                    .execute("DELETE FROM checkpoints WHERE session_id = ?1", [session_id.as_str()]);
            }
            let mut statement = connection.prepare_cached(
                "SELECT seq FROM checkpoints WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2",
            )?;
            let oldest = statement
                .query_map(params![session_id.as_str(), limit(kept - 1)], |row| row.get::<_, i64>(0))?
                .next()
                .transpose()?;
            let Some(oldest) = oldest else { return Ok(0) };
            // What it was a change of goes away, so it says everything from now on.
            let chain = chain_until(connection, session_id, oldest)?;
            if let Some(checkpoint) = newest_of(chain)? {
                connection.execute(
                    "UPDATE checkpoints SET whole = TRUE, state = ?3 WHERE session_id = ?1 AND seq = ?2",
                    params![session_id.as_str(), oldest, text_of(&checkpoint.state)],
                )?;
            }
            connection.execute(
                "DELETE FROM checkpoints WHERE session_id = ?1 AND seq < ?2",
                params![session_id.as_str(), oldest],
            )
        })
    }
}

/// A checkpoint as it is stored.
struct Link {
    seq: u64,
    at: Timestamp,
    is_whole: bool,
    text: String,
}

/// The newest whole checkpoint and the changes after it.
fn chain(connection: &Connection, session_id: &SessionId) -> Result<Vec<Link>, Error> {
    chain_until(connection, session_id, i64::MAX)
}

fn chain_until(connection: &Connection, session_id: &SessionId, last: i64) -> Result<Vec<Link>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, at_ms, whole, state FROM checkpoints WHERE session_id = ?1 AND seq <= ?2 AND seq >= \
         (SELECT max(seq) FROM checkpoints WHERE session_id = ?1 AND seq <= ?2 AND whole) ORDER BY seq",
    )?;
    let links = statement.query_map(params![session_id.as_str(), last], |row| {
        Ok(Link {
            seq: number::read(row.get(0)?),
            at: Timestamp::from_millis(number::read(row.get(1)?)),
            is_whole: row.get(2)?,
            text: row.get(3)?,
        })
    })?;
    links.collect()
}

/// The state at the end of a chain. One that cannot be read is an error, not an empty state.
fn newest_of(chain: Vec<Link>) -> Result<Option<Checkpoint>, Error> {
    let unreadable = |error| Error::FromSqlConversionFailure(STATE_COLUMN, Type::Text, Box::new(error));
    chain.into_iter().try_fold(None, |before: Option<Checkpoint>, link| {
        let state = match before {
            Some(before) if !link.is_whole => {
                serde_json::from_str::<Delta>(&link.text).map_err(unreadable)?.apply(before.state)
            }
            Some(_) | None => serde_json::from_str(&link.text).map_err(unreadable)?,
        };
        Ok(Some(Checkpoint { seq: link.seq, at: link.at, state }))
    })
}

fn text_of(state: &State) -> String {
    serde_json::Value::Object(state.clone()).to_string()
}
