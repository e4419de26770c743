//! The driver: reads a repository from disk, leaving out what git ignores.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ignore::{DirEntry, WalkBuilder};

use crate::repository::Repository;

/// The root of the repository that this crate was built in.
pub fn root() -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    dir.parent().unwrap_or(dir).to_owned()
}

/// Reads the repository at `root`.
pub fn read(root: &Path) -> Result<Repository> {
    // Only the repository's own ignore files count: the answer must be the same on every machine.
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.with_context(|| format!("cannot walk {}", root.display()))?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
            files.push(file(root, &entry)?);
        }
    }
    Ok(Repository::new(files))
}

fn file(root: &Path, entry: &DirEntry) -> Result<(String, Option<String>)> {
    let path = entry.path().strip_prefix(root)?;
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    let bytes = is_read(path).then(|| fs::read(entry.path())).transpose();
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
    // Test data may be no text; the rules only look at what is.
    Ok((names.join("/"), bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())))
}

/// Whether a rule reads files of this kind; the rest of the repository is only a list of names.
fn is_read(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs" || extension == "md")
        || path.file_name().is_some_and(|name| name == "Cargo.toml")
}
