//! `Hidden`: files and folders that no tool looks at, whatever it is allowed: where people keep their keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Places that no tool looks at. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden(Arc<[PathBuf]>);

impl Hidden {
    /// These places, by their own names and by what they lead to.
    pub(crate) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)];
        Self(paths.into_iter().flat_map(both).flatten().collect())
    }

    /// Whether `path`, a canonical one, is such a place or in one.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.0.iter().any(|hidden| path.starts_with(hidden))
    }
}
