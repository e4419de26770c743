//! `Workspace`: a folder of its own for one demo, removed when dropped.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::error::DemoError;

/// A fresh folder that only this user can enter.
#[derive(Debug)]
pub(super) struct Workspace {
    folder: TempDir,
}

impl Workspace {
    /// Makes one inside `parent`.
    pub(super) fn create(parent: &Path) -> Result<Self, DemoError> {
        match tempfile::Builder::new().prefix("rheon-demo-").tempdir_in(parent) {
            Ok(folder) => Ok(Self { folder }),
            Err(source) => Err(DemoError::Workspace { folder: parent.to_owned(), source }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves it where it is.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Removes it and tells if that fails, which a drop cannot.
    pub(super) fn remove(self) -> Result<(), DemoError> {
        let path = self.path().to_owned();
        self.folder.close().map_err(|source| DemoError::Cleanup { path, source })
    }
}
