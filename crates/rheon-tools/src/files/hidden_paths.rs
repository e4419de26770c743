//! `Hidden`: files and folders that no tool looks at, whatever it is allowed: where people keep their keys, and what rules
//! forbid to read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Rule = dyn Fn(&Path) -> bool + Send + Sync;

/// Places that no tool looks at. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct HiddenPaths {
    paths: Arc<[PathBuf]>,
    /// What tools that look at many files leave out besides; a call for one of these is the gate's to refuse.
    excluded: Option<Arc<Rule>>,
}

impl HiddenPaths {
    /// These places, by their own names and by what they lead to.
    pub(crate) fn with_paths(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)];
        Self { paths: paths.into_iter().flat_map(both).flatten().collect(), ..self }
    }

    /// The same, and tools that look at many files leave out what fits `rule`.
    pub(crate) fn excluding(self, rule: Arc<Rule>) -> Self {
        Self { excluded: Some(rule), ..self }
    }

    /// Whether `path`, a canonical one, is such a place or in one.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.paths.iter().any(|hidden| path.starts_with(hidden))
    }

    /// Whether a tool that looks at many files passes by `path`.
    pub(crate) fn excludes(&self, path: &Path) -> bool {
        self.hides(path) || self.excluded.as_ref().is_some_and(|rule| rule(path))
    }
}

impl fmt::Debug for HiddenPaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hidden").field("places", &self.paths).finish_non_exhaustive()
    }
}
