//! Notes: the contents of the note files as rows to search. Deleting them loses nothing.

use crate::sqlite::rusqlite::{Connection, Error, Row, params};

use crate::sqlite::database::Database;
use crate::sqlite::error::DatabaseError;
use crate::sqlite::full_text;
use crate::sqlite::names::stored_names;
use crate::sqlite::number::limit;

/// The limit of notes per project.
const NOTES_MAX: usize = 10_000;
/// How much of a note's text is searched.
const TEXT_CHARS_MAX: usize = 64 * 1024;

stored_names! {
    NoteKind {
        /// A fact.
        Semantic = "semantic",
        /// An event.
        Episodic = "episodic",
    }
}

/// The content of a note file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// `None` for a note of the user, which applies to all projects.
    pub project: Option<String>,
    /// The file name.
    pub name: String,
    pub kind: NoteKind,
    /// One line.
    pub description: String,
    /// The text up to a limit, with its search terms.
    pub text: String,
}

#[derive(Debug)]
pub struct Notes<'a> {
    database: &'a Database,
}

pub(super) const COLUMNS: &str = "notes.project, notes.name, notes.kind, notes.description, notes.text";

impl<'a> Notes<'a> {
    pub(super) fn new(database: &'a Database) -> Self {
        Self { database }
    }

    /// Replaces all rows of one project, or of the user if `None`. Returns the number of rows. Unchanged rows are
    /// not written, so this is cheap enough for every start.
    pub fn replace_all<'n>(
        &self,
        project: Option<&str>,
        notes: impl IntoIterator<Item = &'n NoteRow>,
    ) -> Result<usize, DatabaseError> {
        let project = project.unwrap_or_default();
        self.database.write(|connection| {
            let mut names = Vec::new();
            for note in notes.into_iter().take(NOTES_MAX) {
                put(connection, project, note)?;
                names.push(note.name.as_str());
            }
            let known = serde_json::to_string(&names).unwrap_or_default();
            connection.execute(
                "DELETE FROM notes WHERE project = ?1 AND name NOT IN (SELECT value FROM json_each(?2))",
                params![project, known],
            )?;
            Ok(names.len())
        })
    }

    /// Adds a note, or replaces the one with the same name and project.
    pub fn put(&self, note: &NoteRow) -> Result<(), DatabaseError> {
        let project = note.project.as_deref().unwrap_or_default();
        self.database.write(|connection| put(connection, project, note))
    }

    /// Removes a note. Returns `false` if it does not exist.
    pub fn remove(&self, project: Option<&str>, name: &str) -> Result<bool, DatabaseError> {
        let values = params![project.unwrap_or_default(), name];
        self.database.write(|connection| {
            Ok(connection.execute("DELETE FROM notes WHERE project = ?1 AND name = ?2", values)? > 0)
        })
    }

    /// The notes of one project, or of the user, by name.
    pub fn of(&self, project: Option<&str>) -> Result<Vec<NoteRow>, DatabaseError> {
        self.database.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM notes WHERE project = ?1 ORDER BY name LIMIT ?2");
            let mut statement = connection.prepare_cached(&sql)?;
            let values = params![project.unwrap_or_default(), limit(NOTES_MAX)];
            statement.query_map(values, |row| note(row, 0))?.collect()
        })
    }
}

fn put(connection: &Connection, project: &str, note: &NoteRow) -> Result<(), Error> {
    let text: String = note.text.chars().take(TEXT_CHARS_MAX).collect();
    let all = format!("{}\n{}\n{text}", note.name, note.description);
    let words = full_text::segmented(&all);
    connection
        .prepare_cached(
            "INSERT INTO notes (project, name, kind, description, text, words) VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (project, name) DO UPDATE SET kind = excluded.kind, description = excluded.description, \
             text = excluded.text, words = excluded.words WHERE (kind, description, text) IS NOT \
             (excluded.kind, excluded.description, excluded.text)",
        )?
        .execute(params![project, note.name, note.kind, note.description, text, words])?;
    Ok(())
}

/// Reads the note in the columns that start at `first`.
pub(super) fn note(row: &Row<'_>, first: usize) -> Result<NoteRow, Error> {
    Ok(NoteRow {
        project: Some(row.get::<_, String>(first)?).filter(|project| !project.is_empty()),
        name: row.get(first + 1)?,
        kind: row.get(first + 2)?,
        description: row.get(first + 3)?,
        text: row.get(first + 4)?,
    })
}
