//! `Marks`: until when the changes in a workspace are those of a session, by the clock of the file system.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::session_name::SessionName;

/// One empty file per session, whose time says when the last of its calls ended that may have changed something.
#[derive(Debug)]
pub(super) struct Marks {
    folder: PathBuf,
}

impl Marks {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.join("marks") }
    }

    /// Says that what was changed by now was changed by this session, as far as nobody captured it before.
    pub(super) fn set(&self, session: &SessionName) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let path = self.folder.join(session.as_str());
        // Only a write is sure to change the time.
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?.write_all(b"\n")
    }

    /// When that was, in nanoseconds since 1970.
    pub(super) fn at_ns(&self, session: &SessionName) -> Option<i64> {
        let metadata = fs::metadata(self.folder.join(session.as_str())).ok()?;
        Some(metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec()))
    }

    /// Removes those of which `is_gone` says that nobody needs them.
    pub(super) fn remove(&self, is_gone: impl Fn(&SessionName) -> bool) {
        for file in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = file.file_name().to_str().and_then(|name| SessionName::new(name).ok());
            if name.is_some_and(|name| is_gone(&name)) {
                // One that stays says nothing about anybody any more.
                fs::remove_file(file.path()).ok();
            }
        }
    }
}
