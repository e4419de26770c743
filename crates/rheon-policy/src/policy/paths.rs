//! Paths as rules see them: patterns like those of `.gitignore`, and what a call names.

use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::workspace::{Access, PathError, Workspace};

/// The folders from which patterns of paths count. Libraries do not look them up; they are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternRoots {
    /// Where the session works.
    pub working_folder: PathBuf,
    /// The user's home, for `~/`.
    pub home: Option<PathBuf>,
}

/// A pattern of `Read(...)` or `Edit(...)`, not yet bound to folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    anchor: Anchor,
    /// As `.gitignore` would have it.
    line: String,
}

/// The folder from which a pattern counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    FileSystem,
    Home,
    RuleSource,
    WorkingFolder,
}

/// What `folder/**` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is in the folder.
    Contents,
    /// The folder too: who forbids all that is in it does not want it copied or searched as a whole.
    FolderToo,
}

impl PathPattern {
    pub(crate) fn parse(spec: &str) -> Result<Self, String> {
        let (anchor, line) = if let Some(rest) = spec.strip_prefix("//") {
            (Anchor::FileSystem, format!("/{rest}"))
        } else if spec == "~" {
            (Anchor::Home, "/**".to_owned())
        } else if let Some(rest) = spec.strip_prefix("~/") {
            (Anchor::Home, format!("/{rest}"))
        } else if spec.starts_with('/') {
            (Anchor::RuleSource, spec.to_owned())
        } else if let Some(rest) = spec.strip_prefix("./") {
            (Anchor::WorkingFolder, format!("/{rest}"))
        } else if spec.starts_with('!') {
            return Err("a path rule cannot take back another; write the opposite list".into());
        } else if let Some(rest) = spec.strip_prefix('#') {
            (Anchor::WorkingFolder, format!("\\#{rest}"))
        } else {
            (Anchor::WorkingFolder, spec.to_owned())
        };
        if spec.starts_with('~') && !matches!(anchor, Anchor::Home) {
            return Err("homes of other users have no name here; write //home/user/...".into());
        }
        if line.split('/').any(|part| part == "..") {
            return Err("a path rule cannot lead upwards; write the absolute path, //...".into());
        }
        check(&line)?;
        Ok(Self { anchor, line })
    }

    /// What it names below its folder, if that is one file or folder and nothing else.
    pub(crate) fn literal(&self) -> Option<&str> {
        let line = self.line.strip_prefix('/')?;
        let line = line.strip_suffix("/**").unwrap_or(line).trim_end_matches('/');
        (!line.is_empty() && !line.contains(['*', '?', '[', '\\'])).then_some(line)
    }

    /// The pattern in the folders it means; each folder also by its real path. Empty where there is no such folder.
    pub(crate) fn bind(
        &self,
        roots: &PatternRoots,
        source_folder: &Path,
        extent: Extent,
    ) -> Result<Vec<BoundPath>, String> {
        let folder = match self.anchor {
            Anchor::FileSystem => Some(Path::new("/")),
            Anchor::Home => roots.home.as_deref(),
            Anchor::RuleSource => Some(source_folder),
            Anchor::WorkingFolder => Some(roots.working_folder.as_path()),
        };
        let Some(folder) = folder else {
            return Err("no home folder is known; write the absolute path, //...".into());
        };
        let mut bound = vec![BoundPath::new(folder, &self.line, extent)];
        if let Ok(real) = folder.canonicalize()
            && real != folder
        {
            bound.push(BoundPath::new(&real, &self.line, extent));
        }
        Ok(bound)
    }
}

/// A pattern in a folder. Its matcher takes long to make, so it is made when the first path could fit; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct BoundPath(Arc<Bound>);

#[derive(Debug)]
struct Bound {
    folder: PathBuf,
    line: String,
    extent: Extent,
    /// What is in every path that fits.
    needle: Option<String>,
    matcher: OnceLock<Option<Gitignore>>,
}

impl BoundPath {
    fn new(folder: &Path, line: &str, extent: Extent) -> Self {
        let (folder, needle) = (folder.to_path_buf(), needle(line));
        Self(Arc::new(Bound { folder, line: line.to_owned(), extent, needle, matcher: OnceLock::new() }))
    }

