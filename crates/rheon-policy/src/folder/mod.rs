//! `Folder`: an open folder, in which files are opened and replaced by name, so that nothing between the workspace and the
//! file can be swapped for a link on the way.

mod entry;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(
    target_os = "linux",
    allow(dead_code, unreachable_pub, reason = "compiled on Linux only for its tests")
)]
mod portable;

pub use entry::{Entry, Missing, Over};
#[cfg(target_os = "linux")]
pub use linux::{Draft, Folder};
#[cfg(not(target_os = "linux"))]
pub use portable::{Draft, Folder};

#[cfg(test)]
#[cfg(unix)]
mod folder_tests;
