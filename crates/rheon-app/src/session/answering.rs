//! `Answering`: which model answers in a session, and which others could.

use rheon_providers::{ProviderEnv, Registry, ResolvedModel};
use rheon_types::ThinkingLevel;

use super::error::OpenError;
use super::wiring::resolve;
use crate::config::ServiceSettings;
use crate::models::{ModelChoice, ModelChoiceError, ModelChoiceReason, full_name, key_source};

/// Which model answers in a session, and which others could.
pub(super) struct Answering {
    /// The one that answers, and why.
    pub(super) chosen: ModelChoice,
    /// The same, to be asked.
    pub(super) model: ResolvedModel,
    pub(super) thinking: ThinkingLevel,
    first: (ModelChoice, ResolvedModel),
    others: Option<Others>,
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
    pub(super) fn new(
        (chosen, model): (ModelChoice, ResolvedModel),
        thinking: ThinkingLevel,
        others: Option<Others>,
    ) -> Self {
        Self { first: (chosen.clone(), model.clone()), chosen, model, thinking, others }
    }

    /// Another model, or the first one again.
    pub(super) async fn change(&mut self, said: Option<&str>) -> Result<(), OpenError> {
        let (chosen, model) = match (said, &self.others) {
            (None, _) => self.first.clone(),
            (Some(_), None) => return Err(ModelChoiceError::Fixed.into()),
            (Some(said), Some(Others { registry, fallback, .. })) => {
                let chosen =
                    ModelChoice { name: full_name(said, registry)?, reason: ModelChoiceReason::Configured };
                let model = resolve(registry, &chosen, fallback.as_deref()).await?;
                (chosen, model)
            }
        };
        (self.chosen, self.model) = (chosen, model);
        Ok(())
    }

    /// Where the key of the model's vendor comes from.
    pub(super) fn key_source(&self) -> String {
        let vendor = self.chosen.name.split('/').next().unwrap_or_default();
        let source = |others: &Others| key_source(&others.services, &others.variables, vendor);
        self.others.as_ref().map_or_else(|| "none".to_owned(), source)
    }
}
