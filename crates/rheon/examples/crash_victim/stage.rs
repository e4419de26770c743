//! `Stage`: where everything of one victim is.

use std::error::Error;
use std::path::{Path, PathBuf};

use rheon::store::SessionName;
use rheon::store::journal::Lease;
use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
use rheon::types::Timestamp;

/// How everything here ends.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Where everything of one victim is. Only `store` is on the disk that fails; the rest is the world around it.
pub(crate) struct Stage {
    dir: PathBuf,
}

impl Stage {
    pub(crate) fn new(dir: impl AsRef<Path>) -> Self {
        Self { dir: dir.as_ref().to_owned() }
    }

    /// What the store keeps.
    pub(crate) fn store(&self, part: &str) -> PathBuf {
        self.dir.join("store").join(part)
    }

    /// What was acknowledged.
    pub(crate) fn acks(&self) -> PathBuf {
        self.dir.join("acks")
    }

    /// What the tool did to the world, a line each time.
    pub(crate) fn effects(&self) -> PathBuf {
        self.dir.join("effects")
    }

    /// The files that the session works on. Beside the stage, so that copies of a stage have the same.
    pub(crate) fn workspace(&self) -> Outcome<PathBuf> {
        let workspace = self.dir.with_file_name("workspace");
        std::fs::create_dir_all(&workspace)?;
        Ok(workspace)
    }

    pub(crate) fn sessions(&self) -> SessionFiles {
        SessionFiles::new(self.store("sessions"), BLOB_BYTES_MAX)
    }

    pub(crate) fn journals(&self) -> JournalStore {
        JournalStore::new(self.sessions(), None, lease())
    }
}

pub(crate) fn lease() -> Lease {
    Lease { pid: std::process::id(), host: None, at: Timestamp::from_millis(5) }
}

/// The one session of a victim.
pub(crate) fn name() -> Outcome<SessionName> {
    Ok(SessionName::new("s")?)
}

/// Fails with what `say` says unless it is as it should be.
pub(crate) fn ensure(is_so: bool, say: impl FnOnce() -> String) -> Outcome {
    if is_so { Ok(()) } else { Err(say().into()) }
}
