//! `NoteSet`: all notes of a session.

use crate::markdown::FileOrigin;
use crate::notes::note::Note;
use crate::notes::note_dir::NoteDir;
use crate::notes::rank::rank;
use crate::notes::warning::NoteWarning;

/// How many names of other notes are told of.
const NAMES_SHOWN_MAX: usize = 50;

/// All notes of a session, and what was odd about them. A note of the project and one of the user may have the same name.
#[derive(Debug, Clone, Default)]
pub struct NoteSet {
    notes: Vec<Note>,
    warnings: Vec<NoteWarning>,
}

impl NoteSet {
    /// All notes of several folders. What a note says goes to the model, so **give the folder of a project only once the user
    /// trusts it**, unless the user alone can write there.
    pub fn load(folders: &[NoteDir]) -> Self {
        let mut all = Self::default();
        for dir in folders {
            let (notes, warnings) = dir.list();
            all.notes.extend(notes);
            all.warnings.extend(warnings);
        }
        all
    }

    /// All notes, folder by folder, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter()
    }

    /// What was odd, in the order in which it was found.
    pub fn warnings(&self) -> &[NoteWarning] {
        &self.warnings
    }

    /// The notes that have something to do with `task`, the best first: words in common, weighted by how rare they are.
    pub fn search(&self, task: &str) -> Vec<&Note> {
        rank(&self.notes, task)
    }

    /// The notes that fit `task` best and have no more than `bytes_max` of text together.
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

    /// What the model reads of the notes that fit `task`, with the names of the others; empty if there are none at all. The
    /// texts have no more than `bytes_max` together.
    pub fn format_for_prompt(&self, task: &str, bytes_max: usize) -> String {
        if self.notes.is_empty() {
            return String::new();
        }
        let relevant = self.relevant(task, bytes_max);
        let mut text = "<notes>\n".to_owned();
        for note in &relevant {
            let (name, origin_name, kind) = (&note.name, origin_name(note.origin), note.kind.as_str());
            // A note cannot end its own frame.
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

/// The word for whose a note is.
pub(crate) fn origin_name(origin: FileOrigin) -> &'static str {
    match origin {
        FileOrigin::User => "user",
        FileOrigin::Project => "project",
    }
}
