//! Files as tools see them: fingerprints, which files a session has read, the content cache, and claims.

mod cache;
mod change;
mod claims;
mod context;
mod error;
mod fingerprint;
mod hidden_paths;
mod read_files;
mod text;

pub use cache::{CACHE_BYTES_MAX, FileCache};
pub use change::{DIFF_BYTES_MAX, FileChange};
pub use claims::{ClaimConflict, Claims, FileClaim};
pub use context::{FILE_BYTES_MAX, FileContext, LoadedFile, ReadScope};
pub(crate) use context::{FileTarget, Granted, OpenFile};
pub use error::FileError;
pub use fingerprint::{Fingerprint, Stamp};
pub(crate) use hidden_paths::HiddenPaths;
pub use read_files::{ReadFiles, Staleness};
pub(crate) use rheon_policy::directory::{DirectoryEntry, DirectoryHandle, OnMissing, Overwrite};
pub use text::{Encoding, LineEnding};
pub(crate) use text::{TextFile, unsupported_kind};

#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod claims_tests;
#[cfg(test)]
mod context_tests;
#[cfg(test)]
mod text_tests;
