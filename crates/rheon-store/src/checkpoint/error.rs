//! `CheckpointError`: why files cannot be captured or restored.

use std::io;
use std::path::{Path, PathBuf};

use super::id::{CHECKPOINT_VERSION, CheckpointId};

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The verb for the message, such as "read".
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// It does not exist, perhaps because it was pruned.
    #[error("there is no checkpoint {id}; list those that there are")]
    Missing { id: CheckpointId },
    #[error("checkpoint {id} is damaged: {problem}; use another")]
    Damaged { id: CheckpointId, problem: String },
    /// A later version of Rheon wrote it.
    #[error(
        "checkpoint {id} has version {version} of the format; this program reads up to {CHECKPOINT_VERSION}"
    )]
    Newer { id: CheckpointId, version: u32 },
    /// It belongs to another workspace.
    #[error("checkpoint {id} is of {}, not of this workspace", root.display())]
    OtherRoot { id: CheckpointId, root: PathBuf },
    #[error(
        "the workspace has more than {files_max} files that are not ignored; name build output in .gitignore"
    )]
    TooManyFiles { files_max: usize },
    /// Not even the list of files fits.
    #[error(
        "checkpoints may take {bytes_max} bytes, which is too little for the list of files; raise the limit"
    )]
    NoRoom { bytes_max: u64 },
    /// The files changed since the plan was made.
    #[error("{} files changed since the plan was made, the first is {}; look at the new plan", paths.len(), first(paths))]
    Changed { paths: Vec<PathBuf> },
    /// Another process is capturing or restoring.
    #[error("another process has held {} for a minute; wait for it or end it", path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// The caller canceled the capture.
    #[error("capturing the files was stopped")]
    Stopped,
}

impl CheckpointError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

fn first(paths: &[PathBuf]) -> String {
    paths.first().map(|path| path.display().to_string()).unwrap_or_default()
}
