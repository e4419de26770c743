//! The directory layout: one directory per project, one file per session.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::listing::SessionListing;
use crate::journal::{JournalError, open_to_read, read_header};
use crate::session_name::SessionName;

/// How much of a project's name is part of its directory name.
const NAME_CHARS_MAX: usize = 40;

/// The directory of sessions without a project.
const NO_PROJECT: &str = "no-project";

const EXTENSION: &str = "jsonl";

#[derive(Debug, Clone)]
pub(super) struct SessionLayout {
    pub(super) dir: PathBuf,
}

impl SessionLayout {
    pub(super) fn blobs(&self) -> PathBuf {
        self.dir.join("blobs")
    }

    /// The directory of a project's journals: the project's name for people, and a hash of its path to make it
    /// unique.
    pub(super) fn project(&self, project: Option<&Path>) -> PathBuf {
        let name = match project {
            None => NO_PROJECT.to_owned(),
            Some(path) => {
                let last = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
                let plain: String = last
                    .chars()
                    .map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' })
                    .take(NAME_CHARS_MAX)
                    .collect();
                let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
                let short: String = hash.chars().take(12).collect();
                format!("{plain}-{short}")
            }
        };
        self.dir.join("projects").join(name)
    }

    pub(super) fn journal(&self, name: &SessionName, project: Option<&Path>) -> PathBuf {
        self.project(project).join(format!("{name}.{EXTENSION}"))
    }

    pub(super) fn projects(&self) -> impl Iterator<Item = PathBuf> {
        let dirs = fs::read_dir(self.dir.join("projects")).into_iter().flatten().flatten();
        dirs.map(|dir| dir.path()).filter(|path| path.is_dir())
    }

    /// Whether a journal of this name exists. An unreadable directory is an error, not `false`.
    pub(super) fn contains(&self, name: &SessionName) -> Result<bool, JournalError> {
        let projects = self.dir.join("projects");
        let listed = match fs::read_dir(&projects) {
            // Nothing was saved here yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            listed => listed.map_err(JournalError::io("list", &projects))?,
        };
        for dir in listed {
            let dir = dir.map_err(JournalError::io("list", &projects))?.path();
            let path = dir.join(format!("{name}.{EXTENSION}"));
            match fs::symlink_metadata(&path).map_err(|error| (error.kind(), error)) {
                Ok(_) => return Ok(true),
                Err((io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, _)) => {}
                Err((_, error)) => return Err(JournalError::io("check", &path)(error)),
            }
        }
        Ok(false)
    }

    /// The journal of a session in any project.
    pub(super) fn find(&self, name: &SessionName) -> Option<PathBuf> {
        self.projects().map(|dir| dir.join(format!("{name}.{EXTENSION}"))).find(|path| path.is_file())
    }
}

/// The journals in a project directory, including unreadable ones.
pub(super) fn journals(dir: &Path) -> impl Iterator<Item = SessionListing> + use<> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| listed(&file.path()))
}

pub(super) fn names(dir: &Path) -> impl Iterator<Item = SessionName> + use<> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    files.filter_map(|file| name(&file.path()))
}

/// The most recently written journals in a project directory, newest first.
pub(super) fn newest(dir: &Path, count_max: usize) -> Vec<SessionListing> {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let dated = files.filter_map(|file| {
        let path = file.path();
        let name = name(&path)?;
        Some((modified_ms(&file.metadata().ok()?), name, path))
    });
    let mut dated: Vec<(u64, SessionName, PathBuf)> = dated.collect();
    dated.sort_unstable_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    dated.truncate(count_max);
    dated.into_iter().filter_map(|(_, _, path)| listed(&path)).collect()
}

/// The listing of the journal at `path`, if it is one.
pub(super) fn listed(path: &Path) -> Option<SessionListing> {
    let name = name(path)?;
    let metadata = fs::symlink_metadata(path).ok()?;
    let header = open_to_read(path).and_then(|file| read_header(path, &file));
    Some(SessionListing {
        name,
        header: header.map_err(|error| error.to_string()),
        modified_ms: modified_ms(&metadata),
        bytes: metadata.len(),
        path: path.to_owned(),
    })
}

fn name(path: &Path) -> Option<SessionName> {
    if path.extension()? != EXTENSION {
        return None;
    }
    SessionName::new(path.file_stem()?.to_str()?).ok()
}

fn modified_ms(metadata: &fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
