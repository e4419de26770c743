//! Whether sessions can be kept in a folder, found out before a model is asked.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use tokio::signal::unix::{SignalKind, signal};

use super::error::KeepingError;

/// How much is written for a try: more than the first lines of a journal need.
const TRY_BYTES: usize = 16 * 1024;

/// Makes `folder` if it is missing, and tries in it all that a journal needs: a file that can be written, locked and synced.
/// Nothing is left behind.
pub(super) fn try_out(folder: &Path) -> Result<(), KeepingError> {
    let failed = |action: &'static str| {
        let path = folder.to_owned();
        move |source: io::Error| KeepingError::Unkeepable { action, path, source }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed("make the folder"))?;
    let mut draft = tempfile::Builder::new()
        .prefix(".try-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(folder)
        .map_err(failed("write in"))?;
    flock(draft.as_file(), FlockOperation::NonBlockingLockExclusive)
        .map_err(|error| failed("lock a file in")(error.into()))?;
    draft.write_all(&[b' '; TRY_BYTES]).map_err(failed("write in"))?;
    draft.as_file().sync_all().map_err(failed("write in"))
}

/// A file that grows beyond the limit of the process (`ulimit -f`) is an error to be told, and must not end the program. Needs a
/// runtime with signals; without one the default stays.
pub(super) fn survive_size_limit() {
    if tokio::runtime::Handle::try_current().is_ok() {
        // That somebody listens is enough, and lasts as long as the process.
        signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).ok();
    }
}
