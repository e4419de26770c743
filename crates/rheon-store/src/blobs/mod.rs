//! Large payloads, stored once per content, beside the journals.

mod externalize;
mod store;

pub(crate) use externalize::{externalize, internalize, lost, used};
pub use store::{BlobId, Blobs};

#[cfg(test)]
mod blobs_tests;
