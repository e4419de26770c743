//! Episodes: one-line summaries of earlier sessions.

use crate::sqlite::rusqlite::{Error, OptionalExtension, Row, params};
use rheon_types::{SessionId, Timestamp};

use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::full_text;
use crate::sqlite::index::{SessionRow, SessionStatus};
use crate::sqlite::number::{self, limit, stored};

const EPISODES_MAX: usize = 1_000;
const SUMMARY_CHARS_MAX: usize = 500;

/// The summary of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Episode {
    pub session_id: SessionId,
    pub project: String,
    /// One line, shortened to a limit.
    pub summary: String,
    pub outcome: SessionStatus,
    /// When it was last active.
    pub at: Timestamp,
}

impl From<&SessionRow> for Episode {
    /// The session from the index. Its title serves as the summary until a better one is written.
    fn from(session: &SessionRow) -> Self {
        Self {
            session_id: session.source.session_id.clone(),
            project: session.source.project.clone(),
            summary: session.title.clone(),
            outcome: session.status,
            at: session.active,
        }
    }
}

#[derive(Debug)]
pub struct Episodes<'a> {
    database: &'a Database,
}

pub(super) const COLUMNS: &str =
    "episodes.session_id, episodes.project, episodes.summary, episodes.outcome, episodes.at_ms";

impl<'a> Episodes<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Stores episodes, replacing those of the same sessions. Empty ones are skipped.
    pub fn record<'e>(&self, episodes: impl IntoIterator<Item = &'e Episode>) -> Result<(), DatabaseError> {
        self.database.write(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO episodes (session_id, project, summary, outcome, at_ms, words) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (session_id) DO UPDATE SET project = excluded.project, \
                 summary = excluded.summary, outcome = excluded.outcome, at_ms = excluded.at_ms, \
                 words = excluded.words WHERE (project, summary, outcome, at_ms) IS NOT \
                 (excluded.project, excluded.summary, excluded.outcome, excluded.at_ms)",
            )?;
            for episode in episodes {
                let summary = one_line(&episode.summary);
                if summary.is_empty() {
                    continue;
                }
                statement.execute(params![
                    episode.session_id.as_str(),
                    episode.project,
                    summary,
                    episode.outcome,
                    stored(episode.at.as_millis()),
                    full_text::segmented(&summary),
                ])?;
            }
            Ok(())
        })
    }

    pub fn get(&self, session_id: &SessionId) -> Result<Option<Episode>, DatabaseError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM episodes WHERE session_id = ?1");
            connection
                .prepare_cached(&sql)?
                .query_row([session_id.as_str()], |row| episode(row, 0))
                .optional()
        })
    }

    /// Removes an episode. Returns `false` if it does not exist.
    pub fn remove(&self, session_id: &SessionId) -> Result<bool, DatabaseError> {
        let sql = "DELETE FROM episodes WHERE session_id = ?1";
        self.database.write(|connection| Ok(connection.execute(sql, [session_id.as_str()])? > 0))
    }

    /// The latest episodes of a project, newest first.
    pub fn latest(&self, project: &str, count: usize) -> Result<Vec<Episode>, DatabaseError> {
        self.database.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM episodes WHERE project = ?1 ORDER BY at_ms DESC, id DESC LIMIT ?2"
            ))?;
            let values = params![project, limit(count.min(EPISODES_MAX))];
            statement.query_map(values, |row| episode(row, 0))?.collect()
        })
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(SUMMARY_CHARS_MAX).collect()
}

/// Reads the episode in the columns that start at `first`.
pub(super) fn episode(row: &Row<'_>, first: usize) -> Result<Episode, Error> {
    Ok(Episode {
        session_id: row.get::<_, String>(first)?.into(),
        project: row.get(first + 1)?,
        summary: row.get(first + 2)?,
        outcome: row.get(first + 3)?,
        at: Timestamp::from_millis(number::read(row.get(first + 4)?)),
    })
}
