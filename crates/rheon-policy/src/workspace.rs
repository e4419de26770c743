//! `Workspace`: where tools work, and which paths lead where.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use rheon_text::TextContext;
use rheon_types::{PROTECTED_NAMES, is_protected_name};

/// Where tools work: one folder, and others that were added. Paths are compared by components, after links are followed.
///
/// Its folders are fixed when it is made: a tool's working folder, or a link put in place later, does not move them.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    roots: Vec<PathBuf>,
    /// PatternRoots that a protected name leads to: the target of a link, the folder that a `.git` file points to.
    guarded: Vec<PathBuf>,
}

/// What is to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is looked at.
    Read,
    /// It is changed, created or removed.
    Write,
}

/// Where a path really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The absolute path with all links followed; its last components may not exist yet.
    pub path: PathBuf,
    /// Whether it is in the workspace.
    pub inside: bool,
    /// Whether it is one that tools must not change: `.git`, hooks, settings of agents.
    pub protected: bool,
    /// Whether it leads elsewhere for another process: it goes through `/proc/self` or the like.
    pub fleeting: bool,
}

/// A path that leads nowhere a tool may go.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is no path.
    #[error("{path:?} is not a path: {problem}")]
    Malformed {
        /// As it was given.
        path: String,
        /// Why.
        problem: &'static str,
    },
    /// It cannot be followed.
    #[error("cannot follow {path}: {problem}")]
    Unreachable {
        /// The path.
        path: String,
        /// Why.
        problem: String,
    },
}

/// The longest path that is looked at.
const PATH_BYTES_MAX: usize = 4_096;

/// How many links are followed on the way to one file; the kernel follows as many.
const LINKS_MAX: usize = 40;

/// How much of a `.git` file or a `commondir` file is read.
const POINTER_BYTES_MAX: u64 = 8_192;

impl Workspace {
    /// A workspace at `root`, which must exist.
    pub fn new(root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        let guarded = guarded_by(&root);
        Ok(Self { roots: vec![root.clone()], root, guarded })
    }

    /// The same with another folder that belongs to it.
    pub fn with_root(mut self, root: &Path) -> std::io::Result<Self> {
        let root = root.canonicalize()?;
        self.guarded.extend(guarded_by(&root));
        self.roots.push(root);
        Ok(self)
    }

    /// The folder in which tools work.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All folders that belong to it.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathBuf::as_path)
    }

    /// The innermost folder of the workspace that holds `path`, which must be one that was resolved.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let holding = self.roots().filter(|root| path.starts_with(root));
        holding.max_by_key(|root| root.components().count())
    }

    /// Where `path` really leads; relative ones begin at the root.
    pub fn resolve(&self, path: &str) -> Result<ResolvedPath, PathError> {
        self.resolve_path(Path::new(path))
    }

    /// Where `path`, which need not be UTF-8, really leads; relative ones begin at the root.
    pub fn resolve_path(&self, path: &Path) -> Result<ResolvedPath, PathError> {
        check_form(path.as_os_str())?;
        let mut walk = Walk::new(self);
        walk.go(path)?;
        if names_directory(path.as_os_str()) && walk.found == Found::File {
            return Err(unreachable(
                &walk.real,
                "it is a file, not a folder; leave out the slash at its end",
            ));
        }
        let home = self.root_of(&walk.real);
        let is_guarded = self.guarded.iter().any(|guarded| walk.real.starts_with(guarded));
        let protected = walk.passed_protected
            || is_guarded
            || home.is_some_and(|root| is_in_git_folder(root, &walk.real));
        let fleeting = walk.passed_process;
        Ok(ResolvedPath { inside: home.is_some(), protected, fleeting, path: walk.real })
    }

    /// How `path` is shown: relative to the root where it is inside, on one line, with nothing a terminal would obey.
    pub fn shown<'a>(&self, path: &'a Path) -> DisplayPath<'a> {
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => DisplayPath(OsStr::new(".")),
            Ok(rest) => DisplayPath(rest.as_os_str()),
            Err(_) => DisplayPath(path.as_os_str()),
        }
    }
}

/// A path as people and models read it: control characters and bytes that are no UTF-8 are escaped.
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

/// Whether the path says that it is a folder.
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
        "it holds a zero byte"
    } else {
        return Ok(());
    };
    Err(PathError::Malformed { path: path.to_string_lossy().chars().take(100).collect(), problem })
}

