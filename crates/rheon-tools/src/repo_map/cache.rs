//! The cache file of a survey. It can always be rebuilt, so a file that is outdated, damaged, changed or from another
//! project counts as missing.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::language;
use super::survey::{Entry, Survey};

/// Changes with the format.
const FORMAT: &str = "rheon-repo-map 1";

/// The largest cache file.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Line<P, E> {
    path: P,
    entry: E,
}

/// A survey from the cache.
#[derive(Debug)]
pub(super) struct CachedSurvey {
    pub(super) survey: Survey,
    /// The modification time of the cache file, which is comparable with those of the files in the survey.
    pub(super) saved_at: SystemTime,
}

/// Loads the survey of the project at `root`. `None` if there is no valid one.
pub(super) fn load(file: &Path, root: &Path) -> Option<CachedSurvey> {
    let opened = File::open(file).ok()?;
    let metadata = opened.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    opened.take(BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let split = memchr::memchr(b'\n', &bytes)?;
    let (head, body) = (bytes.get(..split)?, bytes.get(split + 1..)?);
    if head != header(root, body).as_bytes() {
        return None;
    }
    let mut survey = Survey::new();
    for line in body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Line<String, Entry> = serde_json::from_slice(line).ok()?;
        survey.insert(line.path, line.entry);
    }
    Some(CachedSurvey { survey, saved_at: metadata.modified().ok()? })
}

/// A cache file that is being written.
#[derive(Debug)]
pub(super) struct CacheDraft {
    file: tempfile::NamedTempFile,
    /// When it was created, by the clock of the file system.
    pub(super) started_at: SystemTime,
}

/// Creates a new cache file.
pub(super) fn start_draft(file: &Path) -> io::Result<CacheDraft> {
    let dir = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(dir)?;
    let file = tempfile::NamedTempFile::new_in(dir)?;
    let started_at = file.as_file().metadata()?.modified()?;
    Ok(CacheDraft { file, started_at })
}

impl CacheDraft {
    /// Saves a survey atomically, without waiting for the disk. The file's time is when the scan started, so that files
    /// which changed during the scan are read again.
    pub(super) fn save(
        mut self,
        file: &Path,
        root: &Path,
        survey: &Survey,
        seen_at: SystemTime,
    ) -> io::Result<()> {
        let mut body = Vec::new();
        for (path, entry) in survey {
            serde_json::to_writer(&mut body, &Line { path, entry })?;
            body.push(b'\n');
        }
        writeln!(self.file, "{}", header(root, &body))?;
        self.file.write_all(&body)?;
        self.file.as_file().set_modified(seen_at)?;
        self.file.persist(file).map_err(|problem| problem.error)?;
        Ok(())
    }
}

fn header(root: &Path, body: &[u8]) -> String {
    let root = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    format!("{FORMAT} {} {root} {}", language::digest(), blake3::hash(body).to_hex())
}
