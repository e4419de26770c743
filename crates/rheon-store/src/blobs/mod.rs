//! Large payloads by content, beside the journals: a text that is stored twice is there once.

mod externalize;
mod store;

pub(crate) use externalize::{externalize, internalize, lost, used};
pub use store::{BlobId, Blobs};

#[cfg(test)]
mod blobs_tests;
