//! Finding transcripts: those of a project, newest first, and the one of a session, wherever it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rheon_types::Timestamp;

use super::facts::{FactsCollector, TranscriptFacts};
use super::project_dir::project_dir_name;
use super::tail::{first_bytes, last_bytes, whole_lines};
use crate::session_name::{SessionName, SessionNameError};

/// How much of each end of a transcript is read for its title.
const END_BYTES: u64 = 64 * 1024;

/// A transcript in a list. Its facts are those found near the two ends of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptListing {
    /// The session's id.
    pub id: SessionName,
    /// The file.
    pub path: PathBuf,
    /// When it was last written to.
    pub modified: Timestamp,
    /// How long it is.
    pub bytes: u64,
    /// What it says about itself.
    pub facts: TranscriptFacts,
}

/// Why there is no answer to where a transcript is.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptFindError {
    /// What was asked for is no id.
    #[error(transparent)]
    Name(#[from] SessionNameError),
    /// The folder of projects cannot be read.
    #[error("cannot read the folder {path}: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The same for whoever speaks of files only.
pub(super) fn invalid(error: TranscriptFindError) -> io::Error {
    match error {
        TranscriptFindError::Name(error) => io::Error::new(io::ErrorKind::InvalidInput, error),
        TranscriptFindError::Folder { path, source } => {
            io::Error::new(source.kind(), format!("cannot read the folder {}: {source}", path.display()))
        }
    }
}

/// The newest transcripts of the project at `cwd`, at most `count_max`, newest first. Only these are looked into; of all
/// others only the time is read. A project that has none is an empty list.
pub fn list(
    projects_dir: &Path,
    cwd: &Path,
    count_max: usize,
) -> Result<Vec<TranscriptListing>, TranscriptFindError> {
    let cwd = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let folder = projects_dir.join(project_dir_name(&cwd));
    let mut found: Vec<(Timestamp, SessionName, PathBuf, u64)> = Vec::new();
    for path in paths_in(&folder)? {
        let Some(name) = session_name(&path) else { continue };
        // A file that has gone meanwhile is no error.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_file() {
            found.push((modified(&metadata), name, path, metadata.len()));
        }
    }
    found.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    found.truncate(count_max);
    let look = |(modified, id, path, bytes): (Timestamp, SessionName, PathBuf, u64)| {
        let facts = facts_of(&path).unwrap_or_default();
        TranscriptListing { id, path, modified, bytes, facts }
    };
    Ok(found.into_iter().map(look).collect())
}

/// The transcript of the session `id`, in whatever project. Of several, which forks and copies by hand leave, the newest.
pub fn find(projects_dir: &Path, id: &str) -> Result<Option<PathBuf>, TranscriptFindError> {
    let name = SessionName::new(id)?;
    let file_name = format!("{name}.jsonl");
    let candidates = paths_in(projects_dir)?.into_iter().map(|folder| folder.join(&file_name));
    let dated = candidates.filter_map(|path| {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((modified(&metadata), path))
    });
    Ok(dated.max().map(|(_, path)| path))
}

/// What is in a folder; nothing if there is no such folder.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, TranscriptFindError> {
    let fault = |source| TranscriptFindError::Folder { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
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

/// What the two ends of a file tell. A line that an end cuts through is left out.
fn facts_of(path: &Path) -> io::Result<TranscriptFacts> {
    let mut file = File::open(path)?;
    let mut facts = FactsCollector::default();
    let (tail, is_whole) = last_bytes(&mut file, END_BYTES)?;
    if !is_whole {
        let head = first_bytes(&mut file, END_BYTES)?;
        whole_lines(&head, true).for_each(|line| look(&mut facts, line));
    }
    whole_lines(&tail, is_whole).for_each(|line| look(&mut facts, line));
    Ok(facts.finish())
}

fn look(facts: &mut FactsCollector, line: &[u8]) {
    if let Ok(value) = serde_json::from_slice(line) {
        facts.look(&value);
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
