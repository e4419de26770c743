//! Folders whose names a power cut cannot lose.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

/// Makes a folder with all above it, for its owner alone, and makes the names of those it made safe. So are those of the
/// `ours` innermost ones, which a process may have made that was killed before it could do this.
pub(crate) fn create(folder: &Path, ours: usize) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.is_dir()).count();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for made in folder.ancestors().take(missing.max(ours)) {
        match made.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync(Path::new("."))?,
            Some(parent) => sync(parent)?,
            None => {}
        }
    }
    Ok(())
}

/// Makes the names in a folder safe.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        // One that we may not look into is not one that we have made.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "directories_tests.rs"]
mod tests;
