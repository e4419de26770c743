//! Writing the files that a project begins with.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::config::template;

/// A file that a project begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It was written.
    Written(PathBuf),
    /// It was there already, or another that does its work, and stayed as it is.
    Left(PathBuf),
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}; look who may write there", path.display())]
pub struct StarterError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// Files that do the work of `AGENTS.md`.
const INSTRUCTIONS: [&str; 4] = ["AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "GEMINI.md"];

/// Writes what is missing of the files that a project begins with into the project at `root`.
pub fn begin_project(root: &Path) -> Result<Vec<Begun>, StarterError> {
    let mut begun = vec![
        write_new(root.join(".rheon/config.toml"), template())?,
        write_new(root.join(".rheon/.gitignore"), include_str!("gitignore.txt"))?,
    ];
    let there = INSTRUCTIONS.iter().map(|name| root.join(name)).find(|path| path.symlink_metadata().is_ok());
    begun.push(match there {
        Some(path) => Begun::Left(path),
        None => write_new(root.join("AGENTS.md"), include_str!("agents.md"))?,
    });
    Ok(begun)
}

fn write_new(path: PathBuf, text: &str) -> Result<Begun, StarterError> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    match made.and_then(|()| File::create_new(&path)).and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(Begun::Written(path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.symlink_metadata().is_ok() => {
            Ok(Begun::Left(path))
        }
        Err(error) => Err(StarterError { path, error }),
    }
}

#[cfg(test)]
#[path = "begin_tests.rs"]
mod tests;
