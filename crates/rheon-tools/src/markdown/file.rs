//! Reading a file of a folder without being led out of it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::files::{Entry, Folder, Missing};

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
    let relative = path.strip_prefix(root).map_err(|_| FileProblem::LeadsOut)?;
    let parent = relative.parent().unwrap_or(Path::new(""));
    let name = relative.file_name().ok_or(FileProblem::LeadsOut)?;
    let file = match Folder::open(root, parent, Missing::Refuse)?.entry(name)? {
        Entry::File(file) => file,
        Entry::Nothing => return Err(FileProblem::Io("it is gone".into())),
        Entry::Folder => return Err(FileProblem::NotFile("a folder".into())),
        Entry::Other(kind) => return Err(FileProblem::NotFile(kind.into())),
    };
    let mut content = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut content)?;
    if content.len() as u64 > bytes_max {
        return Err(FileProblem::TooLarge { bytes_max });
    }
    let digest = blake3::hash(&content).into();
    let text = String::from_utf8(content).map_err(|_| FileProblem::NotText)?;
    Ok(TextOf { text, digest })
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
