//! Reads files of a directory without following links out of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{DirectoryEntry, DirectoryHandle, OnMissing};

/// Who owns the files of a directory. A project's file overrides a user's file of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOrigin {
    User,
    /// Part of the project, so someone else may have written them.
    Project,
}

/// The most directory entries that are read.
const ENTRIES_MAX: usize = 10_000;

/// Why a file or directory was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    #[error("larger than {bytes_max} bytes; move parts of it to other files")]
    TooLarge { bytes_max: u64 },
    #[error("not UTF-8 text")]
    NotText,
    #[error("not a regular file, but {0}")]
    NotFile(String),
    #[error("a link leads out of the directory")]
    OutsideDir,
    #[error("more than {ENTRIES_MAX} entries; the rest are ignored")]
    TooManyEntries,
    #[error("cannot read it: {0}")]
    Io(String),
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::Io(error.to_string())
    }
}

#[derive(Debug)]
pub(crate) struct MarkdownFile {
    pub(crate) text: String,
    /// The hash of the whole file.
    pub(crate) digest: [u8; 32],
}

/// Reads the file at `path`, a canonical path in `root`. Follows no links, so the file that was checked is the file
/// that is read.
pub(crate) fn read(root: &Path, path: &Path, bytes_max: u64) -> Result<MarkdownFile, FileProblem> {
    let mut content = Vec::new();
    open(root, path)?.take(bytes_max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        return Err(FileProblem::TooLarge { bytes_max });
    }
    let digest = blake3::hash(&content).into();
    let text = String::from_utf8(content).map_err(|_| FileProblem::NotText)?;
    Ok(MarkdownFile { text, digest })
}

/// The start of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHead {
    /// The text, up to the last complete character.
    pub text: String,
    /// Whether the file is longer.
    pub is_cut: bool,
}

/// Reads the first `bytes_max` bytes of the text file at `path`, a canonical path in the canonical directory `root`.
/// Follows no links. A file that is not UTF-8 or contains a zero byte is not text.
pub fn read_head(root: &Path, path: &Path, bytes_max: u64) -> Result<FileHead, FileProblem> {
    let mut content = Vec::new();
    open(root, path)?.take(bytes_max + 1).read_to_end(&mut content)?;
    let is_cut = content.len() as u64 > bytes_max;
    content.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        // The limit splits a character.
        Err(error) if is_cut && error.utf8_error().error_len().is_none() => {
            let valid_end = error.utf8_error().valid_up_to();
            let mut content = error.into_bytes();
            content.truncate(valid_end);
            String::from_utf8(content).map_err(|_| FileProblem::NotText)?
        }
        Err(_) => return Err(FileProblem::NotText),
    };
    if text.contains('\0') {
        return Err(FileProblem::NotText);
    }
    Ok(FileHead { text, is_cut })
}

fn open(root: &Path, path: &Path) -> Result<File, FileProblem> {
    let relative = path.strip_prefix(root).map_err(|_| FileProblem::OutsideDir)?;
    let parent = relative.parent().unwrap_or(Path::new(""));
    let name = relative.file_name().ok_or(FileProblem::OutsideDir)?;
    match DirectoryHandle::open(root, parent, OnMissing::Refuse)?.entry(name)? {
        DirectoryEntry::File(file) => Ok(file),
        DirectoryEntry::Absent => Err(FileProblem::Io("it no longer exists".into())),
        DirectoryEntry::Directory => Err(FileProblem::NotFile("a directory".into())),
        DirectoryEntry::Other(kind) => Err(FileProblem::NotFile(kind.into())),
    }
}

/// The entries of `dir`, sorted, and a problem if some were left out.
pub(crate) fn entries(dir: &Path) -> io::Result<(Vec<PathBuf>, Option<FileProblem>)> {
    let mut entries = Vec::new();
    let mut problem = None;
    for entry in std::fs::read_dir(dir)? {
        if entries.len() == ENTRIES_MAX {
            problem = Some(FileProblem::TooManyEntries);
            break;
        }
        entries.push(entry?.path());
    }
    entries.sort();
    Ok((entries, problem))
}
