//! Learnings: what a session found out that later ones should know.

use crate::sqlite::rusqlite::{Error, OptionalExtension, Row, params};
use rheon_types::{SessionId, Timestamp};
use std::borrow::Cow;

use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::full_text;
use crate::sqlite::names::stored_names;
use crate::sqlite::number::{self, limit, stored};

const RELEVANT_MAX: usize = 5;
const LEARNINGS_MAX: usize = 1_000;
/// A proposed learning is strong with this much evidence for it, and twice as much as against it.
const STRONG_EVIDENCE_MIN: i64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LearningId(pub i64);

stored_names! {
    LearningStatus {
        /// Not judged yet.
        Proposed = "proposed",
        Validated = "validated",
        Rejected = "rejected",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The learning helped.
    For,
    /// The learning misled.
    Against,
}

/// The result of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited {
    Done,
    /// The learning does not exist.
    Absent,
    /// Another learning of the same project has this text; nothing was changed.
    Taken(LearningId),
}

/// A learning that a session proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// All projects if `None`.
    pub project: Option<String>,
    pub text: String,
    pub session_id: SessionId,
}

/// A learning and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    pub id: LearningId,
    /// The first proposal.
    pub proposal: Proposal,
    pub status: LearningStatus,
    /// How often it helped, including the proposal itself.
    pub evidence_for: u64,
    /// How often it misled.
    pub evidence_against: u64,
    pub created: Timestamp,
    pub updated: Timestamp,
}

#[derive(Debug)]
pub struct Learnings<'a> {
    database: &'a Database,
}

const COLUMNS: &str = "learnings.id, project, learnings.text, session_id, status, evidence_for, evidence_against, \
    created_ms, updated_ms";

