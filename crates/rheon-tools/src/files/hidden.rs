//! `Hidden`: files and folders that no tool looks at, whatever it is allowed: where people keep their keys, and what rules
//! forbid to read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Rule = dyn Fn(&Path) -> bool + Send + Sync;

/// Places that no tool looks at. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Hidden {
    places: Arc<[PathBuf]>,
    /// What tools that look at many files leave out besides; a call for one of these is the gate's to refuse.
    left_out: Option<Arc<Rule>>,
}

impl Hidden {
    /// These places, by their own names and by what they lead to.
    pub(crate) fn with_places(self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)];
        Self { places: paths.into_iter().flat_map(both).flatten().collect(), ..self }
    }

    /// The same, and tools that look at many files leave out what fits `rule`.
    pub(crate) fn leaving_out(self, rule: Arc<Rule>) -> Self {
        Self { left_out: Some(rule), ..self }
    }

    /// Whether `path`, a canonical one, is such a place or in one.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        self.places.iter().any(|hidden| path.starts_with(hidden))
    }

    /// Whether a tool that looks at many files passes by `path`.
    pub(crate) fn leaves_out(&self, path: &Path) -> bool {
        self.hides(path) || self.left_out.as_ref().is_some_and(|rule| rule(path))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hidden").field("places", &self.places).finish_non_exhaustive()
    }
}
