//! `MemoryManager`: the memory as people see and change it, for a command or a page.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_store::sqlite::{Edited, Episode, Goal, Learning, LearningId, LearningStatus, Memory, Recalled};
use rheon_tools::notes::{Note, NoteDir, NoteSet, NoteWarning};
use rheon_tools::skills::FileOrigin;
use rheon_types::{Clock, SessionId};

use super::error::MemoryError;
use super::notes::index_notes;
use super::places::MemoryPaths;

/// How many episodes are listed.
const EPISODES_MAX: usize = 1_000;

/// The memory of the user and of one project: notes, episodes, learnings, each listed, shown, changed, removed; and the open goals,
/// which sessions set and close. Its methods read
/// files and a database: call them where a thread may wait.
pub struct MemoryManager {
    memory: Arc<Memory>,
    notes: Vec<NoteDir>,
    project: String,
    clock: Arc<dyn Clock>,
}

/// Changes to a note; absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteEdit {
    pub description: Option<String>,
    pub keywords: Option<Vec<String>>,
    pub text: Option<String>,
}

impl MemoryManager {
    /// Opens the memory at `places`; where there is none yet, an empty one is made.
    pub fn open(places: &MemoryPaths, clock: Arc<dyn Clock>) -> Result<Self, MemoryError> {
        Ok(Self::new(Arc::new(places.open()?), places, clock))
    }

    /// A manager for an open memory.
    pub fn new(memory: Arc<Memory>, places: &MemoryPaths, clock: Arc<dyn Clock>) -> Self {
        Self { memory, notes: places.notes.clone(), project: places.project.clone(), clock }
    }

    /// All notes by name, the user's first, and the problems of their files.
    pub fn notes(&self) -> (Vec<Note>, Vec<NoteWarning>) {
        let notes = NoteSet::load(&self.notes);
        (notes.iter().cloned().collect(), notes.warnings().to_vec())
    }

    /// The note of this name; `whose` is needed where the user and the project both have one.
    pub fn note(&self, name: &str, whose: Option<FileOrigin>) -> Result<Note, MemoryError> {
        Ok(self.find_note(name, whose)?.1)
    }

    /// Writes a new note, or all of an old one, for its owner. Says in which file.
    pub fn write_note(&self, note: &Note) -> Result<PathBuf, MemoryError> {
        if note.text.trim().is_empty() {
            return Err(MemoryError::Empty { what: "the text of a note" });
        }
        let dir = self.notes.iter().find(|dir| dir.origin == note.origin);
        let dir = dir.ok_or_else(|| MemoryError::NoNote { name: note.name.clone() })?;
        let path = dir.write(note)?;
        self.index()?;
        Ok(path)
    }

    /// Changes a note, and says what it is now.
    pub fn edit_note(
        &self,
        name: &str,
        whose: Option<FileOrigin>,
        edit: NoteEdit,
    ) -> Result<Note, MemoryError> {
        let old = self.note(name, whose)?;
        let note = Note {
            description: edit.description.unwrap_or(old.description),
            keywords: edit.keywords.unwrap_or(old.keywords),
            text: edit.text.unwrap_or(old.text),
            ..old
        };
        self.write_note(&note)?;
        Ok(note)
    }

    /// Removes a note, and says what it was.
    pub fn delete_note(&self, name: &str, whose: Option<FileOrigin>) -> Result<Note, MemoryError> {
        let (dir, note) = self.find_note(name, whose)?;
        dir.remove(name)?;
        self.index()?;
        Ok(note)
    }

    /// The episodes of the project, newest first.
    pub fn episodes(&self) -> Result<Vec<Episode>, MemoryError> {
        Ok(self.memory.episodes().latest(&self.project, EPISODES_MAX)?)
    }

    /// The episode of the session with the id or unique prefix `session`.
    pub fn episode(&self, session: &str) -> Result<Episode, MemoryError> {
        let whole = self.memory.episodes().get(&SessionId::from(session))?;
        if let Some(episode) = whole.filter(|episode| episode.project == self.project) {
            return Ok(episode);
        }
        let begins =
            |episode: &Episode| !session.is_empty() && episode.session_id.as_str().starts_with(session);
        let mut found: Vec<Episode> = self.episodes()?.into_iter().filter(begins).collect();
        let session = session.to_owned();
        match (found.len(), found.pop()) {
            (1, Some(episode)) => Ok(episode),
            (0, _) | (_, None) => Err(MemoryError::NoEpisode { session }),
            (count, Some(_)) => Err(MemoryError::ManyEpisodes { session, count }),
        }
    }

