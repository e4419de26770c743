//! The configured registry of model services.

use std::sync::Arc;

use rheon_providers::{Credential, ProviderEnv, Registry, RegistryParts};

use super::error::OpenError;
use crate::config::ServiceSettings;
use crate::system::SystemContext;

/// The variables, as model services are handed them.
pub fn variables(system: &SystemContext) -> ProviderEnv {
    let environment = system.environment.clone();
    let variables = ProviderEnv::new(move |name| environment.text(name).map(str::to_owned));
    match system.home() {
        Some(home) => variables.with_home(home),
        None => variables,
    }
}

/// The services that are configured.
pub fn registry(settings: &ServiceSettings, system: &SystemContext) -> Result<Registry, OpenError> {
    let builtin = RegistryParts::builtin(variables(system), Arc::clone(&system.clock))?;
    let keys = settings.keys.iter().map(|(vendor, key)| (vendor.clone(), Credential::Key(key.clone())));
    Ok(Registry::new(RegistryParts { vendors: settings.vendors.clone(), keys: keys.collect(), ..builtin }))
}
