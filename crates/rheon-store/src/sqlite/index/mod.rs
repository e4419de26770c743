//! `Index`: the contents of the journals as rows to list, search and sum. Deleting it loses nothing.

mod read;
mod row;
mod rows;
mod write;

use std::path::{Path, PathBuf};

use crate::sqlite::rusqlite::params;
use rheon_types::{Event, SessionId};

use super::database::{Database, OpenMode};
use super::error::DatabaseError;
use super::files;
use super::schema::{Durability, Schema};

pub use read::{EntryMatch, ListQuery, SearchQuery, SessionCursor, SessionPage, ToolStats, UsageStats};
pub use row::{
    CallRow, CallState, EntryRole, EntryRow, ForkPoint, SessionRow, SessionSource, SessionStatus, Spend,
};
pub use write::IndexUpdate;

/// The migrations of `index.db`. A released migration never changes.
const SCHEMA: Schema = Schema {
    application_id: 0x5248_4958,
    migrations: &[
        include_str!("001_rows.sql"),
        include_str!("002_search.sql"),
        include_str!("003_run_ids.sql"),
        include_str!("004_first_prompt.sql"),
    ],
    durability: Durability::Rebuildable,
};

/// A rebuild commits after this many events, to let other writers in.
const REBUILD_EVENTS_PER_WRITE: u64 = 2_000;

/// The state of an index after opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    Whole,
    /// New, or a rebuild was interrupted. Rebuild it.
    Partial,
    /// The old index was damaged and moved aside. Rebuild it.
    Replaced {
        /// The path of the damaged index.
        aside: PathBuf,
    },
}

/// The index of all sessions.
#[derive(Debug)]
pub struct Index {
    database: Database,
}

impl Index {
    /// Opens the index at `path`, or creates one. A damaged index is moved aside.
    pub fn open(path: &Path) -> Result<(Self, IndexState), DatabaseError> {
        match Self::open_as_it_is(path) {
            Err(error) if error.is_damage() => Self::replace_if_damaged(path),
            opened => opened,
        }
    }

