//! Chooses the model: a flag, else the configuration, else the first vendor with a key, else a local server.

use std::time::Duration;

use futures::future::join_all;
use rheon_providers::{ProviderEnv, Registry, Vendor};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ModelChoiceError;
use super::name::{PREFERRED, full_name};

/// How long connecting to a local server may take.
const DOOR_TIME_MAX: Duration = Duration::from_millis(50);
/// How long it may take to list its models.
const MODELS_TIME_MAX: Duration = Duration::from_secs(2);

/// A model, and why this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// Its whole name, `vendor/model`.
    pub name: String,
    pub reason: ModelChoiceReason,
}

impl ModelChoice {
    /// The model that the caller or the configuration names.
    pub(crate) fn configured(name: String) -> Self {
        Self { name, reason: ModelChoiceReason::Configured }
    }
}

/// Why a model was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoiceReason {
    /// Set on the command line or in the configuration.
    Configured,
    /// No model is configured, and its vendor has a key.
    KeyFound,
    /// Its server answers on this machine.
    LocalServer(LocalModelServer),
}

/// A local server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModelServer {
    pub vendor: String,
    pub address: String,
}

/// Chooses the model. `said` is the configured name, if any.
pub async fn choose(
    said: Option<&str>,
    registry: &Registry,
    environment: &ProviderEnv,
) -> Result<ModelChoice, ModelChoiceError> {
    if let Some(said) = said {
        return Ok(ModelChoice { name: full_name(said, registry)?, reason: ModelChoiceReason::Configured });
    }
    let mut mistake = None;
    for (vendor, model) in PREFERRED {
        match registry.has_key(vendor) {
            Ok(true) => {
                return Ok(ModelChoice {
                    name: format!("{vendor}/{model}"),
                    reason: ModelChoiceReason::KeyFound,
                });
            }
            Ok(false) => {}
            Err(error) => mistake = mistake.or(Some(error)),
        }
    }
    match (local(registry, environment).await, mistake) {
        // "Nothing is configured" would hide a mistake in the configuration.
        (Err(ModelChoiceError::Nothing), Some(mistake)) => Err(mistake.into()),
        (chosen, _) => chosen,
    }
}

/// The local servers that answer and the whole names of the models they have, in the order of their names.
pub async fn served_here(
    registry: &Registry,
    environment: &ProviderEnv,
) -> Vec<(LocalModelServer, Vec<String>)> {
    let mut served = Vec::new();
    for local in answering(registry, environment).await {
        let models = timeout(MODELS_TIME_MAX, registry.served_models(&local.vendor)).await;
        // Something else listens there.
        let Ok(Ok(models)) = models else { continue };
        let names = models.into_iter().map(|model| format!("{}/{model}", local.vendor)).collect();
        served.push((local, names));
    }
    served
}

/// The local servers that answer.
async fn answering(registry: &Registry, environment: &ProviderEnv) -> Vec<LocalModelServer> {
    let servers = registry.vendors().iter().filter(|vendor| vendor.probe().is_some());
    let doors = servers.map(|vendor| async move { open_door(&vendor, environment).await });
    join_all(doors).await.into_iter().flatten().collect()
}

/// The first model of the first local server that answers, in the order of their names.
async fn local(registry: &Registry, environment: &ProviderEnv) -> Result<ModelChoice, ModelChoiceError> {
    let mut unloaded = None;
    for local in answering(registry, environment).await {
        let models = timeout(MODELS_TIME_MAX, registry.served_models(&local.vendor)).await;
        // Something else listens there.
        let Ok(Ok(models)) = models else { continue };
        match models.into_iter().next() {
            Some(model) => {
                let name = format!("{}/{model}", local.vendor);
                return Ok(ModelChoice { name, reason: ModelChoiceReason::LocalServer(local) });
            }
            None => unloaded = unloaded.or(Some(local)),
        }
    }
    match unloaded {
        Some(LocalModelServer { vendor, address }) => Err(ModelChoiceError::Unloaded { vendor, address }),
        None => Err(ModelChoiceError::Nothing),
    }
}

/// Whether anybody answers at the address of the vendor, if that is on this machine.
async fn open_door(vendor: &Vendor, environment: &ProviderEnv) -> Option<LocalModelServer> {
    let (address, host, port) = place_here(vendor, environment)?;
    let connected = timeout(DOOR_TIME_MAX, TcpStream::connect((host.as_str(), port))).await;
    connected.ok()?.ok()?;
    Some(LocalModelServer { vendor: vendor.id.clone(), address })
}

/// The address of the vendor, its host and its port, if that is on this machine.
fn place_here(vendor: &Vendor, environment: &ProviderEnv) -> Option<(String, String, u16)> {
    let base = vendor.base_url(environment).ok()?;
    let host = base.host_str()?.trim_matches(['[', ']']).to_owned();
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let port = base.port_or_known_default()?;
    is_here.then(|| (base.to_string(), host, port))
}

/// Whether the vendor is a server on this machine.
pub(super) fn is_here(vendor: &Vendor, environment: &ProviderEnv) -> bool {
    vendor.probe().is_some() && place_here(vendor, environment).is_some()
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
