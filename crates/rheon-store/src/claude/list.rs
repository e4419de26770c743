//! Finds transcripts: those of a project, newest first, and the one of a session in any project.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rheon_types::Timestamp;

use super::facts::{FactsCollector, TranscriptFacts};
use super::project_dir::project_dir_name;
use super::tail::{complete_lines, first_bytes, last_bytes};
use crate::session_name::{SessionName, SessionNameError};

/// How much is read from each end of a transcript to find its title.
const END_BYTES: u64 = 64 * 1024;

/// A transcript in a list, with the facts found near the two ends of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptListing {
    pub id: SessionName,
    pub path: PathBuf,
    pub modified: Timestamp,
    pub bytes: u64,
    pub facts: TranscriptFacts,
}

/// Why a transcript cannot be located.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptFindError {
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// A directory of transcripts cannot be read.
    #[error("cannot read the directory {path}: {source}")]
    Directory { path: PathBuf, source: io::Error },
}

/// Converts the error to an `io::Error`.
pub(super) fn invalid(error: TranscriptFindError) -> io::Error {
    match error {
        TranscriptFindError::Name(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        TranscriptFindError::Directory { path, source } => {
            io::Error::new(source.kind(), format!("cannot read the directory {}: {source}", path.display()))
        }
    }
}

/// The newest transcripts of the project at `cwd`, at most `count_max`, newest first. Of the others only the
/// modification time is read. Returns an empty list for a project without transcripts.
pub fn list(
    projects_dir: &Path,
    cwd: &Path,
    count_max: usize,
) -> Result<Vec<TranscriptListing>, TranscriptFindError> {
    let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let dir = projects_dir.join(project_dir_name(&cwd));
    let mut found: Vec<(Timestamp, SessionName, PathBuf, u64)> = Vec::new();
    for path in paths_in(&dir)? {
        let Some(name) = session_name(&path) else { continue };
        // A file that was removed in the meantime is skipped.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_file() {
            found.push((modified(&metadata), name, path, metadata.len()));
        }
    }
    found.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.truncate(count_max);
    let add_line = |(modified, id, path, bytes): (Timestamp, SessionName, PathBuf, u64)| {
        let facts = facts_of(&path).unwrap_or_default();
        TranscriptListing { id, path, modified, bytes, facts }
    };
    Ok(found.into_iter().map(add_line).collect())
}

/// The transcript of the session `id` in any project. If forks or copies left several, the newest.
pub fn find(projects_dir: &Path, id: &str) -> Result<Option<PathBuf>, TranscriptFindError> {
    let name = SessionName::new(id)?;
    let file_name = format!("{name}.jsonl");
    let candidates = paths_in(projects_dir)?.into_iter().map(|dir| dir.join(&file_name));
    let dated = candidates.filter_map(|path| {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((modified(&metadata), path))
    });
    Ok(dated.max().map(|(_, path)| path))
}

/// The paths in a directory; empty if it does not exist.
fn paths_in(dir: &Path) -> Result<Vec<PathBuf>, TranscriptFindError> {
    let fault = |source| TranscriptFindError::Directory { path: dir.to_owned(), source };
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(fault)?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(fault(error)),
    }
}

fn session_name(path: &Path) -> Option<SessionName> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    SessionName::new(id).ok()
}

fn modified(metadata: &fs::Metadata) -> Timestamp {
    let since_epoch =
        metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}

/// The facts in the two ends of a file. Lines that are cut off are skipped.
fn facts_of(path: &Path) -> io::Result<TranscriptFacts> {
    let mut file = File::open(path)?;
    let mut facts = FactsCollector::default();
    let (tail, is_whole) = last_bytes(&mut file, END_BYTES)?;
    if !is_whole {
        let head = first_bytes(&mut file, END_BYTES)?;
        complete_lines(&head, true).for_each(|line| add_line(&mut facts, line));
    }
    complete_lines(&tail, is_whole).for_each(|line| add_line(&mut facts, line));
    Ok(facts.finish())
}

fn add_line(facts: &mut FactsCollector, line: &[u8]) {
    if let Ok(value) = serde_json::from_slice(line) {
        facts.add_line(&value);
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
