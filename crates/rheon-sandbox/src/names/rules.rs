//! `NameRules`: which names in the workspace are protected.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rheon_types::is_protected_name;

/// Which names in the workspace are protected, and where to put what commands create there.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameRules {
    /// The writable directories. None is inside another.
    roots: Vec<PathBuf>,
    /// The home directories of the user, where every name with a dot is protected.
    homes: Vec<PathBuf>,
    /// What the names in those are links to.
    targets: Vec<PathBuf>,
    /// Further paths.
    pinned: Vec<PathBuf>,
    quarantine: Option<PathBuf>,
}

/// The most links of a home directory to follow.
const LINKS_MAX: usize = 1_000;

impl NameRules {
    pub(crate) fn add_root(&mut self, root: &Path) {
        if self.roots.iter().all(|known| !root.starts_with(known)) {
            self.roots.retain(|known| !known.starts_with(root));
            self.roots.push(root.to_path_buf());
        }
    }

    /// Programs read their settings from names with a dot in the home directory, and run what `bin` holds.
    pub(crate) fn add_home(&mut self, home: &Path) {
        self.homes.extend(home.canonicalize());
        // Where settings are kept in a repository, links lead to them.
        for dir in [home.to_path_buf(), home.join(".config")] {
            let links = std::fs::read_dir(dir).into_iter().flatten().flatten();
            let links = links.map(|entry| entry.path()).filter(|path| path.is_symlink());
            self.targets.extend(links.take(LINKS_MAX).filter_map(|link| link.canonicalize().ok()));
        }
    }

    /// Protects a path that need not exist, and whatever leads to it.
    pub(crate) fn add_pinned(&mut self, path: &Path) {
        self.pinned.push(path.to_path_buf());
    }

    pub(crate) fn set_quarantine(&mut self, dir: &Path) {
        self.quarantine = Some(dir.to_path_buf());
    }

    pub(super) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    pub(super) fn quarantine(&self) -> Option<&Path> {
        self.quarantine.as_deref()
    }

    /// What links in the home directory lead to.
    pub(super) fn targets(&self) -> &[PathBuf] {
        &self.targets
    }

    /// The root that contains a path.
    pub(super) fn root_of(&self, path: &Path) -> Option<&Path> {
        self.roots.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }

    pub(super) fn protects(&self, dir: &Path, name: &OsStr) -> bool {
        let is_of_home = || self.homes.iter().any(|home| home == dir) && is_settings_name(name);
        is_protected_name(name) || is_of_home() || self.pinned.iter().any(|path| *path == dir.join(name))
    }

    /// The directories within the roots that must not be moved, because something protected is in them: outermost first.
    pub(crate) fn anchors(&self) -> Vec<PathBuf> {
        let pinned = self.pinned.iter().filter_map(|path| path.parent());
        let targets = self.targets.iter().filter_map(|path| path.parent());
        let below = self.homes.iter().map(PathBuf::as_path).chain(pinned).chain(targets);
        let mut anchors: Vec<PathBuf> = below
            .filter_map(|dir| Some((dir, self.root_of(dir)?)))
            .flat_map(|(dir, root)| dir.ancestors().take_while(move |it| *it != root))
            .map(Path::to_path_buf)
            .collect();
        anchors.sort();
        anchors.dedup();
        anchors
    }
}

/// Whether programs read their settings, or find programs, at this name of a home directory.
fn is_settings_name(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "bin"
}
