//! The registry of model services that is configured.

use std::sync::Arc;

use rheon_providers::{Credential, ProviderEnv, Registry, RegistryParts};

use super::error::OpenError;
use crate::config::ServiceSettings;
use crate::machine::Surroundings;

/// The variables, as model services are handed them.
pub fn variables(surroundings: &Surroundings) -> ProviderEnv {
    let environment = surroundings.environment.clone();
    let variables = ProviderEnv::new(move |name| environment.text(name).map(str::to_owned));
    match surroundings.home() {
        Some(home) => variables.with_home(home),
        None => variables,
    }
}

/// The services that are configured.
pub fn registry(settings: &ServiceSettings, surroundings: &Surroundings) -> Result<Registry, OpenError> {
    let builtin = RegistryParts::builtin(variables(surroundings), Arc::clone(&surroundings.clock))?;
    let keys = settings.keys.iter().map(|(vendor, key)| (vendor.clone(), Credential::Key(key.clone())));
    Ok(Registry::new(RegistryParts { vendors: settings.vendors.clone(), keys: keys.collect(), ..builtin }))
}
