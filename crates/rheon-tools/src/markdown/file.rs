//! Reading a file of a folder without being led out of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{DirectoryEntry, DirectoryHandle, OnMissing};

/// Whose files a folder holds. Those of a project override those of the user that have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The user's own.
    User,
    /// They came with the project, so somebody else may have written them.
    Project,
}

/// How many entries of one folder are looked at.
const ENTRIES_MAX: usize = 10_000;

/// Why a file or a folder was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// The file is too large.
    #[error("it is larger than {bytes_max} bytes; move parts of it to other files")]
    TooLarge {
        /// How large it may be.
        bytes_max: u64,
    },
    /// The file is not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The file is no regular file.
    #[error("it is not a regular file, but {0}")]
    NotFile(String),
    /// A link leads out of the folder.
    #[error("a link leads out of the folder")]
    LeadsOut,
    /// The folder has too many entries.
    #[error("it has more than {ENTRIES_MAX} entries; the rest was not looked at")]
    FolderTooLarge,
    /// The system refused to read it.
    #[error("it cannot be read: {0}")]
    Io(String),
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct TextOf {
    pub(crate) text: String,
    /// What the whole file was.
    pub(crate) digest: [u8; 32],
}

/// Reads the file at `path`, a canonical one in `root`. Nothing on the way is followed, so what was checked is what is read.
pub(crate) fn read(root: &Path, path: &Path, bytes_max: u64) -> Result<TextOf, FileProblem> {
    let mut content = Vec::new();
    open(root, path)?.take(bytes_max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        return Err(FileProblem::TooLarge { bytes_max });
    }
    let digest = blake3::hash(&content).into();
    let text = String::from_utf8(content).map_err(|_| FileProblem::NotText)?;
    Ok(TextOf { text, digest })
}

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// What was read, up to the last whole character.
    pub text: String,
    /// Whether there is more.
    pub is_cut: bool,
}

/// Reads the first `bytes_max` bytes of the text file at `path`, a canonical one in the canonical folder `root`, however large
/// it is. Nothing on the way is followed; what is not UTF-8 or has a zero byte in it is no text.
pub fn read_beginning(root: &Path, path: &Path, bytes_max: u64) -> Result<Beginning, FileProblem> {
    let mut content = Vec::new();
    open(root, path)?.take(bytes_max + 1).read_to_end(&mut content)?;
    let is_cut = content.len() as u64 > bytes_max;
    content.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        // The cut went through a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            let mut content = error.into_bytes();
            content.truncate(whole);
            String::from_utf8(content).map_err(|_| FileProblem::NotText)?
        }
        Err(_) => return Err(FileProblem::NotText),
    };
    if text.contains('\0') {
        return Err(FileProblem::NotText);
    }
    Ok(Beginning { text, is_cut })
}

fn open(root: &Path, path: &Path) -> Result<File, FileProblem> {
    let relative = path.strip_prefix(root).map_err(|_| FileProblem::LeadsOut)?;
    let parent = relative.parent().unwrap_or(Path::new(""));
    let name = relative.file_name().ok_or(FileProblem::LeadsOut)?;
    match DirectoryHandle::open(root, parent, OnMissing::Refuse)?.entry(name)? {
        DirectoryEntry::File(file) => Ok(file),
        DirectoryEntry::Absent => Err(FileProblem::Io("it is gone".into())),
        DirectoryEntry::Directory => Err(FileProblem::NotFile("a folder".into())),
        DirectoryEntry::Other(kind) => Err(FileProblem::NotFile(kind.into())),
    }
}

/// What is in `folder`, sorted; with a problem if that is not all of it.
pub(crate) fn entries(folder: &Path) -> io::Result<(Vec<PathBuf>, Option<FileProblem>)> {
    let mut entries = Vec::new();
    let mut problem = None;
    for entry in std::fs::read_dir(folder)? {
        if entries.len() == ENTRIES_MAX {
            problem = Some(FileProblem::FolderTooLarge);
            break;
        }
        entries.push(entry?.path());
    }
    entries.sort();
    Ok((entries, problem))
}
