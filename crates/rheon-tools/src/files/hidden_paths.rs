//! `HiddenPaths`: paths that no tool may use, such as where users keep their keys, and paths that rules forbid reading.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Rule = dyn Fn(&Path) -> bool + Send + Sync;

/// Paths that no tool may use. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct HiddenPaths {
    paths: Arc<[PathBuf]>,
    /// Paths that tools which walk many files also skip. A call that names one of these is for the gate to deny.
    excluded: Option<Arc<Rule>>,
}

impl HiddenPaths {
    /// Adds these paths, both as given and with links resolved.
    pub(crate) fn with_paths(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)];
        Self { paths: paths.into_iter().flat_map(both).flatten().collect(), ..self }
    }

    /// Makes tools that walk many files skip what matches `rule`.
    pub(crate) fn excluding(self, rule: Arc<Rule>) -> Self {
        Self { excluded: Some(rule), ..self }
    }

    /// Whether `path` (canonical) is hidden or below a hidden path.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.paths.iter().any(|hidden| path.starts_with(hidden))
    }

    /// Whether a tool that walks many files skips `path`.
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        self.hides(path) || self.excluded.as_ref().is_some_and(|rule| rule(path))
    }
}

impl fmt::Debug for HiddenPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HiddenPaths").field("paths", &self.paths).finish_non_exhaustive()
    }
}
