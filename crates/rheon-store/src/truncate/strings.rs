//! `Strings`: how a stored event holds its long strings.

use crate::blobs::Blobs;

/// Shorter texts are never cut.
pub(crate) const TEXT_BYTES_KEPT: usize = 2 * 1024;

/// How a stored event holds its long strings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Strings<'a> {
    InPlace,
    /// Some of them are blobs.
    AsBlobs(&'a Blobs),
}