impl<'a> Learnings<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Proposes a learning. A repeated proposal counts as evidence for the first one. The status stays.
    pub fn propose(&self, proposal: &Proposal, at: Timestamp) -> Result<LearningId, DatabaseError> {
        let words = words_of(&proposal.text);
        self.database.write(|connection| {
            connection.query_row(
                "INSERT INTO learnings (project, text, words, status, evidence_for, evidence_against, session_id, \
                 created_ms, updated_ms) VALUES (?1, ?2, ?3, ?4, 1, 0, ?5, ?6, ?6) ON CONFLICT (project, text) \
                 DO UPDATE SET evidence_for = evidence_for + 1, updated_ms = excluded.updated_ms RETURNING id",
                params![
                    proposal.project.as_deref().unwrap_or_default(),
                    proposal.text,
                    words,
                    LearningStatus::Proposed,
                    proposal.session_id.as_str(),
                    stored(at.as_millis()),
                ],
                |row| row.get(0).map(LearningId),
            )
        })
    }

    /// Sets the status of a learning. Returns `false` if it does not exist.
    pub fn judge(
        &self,
        id: LearningId,
        status: LearningStatus,
        at: Timestamp,
    ) -> Result<bool, DatabaseError> {
        self.database.write(|connection| {
            let changed = connection.execute(
                "UPDATE learnings SET status = ?2, updated_ms = ?3 WHERE id = ?1",
                params![id.0, status, stored(at.as_millis())],
            )?;
            Ok(changed > 0)
        })
    }

    /// Adds evidence to a learning. Returns `false` if it does not exist.
    pub fn add_evidence(
        &self,
        id: LearningId,
        evidence: Evidence,
        at: Timestamp,
    ) -> Result<bool, DatabaseError> {
        self.weigh(id, evidence, 1, at)
    }

    /// Withdraws evidence. Returns `false` if the learning does not exist.
    pub fn withdraw_evidence(
        &self,
        id: LearningId,
        evidence: Evidence,
        at: Timestamp,
    ) -> Result<bool, DatabaseError> {
        self.weigh(id, evidence, -1, at)
    }

    fn weigh(
        &self,
        id: LearningId,
        evidence: Evidence,
        count: i64,
        at: Timestamp,
    ) -> Result<bool, DatabaseError> {
        let (speaks_for, speaks_against) = match evidence {
            Evidence::For => (count, 0),
            Evidence::Against => (0, count),
        };
        self.database.write(|connection| {
            let changed = connection.execute(
                "UPDATE learnings SET evidence_for = max(evidence_for + ?2, 0), \
                 evidence_against = max(evidence_against + ?3, 0), updated_ms = ?4 WHERE id = ?1",
                params![id.0, speaks_for, speaks_against, stored(at.as_millis())],
            )?;
            Ok(changed > 0)
        })
    }

    /// The learnings that match a prompt best, up to `count` and at most five: validated ones, and proposed ones
    /// with strong evidence, of the project and of all projects.
    pub fn relevant(
        &self,
        project: &str,
        prompt: &str,
        count: usize,
    ) -> Result<Vec<Learning>, DatabaseError> {
        let Some(question) = full_text::any_word(prompt) else { return Ok(Vec::new()) };
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM learnings_search JOIN learnings ON learnings.id = learnings_search.rowid \
                 WHERE learnings_search MATCH ?1 AND project IN ('', ?2) AND (status = 'validated' OR \
                 (status = 'proposed' AND evidence_for >= ?3 AND evidence_for >= 2 * evidence_against)) \
                 ORDER BY learnings_search.rank, updated_ms DESC, learnings.id DESC LIMIT ?4"
            ))?;
            let values = params![question, project, STRONG_EVIDENCE_MIN, limit(count.min(RELEVANT_MAX))];
            statement.query_map(values, learning)?.collect()
        })
    }

    /// The learnings with a status, most recently changed first.
    pub fn with_status(&self, status: LearningStatus) -> Result<Vec<Learning>, DatabaseError> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM learnings WHERE status = ?1 ORDER BY updated_ms DESC, id DESC LIMIT ?2"
            ))?;
            statement.query_map(params![status, limit(LEARNINGS_MAX)], learning)?.collect()
        })
    }

    /// All learnings of a project and of all projects, or every learning if `project` is `None`, most recently
    /// changed first.
    pub fn list(&self, project: Option<&str>) -> Result<Vec<Learning>, DatabaseError> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM learnings WHERE ?1 IS NULL OR project IN ('', ?1) \
                 ORDER BY updated_ms DESC, id DESC LIMIT ?2"
            ))?;
            statement.query_map(params![project, limit(LEARNINGS_MAX)], learning)?.collect()
        })
    }

    /// Changes the text of a learning. Status and evidence stay.
    pub fn edit(&self, id: LearningId, text: &str, at: Timestamp) -> Result<Edited, DatabaseError> {
        self.database.write(|connection| {
            let other = connection
                .prepare_cached(
                    "SELECT other.id FROM learnings AS other JOIN learnings AS own ON own.project = other.project \
                     WHERE own.id = ?1 AND other.id <> ?1 AND other.text = ?2",
                )?
                .query_row(params![id.0, text], |row| row.get(0).map(LearningId))
                .optional()?;
            if let Some(other) = other {
                return Ok(Edited::Taken(other));
            }
            let changed = connection.execute(
                "UPDATE learnings SET text = ?2, words = ?3, updated_ms = ?4 WHERE id = ?1",
                params![id.0, text, words_of(text), stored(at.as_millis())],
            )?;
            Ok(if changed > 0 { Edited::Done } else { Edited::Absent })
        })
    }

    pub fn get(&self, id: LearningId) -> Result<Option<Learning>, DatabaseError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM learnings WHERE id = ?1");
            connection.prepare_cached(&sql)?.query_row([id.0], learning).optional()
        })
    }

    /// Removes a learning. Returns `false` if it does not exist.
    pub fn remove(&self, id: LearningId) -> Result<bool, DatabaseError> {
        self.database
            .write(|connection| Ok(connection.execute("DELETE FROM learnings WHERE id = ?1", [id.0])? > 0))
    }
}

/// The text for the search, if it differs.
fn words_of(text: &str) -> Option<String> {
    match full_text::segmented(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(words) => Some(words),
    }
}

fn learning(row: &Row<'_>) -> Result<Learning, Error> {
    Ok(Learning {
        id: LearningId(row.get(0)?),
        proposal: Proposal {
            project: Some(row.get::<_, String>(1)?).filter(|project| !project.is_empty()),
            text: row.get(2)?,
            session_id: row.get::<_, String>(3)?.into(),
        },
        status: row.get(4)?,
        evidence_for: number::read(row.get(5)?),
        evidence_against: number::read(row.get(6)?),
        created: Timestamp::from_millis(number::read(row.get(7)?)),
        updated: Timestamp::from_millis(number::read(row.get(8)?)),
    })
}
