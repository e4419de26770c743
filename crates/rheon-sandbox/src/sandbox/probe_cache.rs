//! `ProbeCacheFile`: probe results saved in a file, so that the next session on the same machine does not probe again.
//! The file is valid only while everything that could change the results is the same, and only if no other user could
//! have written it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::boundary::Boundary;
use super::isolation::Isolation;
use super::machine::Facts;
use super::report::SandboxReport;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProbeResults {
    #[serde(rename = "keeper")]
    pub(super) isolation: Isolation,
    pub(super) report: SandboxReport,
    pub(super) shortfall: Option<String>,
}

/// Whether the probe results came from the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProbeCache {
    Disabled,
    /// An earlier session saved them.
    Hit,
    /// The probe ran and its results are saved.
    Saved,
    /// The probe ran, but its results could not be saved for this reason.
    NotSaved(String),
}

#[derive(Debug, Clone)]
pub(super) struct ProbeCacheFile {
    path: PathBuf,
    facts: Facts,
}

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    facts: Facts,
    #[serde(rename = "findings")]
    results: ProbeResults,
}

const VERSION: u32 = 1;

const BYTES_MAX: u64 = 64 * 1024;

impl ProbeCacheFile {
    /// The cache at `path` for a machine with these facts. The error says why there is none.
    pub(super) fn new(path: &Path, boundary: &Boundary, facts: Option<Facts>) -> Result<Self, String> {
        let facts = facts.ok_or("this system does not report its boot time")?;
        let problem = |error: io::Error| format!("cannot use {}: {error}", path.display());
        let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(format!("{} is not a file name", path.display()));
        };
        system::make_dir(dir).map_err(problem)?;
        let dir = dir.canonicalize().map_err(problem)?;
        // A command could write what the next session would believe.
        if boundary.roots().iter().any(|root| dir.starts_with(root)) {
            return Err(format!("commands can write to {}", dir.display()));
        }
        Ok(Self { path: dir.join(name), facts })
    }

    /// Reads the results, if they are still valid.
    pub(super) fn read(&self) -> Option<ProbeResults> {
        let text = system::read_own(&self.path, BYTES_MAX).ok()?;
        let content: Content = serde_json::from_slice(&text).ok()?;
        (content.version == VERSION && content.facts == self.facts).then_some(content.results)
    }

    pub(super) fn write(&self, results: ProbeResults) -> io::Result<()> {
        let content = Content { version: VERSION, facts: self.facts.clone(), results };
        let dir = self.path.parent().unwrap_or(Path::new("/"));
        // Only the user can access it from the start. It is not synced: a truncated file is invalid.
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        serde_json::to_writer_pretty(&mut file, &content)?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }

    /// Removes the file, if it exists.
    pub(super) fn forget(&self) {
        drop(std::fs::remove_file(&self.path));
    }
}

#[cfg(unix)]
mod system {
    use std::io::{self, Read as _};
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    use std::path::Path;

    use rustix::fs::{Mode, OFlags};

    pub(super) fn make_dir(dir: &Path) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
    }

    /// Reads a file that this user owns and no other user can write.
    pub(super) fn read_own(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
        // A pipe in its place must not block us.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let found = file.metadata()?;
        let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        if !found.is_file() || !is_own || found.len() > bytes_max {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut text = Vec::new();
        file.take(bytes_max).read_to_end(&mut text)?;
        Ok(text)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use std::path::Path;

    pub(super) fn make_dir(dir: &Path) -> io::Result<()> {
        std::fs::create_dir_all(dir)
    }

    pub(super) fn read_own(_path: &Path, _bytes_max: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
#[path = "probe_cache_tests.rs"]
mod tests;
