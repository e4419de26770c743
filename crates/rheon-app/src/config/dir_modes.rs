//! `DirModes`: the mode that the user chose for a directory at the first start in it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rheon_types::event::PermissionMode;

use crate::sessions::{UserDirs, UserDirsError};

/// The file of what the user chose, in the directory of what outlives a run.
const STORE: &str = "folder_modes.json";

/// The most bytes of that file.
const STORE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The mode that the user chose for each directory. No project can reach it.
#[derive(Debug, Clone)]
pub struct DirModes {
    file: PathBuf,
}

impl DirModes {
    pub fn new(dirs: &UserDirs) -> Result<Self, UserDirsError> {
        Ok(Self { file: dirs.state()?.join(STORE) })
    }

    /// What the user chose for `dir`; `None` if they were not asked, or if the file cannot be read.
    pub fn get(&self, dir: &Path) -> Option<PermissionMode> {
        self.read().get(&key(dir)).copied()
    }

    /// Remembers the mode for `dir`.
    pub fn set(&self, dir: &Path, mode: PermissionMode) -> io::Result<()> {
        let place = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(place)?;
        // Locked until the new file is in place, so that two processes do not lose each other's answers.
        let lock = File::options().create(true).append(true).open(self.file.with_extension("lock"))?;
        lock.lock()?;
        let mut modes = self.read();
        modes.insert(key(dir), mode);
        let draft = tempfile::NamedTempFile::new_in(place)?;
        serde_json::to_writer_pretty(&draft, &modes)?;
        draft.as_file().sync_all()?;
        draft.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    fn read(&self) -> BTreeMap<String, PermissionMode> {
        let is_small =
            self.file.metadata().is_ok_and(|found| found.is_file() && found.len() <= STORE_BYTES_MAX);
        let text = if is_small { fs::read_to_string(&self.file).unwrap_or_default() } else { String::new() };
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn key(dir: &Path) -> String {
    dir.canonicalize().unwrap_or_else(|_| dir.to_owned()).display().to_string()
}

#[cfg(test)]
#[path = "dir_modes_tests.rs"]
mod tests;
