//! `Boundary`: what a process may reach.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rheon_types::PROTECTED_NAMES;

use crate::caches::{CacheLayer, Caches};
use crate::network::HostList;
use crate::process::Overlay;

/// Additional paths to protect, found by a directory walk.
#[derive(Debug, Default)]
pub struct Visibility {
    /// Paths that cannot be read.
    pub hidden: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
}

/// Whether a process may use the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkAccess {
    Blocked,
    /// Only these hosts, through a proxy. Where there is no session helper, this blocks the network.
    Hosts(HostList),
    Open,
}

impl NetworkAccess {
    /// Whether the kernel keeps processes from the machine's network.
    pub fn is_confined(&self) -> bool {
        match self {
            Self::Blocked | Self::Hosts(_) => true,
            Self::Open => false,
        }
    }
}

/// What a process may reach.
#[derive(Debug, Clone)]
pub struct Boundary {
    roots: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Walks that find more paths to protect. Clones share the results.
    looks: Vec<Arc<Look>>,
    network: NetworkAccess,
    extras: Extras,
}

/// What commands get beyond the workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Extras {
    /// Package caches with their copy-on-write layers, which are mounted once per session.
    pub(super) caches: Vec<CacheLayer>,
    /// Holds the lock of the layers and knows whether they are full.
    owner: Option<Arc<Caches>>,
    /// Files that commands see with the content of another.
    pub(super) replaced: Vec<Replacement>,
    /// Paths that one call may read although they are hidden.
    pub(super) readable: Vec<PathBuf>,
    /// Paths that commands may write although they are outside the roots.
    pub(super) writable: Vec<PathBuf>,
    pub(super) variables: Vec<(String, String)>,
}

/// A file that commands see with the content of another.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub(super) path: PathBuf,
    pub(super) content: PathBuf,
}

/// A path in the workspace that must not be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProtectedPath {
    Present(PathBuf),
    /// It does not exist and must not be created.
    Missing(PathBuf),
}

/// How deep, and how many entries, to search for protected names below the roots.
const DEPTH_MAX: usize = 4;
const ENTRIES_MAX: usize = 5_000;

/// How much of a `.git` or `commondir` file to read.
const POINTER_BYTES_MAX: u64 = 8_192;

/// Large directories of third-party files that the search skips.
const SKIPPED: [&str; 3] = ["node_modules", "target", ".venv"];

impl Boundary {
    /// Allows writing in these directories, the workspace, given without symlinks; no network. Nested protected names
    /// are searched before the first process starts, or when [`look`](Self::look) is called.
    pub fn new<Root: Into<PathBuf>>(roots: impl IntoIterator<Item = Root>) -> Self {
        let roots: Vec<PathBuf> = roots.into_iter().map(Into::into).collect();
        let looks = roots.iter().map(|root| look_in(root)).collect();
        Self {
            roots,
            read_only: Vec::new(),
            hidden: Vec::new(),
            looks,
            network: NetworkAccess::Blocked,
            extras: Extras::default(),
        }
    }

    /// Adds paths that a walk finds. The walk runs as late as the search for protected names.
    pub fn with_visibility(mut self, walk: impl Fn() -> Visibility + Send + Sync + 'static) -> Self {
        self.looks.push(Arc::new(Look::new(walk)));
        self
    }

    /// Runs all pending searches now. Large directories take a while.
    pub fn look(&self) {
        self.looks.iter().for_each(|look| {
            look.sight();
        });
    }

    pub fn with_network(mut self, network: NetworkAccess) -> Self {
        self.network = network;
        self
    }

    /// Allows writing in another directory, with its protected names protected.
    pub fn with_writable(mut self, folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        if !folder.is_dir() || folder.parent().is_none() {
            let problem = format!("{} cannot be made writable: choose a directory below /", folder.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.looks.push(look_in(&folder));
        self.roots.push(folder);
        Ok(self)
    }

    /// Hides the usual key files in the user's home directory (`.ssh`, `.aws`, `.netrc`, ...). Only
    /// [`Level::Namespaces`](super::Level::Namespaces) can hide them.
    pub fn with_keys_hidden(mut self, home: &Path) -> Self {
        self.hidden.extend(KEYS.iter().map(|name| home.join(name)));
        self
    }

    /// Hides a file or directory (keys, sockets of other programs).
    pub fn with_hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Makes a file or directory read-only. Only [`Level::Namespaces`](super::Level::Namespaces) can enforce that.
    pub fn with_read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Shows a directory with a copy-on-write layer on top: commands can change it, and the directory stays as it is.
    /// Needs the session helper; without it the directory is read-only.
    pub fn with_overlay(mut self, overlay: Overlay) -> Self {
        self.extras.caches.push(CacheLayer { overlay: Some(overlay), private: None });
        self
    }

    /// Shows the user's package caches, and takes changes as their mode says. Registry settings appear without secrets.
    pub fn with_caches(mut self, caches: Caches) -> Self {
        self.extras.caches.extend(caches.layers().iter().cloned());
        self.extras.writable.extend(caches.shared().iter().cloned());
        self.read_only.push(caches.folder().to_path_buf());
        for (path, content) in caches.registry() {
            let (path, content) = (path.to_path_buf(), content.to_path_buf());
            self.extras.replaced.push(Replacement { path, content });
        }
        self.extras.owner = Some(Arc::new(caches));
        self
    }

    /// Whether the layers take no more. Called for each command.
    pub(super) fn are_caches_full(&self) -> bool {
        self.extras.owner.as_ref().is_some_and(|caches| caches.is_full())
    }

    /// Shows the file `path` with the content of the file `content`, read-only.
    pub fn with_replaced(mut self, path: impl Into<PathBuf>, content: impl Into<PathBuf>) -> Self {
        self.extras.replaced.push(Replacement { path: path.into(), content: content.into() });
        self
    }

    /// Allows writing to an existing file or directory outside the workspace.
    pub fn with_shared(mut self, path: impl Into<PathBuf>) -> Self {
        self.extras.writable.push(path.into());
        self
    }

    /// Allows reading a path even if it is hidden.
    pub(super) fn with_readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.extras.readable.push(path.into());
        self
    }

    /// Sets an environment variable for all commands.
    pub fn with_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extras.variables.push((name.into(), value.into()));
        self
    }

