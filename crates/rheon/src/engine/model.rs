//! Names of models become models that can be asked, or an error that says what is missing.

use std::sync::Arc;

use rheon_agent::SystemClock;
use rheon_providers::{Credential, Registry, RegistryParts, ResolvedModel};
use secrecy::SecretString;

use crate::environment;
use crate::error::{Error, Result};

/// The services that come with Rheon, with the keys of the environment and these.
pub(super) fn registry(keys: Vec<(String, SecretString)>) -> Result<Registry> {
    let parts = RegistryParts::builtin(environment::of_process(), Arc::new(SystemClock::default()))?;
    let keys = keys.into_iter().map(|(vendor, key)| (vendor, Credential::Key(key))).collect();
    Ok(Registry::new(RegistryParts { keys, ..parts }))
}

/// The model `name`, if there is a key for it.
pub(super) fn resolve(registry: &Registry, name: &str) -> Result<ResolvedModel> {
    let model = registry.resolve(name)?;
    check_key(registry, name)?;
    Ok(model)
}

/// An error if there is no key for the vendor of the model.
pub(crate) fn check_key(registry: &Registry, name: &str) -> Result<()> {
    let vendor = name.split('/').next().unwrap_or_default();
    if registry.has_key(vendor)? {
        return Ok(());
    }
    let variables = registry.vendors().get(vendor).map(|vendor| vendor.auth.key_env.clone());
    Err(Error::missing_key(vendor, &variables.unwrap_or_default()))
}
