//! Creates directories durably, so that a power cut cannot lose their names.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Creates a directory and its parents with mode 0700, and syncs the names of the ones it created. It also syncs the
/// `ours` innermost names: a process that was killed may have created them without syncing.
pub(crate) fn create(dir: &Path, ours: usize) -> io::Result<()> {
    let missing = dir.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.is_dir()).count();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    for made in dir.ancestors().take(missing.max(ours)) {
        match made.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync(Path::new("."))?,
            Some(parent) => sync(parent)?,
            None => {}
        }
    }
    Ok(())
}

/// Syncs the entries of a directory.
pub(crate) fn sync(dir: &Path) -> io::Result<()> {
    match File::open(dir) {
        Ok(dir) => dir.sync_all(),
        // A directory we may not open is not one we created.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "directories_tests.rs"]
mod tests;
