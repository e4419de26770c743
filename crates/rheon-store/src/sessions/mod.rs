//! Sessions on disk: list, create, read, resume, fork and delete them.

mod error;
mod layout;
mod listing;
mod pages;
mod restore;
mod session_files;
mod store;

pub use error::SessionFileError;
pub use listing::SessionListing;
pub use pages::{EventPages, PageSize};
pub use session_files::{BLOB_BYTES_MAX, SessionFiles};
pub use store::{CONTENTS_BYTES_MAX, JournalStore, ResumeError, ResumedSession};

#[cfg(test)]
mod resume_tests;
#[cfg(test)]
mod room_tests;
#[cfg(test)]
mod sessions_tests;
