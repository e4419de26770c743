//! Notes in a session: their rows in the index, and the tool with which the model keeps them.

use std::sync::Arc;

use rheon_store::sqlite::{DatabaseError, Memory, NoteKind as RowKind, NoteRow, Recalled};
use rheon_tools::builtin::{MemoryTool, Recall, Recollection};
use rheon_tools::notes::{Note, NoteDir, NoteKind};
use rheon_tools::skills::FileOrigin;
use rheon_types::Clock;

use super::episodes::line;
use super::store::MemoryStore;

/// Makes the rows of the notes in `dirs` again, so that a search finds what the files say now. What did not change is not written.
pub fn index_notes(memory: &Memory, project: &str, dirs: &[NoteDir]) -> Result<(), DatabaseError> {
    for origin in [FileOrigin::User, FileOrigin::Project] {
        let of_origin = dirs.iter().filter(|dir| dir.origin == origin);
        let project = owner(project, origin);
        let notes = of_origin.flat_map(|dir| dir.list().0);
        let rows: Vec<NoteRow> = notes.map(|note| row(project, note)).collect();
        memory.notes().replace_all(project, &rows)?;
    }
    Ok(())
}

/// The tool `memory` for the notes in `dirs`. Its search finds what earlier sessions did, too.
pub fn memory_tool(dirs: Vec<NoteDir>, store: &MemoryStore, clock: Arc<dyn Clock>) -> MemoryTool {
    let (store, indexed) = (store.clone(), dirs.clone());
    let recall: Arc<Recall> = Arc::new(move |query: &str, count: usize| {
        // Files may have changed since the session began, by the tool itself or by a person.
        let indexing = index_notes(&store.memory, &store.project, &indexed);
        let found = indexing.and_then(|()| store.memory.recall(query, Some(&store.project), count));
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.into_iter().filter_map(|found| recollection(found, &store)).collect())
    });
    MemoryTool::new(dirs, clock).with_recall(recall)
}

fn recollection(found: Recalled, store: &MemoryStore) -> Option<Recollection> {
    match found {
        Recalled::Note(note) => {
            let origin = if note.project.is_some() { FileOrigin::Project } else { FileOrigin::User };
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
fn owner(project: &str, origin: FileOrigin) -> Option<&str> {
    match origin {
        FileOrigin::User => None,
        FileOrigin::Project => Some(project),
    }
}
