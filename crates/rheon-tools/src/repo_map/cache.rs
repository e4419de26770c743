//! The file that keeps a survey from one session to the next. It can always be made anew, so whatever is odd about it
//! (older, torn, changed, of another project) makes it count as absent.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::language;
use super::survey::{Entry, Survey};

/// Changed whenever the format does.
const FORMAT: &str = "rheon-repo-map 1";

/// How large the file may be.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line<P, E> {
    path: P,
    entry: E,
}

/// A survey as it was kept, and when that was.
#[derive(Debug)]
pub(super) struct CachedSurvey {
    /// What was known.
    pub(super) survey: Survey,
    /// The time of the file itself, so that it is comparable with those of the files in the survey.
    pub(super) saved_at: SystemTime,
}

/// What is kept of the project at `root`; none where there is nothing of use.
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

/// A cache file that is not written yet.
#[derive(Debug)]
pub(super) struct CacheDraft {
    file: tempfile::NamedTempFile,
    /// When it was begun, by the clock of the disk.
    pub(super) started_at: SystemTime,
}

/// Begins a new cache file.
pub(super) fn start_draft(file: &Path) -> io::Result<CacheDraft> {
    let folder = file.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    let started_at = file.as_file().metadata()?.modified()?;
    Ok(CacheDraft { file, started_at })
}

impl CacheDraft {
    /// Keeps a survey. The time of the file says of when it is: when the look at the project began, so that what changed while
    /// it lasted is looked at again. Before and after there is a whole file; nobody waits for the disk.
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
