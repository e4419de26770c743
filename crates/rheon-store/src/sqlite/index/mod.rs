//! `Index`: what the journals say, as rows that can be listed, searched and summed. Deleting it loses nothing.

mod read;
mod row;
mod rows;
mod write;

use std::path::{Path, PathBuf};

use rheon_types::{Event, SessionId};
use rusqlite::params;

use super::database::{Database, OpenMode};
use super::error::DatabaseError;
use super::files;
use super::schema::{Durability, Schema};

pub use read::{EntryMatch, ListQuery, SearchQuery, SessionCursor, SessionPage, ToolStats, UsageStats};
pub use row::{
    CallRow, CallState, EntryRole, EntryRow, ForkPoint, SessionRow, SessionSource, SessionStatus, Spend,
};
pub use write::IndexUpdate;

/// The migrations of `index.db`; a released one never changes.
const SCHEMA: Schema = Schema {
    application_id: 0x5248_4958,
    migrations: &[
        include_str!("001_rows.sql"),
        include_str!("002_search.sql"),
        include_str!("003_run_ids.sql"),
    ],
    durability: Durability::Rebuildable,
};

/// After so many events a rebuild lets other writers in.
const REBUILD_EVENTS_PER_WRITE: u64 = 2_000;

/// What an index that was opened holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// All that was recorded.
    Whole,
    /// Nothing yet, or only a part: it is new, or a rebuild was interrupted. Rebuild it.
    Partial,
    /// Nothing: the old one was damaged and moved aside. Rebuild it.
    Replaced {
        /// Where the damaged one is.
        aside: PathBuf,
    },
}

/// The index of all sessions.
#[derive(Debug)]
pub struct Index {
    database: Database,
}

impl Index {
    /// Opens the index at `path`, or makes one. A damaged one is moved aside.
    pub fn open(path: &Path) -> Result<(Self, IndexState), DatabaseError> {
        match Self::open_as_it_is(path) {
            Err(error) if error.is_damage() => Self::replace_if_damaged(path),
            opened => opened,
        }
    }

    /// Opens an index for reading only.
    pub fn open_read_only(path: &Path) -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::open(path, &SCHEMA, OpenMode::ReadOnly)? })
    }

    /// An index that no file holds, for where nothing can be written.
    pub fn in_memory() -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::in_memory(&SCHEMA)? })
    }

    /// Looks at the whole file; moves it aside and makes a new one if it is damaged. For when a call reported damage.
    pub fn replace_if_damaged(path: &Path) -> Result<(Self, IndexState), DatabaseError> {
        // Two processes may find the damage at once; the second must not move the first one's new index aside.
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

    /// The database behind the index.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Adds events of one session, all in one transaction. Events that the index knows change nothing. An event of another
    /// session is an error; those before it are kept.
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
            let mut session = write::Open::new(connection, source)?;
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

    /// Makes the index anew from all logs. Others may read and write meanwhile; each session is the old one or the new
    /// one, never a half. If it is interrupted, the next [`Index::open`] says so.
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
                    let mut session = write::Open::new(connection, &source)?;
                    recorded.missing_from = None;
                    for event in events {
                        session.add(&event, &mut recorded)?;
                    }
                    session.close()?;
                }
                Ok(recorded.taken)
            })?;
        }
        // What was there before and has no log any more is gone; what others began meanwhile stays.
        self.database.write(|connection| {
            connection.execute("DELETE FROM sessions WHERE number <= ?1", params![before])?;
            connection.execute("DELETE FROM rebuild", [])
        })?;
        Ok(taken)
    }

    /// Removes a session; `false` if there was none.
    pub fn remove_session(&self, session_id: &SessionId) -> Result<bool, DatabaseError> {
        self.database.write(|connection| write::remove(connection, session_id.as_str()))
    }

    /// The newest event of a session that the index knows; compare it with the log to know whether it is up to date.
    pub fn position(&self, session_id: &SessionId) -> Result<Option<u64>, DatabaseError> {
        self.database.read(|connection| read::position(connection, session_id))
    }

    /// Those of these sessions that the index has never heard of. Compare what is in a folder with it: journals may have been
    /// put there by hand.
    pub fn unknown(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionId>, DatabaseError> {
        let known = self.database.read(read::ids)?;
        Ok(sessions.into_iter().filter(|session_id| !known.contains(session_id.as_str())).collect())
    }

    /// One page of sessions, newest first.
    pub fn list(&self, query: &ListQuery) -> Result<SessionPage, DatabaseError> {
        self.database.read(|connection| read::page(connection, query))
    }

    /// One session.
    pub fn session(&self, session_id: &SessionId) -> Result<Option<SessionRow>, DatabaseError> {
        self.database.read(|connection| read::session(connection, session_id))
    }

    /// The session of a project that was active last; of any project if none is given.
    pub fn latest(&self, project: Option<&str>) -> Result<Option<SessionRow>, DatabaseError> {
        let query = ListQuery { project: project.map(str::to_owned), limit: 1, ..ListQuery::default() };
        Ok(self.list(&query)?.sessions.pop())
    }

    /// The entries that answer a search best.
    pub fn search(&self, query: &SearchQuery) -> Result<Vec<EntryMatch>, DatabaseError> {
        self.database.read(|connection| read::search(connection, query))
    }

    /// What was said in a session after the event `after`, up to 1,000 entries.
    pub fn entries(
        &self,
        session_id: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<EntryRow>, DatabaseError> {
        self.database.read(|connection| read::entries(connection, session_id, after, limit))
    }

    /// The tool calls of a session that began after the event `after`, up to 1,000.
    pub fn calls(
        &self,
        session_id: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<CallRow>, DatabaseError> {
        self.database.read(|connection| read::calls(connection, session_id, after, limit))
    }

    /// Sums over the sessions of one project, or of all.
    pub fn stats(&self, project: Option<&str>) -> Result<UsageStats, DatabaseError> {
        self.database.read(|connection| read::stats(connection, project))
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
