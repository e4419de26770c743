//! `AnswerFile`: a file in a project that the user's own answers write.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use blake3::Hash;

use crate::directory::{DirectoryEntry, DirectoryHandle, OnMissing, Overwrite};
use crate::trust::content::TrustItem;
use crate::trust::error::TrustError;
use crate::trust::trusted_content::{ProjectEntry, look};

/// Keeps local files out of commits. Written only where the directory has no such file.
const GITIGNORE: &str = "# Your own settings for this project.\n.gitignore\n*.local.*\n";

/// A file in the project at `root`, which must not contain symlinks.
pub(crate) struct AnswerFile<'a> {
    pub(crate) root: &'a Path,
    /// Relative to the project.
    pub(crate) path: &'a str,
}

impl AnswerFile<'_> {
    /// Replaces the text of the file, which is empty where there is none, and returns the new hash. Nothing in the project
    /// may redirect the write, and a file whose content the user does not know stays as it is.
    pub(crate) fn edit(
        &self,
        is_known: impl Fn(&TrustItem) -> bool,
        edit: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Hash, TrustError> {
        let path = Path::new(self.path);
        let unwritable = |error: io::Error| fault(path, format!("cannot be written: {error}"));
        let found = look(self.root, path)?;
        let text = match &found {
            ProjectEntry::Missing => "",
            ProjectEntry::File { real, bytes } if real == path => {
                let hash = blake3_of(&found, path)?;
                let item = TrustItem { path: self.path.to_owned(), hash, link_target: None };
                if !is_known(&item) {
                    let problem = "has content that you have not trusted (see `rheon trust show`)";
                    return Err(fault(path, problem));
                }
                std::str::from_utf8(bytes).map_err(|_| fault(path, "is not UTF-8"))?
            }
            ProjectEntry::Directory(_) | ProjectEntry::Outside(_) | ProjectEntry::File { .. } => {
                return Err(fault(path, "is not a regular file"));
            }
        };
        let text = edit(text).map_err(unwritable)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().unwrap_or_default();
        let directory = DirectoryHandle::open(self.root, parent, OnMissing::Create).map_err(unwritable)?;
        keep_out_of_commits(&directory).map_err(unwritable)?;
        let draft = directory.private_draft(text.as_bytes()).map_err(unwritable)?;
        draft.publish(name, Overwrite::Allow).map_err(unwritable)?;
        blake3_of(&ProjectEntry::File { real: path.to_owned(), bytes: text.into_bytes() }, path)
    }
}

fn fault(path: &Path, problem: impl Into<String>) -> TrustError {
    TrustError::AnswerFile { path: path.to_owned(), problem: problem.into() }
}

fn keep_out_of_commits(directory: &DirectoryHandle) -> io::Result<()> {
    let name = OsStr::new(".gitignore");
    match directory.entry(name)? {
        DirectoryEntry::Absent => {}
        DirectoryEntry::Directory | DirectoryEntry::File(_) | DirectoryEntry::Other(_) => return Ok(()),
    }
    match directory.draft(GITIGNORE.as_bytes(), None)?.publish(name, Overwrite::Refuse) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

fn blake3_of(entry: &ProjectEntry, path: &Path) -> Result<Hash, TrustError> {
    entry.hash().ok_or_else(|| fault(path, "is missing"))
}
