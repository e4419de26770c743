//! `Workspace`: the directories that tools work in, and where paths lead.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use rheon_text::TextContext;
use rheon_types::{PROTECTED_NAMES, is_protected_name};

/// The directories that tools work in: one root, plus any that were added. Paths are compared by component after
/// symlinks are resolved.
///
/// The roots are resolved once, in the constructor. A tool that changes its working directory, or a symlink created
/// later, does not move them.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    roots: Vec<PathBuf>,
    /// Paths that a protected name leads to: the target of a symlink, or the directory that a `.git` file points to.
    guarded: Vec<PathBuf>,
    /// The user's home directory: what `~` means, and where names with a dot hold the settings of programs.
    home: Option<PathBuf>,
    /// What commands see as `/tmp` and `/var/tmp`. One of the roots.
    temporary: Option<PathBuf>,
}

/// How a tool wants to use a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Change, create or remove.
    Write,
}

/// A path with every symlink resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// Absolute, with symlinks resolved. The last components may not exist yet.
    pub path: PathBuf,
    pub inside: bool,
    /// Tools must not change it: `.git`, hooks, agent settings.
    pub protected: bool,
    /// It goes through `/proc/self` or similar, so another process would end up somewhere else.
    pub per_process: bool,
}

/// Why a path cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("invalid path {path:?}: {problem}")]
    Malformed { path: String, problem: &'static str },
    #[error("cannot resolve {path}: {problem}")]
    Unreachable { path: String, problem: String },
}

const PATH_BYTES_MAX: usize = 4_096;

/// Directories of temporary files, of which a sandbox has its own.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// The kernel's own limit.
const LINKS_MAX: usize = 40;

/// How much of a `.git` or `commondir` file to read.
const POINTER_BYTES_MAX: u64 = 8_192;

