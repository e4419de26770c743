//! `Folder`: an open folder, in which files are opened and replaced by name, so that nothing between the workspace and the
//! file can be swapped for a link on the way.

mod entry;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "compiled on Linux only for its tests"))]
pub(crate) mod portable;

pub(crate) use entry::{Entry, Missing, Over};
#[cfg(target_os = "linux")]
pub(crate) use linux::Folder;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::Folder;
