//! `NoteSet`: loads, searches and formats the notes of a session.

use crate::markdown::FileOrigin;
use crate::notes::note::Note;
use crate::notes::note_dir::NoteDir;
use crate::notes::rank::rank;
use crate::notes::warning::NoteWarning;

/// The most names of other notes in the prompt.
const NAMES_SHOWN_MAX: usize = 50;

/// All notes of a session, with warnings about invalid ones. The user and the project may have a note of the same name.
#[derive(Debug, Clone, Default)]
pub struct NoteSet {
    notes: Vec<Note>,
    warnings: Vec<NoteWarning>,
}

impl NoteSet {
    /// Loads the notes of several directories. Notes go to the model, so **pass a project's directory only if the user
    /// trusts the project**, unless only the user can write there.
    pub fn load(dirs: &[NoteDir]) -> Self {
        let mut all = Self::default();
        for dir in dirs {
            let (notes, warnings) = dir.list();
            all.notes.extend(notes);
            all.warnings.extend(warnings);
        }
        all
    }

    /// All notes, by directory and name.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter()
    }

    /// Warnings in the order they were found.
    pub fn warnings(&self) -> &[NoteWarning] {
        &self.warnings
    }

    /// The notes related to `task`, best first: shared words, weighted by rarity.
    pub fn search(&self, task: &str) -> Vec<&Note> {
        rank(&self.notes, task)
    }

    /// The most relevant notes for `task` that fit in `bytes_max` together.
    pub fn relevant(&self, task: &str, bytes_max: usize) -> Vec<&Note> {
        let mut left = bytes_max;
        let mut taken = Vec::new();
        for note in self.search(task) {
            if let Some(rest) = left.checked_sub(note.text.len() + note.description.len()) {
                left = rest;
                taken.push(note);
            }
        }
        taken
    }

    /// The prompt section with the notes relevant to `task`, in at most `bytes_max` of note text, and the names of the
    /// others. Empty if there are no notes.
    pub fn format_for_prompt(&self, task: &str, bytes_max: usize) -> String {
        if self.notes.is_empty() {
            return String::new();
        }
        let relevant = self.relevant(task, bytes_max);
        let mut text = "<notes>\n".to_owned();
        for note in &relevant {
            let (name, origin_name, kind) = (&note.name, origin_name(note.origin), note.kind.as_str());
            // A note must not close its own tag.
            let text_body = note.text.replace("</note", "&lt;/note");
            text.push_str(&format!(
                "<note name={name:?} of=\"{origin_name}\" kind=\"{kind}\">\n{text_body}\n</note>\n"
            ));
        }
        let others =
            self.notes.iter().filter(|note| !relevant.iter().any(|taken| std::ptr::eq(*taken, *note)));
        let names: Vec<&str> = others.map(|note| note.name.as_str()).collect();
        let listed: Vec<&str> = names.iter().take(NAMES_SHOWN_MAX).copied().collect();
        match (listed.len(), names.len() - listed.len()) {
            (0, _) => {}
            (_, 0) => text.push_str(&format!("Other notes: {}\n", listed.join(", "))),
            (_, rest) => text.push_str(&format!("Other notes: {} and {rest} more\n", listed.join(", "))),
        }
        text + "</notes>"
    }
}

pub(crate) fn origin_name(origin: FileOrigin) -> &'static str {
    match origin {
        FileOrigin::User => "user",
        FileOrigin::Project => "project",
    }
}
