//! `Strings`: how a stored event keeps its long strings.

use crate::blobs::Blobs;

/// A text that is no longer than this is always kept.
pub(crate) const TEXT_BYTES_KEPT: usize = 2 * 1024;

/// How a stored event keeps its long strings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Strings<'a> {
    /// Where they belong.
    InPlace,
    /// Some of them as payloads.
    AsBlobs(&'a Blobs),
}
