//! Recall: searches notes and episodes together.

use crate::sqlite::rusqlite::{Connection, Error, params};

use super::episodes::{self, Episode};
use super::notes::{self, NoteRow};
use crate::sqlite::full_text;
use crate::sqlite::number::limit;

const RECALLED_MAX: usize = 100;

/// A search result of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recalled {
    Note(NoteRow),
    Episode(Episode),
}

/// The best matches of `query`, best first: notes of the user and of the project, and episodes of the project.
/// Searches everything if there is no project.
pub(super) fn recall(
    connection: &Connection,
    query: &str,
    project: Option<&str>,
    count: usize,
) -> Result<Vec<Recalled>, Error> {
    let Some(question) = full_text::any_word(query) else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT recall_search.rowid % 2, {}, {} FROM recall_search \
         LEFT JOIN notes ON recall_search.rowid = 2 * notes.id \
         LEFT JOIN episodes ON recall_search.rowid = 2 * episodes.id + 1 \
         WHERE recall_search MATCH ?1 AND (?2 IS NULL OR notes.project IN ('', ?2) OR episodes.project = ?2) \
         ORDER BY recall_search.rank, recall_search.rowid DESC LIMIT ?3",
        notes::COLUMNS,
        episodes::COLUMNS,
    ))?;
    let values = params![question, project, limit(count.min(RECALLED_MAX))];
    let found = statement.query_map(values, |row| match row.get::<_, i64>(0)? {
        0 => notes::note(row, 1).map(Recalled::Note),
        _ => episodes::episode(row, 6).map(Recalled::Episode),
    })?;
    found.collect()
}