    /// The layers that the helper of the session mounts.
    pub(super) fn overlays(&self) -> Vec<Overlay> {
        self.extras.caches.iter().filter_map(|layer| layer.overlay.clone()).collect()
    }

    pub(super) fn extras(&self) -> &Extras {
        &self.extras
    }

    /// The writable directories.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The hidden paths, without those found by walks.
    pub fn hidden(&self) -> &[PathBuf] {
        &self.hidden
    }

    /// The hidden paths, including those found by walks.
    pub(super) fn all_hidden(&self) -> impl Iterator<Item = &PathBuf> {
        self.hidden.iter().chain(self.looks.iter().flat_map(|look| &look.sight().hidden))
    }

    pub fn network(&self) -> &NetworkAccess {
        &self.network
    }

    /// Paths directly in the roots that must not be changed or created.
    pub(super) fn guarded(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().flat_map(|root| PROTECTED_NAMES.map(|name| root.join(name)))
    }

    /// What must not be changed within the roots, as of now.
    pub(super) fn protected(&self) -> Vec<ProtectedPath> {
        let mut found = Vec::new();
        for path in self.guarded() {
            match path.symlink_metadata() {
                // A symlink itself cannot be covered, but its target can, if it is within a root.
                Ok(entry) if entry.is_symlink() => found.extend(self.inside(path.canonicalize().ok())),
                Ok(entry) if entry.is_file() => {
                    // A worktree or submodule: the repository is elsewhere, and may share its settings with another.
                    let repository = pointed_to(&path, "gitdir:");
                    let shared = repository.as_ref().and_then(|it| pointed_to(&it.join("commondir"), ""));
                    found.extend([repository, shared].into_iter().filter_map(|it| self.inside(it)));
                    found.push(ProtectedPath::Present(path));
                }
                Ok(_) => found.push(ProtectedPath::Present(path)),
                Err(_) => found.push(ProtectedPath::Missing(path)),
            }
        }
        let more = self.looks.iter().flat_map(|look| &look.sight().read_only).chain(&self.read_only);
        let more = more.filter(|path| path.symlink_metadata().is_ok_and(|it| !it.is_symlink()));
        found.extend(more.cloned().map(ProtectedPath::Present));
        found
    }

    /// Whether this directory is read-only for a reason other than its name.
    pub(super) fn forbids_writing(&self, folder: &Path) -> bool {
        let mut forbidden = self.looks.iter().flat_map(|look| &look.sight().read_only).chain(&self.read_only);
        forbidden.any(|path| folder.starts_with(path))
    }

    fn inside(&self, path: Option<PathBuf>) -> Option<ProtectedPath> {
        path.filter(|path| self.roots.iter().any(|root| path.starts_with(root))).map(ProtectedPath::Present)
    }
}

/// The directory that a `.git` or `commondir` file names after `prefix`.
fn pointed_to(file: &Path, prefix: &str) -> Option<PathBuf> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix(prefix)?.trim();
    if target.is_empty() { None } else { file.parent()?.join(target).canonicalize().ok() }
}

fn look_in(root: &Path) -> Arc<Look> {
    let root = root.to_path_buf();
    Arc::new(Look::new(move || Visibility {
        read_only: nested(&root).into_iter().collect(),
        ..Visibility::default()
    }))
}

/// Protected names below `root`, but not directly in it.
fn nested(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![(root.to_path_buf(), 0)];
    let mut entries_seen = 0;
    while let Some((folder, depth)) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            entries_seen += 1;
            if entries_seen > ENTRIES_MAX {
                return found;
            }
            let name = entry.file_name();
            if PROTECTED_NAMES.iter().any(|protected| name == *protected) {
                if depth > 0 {
                    found.insert(entry.path());
                }
            } else if depth < DEPTH_MAX
                && SKIPPED.iter().all(|skipped| name != *skipped)
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
            {
                waiting.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// Where users keep keys: paths relative to the home directory that no command needs to read.
const KEYS: [&str; 36] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".docker/run",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/sops",
    ".config/rclone",
    ".config/doctl",
    ".config/heroku",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/rheon",
    ".mozilla",
    ".thunderbird",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".pgpass",
    ".my.cnf",
    ".terraform.d/credentials.tfrc.json",
];

/// A directory walk for paths to protect. It is slow in large directories, so it runs once: when the first process
/// needs the result, or earlier on request.
struct Look {
    sight: OnceLock<Visibility>,
    walk: Box<dyn Fn() -> Visibility + Send + Sync>,
}

impl Look {
    fn new(walk: impl Fn() -> Visibility + Send + Sync + 'static) -> Self {
        Self { sight: OnceLock::new(), walk: Box::new(walk) }
    }

    /// The result. A caller that asks during the walk waits for it.
    fn sight(&self) -> &Visibility {
        self.sight.get_or_init(&self.walk)
    }
}

impl fmt::Debug for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Look").field(&self.sight.get()).finish()
    }
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
