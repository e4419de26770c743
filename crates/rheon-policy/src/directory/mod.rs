//! `DirectoryHandle`: an open directory. Files are opened and replaced relative to it, so that no path component can be
//! swapped for a symlink in between.

mod entry;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(
    target_os = "linux",
    allow(dead_code, unreachable_pub, reason = "compiled on Linux only for its tests")
)]
mod portable;

pub use entry::{DirectoryEntry, OnMissing, Overwrite};
#[cfg(target_os = "linux")]
pub use linux::{DirectoryHandle, FileDraft};
#[cfg(not(target_os = "linux"))]
pub use portable::{DirectoryHandle, FileDraft};

#[cfg(test)]
#[cfg(unix)]
mod directory_tests;
