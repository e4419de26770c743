//! Path patterns in `.gitignore` syntax, and the paths that a call names.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::policy::rule_kind::RuleKind;
use crate::workspace::{Access, PathError, Workspace};

/// The directories that path patterns are relative to. The caller provides them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternRoots {
    pub working_dir: PathBuf,
    /// The user's home directory, for `~/`.
    pub home: Option<PathBuf>,
}

/// The pattern of `Read(...)` or `Edit(...)`, not yet bound to directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    anchor: Anchor,
    /// In `.gitignore` syntax.
    line: String,
}

/// The directory that a pattern is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    FileSystem,
    Home,
    SourceDirectory,
    WorkingDirectory,
}

/// What `directory/**` matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Only what is inside the directory.
    Contents,
    /// The directory itself as well: a rule that denies everything inside should also deny copying or searching the
    /// directory as a whole.
    IncludingDirectory,
}

impl PathPattern {
    /// Parses the pattern of a rule. In deny and ask rules, a pattern that starts with a name matches at any depth.
    pub(crate) fn parse(spec: &str, list: RuleKind) -> Result<Self, String> {
        let (anchor, line) = if let Some(rest) = spec.strip_prefix("//") {
            (Anchor::FileSystem, format!("/{rest}"))
        } else if spec == "~" {
            (Anchor::Home, "/**".to_owned())
        } else if let Some(rest) = spec.strip_prefix("~/") {
            (Anchor::Home, format!("/{rest}"))
        } else if spec.starts_with('/') {
            (Anchor::SourceDirectory, spec.to_owned())
        } else if let Some(rest) = spec.strip_prefix("./") {
            (Anchor::WorkingDirectory, format!("/{rest}"))
        } else if spec.starts_with('!') {
            return Err("a path rule cannot be negated; use the opposite list".into());
        } else if let Some(rest) = spec.strip_prefix('#') {
            (Anchor::WorkingDirectory, format!("\\#{rest}"))
        } else if list != RuleKind::Allow
            && spec.trim_end_matches('/').contains('/')
            && !spec.starts_with("**/")
        {
            (Anchor::WorkingDirectory, format!("**/{spec}"))
        } else {
            (Anchor::WorkingDirectory, spec.to_owned())
        };
        if spec.starts_with('~') && !matches!(anchor, Anchor::Home) {
            return Err("the home directory of another user needs an absolute path: //home/user/...".into());
        }
        if line.split('/').any(|part| part == "..") {
            return Err("a path rule cannot contain ..; use an absolute path: //...".into());
        }
        check(&line)?;
        Ok(Self { anchor, line })
    }

    /// The path that the pattern names below its directory, if it has no wildcards.
    pub(crate) fn literal(&self) -> Option<&str> {
        let line = self.line.strip_prefix('/')?;
        let line = line.strip_suffix("/**").unwrap_or(line).trim_end_matches('/');
        (!line.is_empty() && !line.contains(['*', '?', '[', '\\'])).then_some(line)
    }

    /// Whether it matches at any depth of the working directory.
    pub(crate) fn is_at_any_depth(&self) -> bool {
        self.anchor == Anchor::WorkingDirectory && !self.line.starts_with('/')
    }

    /// Binds the pattern to a further directory of the workspace.
    pub(crate) fn bind_in(&self, dir: &Path, extent: Extent) -> BoundPath {
        BoundPath::new(dir, &self.line, extent)
    }

    /// The first directory of a pattern relative to the settings file.
    pub(crate) fn first_below_settings(&self) -> Option<&str> {
        let rest = self.line.strip_prefix('/').filter(|_| self.anchor == Anchor::SourceDirectory)?;
        rest.split('/').next()
    }

    /// Binds the pattern to its directories, each also by its resolved path. Empty if there is no such directory.
    pub(crate) fn bind(
        &self,
        roots: &PatternRoots,
        source_dir: &Path,
        extent: Extent,
    ) -> Result<Vec<BoundPath>, String> {
        let dir = match self.anchor {
            Anchor::FileSystem => Some(Path::new("/")),
            Anchor::Home => roots.home.as_deref(),
            Anchor::SourceDirectory => Some(source_dir),
            Anchor::WorkingDirectory => Some(roots.working_dir.as_path()),
        };
        let Some(dir) = dir else {
            return Err("the home directory is unknown; use an absolute path: //...".into());
        };
        let mut bound = vec![BoundPath::new(dir, &self.line, extent)];
        if let Ok(real) = dir.canonicalize()
            && real != dir
        {
            bound.push(BoundPath::new(&real, &self.line, extent));
        }
        Ok(bound)
    }
}

/// A pattern bound to a directory. Its matcher is expensive, so it is built when the first path could match. Clones
/// share it.
#[derive(Debug, Clone)]
pub(crate) struct BoundPath(Arc<Bound>);

