//! `Loaded`: a file whose whole content is known.

use std::fs::Permissions;
use std::sync::Arc;

use crate::files::fingerprint::Fingerprint;

/// The largest file that is held in memory as a whole.
pub const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// A file whose whole content is known.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// What it holds.
    pub content: Arc<[u8]>,
    /// Which state of it this is.
    pub fingerprint: Fingerprint,
    /// Who may do what with it.
    pub permissions: Permissions,
    /// How many names it has; more than one means hard links.
    pub names: u64,
}
