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
    #[error("no checkpoint {id}; list the checkpoints to see their ids")]
    Missing { id: CheckpointId },
    #[error("checkpoint {id} is damaged: {problem}; use another")]
    Damaged { id: CheckpointId, problem: String },
    /// A later version of Rheon wrote it.
    #[error(
        "checkpoint {id} has format version {version}; this version of Rheon reads up to {CHECKPOINT_VERSION}"
    )]
    Newer { id: CheckpointId, version: u32 },
    /// It belongs to another workspace.
    #[error("checkpoint {id} belongs to {}, not to this workspace", root.display())]
    OtherRoot { id: CheckpointId, root: PathBuf },
    #[error(
        "the workspace has more than {files_max} files that are not ignored; add build output to .gitignore"
    )]
    TooManyFiles { files_max: usize },
    /// Not even the list of files fits.
    #[error("the checkpoint limit of {bytes_max} bytes is too small for the list of files; raise it")]
    NoRoom { bytes_max: u64 },
    /// The files changed since the plan was made.
    #[error("{} files changed since the plan was made, such as {}; make a new plan", paths.len(), first(paths))]
    Changed { paths: Vec<PathBuf> },
    /// Another process is capturing or restoring.
    #[error("another process has locked {} for a minute; wait for it or stop it", path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// The caller canceled the capture.
    #[error("the capture was canceled")]
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
