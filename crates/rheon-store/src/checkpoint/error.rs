//! `CheckpointError`: why files cannot be captured or restored.

use std::io;
use std::path::{Path, PathBuf};

use super::id::{CHECKPOINT_VERSION, CheckpointId};

/// Why files cannot be captured or restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The disk says no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// There is no such checkpoint; perhaps it had to make room.
    #[error("there is no checkpoint {id}; list those that there are")]
    Missing {
        /// Its id.
        id: CheckpointId,
    },
    /// What is stored of it is not what was written.
    #[error("checkpoint {id} is damaged: {problem}; use another")]
    Damaged {
        /// Its id.
        id: CheckpointId,
        /// What is wrong.
        problem: String,
    },
    /// It was written by a later version.
    #[error(
        "checkpoint {id} has version {version} of the format; this program reads up to {CHECKPOINT_VERSION}"
    )]
    Newer {
        /// Its id.
        id: CheckpointId,
        /// Its version.
        version: u32,
    },
    /// It belongs to another folder.
    #[error("checkpoint {id} is of {}, not of this workspace", root.display())]
    OtherRoot {
        /// Its id.
        id: CheckpointId,
        /// Of which.
        root: PathBuf,
    },
    /// The workspace is too large.
    #[error(
        "the workspace has more than {files_max} files that are not ignored; name build output in .gitignore"
    )]
    TooManyFiles {
        /// The limit.
        files_max: usize,
    },
    /// Not even the list of files fits.
    #[error(
        "checkpoints may take {bytes_max} bytes, which is too little for the list of files; raise the limit"
    )]
    NoRoom {
        /// The limit.
        bytes_max: u64,
    },
    /// The files are not those that the plan was made for.
    #[error("{} files changed since the plan was made, the first is {}; look at the new plan", paths.len(), first(paths))]
    Changed {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// Somebody else captures or restores.
    #[error("another process has held {} for a minute; wait for it or end it", path.display())]
    InUse {
        /// The lock.
        path: PathBuf,
    },
    /// Somebody said so.
    #[error("capturing the files was stopped")]
    Stopped,
}

impl CheckpointError {
    /// What goes wrong with a file.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

fn first(paths: &[PathBuf]) -> String {
    paths.first().map(|path| path.display().to_string()).unwrap_or_default()
}