    /// The folder from which it counts.
    pub(crate) fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Whether its matcher has been made.
    #[cfg(test)]
    pub(crate) fn is_compiled(&self) -> bool {
        self.0.matcher.get().is_some()
    }

    /// Whether a path, or a folder it is in, fits.
    fn fits(&self, path: &Path) -> bool {
        let Bound { folder, line, extent, needle, matcher } = &*self.0;
        // The matcher insists on paths below its folder.
        let Ok(rest) = path.strip_prefix(folder) else { return false };
        if needle.as_ref().is_some_and(|needle| !rest.to_string_lossy().contains(needle.as_str())) {
            return false;
        }
        match matcher.get_or_init(|| compile(folder, line, *extent).ok()) {
            Some(matcher) => matcher.matched_path_or_any_parents(rest, path.is_dir()).is_ignore(),
            // A pattern that turns out to be too much for the matcher forbids everything and allows nothing.
            None => *extent == Extent::FolderToo,
        }
    }
}

/// The longest part of a pattern that is in every path that fits; nothing where parts have alternatives.
fn needle(line: &str) -> Option<String> {
    if line.contains(['[', ']', '{', '}', '\\']) {
        return None;
    }
    let longest = line.trim_end().split(['/', '*', '?']).max_by_key(|part| part.len());
    longest.filter(|part| !part.is_empty()).map(str::to_owned)
}

/// The longest pattern whose matcher is made only when it is needed: one so short cannot be too much for it.
const LAZY_BYTES_MAX: usize = 256;

/// Whether a pattern makes sense, without making its matcher where that can be known.
fn check(line: &str) -> Result<(), String> {
    if line.len() > LAZY_BYTES_MAX {
        return compile(Path::new("/"), line, Extent::FolderToo).map(drop);
    }
    GitignoreBuilder::new("/").add_line(None, line).map_err(|error| error.to_string())?;
    if line.trim_end().is_empty() { Err("the pattern is empty".into()) } else { Ok(()) }
}

fn compile(folder: &Path, line: &str, extent: Extent) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new(folder);
    builder.add_line(None, line).map_err(|error| error.to_string())?;
    if let (Extent::FolderToo, Some(itself)) = (extent, line.strip_suffix("/**"))
        && !itself.is_empty()
    {
        let itself = format!("/{}", itself.trim_start_matches('/'));
        builder.add_line(None, &itself).map_err(|error| error.to_string())?;
    }
    let built = builder.build().map_err(|error| error.to_string())?;
    if built.is_empty() { Err("the pattern is empty".into()) } else { Ok(built) }
}

/// Whether a path, or a folder it is in, fits one of the bound patterns.
pub(crate) fn fits(patterns: &[BoundPath], path: &Path) -> bool {
    patterns.iter().any(|pattern| pattern.fits(path))
}

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) access: Access,
    /// As it is written, made absolute, links not followed.
    pub(crate) written: PathBuf,
    /// Where it leads.
    pub(crate) real: PathBuf,
    pub(crate) inside: bool,
    pub(crate) protected: bool,
    /// Whether it leads elsewhere for another process, so that a command may find something else there.
    pub(crate) fleeting: bool,
}

impl NamedPath {
    /// The path `path`, which counts from `folder`.
    pub(crate) fn new(
        workspace: &Workspace,
        folder: &Path,
        path: &str,
        access: Access,
    ) -> Result<Self, PathError> {
        // The workspace refuses what is no path before anything is joined to it.
        if path.is_empty() || path.contains('\0') {
            workspace.resolve(path)?;
        }
        let joined = folder.join(path);
        let Some(text) = joined.to_str() else {
            return Err(PathError::Malformed { path: path.to_owned(), problem: "it is not Unicode" });
        };
        let found = workspace.resolve(text)?;
        let written = lexical(&workspace.root().join(&joined));
        Ok(Self {
            access,
            written,
            real: found.path,
            inside: found.inside && !found.fleeting,
            protected: found.protected,
            fleeting: found.fleeting,
        })
    }
}

/// `path` without `.` and `..`, links not followed.
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
