//! `NoteDir`: the notes of the user or of one project, as files.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{DirectoryHandle, OnMissing, Overwrite};
use crate::markdown::{
    FileOrigin, FileProblem, NAME_CHARACTERS_MAX, entries, is_kebab_case, is_valid_name, read,
};
use crate::notes::note::{NOTE_BYTES_MAX, NOTES_MAX, Note};
use crate::notes::text;
use crate::notes::warning::{NoteProblem, NoteWarning};

/// The list of all notes, for people.
const INDEX: &str = "INDEX.md";

/// A directory in which each markdown file is a note. The program sets its path, never a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDir {
    /// The path, which need not exist.
    pub path: PathBuf,
    pub origin: FileOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    /// Not valid as a file name.
    #[error(
        "invalid note name {0:?}: use lower-case words joined by hyphens, at most {NAME_CHARACTERS_MAX} characters, and \
         not `index`"
    )]
    Name(String),
    #[error("note {0:?} does not exist")]
    NotFound(String),
    #[error(
        "the note has {0} bytes; the limit is {NOTE_BYTES_MAX}; shorten it or split it into several notes"
    )]
    TooLarge(usize),
    #[error("there are already {NOTES_MAX} notes; remove or merge some first")]
    TooMany,
    #[error("cannot change {path}: {message}")]
    Io { path: String, message: String },
}

impl NoteDir {
    /// All notes by name, and warnings. A missing directory counts as empty.
    pub fn list(&self) -> (Vec<Note>, Vec<NoteWarning>) {
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        let mut warn = |path: &Path, problem| warnings.push(NoteWarning { path: path.to_owned(), problem });
        let listing = self.path.canonicalize().and_then(|root| Ok((entries(&root)?, root)));
        let ((entries, truncated), root) = match listing {
            Ok(listing) => listing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return (notes, warnings),
            Err(error) => {
                warn(&self.path, FileProblem::from(error).into());
                return (notes, warnings);
            }
        };
        if let Some(problem) = truncated {
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

    pub fn get(&self, name: &str) -> Option<Note> {
        let root = self.path.canonicalize().ok()?;
        // Compare with directory entries: a name is never used as a path.
        let entry = entries(&root).ok()?.0.into_iter().find(|entry| is_note(entry) && stem(entry) == name)?;
        self.load(&root, &entry).ok().map(|(note, _)| note)
    }

    /// Writes a note, replacing one of the same name, and the index. The write is atomic, and only the user can read
    /// the file.
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
        let root = self.create().map_err(|error| self.failed(&error))?;
        let write = |name: &OsString, content: &str| {
            let dir = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)?;
            dir.private_draft(content.as_bytes())?.publish(name, Overwrite::Allow)
        };
        write(&name, &content).map_err(|error| self.failed(&error))?;
        self.write_index()?;
        Ok(root.join(name))
    }

    pub fn remove(&self, name: &str) -> Result<(), NoteError> {
        let not_found = || NoteError::NotFound(name.to_owned());
        let root = self.path.canonicalize().map_err(|_| not_found())?;
        let listing = entries(&root).map_err(|error| self.failed(&error))?.0;
        let entry =
            listing.into_iter().find(|entry| is_note(entry) && stem(entry) == name).ok_or_else(not_found)?;
        let removed = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)
            .and_then(|dir| dir.remove(entry.file_name().unwrap_or_default()));
        if !removed.map_err(|error| self.failed(&error))? {
            return Err(not_found());
        }
        self.write_index()
    }

    /// Rewrites the index.
    pub fn write_index(&self) -> Result<(), NoteError> {
        let (notes, _) = self.list();
        let written = self.path.canonicalize().and_then(|root| {
            let dir = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse)?;
            dir.private_draft(text::index(&notes).as_bytes())?.publish(INDEX.as_ref(), Overwrite::Allow)
        });
        written.map_err(|error| self.failed(&error))
    }

    /// Creates the directory if necessary, and returns its canonical path.
    fn create(&self) -> io::Result<PathBuf> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.path)?;
        self.path.canonicalize()
    }

    fn load(&self, root: &Path, entry: &Path) -> Result<(Note, Vec<NoteProblem>), NoteProblem> {
        let name = stem(entry);
        if !is_valid_name(&name) {
            return Err(NoteProblem::InvalidName);
        }
        // Read the entry itself, so that links are always rejected.
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
    let is_valid = is_kebab_case(name) && name.len() <= NAME_CHARACTERS_MAX && name != "index";
    if is_valid {
        Ok(format!("{name}.md").into())
    } else {
        Err(NoteError::Name(name.chars().take(100).collect()))
    }
}
