//! `PromptHistory`: what the user typed in earlier conversations, one JSON line each, in a file that only they can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::sessions::UserDirs;

/// A file larger than this is shortened to its newer half.
const FILE_BYTES_MAX: u64 = 2 << 20;
/// Longer prompts are not remembered.
const PROMPT_BYTES_MAX: usize = 16 << 10;
/// How many prompts are offered.
const PROMPTS_MAX: usize = 1_000;

/// The prompts of one directory.
#[derive(Debug, Clone)]
pub struct PromptHistory {
    file: PathBuf,
    project: String,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    project: String,
    text: String,
}

impl PromptHistory {
    /// The history for `project`. `None` if the user's state directory is unknown.
    pub fn of(dirs: &UserDirs, project: &Path) -> Option<Self> {
        let file = dirs.state().ok()?.join("history.jsonl");
        Some(Self { file, project: project.to_string_lossy().into_owned() })
    }

    /// The prompts of this directory, oldest first. Lines that cannot be read are skipped, and so is a file that cannot be.
    pub fn load(&self) -> Vec<String> {
        let lines = self.read().unwrap_or_default();
        let entries = lines.lines().filter_map(|line| serde_json::from_str::<Entry>(line).ok());
        let own = entries.filter(|entry| entry.project == self.project).map(|entry| entry.text);
        let mut prompts: Vec<String> = own.collect();
        prompts.dedup();
        prompts.split_off(prompts.len().saturating_sub(PROMPTS_MAX))
    }

    /// Adds a prompt.
    pub fn add(&self, text: &str) -> io::Result<()> {
        if text.trim().is_empty() || text.len() > PROMPT_BYTES_MAX {
            return Ok(());
        }
        let entry = Entry { project: self.project.clone(), text: text.to_owned() };
        let line = serde_json::to_string(&entry)? + "\n";
        if let Some(dir) = self.file.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        // Held until this returns: another process must not shorten the file meanwhile.
        let lock = private().write(true).truncate(false).open(self.file.with_extension("lock"))?;
        lock.lock()?;
        let mut file = private().append(true).open(&self.file)?;
        file.write_all(line.as_bytes())?;
        if file.metadata()?.len() > FILE_BYTES_MAX {
            self.shorten()?;
        }
        Ok(())
    }

    fn read(&self) -> io::Result<String> {
        let mut bytes = Vec::new();
        // More is not written here.
        File::open(&self.file)?.take(FILE_BYTES_MAX * 2).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Keeps the newer half.
    fn shorten(&self) -> io::Result<()> {
        let text = self.read()?;
        let mut kept: Vec<&str> = Vec::new();
        let mut bytes = 0;
        for line in text.lines().rev() {
            bytes += line.len() as u64 + 1;
            if bytes > FILE_BYTES_MAX / 2 {
                break;
            }
            kept.push(line);
        }
        let kept: String = kept.into_iter().rev().flat_map(|line| [line, "\n"]).collect();
        let temporary = self.file.with_extension("new");
        let mut file = private().write(true).truncate(true).open(&temporary)?;
        file.write_all(kept.as_bytes())?;
        fs::rename(&temporary, &self.file)
    }
}

/// Creates files that only the user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    options
}

#[cfg(test)]
#[path = "prompt_history_tests.rs"]
mod tests;
