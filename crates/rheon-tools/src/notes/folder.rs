//! `NoteFolder`: the notes of the user, or of one project, as files.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{DirectoryHandle, OnMissing, Overwrite};
use crate::markdown::{
    FileProblem, NAME_CHARACTERS_MAX, Origin, entries, is_usable, is_words_with_hyphens, read,
};
use crate::notes::note::{NOTE_BYTES_MAX, NOTES_MAX, Note};
use crate::notes::text;
use crate::notes::warning::{NoteProblem, NoteWarning};

/// The list of all notes, for people.
const INDEX: &str = "INDEX.md";

/// A folder in which each markdown file is a note. Its path is given by the program, never by a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFolder {
    /// Where it is; it need not exist.
    pub path: PathBuf,
    /// Whose it is.
    pub origin: Origin,
}

/// Why a note was not written or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// The name would not do as the name of a file.
    #[error(
        "a note cannot be called {0:?}: lower-case words with hyphens between them are needed, at most \
         {NAME_CHARACTERS_MAX} characters, and not `index`"
    )]
    Name(String),
    /// There is no such note.
    #[error("there is no note {0:?}")]
    Absent(String),
    /// The note is too large.
    #[error(
        "the note has {0} bytes, more than {NOTE_BYTES_MAX}; keep what matters, or make several notes of it"
    )]
    TooLarge(usize),
    /// There are too many notes.
    #[error("there are {NOTES_MAX} notes already; remove or merge some first")]
    TooMany,
    /// The system refused.
    #[error("cannot change {path}: {message}")]
    Io {
        /// The folder.
        path: String,
        /// What the system said.
        message: String,
    },
}

impl NoteFolder {
    /// All notes by name, and what was odd. A folder that does not exist holds none.
    pub fn list(&self) -> (Vec<Note>, Vec<NoteWarning>) {
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let mut warn = |path: &Path, problem| warnings.push(NoteWarning { path: path.to_owned(), problem });
        let listed = self.path.canonicalize().and_then(|root| Ok((entries(&root)?, root)));
        let ((entries, cut), root) = match listed {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (notes, warnings),
            Err(error) => {
                warn(&self.path, FileProblem::from(error).into());
                return (notes, warnings);
            }
        };
        if let Some(problem) = cut {
            warn(&root, problem.into());
        }
        for entry in entries.iter().filter(|entry| is_note(entry)) {
            if notes.len() == NOTES_MAX {
                warn(&root, NoteProblem::TooMany);
                break;
            }
            match self.load(&root, entry) {
                Ok((note, problems)) => {
                    problems.into_iter().for_each(|problem| warn(entry, problem));
                    notes.push(note);
                }
                Err(problem) => warn(entry, problem),
            }
        }
        (notes, warnings)
    }

    /// The note of this name.
    pub fn get(&self, name: &str) -> Option<Note> {
        let root = self.path.canonicalize().ok()?;
        // A name is one of those that stand in the folder, never a path.
        let entry = entries(&root).ok()?.0.into_iter().find(|entry| is_note(entry) && stem(entry) == name)?;
        self.load(&root, &entry).ok().map(|(note, _)| note)
    }

    /// Writes a note, over an older one of its name, and the index. The file is whole or not there at all, and only the user
    /// may read it.
    pub fn write(&self, note: &Note) -> Result<PathBuf, NoteError> {
        let name = file_name(&note.name)?;
        let content = text::write(note);
        if content.len() as u64 > NOTE_BYTES_MAX {
            return Err(NoteError::TooLarge(content.len()));
        }
        let (notes, _) = self.list();
        if notes.len() >= NOTES_MAX && !notes.iter().any(|other| other.name == note.name) {
            return Err(NoteError::TooMany);
        }
        let root = self.make().map_err(|error| self.failed(&error))?;
        let write = |name: &OsString, content: &str| {
            let folder = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)?;
            folder.private_draft(content.as_bytes())?.publish(name, Overwrite::Allow)
        };
        write(&name, &content).map_err(|error| self.failed(&error))?;
        self.write_index()?;
        Ok(root.join(name))
    }

    /// Removes a note.
    pub fn remove(&self, name: &str) -> Result<(), NoteError> {
        let absent = || NoteError::Absent(name.to_owned());
        let root = self.path.canonicalize().map_err(|_| absent())?;
        let listed = entries(&root).map_err(|error| self.failed(&error))?.0;
        let entry =
            listed.into_iter().find(|entry| is_note(entry) && stem(entry) == name).ok_or_else(absent)?;
        let removed = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)
            .and_then(|folder| folder.remove(entry.file_name().unwrap_or_default()));
        if !removed.map_err(|error| self.failed(&error))? {
            return Err(absent());
        }
        self.write_index()
    }

    /// Makes the list for people anew.
    pub fn write_index(&self) -> Result<(), NoteError> {
        let (notes, _) = self.list();
        let written = self.path.canonicalize().and_then(|root| {
            let folder = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)?;
            folder.private_draft(text::index(&notes).as_bytes())?.publish(INDEX.as_ref(), Overwrite::Allow)
        });
        written.map_err(|error| self.failed(&error))
    }

    /// The canonical path of the folder, which is made if there is none.
    fn make(&self) -> io::Result<PathBuf> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path)?;
        self.path.canonicalize()
    }

    fn load(&self, root: &Path, entry: &Path) -> Result<(Note, Vec<NoteProblem>), NoteProblem> {
        let name = stem(entry);
        if !is_usable(&name) {
            return Err(NoteProblem::NameUnusable);
        }
        // The entry itself is read, so that a link is refused wherever it leads.
        let file = read(root, entry, NOTE_BYTES_MAX)?;
        Ok(text::read(&name, self.origin, &file.text))
    }

    fn failed(&self, error: &io::Error) -> NoteError {
        NoteError::Io { path: self.path.display().to_string(), message: error.to_string() }
    }
}

fn is_note(entry: &Path) -> bool {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".md") && !name.starts_with('.') && !name.eq_ignore_ascii_case(INDEX)
}

fn stem(entry: &Path) -> String {
    entry.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn file_name(name: &str) -> Result<OsString, NoteError> {
    let is_good = is_words_with_hyphens(name) && name.len() <= NAME_CHARACTERS_MAX && name != "index";
    if is_good {
        Ok(format!("{name}.md").into())
    } else {
        Err(NoteError::Name(name.chars().take(100).collect()))
    }
}