fn unreachable(path: &Path, problem: impl Into<String>) -> PathError {
    PathError::Unreachable { path: DisplayPath(path.as_os_str()).to_string(), problem: problem.into() }
}

/// What stands at the end of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Folder,
    File,
    Nothing,
}

/// A walk along a path, one component at a time, the way the kernel goes it.
struct Walk<'a> {
    workspace: &'a Workspace,
    /// How far it came; no links in it.
    real: PathBuf,
    found: Found,
    /// What is still to go, the next at the end.
    pending: Vec<OsString>,
    links: usize,
    /// Whether a protected name was on the way, even one that is a link to somewhere else.
    passed_protected: bool,
    /// Whether a link was followed that leads every process somewhere else.
    passed_process: bool,
}

impl<'a> Walk<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            real: workspace.root.clone(),
            found: Found::Folder,
            pending: Vec::new(),
            links: 0,
            passed_protected: false,
            passed_process: false,
        }
    }

    fn go(&mut self, path: &Path) -> Result<(), PathError> {
        // The root is free of links, so a walk that leads through it may begin there.
        self.push(path.strip_prefix(&self.workspace.root).unwrap_or(path));
        while let Some(name) = self.pending.pop() {
            if name == ".." {
                self.must_be_folder()?;
                self.real.pop();
            } else if Path::new(&name).has_root() || Path::new(&name).is_absolute() {
                self.real.push(&name);
                self.found = Found::Folder;
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
        if self.found == Found::File {
            self.must_be_folder()?;
        }
        if is_protected_name(name) && self.workspace.root_of(&self.real).is_some() {
            self.passed_protected = true;
        }
        self.real.push(name);
        if self.found == Found::Nothing {
            return Ok(());
        }
        match self.real.symlink_metadata() {
            Ok(found) if found.is_symlink() => self.follow(),
            Ok(found) => {
                self.found = if found.is_dir() { Found::Folder } else { Found::File };
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.found = Found::Nothing;
                Ok(())
            }
            Err(error) => Err(unreachable(&self.real, error.to_string())),
        }
    }

    fn follow(&mut self) -> Result<(), PathError> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(unreachable(&self.real, "too many links, or links in a circle"));
        }
        let target = self.real.read_link().map_err(|error| unreachable(&self.real, error.to_string()))?;
        // What a write through a link to nothing would create is not what was named.
        if std::fs::metadata(&self.real).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Err(unreachable(&self.real, "it is a link that leads to nothing"));
        }
        self.passed_process |= self.real.starts_with("/proc");
        self.real.pop();
        self.push(&target);
        Ok(())
    }

    fn must_be_folder(&self) -> Result<(), PathError> {
        match self.found {
            Found::Folder => Ok(()),
            Found::File => Err(unreachable(&self.real, "it is a file, not a folder")),
            Found::Nothing => Err(unreachable(&self.real, "there is no such folder")),
        }
    }
}

/// Where the protected names of one folder lead.
fn guarded_by(root: &Path) -> Vec<PathBuf> {
    let mut guarded = Vec::new();
    for name in PROTECTED_NAMES {
        let path = root.join(name);
        if path.is_symlink() {
            guarded.extend(path.canonicalize().ok());
        }
    }
    if let Some(folder) = pointed_to(&root.join(".git"), "gitdir:") {
        guarded.extend(pointed_to(&folder.join("commondir"), ""));
        guarded.push(folder);
    }
    guarded
}

/// The folder that a file names after `prefix`, as git writes it into `.git` and `commondir`.
fn pointed_to(file: &Path, prefix: &str) -> Option<PathBuf> {
    use std::io::Read;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(file).ok()?.take(POINTER_BYTES_MAX).read_to_string(&mut text).ok()?;
    let target = text.strip_prefix(prefix)?.trim();
    if target.is_empty() { None } else { file.parent()?.join(target).canonicalize().ok() }
}

/// Whether `path` is, or is in, a folder that git keeps a repository in, whatever its name: a `.git` file of a submodule
/// or a worktree may point to it.
fn is_in_git_folder(root: &Path, path: &Path) -> bool {
    path.ancestors().take_while(|folder| folder.starts_with(root)).any(|folder| {
        folder.join("HEAD").is_file()
            && ((folder.join("objects").is_dir() && folder.join("refs").is_dir())
                || folder.join("commondir").is_file())
    })
}