#[derive(Debug)]
struct Bound {
    dir: PathBuf,
    line: String,
    extent: Extent,
    /// Text that every matching path contains.
    needle: Option<String>,
    matcher: OnceLock<Option<Gitignore>>,
}

impl BoundPath {
    fn new(dir: &Path, line: &str, extent: Extent) -> Self {
        let (dir, needle) = (dir.to_path_buf(), needle(line));
        Self(Arc::new(Bound { dir, line: line.to_owned(), extent, needle, matcher: OnceLock::new() }))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.0.dir
    }

    #[cfg(test)]
    pub(crate) fn is_compiled(&self) -> bool {
        self.0.matcher.get().is_some()
    }

    /// Whether the path, or a directory that contains it, matches.
    fn fits(&self, path: &Path) -> bool {
        let Bound { dir, line, extent, needle, matcher } = &*self.0;
        // The matcher requires paths below its directory.
        let Ok(rest) = path.strip_prefix(dir) else { return false };
        if needle.as_ref().is_some_and(|needle| !rest.to_string_lossy().contains(needle.as_str())) {
            return false;
        }
        match matcher.get_or_init(|| compile(dir, line, *extent).ok()) {
            Some(matcher) => matcher.matched_path_or_any_parents(rest, path.is_dir()).is_ignore(),
            // A pattern that is too large for the matcher denies everything and allows nothing.
            None => *extent == Extent::IncludingDirectory,
        }
    }
}

/// The longest text that every matching path contains; `None` if the pattern has alternatives.
fn needle(line: &str) -> Option<String> {
    if line.contains(['[', ']', '{', '}', '\\']) {
        return None;
    }
    let longest = line.trim_end().split(['/', '*', '?']).max_by_key(|part| part.len());
    longest.filter(|part| !part.is_empty()).map(str::to_owned)
}

/// Patterns up to this length cannot exceed the matcher's limits, so building their matcher can wait.
const LAZY_BYTES_MAX: usize = 256;

/// Validates a pattern, building its matcher only if necessary.
fn check(line: &str) -> Result<(), String> {
    if line.len() > LAZY_BYTES_MAX {
        return compile(Path::new("/"), line, Extent::IncludingDirectory).map(drop);
    }
    GitignoreBuilder::new("/").add_line(None, line).map_err(|error| error.to_string())?;
    if line.trim_end().is_empty() { Err("the pattern is empty".into()) } else { Ok(()) }
}

fn compile(dir: &Path, line: &str, extent: Extent) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new(dir);
    builder.add_line(None, line).map_err(|error| error.to_string())?;
    if let (Extent::IncludingDirectory, Some(itself)) = (extent, line.strip_suffix("/**"))
        && !itself.is_empty()
    {
        let itself = format!("/{}", itself.trim_start_matches('/'));
        builder.add_line(None, &itself).map_err(|error| error.to_string())?;
    }
    let built = builder.build().map_err(|error| error.to_string())?;
    if built.is_empty() { Err("the pattern is empty".into()) } else { Ok(built) }
}

/// Whether the path, or a directory that contains it, matches one of the patterns.
pub(crate) fn fits(patterns: &[BoundPath], path: &Path) -> bool {
    patterns.iter().any(|pattern| pattern.fits(path))
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) access: Access,
    /// As written, made absolute, symlinks not resolved.
    pub(crate) written: PathBuf,
    /// With symlinks resolved.
    pub(crate) real: PathBuf,
    pub(crate) inside: bool,
    pub(crate) protected: bool,
    /// It resolves differently in another process, so a command may reach another file.
    pub(crate) per_process: bool,
}

impl NamedPath {
    /// Resolves `path`, relative to `dir`.
    pub(crate) fn new(
        workspace: &Workspace,
        dir: &Path,
        path: &str,
        access: Access,
    ) -> Result<Self, PathError> {
        // The workspace rejects malformed paths before they are joined.
        if path.is_empty() || path.contains('\0') {
            workspace.resolve(path)?;
        }
        // `~/` means the home directory, wherever the path starts from.
        let joined = if path == "~" || path.starts_with("~/") { PathBuf::from(path) } else { dir.join(path) };
        let Some(text) = joined.to_str() else {
            return Err(PathError::Malformed { path: path.to_owned(), problem: "it is not valid UTF-8" });
        };
        let found = workspace.resolve(text)?;
        let written = lexical(&workspace.root().join(workspace.expand(&joined)));
        Ok(Self {
            access,
            written,
            real: found.path,
            inside: found.inside && !found.per_process,
            protected: found.protected,
            per_process: found.per_process,
        })
    }
}

/// Removes `.` and `..` without resolving symlinks.
fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(component),
        }
    }
    clean
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
