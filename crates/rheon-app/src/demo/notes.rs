//! `Notes`: short texts in a folder, one file each, under names that cannot lead out of it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use rheon_types::ToolError;

/// The most bytes of one note.
pub(super) const NOTE_BYTES_MAX: usize = 64 * 1024;

/// The most notes of one folder.
pub(super) const NOTES_MAX: usize = 100;

/// The most characters of a name.
pub(super) const NAME_CHARS_MAX: usize = 40;

/// A note as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// Its name in the workspace.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// What is wrong with a note.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoteError {
    #[error("{0:?} is no name for a note: use 1 to {NAME_CHARS_MAX} of a-z, 0-9 and -")]
    Name(String),
    #[error("the note has {0} bytes, at most {NOTE_BYTES_MAX} are kept; make it shorter or split it")]
    TooLong(usize),
    #[error("there are {NOTES_MAX} notes already; write to one of them")]
    TooMany,
    #[error("there is no note named {name:?}; {}", known(.there))]
    Missing { name: String, there: Vec<String> },
    #[error("the folder of the notes cannot be used: {0}")]
    Folder(#[from] io::Error),
}

fn known(names: &[String]) -> String {
    if names.is_empty() { "there are none yet".into() } else { format!("there are: {}", names.join(", ")) }
}

/// All of it is told to the model, which can do better the next time.
impl From<NoteError> for ToolError {
    fn from(error: NoteError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A name that is one plain file name on every system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NoteName(String);

impl NoteName {
    /// The same rule as a JSON Schema, for the model and for the check before the tool runs.
    pub(super) const PATTERN: &str = "^[a-z0-9-]{1,40}$";

    pub(super) fn parse(text: &str) -> Result<Self, NoteError> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = (1..=NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(allowed);
        if fits { Ok(Self(text.to_owned())) } else { Err(NoteError::Name(text.to_owned())) }
    }

    fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }
}

/// A folder of notes. One call at a time, so that no reader sees half a note and no writer exceeds [`NOTES_MAX`].
#[derive(Debug)]
pub(super) struct Notes {
    folder: Mutex<PathBuf>,
}

impl Notes {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: Mutex::new(folder.to_owned()) }
    }

    /// Writes a note, in place of an earlier one of the same name.
    pub(super) fn write(&self, name: &NoteName, text: &str) -> Result<(), NoteError> {
        if text.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLong(text.len()));
        }
        let folder = self.lock();
        let path = folder.join(name.file_name());
        if !path.exists() && list(&folder)?.len() >= NOTES_MAX {
            return Err(NoteError::TooMany);
        }
        Ok(fs::write(path, text)?)
    }

    /// The text of a note.
    pub(super) fn read(&self, name: &NoteName) -> Result<String, NoteError> {
        let folder = self.lock();
        match fs::read_to_string(folder.join(name.file_name())) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let bare = |note: NoteFile| note.name.trim_end_matches(".md").to_owned();
                let there = list(&folder)?.into_iter().map(bare).collect();
                Err(NoteError::Missing { name: name.0.clone(), there })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// All notes, by name.
    pub(super) fn list(&self) -> Result<Vec<NoteFile>, NoteError> {
        Ok(list(&self.lock())?)
    }

    fn lock(&self) -> MutexGuard<'_, PathBuf> {
        self.folder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn list(folder: &Path) -> io::Result<Vec<NoteFile>> {
    let note = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        Ok(NoteFile { name, bytes: entry.metadata()?.len() })
    };
    let mut notes =
        fs::read_dir(folder)?.map(|entry| entry.and_then(note)).collect::<io::Result<Vec<_>>>()?;
    notes.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(notes)
}