    /// Gives an episode another summary, in one line. If its session continues, the next run writes a new one.
    pub fn edit_episode(&self, session: &str, summary: &str) -> Result<Episode, MemoryError> {
        if summary.trim().is_empty() {
            return Err(MemoryError::Empty { what: "the summary of an episode" });
        }
        let old = self.episode(session)?;
        let session_id = old.session_id.clone();
        self.memory.episodes().record([&Episode { summary: summary.to_owned(), ..old }])?;
        let kept = self.memory.episodes().get(&session_id)?;
        kept.ok_or_else(|| MemoryError::NoEpisode { session: session_id.to_string() })
    }

    /// Deletes an episode and returns it.
    pub fn delete_episode(&self, session: &str) -> Result<Episode, MemoryError> {
        let episode = self.episode(session)?;
        self.memory.episodes().remove(&episode.session_id)?;
        Ok(episode)
    }

    /// The learnings of the project and of all projects, whatever their status; the most recently changed first.
    pub fn learnings(&self) -> Result<Vec<Learning>, MemoryError> {
        Ok(self.memory.learnings().list(Some(&self.project))?)
    }

    /// One learning.
    pub fn learning(&self, id: LearningId) -> Result<Learning, MemoryError> {
        self.memory.learnings().get(id)?.ok_or(MemoryError::NoLearning { id: id.0 })
    }

    /// Replaces the text of a learning.
    pub fn edit_learning(&self, id: LearningId, text: &str) -> Result<Learning, MemoryError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(MemoryError::Empty { what: "the text of a learning" });
        }
        match self.memory.learnings().edit(id, text, self.clock.now())? {
            Edited::Done => self.learning(id),
            Edited::Absent => Err(MemoryError::NoLearning { id: id.0 }),
            Edited::Taken(other) => Err(MemoryError::SaidAlready { id: id.0, other: other.0 }),
        }
    }

    /// Judges a learning: a validated one goes into matching prompts, a rejected one never does.
    pub fn judge_learning(&self, id: LearningId, status: LearningStatus) -> Result<Learning, MemoryError> {
        self.memory.learnings().judge(id, status, self.clock.now())?;
        self.learning(id)
    }

    /// Deletes a learning and returns it.
    pub fn delete_learning(&self, id: LearningId) -> Result<Learning, MemoryError> {
        let learning = self.learning(id)?;
        self.memory.learnings().remove(id)?;
        Ok(learning)
    }

    /// The open goals of the project, the one that changed last first.
    pub fn goals(&self) -> Result<Vec<Goal>, MemoryError> {
        Ok(self.memory.goals().open_of(&self.project)?)
    }

    /// The notes and episodes that fit `query` best, the best first.
    pub fn search(&self, query: &str, count: usize) -> Result<Vec<Recalled>, MemoryError> {
        // Users edit these files with any editor.
        self.index()?;
        Ok(self.memory.recall(query, Some(&self.project), count)?)
    }

    fn index(&self) -> Result<(), MemoryError> {
        Ok(index_notes(&self.memory, &self.project, &self.notes)?)
    }

    fn find_note(&self, name: &str, whose: Option<FileOrigin>) -> Result<(&NoteDir, Note), MemoryError> {
        let asked = self.notes.iter().filter(|dir| whose.is_none_or(|whose| dir.origin == whose));
        let mut found: Vec<_> = asked.filter_map(|dir| Some((dir, dir.get(name)?))).collect();
        let name: String = name.chars().take(100).collect();
        match (found.len(), found.pop()) {
            (0, _) | (_, None) => Err(MemoryError::NoNote { name }),
            (1, Some(found)) => Ok(found),
            (_, Some(_)) => Err(MemoryError::BothHaveNote { name }),
        }
    }
}
