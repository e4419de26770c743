//! Why no model is asked, and what to do.

use rheon_providers::RegistryError;

/// Why no model is asked, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelChoiceError {
    /// Nothing is configured, and no local server answers.
    #[error("{}", include_str!("onboarding.txt").trim_end())]
    Nothing,
    /// The session has a model of its own.
    #[error("the model of this session was given to it and cannot be another; begin a session with --model")]
    Fixed,
    /// The name says nothing.
    #[error("the name of the model is empty; write vendor/model, for instance anthropic/claude-sonnet-5-5")]
    Empty,
    /// No vendor is known to have it.
    #[error("no vendor is known to have a model {name:?}; {advice} `rheon models --all` lists what is known")]
    Unknown {
        /// The name.
        name: String,
        /// What to write instead.
        advice: String,
    },
    /// It cannot be asked.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// A local server has no model.
    #[error(
        "{vendor} answers at {address}, but has no model; load one there first, or name a model with --model"
    )]
    Unloaded {
        /// The server.
        vendor: String,
        /// Where it is.
        address: String,
    },
}
