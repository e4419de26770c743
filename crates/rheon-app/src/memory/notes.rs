//! Notes in a session: their rows in the index, and the tool with which the model keeps them.

use std::sync::Arc;

use rheon_store::sqlite::{DatabaseError, Memory, NoteKind as RowKind, NoteRow, Recalled};
use rheon_tools::builtin::{Recall, Recollection, Remember};
use rheon_tools::notes::{Note, NoteFolder, NoteKind};
use rheon_tools::skills::Origin;
use rheon_types::Clock;

use super::episodes::line;
use super::store::MemoryStore;

/// Updates the rows of the notes in `folders`, so that a search finds the current text. Writes only changes.
pub fn index_notes(memory: &Memory, project: &str, folders: &[NoteFolder]) -> Result<(), DatabaseError> {
    for origin in [Origin::User, Origin::Project] {
        let of_origin = folders.iter().filter(|folder| folder.origin == origin);
        let project = owner(project, origin);
        let notes = of_origin.flat_map(|folder| folder.list().0);
        let rows: Vec<NoteRow> = notes.map(|note| row(project, note)).collect();
        memory.notes().replace_all(project, &rows)?;
    }
    Ok(())
}

/// The tool `memory` for the notes in `folders`. Its search finds what earlier sessions did, too.
pub fn memory_tool(folders: Vec<NoteFolder>, store: &MemoryStore, clock: Arc<dyn Clock>) -> Remember {
    let (store, indexed) = (store.clone(), folders.clone());
    let recall: Arc<Recall> = Arc::new(move |query: &str, count: usize| {
        // Files may have changed since the session began, by the tool itself or by a person.
        let indexing = index_notes(&store.memory, &store.project, &indexed);
        let found = indexing.and_then(|()| store.memory.recall(query, Some(&store.project), count));
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.into_iter().filter_map(|found| recollection(found, &store)).collect())
    });
    Remember::new(folders, clock).with_recall(recall)
}

fn recollection(found: Recalled, store: &MemoryStore) -> Option<Recollection> {
    match found {
        Recalled::Note(note) => {
            let origin = if note.project.is_some() { Origin::Project } else { Origin::User };
            Some(Recollection::Note { origin, name: note.name })
        }
        // The session itself is in the conversation.
        Recalled::Episode(episode) if episode.session_id == store.session_id => None,
        Recalled::Episode(episode) => Some(Recollection::Session(line(&episode))),
    }
}

fn row(project: Option<&str>, note: Note) -> NoteRow {
    NoteRow {
        project: project.map(str::to_owned),
        kind: match note.kind {
            NoteKind::Semantic => RowKind::Semantic,
            NoteKind::Episodic => RowKind::Episodic,
        },
        text: format!("{}\n{}", note.text, note.keywords.join(" ")),
        name: note.name,
        description: note.description,
    }
}

/// The project to which a note belongs; none for the user's.
fn owner(project: &str, origin: Origin) -> Option<&str> {
    match origin {
        Origin::User => None,
        Origin::Project => Some(project),
    }
}
