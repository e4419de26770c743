//! Files as tools see them: fingerprints, what was read, a cache, and claims.

mod cache;
mod claims;
mod diff;
mod error;
mod fingerprint;
mod hidden;
mod read_files;
mod text;
mod workshop;

pub use cache::{CACHE_BYTES_MAX, FileCache};
pub use claims::{ClaimConflict, Claims, FileClaim};
pub use diff::{Change, DIFF_BYTES_MAX};
pub use error::FileError;
pub use fingerprint::{Fingerprint, Stamp};
pub(crate) use hidden::Hidden;
pub use read_files::{ReadFiles, Staleness};
pub(crate) use rheon_policy::folder::{Entry, Folder, Missing, Over};
pub use text::{Encoding, LineEnding};
pub(crate) use text::{TextFile, foreign};
pub use workshop::{FILE_BYTES_MAX, Loaded, Reach, Workshop};
pub(crate) use workshop::{Opened, Spot};

#[cfg(test)]
mod cache_tests;
#[cfg(test)]
mod claims_tests;
#[cfg(test)]
mod text_tests;
#[cfg(test)]
mod workshop_tests;