impl Workspace {
    /// Creates a workspace at `root`, which must exist.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        let guarded = guarded_by(&root);
        Ok(Self { roots: vec![root.clone()], root, guarded, home: None, temporary: None })
    }

    /// Adds another root.
    pub fn with_root(mut self, root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        self.guarded.extend(guarded_by(&root));
        self.roots.push(root);
        Ok(self)
    }

    /// Protects the settings of programs in the user's home directory, and other paths, where they are in the workspace.
    pub fn with_own_paths(mut self, home: Option<&Path>, protected: &[PathBuf]) -> Self {
        if let Some(home) = home {
            self = self.with_home(Some(home.to_owned()));
        }
        let dirs = home.into_iter().flat_map(|home| [home.to_path_buf(), home.join(".config")]);
        for entry in dirs.flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten()) {
            // Where settings are kept in a repository, links lead to them.
            let path = entry.path();
            if path.is_symlink() {
                self.guarded.extend(path.canonicalize().ok().filter(|target| self.root_of(target).is_some()));
            }
        }
        for path in protected {
            self.guarded.push(path.canonicalize().unwrap_or_else(|_| path.clone()));
        }
        self
    }

    /// Whether a name in a directory holds settings of the user's programs.
    fn holds_settings(&self, dir: &Path, name: &OsStr) -> bool {
        let is_settings = || name.as_encoded_bytes().starts_with(b".") || name == "bin";
        self.home.as_deref() == Some(dir) && is_settings()
    }

    /// Adds the directory that commands see as `/tmp`. A path in `/tmp` leads there, unless it exists only on the machine.
    pub fn with_temporary(self, dir: &Path) -> std::io::Result<Self> {
        let dir = dir.canonicalize()?;
        let mut workspace = self.with_root(&dir)?;
        workspace.temporary = Some(dir);
        Ok(workspace)
    }

    /// Sets the home directory: what `~/` means, and where names with a dot are protected.
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home.map(|home| home.canonicalize().unwrap_or(home));
        self
    }

    /// The path that one starting with `~/` means.
    fn below_home(&self, path: &Path) -> Option<PathBuf> {
        let rest = path.strip_prefix("~").ok()?;
        self.home.as_ref().map(|home| home.join(rest))
    }

    /// The path with `~/` replaced by the home directory.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        self.below_home(path).unwrap_or_else(|| path.to_owned())
    }

    /// Where commands find a path in `/tmp`.
    fn as_commands_see(&self, path: &Path) -> Option<PathBuf> {
        let temporary = self.temporary.as_ref()?;
        let rest = TEMPORARY.iter().find_map(|dir| path.strip_prefix(dir).ok())?;
        if self.root_of(path).is_some() || rest.components().any(|part| part.as_os_str() == "..") {
            return None;
        }
        let seen = temporary.join(rest);
        (seen.symlink_metadata().is_ok() || path.symlink_metadata().is_err()).then_some(seen)
    }

    /// The main root. Relative paths start here.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathBuf::as_path)
    }

    /// The innermost root that contains `path`, which must already be resolved.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let holding = self.roots().filter(|root| path.starts_with(root));
        holding.max_by_key(|root| root.components().count())
    }

    /// Resolves `path`. Relative paths start at the root.
    pub fn resolve(&self, path: &str) -> Result<ResolvedPath, PathError> {
        self.resolve_path(Path::new(path))
    }

    /// Resolves `path`, which need not be UTF-8. Relative paths start at the root.
    pub fn resolve_path(&self, path: &Path) -> Result<ResolvedPath, PathError> {
        check_form(path.as_os_str())?;
        let mut walk = Walk::new(self);
        let home = self.below_home(path);
        let path = home.as_deref().unwrap_or(path);
        let seen = self.as_commands_see(path);
        walk.go(seen.as_deref().unwrap_or(path))?;
        if names_directory(path.as_os_str()) && walk.kind == PathKind::File {
            return Err(unreachable(&walk.real, "it is a file, not a directory; remove the trailing slash"));
        }
        let home = self.root_of(&walk.real);
        let is_guarded = self.guarded.iter().any(|guarded| walk.real.starts_with(guarded));
        let protected = walk.passed_protected
            || is_guarded
            || home.is_some_and(|root| is_in_git_directory(root, &walk.real));
        let per_process = walk.passed_per_process;
        Ok(ResolvedPath { inside: home.is_some(), protected, per_process, path: walk.real })
    }

    /// Formats `path` for display: relative to the root if it is inside, on one line, without terminal escapes.
    pub fn shown<'a>(&self, path: &'a Path) -> DisplayPath<'a> {
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => DisplayPath(OsStr::new(".")),
            Ok(rest) => DisplayPath(rest.as_os_str()),
            Err(_) => DisplayPath(path.as_os_str()),
        }
    }
}

/// Displays a path on one line. Control characters and invalid UTF-8 are escaped.
#[derive(Debug, Clone, Copy)]
pub struct DisplayPath<'a>(pub &'a OsStr);

