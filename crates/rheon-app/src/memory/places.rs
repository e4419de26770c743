//! `MemoryPaths`: where the memory of the user and of a project is.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rheon_store::sessions::SessionFiles;
use rheon_store::sqlite::{DatabaseError, Memory, OpenMode};
use rheon_tools::notes::NoteDir;
use rheon_tools::skills::FileOrigin;

use crate::sessions::{UserDirs, UserDirsError};

/// Where the memory of the user and of a project is: in the user's own directories, where no project can write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPaths {
    pub database: PathBuf,
    /// The directories of notes: the user's, then the project's.
    pub notes: Vec<NoteDir>,
    /// The project, as the memory names it.
    pub project: String,
    /// The file that keeps the map of the project.
    pub code_map: Option<PathBuf>,
}

impl MemoryPaths {
    /// The places for the project whose canonical root is `root`. `Err` if the user's data directory is unknown.
    pub fn of(dirs: &UserDirs, root: &Path) -> Result<Self, UserDirsError> {
        let data = dirs.data()?;
        let name = SessionFiles::new(data.join("sessions"), 0).project_name(root);
        let notes = |path, origin| NoteDir { path, origin };
        Ok(Self {
            database: data.join("memory.db"),
            notes: vec![
                notes(data.join("notes"), FileOrigin::User),
                notes(data.join("projects").join(&name).join("notes"), FileOrigin::Project),
            ],
            project: root.to_string_lossy().into_owned(),
            code_map: dirs.cache().ok().map(|cache| cache.join("code-maps").join(name)),
        })
    }

    /// Opens the database; where there is none yet, an empty one is made.
    pub fn open(&self) -> Result<Memory, DatabaseError> {
        if let Some(dir) = self.database.parent() {
            // A problem with the directory is also one of the database, which reports it.
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).ok();
        }
        Memory::open(&self.database, OpenMode::ReadWrite)
    }
}
