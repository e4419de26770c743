//! Why a session cannot be observed as it was asked for.

use std::io;
use std::path::PathBuf;

/// Why a session cannot be observed as it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The trace has no file.
    #[error("cannot write the trace to {}: {source}; name a file in a folder that exists and can be written", path.display())]
    Trace {
        /// Where it was to be.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
