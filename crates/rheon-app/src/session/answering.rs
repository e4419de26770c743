//! `Answering`: which model answers in a session, and which others could.

use rheon_providers::{ProviderEnv, Registry, ResolvedModel};
use rheon_types::ThinkingLevel;

use super::error::OpenError;
use super::wiring::resolve;
use crate::config::ServiceSettings;
use crate::models::{ModelChoice, ModelChoiceError, ModelChoiceReason, full_name, key_source};

/// Which model answers in a session, and which others could.
pub(super) struct Answering {
    /// The one that answers.
    pub(super) current: ChosenModel,
    pub(super) thinking: ThinkingLevel,
    first: ChosenModel,
    others: Option<Others>,
}

/// A model, and why it was chosen.
#[derive(Clone)]
pub(super) struct ChosenModel {
    pub(super) choice: ModelChoice,
    /// The same, to be asked.
    pub(super) model: ResolvedModel,
}

/// Where other models come from.
pub(super) struct Others {
    pub(super) registry: Registry,
    /// Who answers where one is overloaded.
    pub(super) fallback: Option<String>,
    /// The settings of their vendors.
    pub(super) services: ServiceSettings,
    /// Where keys may be.
    pub(super) variables: ProviderEnv,
}

impl Answering {
    /// The session begins with this model. Without `others` it stays.
    pub(super) fn new(first: ChosenModel, thinking: ThinkingLevel, others: Option<Others>) -> Self {
        Self { current: first.clone(), first, thinking, others }
    }

    /// Another model, or the first one again.
    pub(super) async fn change(&mut self, said: Option<&str>) -> Result<(), OpenError> {
        self.current = match (said, &self.others) {
            (None, _) => self.first.clone(),
            (Some(_), None) => return Err(ModelChoiceError::Fixed.into()),
            (Some(said), Some(Others { registry, fallback, .. })) => {
                let choice =
                    ModelChoice { name: full_name(said, registry)?, reason: ModelChoiceReason::Configured };
                let model = resolve(registry, &choice, fallback.as_deref()).await?;
                ChosenModel { choice, model }
            }
        };
        Ok(())
    }

    /// Where the key of the model's vendor comes from.
    pub(super) fn key_source(&self) -> String {
        let vendor = self.current.choice.name.split('/').next().unwrap_or_default();
        let source = |others: &Others| key_source(&others.services, &others.variables, vendor);
        self.others.as_ref().map_or_else(|| "none".to_owned(), source)
    }
}
