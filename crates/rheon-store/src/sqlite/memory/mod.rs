//! `Memory`: data that outlives sessions and has no log behind it.

mod episodes;
mod goals;
mod learnings;
mod notes;
mod recall;

use std::path::Path;

use super::database::{Database, OpenMode};
use super::error::DatabaseError;
use super::schema::{Durability, Schema};

pub use episodes::{Episode, Episodes};
pub use goals::{Goal, GoalId, GoalStatus, Goals};
pub use learnings::{Edited, Evidence, Learning, LearningId, LearningStatus, Learnings, Proposal};
pub use notes::{NoteKind, NoteRow, Notes};
pub use recall::Recalled;

/// The migrations of `memory.db`. A released migration never changes.
const SCHEMA: Schema = Schema {
    application_id: 0x5248_4d45,
    migrations: &[
        include_str!("001_goals_learnings_approvals.sql"),
        include_str!("002_checkpoints.sql"),
        include_str!("003_notes_episodes.sql"),
        include_str!("004_goals_alone.sql"),
    ],
    durability: Durability::Irreplaceable,
};

/// Data that outlives sessions. An acknowledged write survives a power cut.
#[derive(Debug)]
pub struct Memory {
    database: Database,
}

impl Memory {
    /// Opens the memory at `path`. A damaged memory is an error, because it cannot be rebuilt.
    pub fn open(path: &Path, mode: OpenMode) -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::open(path, &SCHEMA, mode)? })
    }

    /// A memory without a file.
    pub fn in_memory() -> Result<Self, DatabaseError> {
        Ok(Self { database: Database::in_memory(&SCHEMA)? })
    }

    pub fn database(&self) -> &Database {
        &self.database
    }

    pub fn goals(&self) -> Goals<'_> {
        Goals::new(&self.database)
    }

    pub fn learnings(&self) -> Learnings<'_> {
        Learnings::new(&self.database)
    }

    pub fn notes(&self) -> Notes<'_> {
        Notes::new(&self.database)
    }

    pub fn episodes(&self) -> Episodes<'_> {
        Episodes::new(&self.database)
    }

    /// The best matches of `query`, up to `count` and at most a hundred, best first: notes of the user and of the
    /// project, and episodes of the project. Searches everything if there is no project.
    pub fn recall(
        &self,
        query: &str,
        project: Option<&str>,
        count: usize,
    ) -> Result<Vec<Recalled>, DatabaseError> {
        self.database.read(|connection| recall::recall(connection, query, project, count))
    }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod recall_tests;
#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
