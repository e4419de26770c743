//! Why a session cannot be opened.

use std::path::PathBuf;

use rheon_agent::BuildError;
use rheon_providers::RegistryError;
use rheon_tools::ToolkitError;
use rheon_tools::policy::{DocumentError, PolicyError};
use rheon_types::ProviderError;

use crate::keeping::KeepingError;
use crate::models::ModelChoiceError;

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No model can be asked.
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    /// The model cannot be asked as it is configured.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Services cannot be reached at all.
    #[error("cannot set up the connection to model services: {0}")]
    Services(#[from] ProviderError),
    /// It cannot be kept, or gone on with.
    #[error(transparent)]
    Keeping(#[from] KeepingError),
    /// Its rules cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A file of rules is none.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A file of rules cannot be read.
    #[error("cannot read the rules in {}: {error}; make it readable, or remove it", file.display())]
    Rules {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Its tools cannot be made.
    #[error(transparent)]
    Toolkit(#[from] ToolkitError),
    /// Its agent cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
}
