//! Why a session cannot be opened.

use rheon_agent::BuildError;
use rheon_policy::PolicyError;
use rheon_providers::RegistryError;
use rheon_tools::ToolkitError;
use rheon_types::ProviderError;

use crate::models::ModelChoiceError;
use crate::sessions::SessionError;

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    /// The configured model cannot be used.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("cannot set up the connection to model services: {0}")]
    Services(#[from] ProviderError),
    #[error(transparent)]
    Keeping(#[from] SessionError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error(transparent)]
    Toolkit(#[from] ToolkitError),
    #[error(transparent)]
    Build(#[from] BuildError),
}
