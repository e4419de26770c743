//! Writes the files of `rheon init`.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::config::template;

/// A file of `rheon init`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitOutcome {
    Written(PathBuf),
    /// It was there already, or another that does its work, and stayed as it is.
    Left(PathBuf),
}

/// Why a file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}; check the permissions of its directory", path.display())]
pub struct InitError {
    pub path: PathBuf,
    pub error: io::Error,
}

/// Files that do the work of `AGENTS.md`.
const INSTRUCTIONS: [&str; 4] = ["AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "GEMINI.md"];

/// Writes the missing files of `rheon init` into the project at `root`.
pub fn init_project(root: &Path) -> Result<Vec<InitOutcome>, InitError> {
    let mut begun = vec![
        write_new(root.join(".rheon/config.toml"), template())?,
        write_new(root.join(".rheon/.gitignore"), include_str!("gitignore.txt"))?,
    ];
    let there = INSTRUCTIONS.iter().map(|name| root.join(name)).find(|path| path.symlink_metadata().is_ok());
    begun.push(match there {
        Some(path) => InitOutcome::Left(path),
        None => write_new(root.join("AGENTS.md"), include_str!("agents.md"))?,
    });
    Ok(begun)
}

fn write_new(path: PathBuf, text: &str) -> Result<InitOutcome, InitError> {
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    match made.and_then(|()| File::create_new(&path)).and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(InitOutcome::Written(path)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.symlink_metadata().is_ok() => {
            Ok(InitOutcome::Left(path))
        }
        Err(error) => Err(InitError { path, error }),
    }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