    pub fn open_read_only(path: &Path) -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::open(path, &SCHEMA, OpenMode::ReadOnly)? })
    }

    /// An index without a file, for systems where nothing can be written.
    pub fn in_memory() -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::in_memory(&SCHEMA)? })
    }

    /// Checks the whole file, and replaces it by an empty index if it is damaged. Call it when an operation reported
    /// damage.
    pub fn replace_if_damaged(path: &Path) -> Result<(Self, IndexState), DatabaseError> {
        // Two processes may find the damage at once. The second one must not move the first one's new index aside.
        let _lock = files::lock_for_repair(path)?;
        let checked = Self::open_as_it_is(path).and_then(|(index, state)| {
            index.database.check()?;
            Ok((index, state))
        });
        match checked {
            Err(error) if error.is_damage() => {
                let aside = files::move_aside(path)?;
                let (index, _) = Self::open_as_it_is(path)?;
                Ok((index, IndexState::Replaced { aside }))
            }
            sound => sound,
        }
    }

    fn open_as_it_is(path: &Path) -> Result<(Self, IndexState), DatabaseError> {
        let index = Self { database: Database::open(path, &SCHEMA, OpenMode::ReadWrite)? };
        let is_partial = index.database.read(|connection| {
            connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM rebuild) OR NOT EXISTS (SELECT 1 FROM sessions)",
                [],
                |row| row.get(0),
            )
        })?;
        Ok((index, if is_partial { IndexState::Partial } else { IndexState::Whole }))
    }

    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Adds events of one session in one transaction. Known events change nothing. An event of another session is an
    /// error; those before it are added.
    pub fn record<'a>(
        &self,
        source: &SessionSource,
        events: impl IntoIterator<Item = &'a Event>,
    ) -> Result<IndexUpdate, DatabaseError> {
        let mut stranger = None;
        let own = events.into_iter().map_while(|event| {
            if event.session_id == source.session_id {
                return Some(event);
            }
            stranger = Some(event.session_id.to_string());
            None
        });
        let recorded = self.database.write(|connection| {
            let mut recorded = IndexUpdate::default();
            let mut session = write::OpenSession::new(connection, source)?;
            for event in own {
                session.add(event, &mut recorded)?;
            }
            session.close()?;
            Ok(recorded)
        })?;
        match stranger {
            Some(found) => {
                Err(DatabaseError::OtherSession { expected: source.session_id.to_string(), found })
            }
            None => Ok(recorded),
        }
    }

    /// Rebuilds the index from all logs. Other processes can read and write in the meantime; each session is either
    /// the old or the new one. After an interruption, the next [`Index::open`] returns [`IndexState::Partial`].
    pub fn rebuild<S, E>(&self, sources: S) -> Result<u64, DatabaseError>
    where
        S: IntoIterator<Item = (SessionSource, E)>,
        E: IntoIterator<Item = Event>,
    {
        let before: i64 = self.database.write(|connection| {
            connection.execute("DELETE FROM rebuild", [])?;
            connection.query_row(
                "INSERT INTO rebuild (only, session_before) SELECT 1, coalesce(max(number), 0) FROM sessions \
                 RETURNING session_before",
                [],
                |row| row.get(0),
            )
        })?;
        let mut sources = sources.into_iter().peekable();
        let mut taken = 0;
        while sources.peek().is_some() {
            taken += self.database.write(|connection| {
                let mut recorded = IndexUpdate::default();
                while recorded.taken < REBUILD_EVENTS_PER_WRITE
                    && let Some((source, events)) = sources.next()
                {
                    write::remove(connection, source.session_id.as_str())?;
                    let mut session = write::OpenSession::new(connection, &source)?;
                    recorded.missing_from = None;
                    for event in events {
                        session.add(&event, &mut recorded)?;
                    }
                    session.close()?;
                }
                Ok(recorded.taken)
            })?;
        }
        // Remove old sessions that no longer have a log, but keep those that other processes added in the meantime.
        self.database.write(|connection| {
            connection.execute("DELETE FROM sessions WHERE number <= ?1", params![before])?;
            connection.execute("DELETE FROM rebuild", [])
        })?;
        Ok(taken)
    }

    /// Removes a session. Returns `false` if it does not exist.
    pub fn remove_session(&self, session_id: &SessionId) -> Result<bool, DatabaseError> {
        self.database.write(|connection| write::remove(connection, session_id.as_str()))
    }

    /// The newest indexed event of a session. Compare it with the log to see whether the index is up to date.
    pub fn position(&self, session_id: &SessionId) -> Result<Option<u64>, DatabaseError> {
        self.database.read(|connection| read::position(connection, session_id))
    }

    /// The sessions that are not in the index. Journals may have been copied into the directory by hand.
    pub fn unknown(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionId>, DatabaseError> {
        let known = self.database.read(read::ids)?;
        Ok(sessions.into_iter().filter(|session_id| !known.contains(session_id.as_str())).collect())
    }

    /// One page of sessions, newest first.
    pub fn list(&self, query: &ListQuery) -> Result<SessionPage, DatabaseError> {
        self.database.read(|connection| read::page(connection, query))
    }

    pub fn session(&self, session_id: &SessionId) -> Result<Option<SessionRow>, DatabaseError> {
        self.database.read(|connection| read::session(connection, session_id))
    }

    /// The most recently active session of a project, or of all projects.
    pub fn latest(&self, project: Option<&str>) -> Result<Option<SessionRow>, DatabaseError> {
        let query = ListQuery { project: project.map(str::to_owned), limit: 1, ..ListQuery::default() };
        Ok(self.list(&query)?.sessions.pop())
    }

    /// The best matches of a search.
    pub fn search(&self, query: &SearchQuery) -> Result<Vec<EntryMatch>, DatabaseError> {
        self.database.read(|connection| read::search(connection, query))
    }

    /// The entries of a session after event `after`, at most 1,000.
    pub fn entries(
        &self,
        session_id: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EntryRow>, DatabaseError> {
        self.database.read(|connection| read::entries(connection, session_id, after, limit))
    }

    /// The tool calls of a session that started after event `after`, at most 1,000.
    pub fn calls(
        &self,
        session_id: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<CallRow>, DatabaseError> {
        self.database.read(|connection| read::calls(connection, session_id, after, limit))
    }

    /// The totals of one project, or of all.
    pub fn stats(&self, project: Option<&str>) -> Result<UsageStats, DatabaseError> {
        self.database.read(|connection| read::stats(connection, project))
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
