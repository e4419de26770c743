//! Why a session cannot be opened.

use rheon_agent::BuildError;
use rheon_policy::PolicyError;
use rheon_providers::RegistryError;
use rheon_tools::ToolkitError;
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
    /// Its tools cannot be made.
    #[error(transparent)]
    Toolkit(#[from] ToolkitError),
    /// Its agent cannot be made.
    #[error(transparent)]
    Build(#[from] BuildError),
}
