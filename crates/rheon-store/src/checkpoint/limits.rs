//! `CheckpointLimits`: the size limits of checkpoints.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointLimits {
    /// Files, links and directories per checkpoint. A larger workspace has no checkpoints.
    pub files_max: usize,
    /// Larger files are listed, but their content is not saved.
    pub file_bytes_max: u64,
    /// The total size of all checkpoints. The oldest are removed first.
    pub bytes_max: u64,
    /// The oldest are removed first.
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
