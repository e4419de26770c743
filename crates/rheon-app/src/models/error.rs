//! `ModelChoiceError`: why no model can be used, and what to do.

use rheon_providers::RegistryError;

/// Why no model can be used, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelChoiceError {
    /// Nothing is configured, and no local server answers.
    #[error("{}", include_str!("onboarding.txt").trim_end())]
    Nothing,
    /// The session has a model of its own.
    #[error("the model of this session is fixed; start a new session with --model")]
    Fixed,
    #[error("the model name is empty; write vendor/model, for example anthropic/claude-sonnet-5-5")]
    Empty,
    #[error("no known vendor has a model {name:?}; {advice} run `rheon models --all` to list known models")]
    Unknown { name: String, advice: String },
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("{vendor} answers at {address}, but has no model; load one there or choose a model with --model")]
    Unloaded { vendor: String, address: String },
}
