//! The files of MCP servers: what they write to their standard error, and the user's logins.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rheon_connect::LoginStore;
use secrecy::{ExposeSecret as _, SecretString};

use crate::system::SystemContext;

/// The longest login that is read.
const LOGIN_BYTES_MAX: u64 = 1 << 20;

/// Where the server `name` logs what it writes to its standard error. `None` if the state directory is unknown.
pub fn mcp_log(system: &SystemContext, name: &str) -> Option<PathBuf> {
    Some(system.dirs.state().ok()?.join("mcp").join(format!("{name}.log")))
}

/// The user's login at a server, in a file that only the user can read.
pub(super) struct LoginFile {
    path: PathBuf,
}

impl LoginFile {
    /// The login at the server `name`. `None` if the data directory is unknown.
    pub(super) fn of(system: &SystemContext, name: &str) -> Option<Self> {
        Some(Self { path: system.dirs.data().ok()?.join("mcp-logins").join(format!("{name}.json")) })
    }

    /// Creates the directory; it is the user's alone.
    fn dir(&self) -> io::Result<&Path> {
        let dir = self.path.parent().ok_or(ErrorKind::InvalidInput)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        Ok(dir)
    }
}

impl LoginStore for LoginFile {
    fn load(&self) -> io::Result<Option<SecretString>> {
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let text = io::read_to_string(io::Read::take(file, LOGIN_BYTES_MAX))?;
        Ok(Some(text.into()))
    }

    fn save(&self, login: &SecretString) -> io::Result<()> {
        let mut draft = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o600))
            .tempfile_in(self.dir()?)?;
        draft.write_all(login.expose_secret().as_bytes())?;
        draft.as_file().sync_all()?;
        draft.persist(&self.path)?;
        Ok(())
    }

    fn clear(&self) -> io::Result<bool> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    fn lock(&self) -> io::Result<Box<dyn Send>> {
        self.dir()?;
        let file = File::options().create(true).append(true).open(self.path.with_extension("lock"))?;
        file.lock()?;
        // Closing the file ends the lock.
        Ok(Box::new(file))
    }
}

#[cfg(test)]
#[path = "mcp_files_tests.rs"]
mod tests;
