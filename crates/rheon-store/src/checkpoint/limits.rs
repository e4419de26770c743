//! `CheckpointLimits`: how much a checkpoint, and all of them together, may take.

/// How much a checkpoint, and all of them together, may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointLimits {
    /// The most files, links and folders of one checkpoint. A larger workspace has no checkpoints.
    pub files_max: usize,
    /// Larger files are listed but not kept.
    pub file_bytes_max: u64,
    /// The most bytes of all checkpoints together. The oldest go first.
    pub bytes_max: u64,
    /// The most checkpoints. The oldest go first.
    pub checkpoints_max: usize,
}

impl Default for CheckpointLimits {
    fn default() -> Self {
        Self {
            files_max: 100_000,
            file_bytes_max: 10 * 1024 * 1024,
            bytes_max: 2 * 1024 * 1024 * 1024,
            checkpoints_max: 1_000,
        }
    }
}
