//! Large payloads by content, beside the journals: a text that is stored twice is there once.

mod externalise;
mod store;

pub(crate) use externalise::{externalise, internalise, lost, used};
pub use store::{BlobId, Blobs};

#[cfg(test)]
mod blobs_tests;
