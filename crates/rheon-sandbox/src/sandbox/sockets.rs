//! Finds the Unix sockets of other programs. They work even on a read-only file system, and the programs behind them
//! (docker, ssh-agent) obey any client.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
const SOCKETS_MAX: usize = 256;

/// The sockets that are currently open at paths, except below `outside_of`.
#[cfg(target_os = "linux")]
pub(super) fn open_sockets(outside_of: &[&Path]) -> BTreeSet<PathBuf> {
    use std::os::unix::fs::FileTypeExt as _;
    let list = std::fs::read("/proc/self/net/unix").unwrap_or_default();
    let paths = String::from_utf8_lossy(&list);
    let named = paths.lines().skip(1).filter_map(|line| line.split_once(" /").map(|(_, path)| path));
    named
        .filter_map(|path| Path::new("/").join(path).canonicalize().ok())
        .filter(|path| !outside_of.iter().any(|dir| path.starts_with(dir)))
        .filter(|path| path.metadata().is_ok_and(|found| found.file_type().is_socket()))
        .take(SOCKETS_MAX)
        .collect()
}

/// None on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn open_sockets(_outside_of: &[&Path]) -> BTreeSet<PathBuf> {
    BTreeSet::new()
}
