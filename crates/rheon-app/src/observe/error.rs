//! `ObserveError`: why a session cannot be observed.

use std::io;
use std::path::PathBuf;

/// Why a session cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error("cannot write the trace to {}: {source}; choose a file in a writable directory", path.display())]
    Trace { path: PathBuf, source: io::Error },
}