impl fmt::Display for DisplayPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_encoded_bytes().utf8_chunks() {
            for character in chunk.valid().chars() {
                if TextContext::Line.forbids(character) {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    write!(f, "{character}")?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Whether the path is spelled like a directory, for example with a trailing slash.
pub fn names_directory(path: &OsStr) -> bool {
    let bytes = path.as_encoded_bytes();
    bytes.ends_with(b"/")
        || bytes.ends_with(b"/.")
        || bytes.ends_with(b"/..")
        || bytes == b"."
        || bytes == b".."
}

fn check_form(path: &OsStr) -> Result<(), PathError> {
    let problem = if path.is_empty() {
        "it is empty"
    } else if path.len() > PATH_BYTES_MAX {
        "it is too long"
    } else if path.as_encoded_bytes().contains(&0) {
        "it contains a NUL byte"
    } else {
        return Ok(());
    };
    Err(PathError::Malformed { path: path.to_string_lossy().chars().take(100).collect(), problem })
}

fn unreachable(path: &Path, problem: impl Into<String>) -> PathError {
    PathError::Unreachable { path: DisplayPath(path.as_os_str()).to_string(), problem: problem.into() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathKind {
    Directory,
    File,
    Missing,
}

/// Resolves a path one component at a time, the way the kernel does.
struct Walk<'a> {
    workspace: &'a Workspace,
    /// Resolved so far; contains no symlinks.
    real: PathBuf,
    kind: PathKind,
    /// Components still to resolve, in reverse order.
    pending: Vec<OsString>,
    links: usize,
    /// A protected name was on the way, even one that is a symlink to somewhere else.
    passed_protected: bool,
    /// A symlink was followed that resolves differently in each process.
    passed_per_process: bool,
}

impl<'a> Walk<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            real: workspace.root.clone(),
            kind: PathKind::Directory,
            pending: Vec::new(),
            links: 0,
            passed_protected: false,
            passed_per_process: false,
        }
    }

    fn go(&mut self, path: &Path) -> Result<(), PathError> {
        // The root contains no symlinks, so a path below it can start there.
        self.push(path.strip_prefix(&self.workspace.root).unwrap_or(path));
        while let Some(name) = self.pending.pop() {
            if name == ".." {
                self.require_directory()?;
                self.real.pop();
            } else if Path::new(&name).has_root() || Path::new(&name).is_absolute() {
                self.real.push(&name);
                self.kind = PathKind::Directory;
            } else if name != "." {
                self.step(&name)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, path: &Path) {
        self.pending.extend(path.components().rev().map(|part| part.as_os_str().to_owned()));
    }

    fn step(&mut self, name: &OsStr) -> Result<(), PathError> {
        if self.kind == PathKind::File {
            self.require_directory()?;
        }
        let is_protected = is_protected_name(name) || self.workspace.holds_settings(&self.real, name);
        if is_protected && self.workspace.root_of(&self.real).is_some() {
            self.passed_protected = true;
        }
        self.real.push(name);
        if self.kind == PathKind::Missing {
            return Ok(());
        }
        match self.real.symlink_metadata() {
            Ok(found) if found.is_symlink() => self.follow(),
            Ok(found) => {
                self.kind = if found.is_dir() { PathKind::Directory } else { PathKind::File };
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.kind = PathKind::Missing;
                Ok(())
            }
            Err(error) => Err(unreachable(&self.real, error.to_string())),
        }
    }

    fn follow(&mut self) -> Result<(), PathError> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(unreachable(&self.real, "too many symlinks, or a symlink loop"));
        }
        let target = self.real.read_link().map_err(|error| unreachable(&self.real, error.to_string()))?;
        // Writing through a dangling symlink would create a file that the caller did not name.
        if std::fs::metadata(&self.real).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Err(unreachable(&self.real, "it is a dangling symlink"));
        }
        self.passed_per_process |= self.real.starts_with("/proc");
        self.real.pop();
        self.push(&target);
        Ok(())
    }

    fn require_directory(&self) -> Result<(), PathError> {
        match self.kind {
            PathKind::Directory => Ok(()),
            PathKind::File => Err(unreachable(&self.real, "it is a file, not a directory")),
            PathKind::Missing => Err(unreachable(&self.real, "no such directory")),
        }
    }
}

/// Where the protected names in `root` lead.
fn guarded_by(root: &Path) -> Vec<PathBuf> {
    let mut guarded = Vec::new();
    for name in PROTECTED_NAMES {
        let path = root.join(name);
        if path.is_symlink() {
            guarded.extend(path.canonicalize().ok());
        }
    }
    if let Some(dir) = read_pointer(&root.join(".git"), "gitdir:") {
        guarded.extend(read_pointer(&dir.join("commondir"), ""));
        guarded.push(dir);
    }
    guarded
}

/// Reads the directory that a `.git` or `commondir` file names after `prefix`.
fn read_pointer(file: &Path, prefix: &str) -> Option<PathBuf> {
    use std::io::Read;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix(prefix)?.trim();
    if target.is_empty() { None } else { file.parent()?.join(target).canonicalize().ok() }
}

/// Whether `path` is in a git directory of any name. The `.git` file of a submodule or worktree may point to it.
fn is_in_git_directory(root: &Path, path: &Path) -> bool {
    path.ancestors().take_while(|dir| dir.starts_with(root)).any(|dir| {
        dir.join("HEAD").is_file()
            && ((dir.join("objects").is_dir() && dir.join("refs").is_dir())
                || dir.join("commondir").is_file())
    })
}
