//! `Boundary`: what a process may reach.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::caches::{CacheLayer, Caches};
use crate::names::{NameRules, NameWatch};
use crate::network::HostList;
use crate::process::{Overlay, ResourceLimits};

/// Additional paths to protect, found by a directory walk.
#[derive(Debug, Default)]
pub struct Visibility {
    /// Paths that cannot be read.
    pub hidden: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
    /// Why the paths are not all known. No command starts then that should not reach them.
    pub problem: Option<String>,
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
    names: NameRules,
    /// Made when it is needed first. Clones share it.
    watch: Arc<OnceLock<NameWatch>>,
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
    /// Paths that one call may change, which need not exist.
    pub(super) approved: Vec<PathBuf>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) limits: ResourceLimits,
}

/// A file that commands see with the content of another.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub(super) path: PathBuf,
    pub(super) content: PathBuf,
}

impl Boundary {
    /// Allows writing in these directories, the workspace, given without symlinks; no network. Protected names in them are
    /// searched before each process starts and when it ends; [`look`](Self::look) makes the first search short. The root of
    /// the file system is never writable as a whole.
    pub fn new<Root: Into<PathBuf>>(roots: impl IntoIterator<Item = Root>) -> Self {
        let mut roots: Vec<PathBuf> = roots.into_iter().map(Into::into).collect();
        roots.retain(|root| root.parent().is_some());
        let mut names = NameRules::default();
        roots.iter().for_each(|root| names.add_root(root));
        Self {
            roots,
            read_only: Vec::new(),
            hidden: Vec::new(),
            looks: Vec::new(),
            names,
            watch: Arc::default(),
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
        self.watch().warm();
    }

    pub fn with_network(mut self, network: NetworkAccess) -> Self {
        self.network = network;
        self
    }

    /// Allows writing in another directory, with its protected names protected.
    pub fn with_writable(mut self, dir: &Path) -> io::Result<Self> {
        let dir = dir.canonicalize()?;
        if !dir.is_dir() || dir.parent().is_none() {
            let problem = format!("{} cannot be made writable: choose a directory below /", dir.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.names.add_root(&dir);
        self.watch = Arc::default();
        self.roots.push(dir);
        Ok(self)
    }

    /// Protects the user's home directory where it is in the workspace: names with a dot there, which hold the settings
    /// of programs, and `bin`.
    pub fn with_home(mut self, home: &Path) -> Self {
        self.names.add_home(home);
        self.watch = Arc::default();
        self
    }

    /// Protects a path in the workspace that need not exist, such as a directory with Rheon's own settings.
    pub fn with_pinned(mut self, path: &Path) -> Self {
        self.names.add_pinned(path);
        self.watch = Arc::default();
        self
    }

    /// Where protected names go that commands create. Without it they are renamed where they are.
    pub fn with_quarantine(mut self, dir: &Path) -> Self {
        self.names.set_quarantine(dir);
        self.watch = Arc::default();
        self
    }

    /// Hides the usual key files in the user's home directory (`.ssh`, `.aws`, `.netrc`, ...). Only
    /// [`Level::Namespaces`](super::Level::Namespaces) can hide them.
    pub fn with_keys_hidden(mut self, home: &Path) -> Self {
        self.hidden.extend(KEYS.iter().map(|name| home.join(name)));
        // Variables with keys, in files such as `.env` and `.env.production`.
        let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
        let variables = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b".env"));
        self.hidden.extend(variables.take(ENV_FILES_MAX).map(|entry| entry.path()));
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
        self.read_only.push(caches.dir().to_path_buf());
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

    /// The user approved changes of this path by one call.
    pub(super) fn with_approved(mut self, path: impl Into<PathBuf>) -> Self {
        self.extras.approved.push(path.into());
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

    /// Limits what each command may use of the machine.
    pub fn with_limits(mut self, limits: ResourceLimits) -> Self {
        self.extras.limits = limits;
        self
    }

    pub(super) fn limits(&self) -> ResourceLimits {
        self.extras.limits
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

    /// Why not everything that a walk should protect is known.
    pub(super) fn problem(&self) -> Option<&str> {
        self.looks.iter().find_map(|look| look.sight().problem.as_deref())
    }

    pub fn network(&self) -> &NetworkAccess {
        &self.network
    }

    /// The protected names of the workspace.
    pub(super) fn watch(&self) -> &NameWatch {
        self.watch.get_or_init(|| NameWatch::new(self.names.clone()))
    }

    pub(super) fn name_rules(&self) -> &NameRules {
        &self.names
    }

    /// What else must not be changed, as of now.
    pub(super) fn all_read_only(&self) -> impl Iterator<Item = &PathBuf> {
        let all = self.looks.iter().flat_map(|look| &look.sight().read_only).chain(&self.read_only);
        all.filter(|path| path.symlink_metadata().is_ok_and(|it| !it.is_symlink()))
    }

    /// Whether this directory is read-only for a reason other than its name.
    pub(super) fn forbids_writing(&self, dir: &Path) -> bool {
        let mut forbidden = self.looks.iter().flat_map(|look| &look.sight().read_only).chain(&self.read_only);
        forbidden.any(|path| dir.starts_with(path))
    }
}

/// The most files with variables in a home directory.
const ENV_FILES_MAX: usize = 100;

/// Where users keep keys: paths relative to the home directory that no command needs to read.
const KEYS: [&str; 59] = [
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
    ".terraform.d",
    ".vault-token",
    ".config/vault",
    ".config/configstore",
    ".config/github-copilot",
    // Tokens and conversations of agents.
    ".claude.json",
    ".claude/.credentials.json",
    ".claude/projects",
    ".claude/history.jsonl",
    ".codex/auth.json",
    ".codex/sessions",
    ".gemini/oauth_creds.json",
    ".local/share/rheon",
    // What was typed, often with passwords.
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".sh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
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
