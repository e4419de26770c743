//! Goals: what a project wants to reach, across sessions.

use crate::sqlite::rusqlite::{Error, OptionalExtension, Row, params};
use rheon_types::{SessionId, Timestamp};

use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::names::stored_names;
use crate::sqlite::number::{self, limit, stored};

const GOALS_MAX: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoalId(pub i64);

stored_names! {
    /// The status of a goal.
    GoalStatus {
        /// In progress.
        Open = "open",
        /// Reached.
        Done = "done",
        /// Abandoned.
        Dropped = "dropped",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    pub id: GoalId,
    pub project: String,
    pub text: String,
    pub status: GoalStatus,
    /// The session that works on it: the one that set it, until another one takes over.
    pub session_id: SessionId,
    pub created: Timestamp,
    pub updated: Timestamp,
}

#[derive(Debug)]
pub struct Goals<'a> {
    database: &'a Database,
}

const COLUMNS: &str = "id, project, text, status, session_id, created_ms, updated_ms";

impl<'a> Goals<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    pub fn create(
        &self,
        project: &str,
        text: &str,
        session_id: &SessionId,
        at: Timestamp,
    ) -> Result<GoalId, DatabaseError> {
        self.database.write(|connection| {
            connection.execute(
                "INSERT INTO goals (project, text, status, session_id, created_ms, updated_ms) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
                params![project, text, GoalStatus::Open, session_id.as_str(), stored(at.as_millis())],
            )?;
            Ok(GoalId(connection.last_insert_rowid()))
        })
    }

    /// Sets the status of a goal. Returns `false` if it does not exist.
    pub fn set_status(&self, id: GoalId, status: GoalStatus, at: Timestamp) -> Result<bool, DatabaseError> {
        self.database.write(|connection| {
            let changed = connection.execute(
                "UPDATE goals SET status = ?2, updated_ms = ?3 WHERE id = ?1",
                params![id.0, status, stored(at.as_millis())],
            )?;
            Ok(changed > 0)
        })
    }

    /// Assigns an open goal to another session. Returns `false` if the goal does not exist or is not open.
    pub fn assign(&self, id: GoalId, session_id: &SessionId, at: Timestamp) -> Result<bool, DatabaseError> {
        self.database.write(|connection| {
            let changed = connection.execute(
                "UPDATE goals SET session_id = ?2, updated_ms = ?3 WHERE id = ?1 AND status = ?4",
                params![id.0, session_id.as_str(), stored(at.as_millis()), GoalStatus::Open],
            )?;
            Ok(changed > 0)
        })
    }

    /// Gives a session that has had no goal yet a copy of its parent's open goal.
    pub fn inherit(
        &self,
        session_id: &SessionId,
        parent: &SessionId,
        at: Timestamp,
    ) -> Result<(), DatabaseError> {
        self.database.write(|connection| {
            connection.execute(
                "INSERT INTO goals (project, text, status, session_id, created_ms, updated_ms) \
                 SELECT project, text, status, ?1, ?3, ?3 FROM goals WHERE session_id = ?2 AND status = ?4 \
                 AND NOT EXISTS (SELECT 1 FROM goals WHERE session_id = ?1) ORDER BY updated_ms DESC, id DESC LIMIT 1",
                params![session_id.as_str(), parent.as_str(), stored(at.as_millis()), GoalStatus::Open],
            )?;
            Ok(())
        })
    }

    /// The open goals of a project, most recently changed first.
    pub fn open_of(&self, project: &str) -> Result<Vec<Goal>, DatabaseError> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM goals WHERE project = ?1 AND status = ?2 \
                 ORDER BY updated_ms DESC, id DESC LIMIT ?3"
            ))?;
            statement.query_map(params![project, GoalStatus::Open, limit(GOALS_MAX)], goal)?.collect()
        })
    }

    pub fn get(&self, id: GoalId) -> Result<Option<Goal>, DatabaseError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM goals WHERE id = ?1");
            connection.prepare_cached(&sql)?.query_row([id.0], goal).optional()
        })
    }
}

fn goal(row: &Row<'_>) -> Result<Goal, Error> {
    Ok(Goal {
        id: GoalId(row.get(0)?),
        project: row.get(1)?,
        text: row.get(2)?,
        status: row.get(3)?,
        session_id: row.get::<_, String>(4)?.into(),
        created: Timestamp::from_millis(number::read(row.get(5)?)),
        updated: Timestamp::from_millis(number::read(row.get(6)?)),
    })
}
