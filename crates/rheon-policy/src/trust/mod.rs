//! TrustStatus: opening a project runs nothing that it brings along until the user has agreed to exactly that content.
//!
//! [`ProjectContent`] is what a project brings along, [`TrustStore`] remembers what the user has agreed to, and
//! [`load_project_hooks`] gives out hooks only where both are the same. The settings in use are made of the very bytes that
//! were compared. The files that a hook names, and those beside it in a folder of hooks, are compared again right before each
//! run; between that look and the moment the system opens the file a change is still possible, and what a script calls in its
//! turn elsewhere is not looked at. Hooks of a project run in its folder, from which the names in their commands count.

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
