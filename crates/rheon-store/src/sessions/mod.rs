//! Sessions on disk: found, made, read, gone on with, forked, deleted.

mod error;
mod library;
mod listed;
mod pages;
mod places;
mod store;
mod whole;

pub use error::SessionError;
pub use library::{BLOB_BYTES_MAX, Sessions};
pub use listed::Listed;
pub use pages::{EventPages, PageSize};
pub use store::{CONTENTS_BYTES_MAX, JournalStore, ResumeError, Resumed};

#[cfg(test)]
mod resume_tests;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod sessions_tests;
