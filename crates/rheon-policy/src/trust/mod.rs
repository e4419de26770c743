//! Project trust: nothing that a project contains runs until the user has approved exactly that content.
//!
//! [`ProjectContent`] is everything in a project that could run or instruct the agent, [`TrustStore`] remembers what
//! the user approved, and [`load_project_hooks`] returns hooks only if the two match. The settings in use are parsed
//! from the same bytes that were hashed. The files that a hook names, and those next to it in a hooks directory, are
//! checked again right before each run. A change between that check and the moment the system opens the file is still
//! possible, and files that a script calls elsewhere are not checked. Project hooks run in the project directory, which
//! relative names in their commands refer to.

mod answer_file;
mod content;
mod error;
mod gather;
mod named;
mod status;
mod store;
mod trusted_content;

pub use content::{PreloadedFile, ProjectContent, TrustItem};
pub use error::TrustError;
pub use status::TrustStatus;
pub use store::{ProjectHooks, TrustStore, load_project_hooks, load_project_hooks_with, trusted_hooks};
pub use trusted_content::TrustedContent;

#[cfg(test)]
mod content_tests;
#[cfg(test)]
mod store_tests;
