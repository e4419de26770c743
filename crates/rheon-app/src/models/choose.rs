//! Choosing a model: a flag goes before the configuration, that before the first vendor with a key, that before a local server.

use std::time::Duration;

use futures::future::join_all;
use rheon_providers::{ProviderEnv, Registry, Vendor};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::ModelChoiceError;
use super::name::{PREFERRED, full_name};

/// How long a local server may take to answer the door. It is on this machine.
const DOOR_TIME_MAX: Duration = Duration::from_millis(50);
/// How long it may take to say which models it has.
const MODELS_TIME_MAX: Duration = Duration::from_secs(2);

/// A model, and why this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Its whole name, `vendor/model`.
    pub name: String,
    /// Why this one.
    pub because: Because,
}

/// Why a model was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because {
    /// The user said so, on the command line or in the configuration.
    Said,
    /// There is a key for its vendor, and nobody said which model.
    Key,
    /// Its server answers on this machine.
    Answers(Local),
}

/// A local server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// Which kind it is.
    pub vendor: String,
    /// Where it is.
    pub address: String,
}

/// The model to ask. `said` is what the user said, by flag or configuration.
pub async fn choose(
    said: Option<&str>,
    registry: &Registry,
    environment: &ProviderEnv,
) -> Result<Chosen, ModelChoiceError> {
    if let Some(said) = said {
        return Ok(Chosen { name: full_name(said, registry)?, because: Because::Said });
    }
    let mut mistake = None;
    for (vendor, model) in PREFERRED {
        match registry.has_key(vendor) {
            Ok(true) => return Ok(Chosen { name: format!("{vendor}/{model}"), because: Because::Key }),
            Ok(false) => {}
            Err(error) => mistake = mistake.or(Some(error)),
        }
    }
    match (local(registry, environment).await, mistake) {
        // To say that nothing is configured would hide what is configured wrongly.
        (Err(ModelChoiceError::Nothing), Some(mistake)) => Err(mistake.into()),
        (chosen, _) => chosen,
    }
}

/// The local servers that answer and the whole names of the models they have, in the order of their names.
pub async fn served_here(registry: &Registry, environment: &ProviderEnv) -> Vec<(Local, Vec<String>)> {
    let mut served = Vec::new();
    for local in answering(registry, environment).await {
        let models = timeout(MODELS_TIME_MAX, registry.served_models(&local.vendor)).await;
        // Whatever else listens there is no such server.
        let Ok(Ok(models)) = models else { continue };
        let names = models.into_iter().map(|model| format!("{}/{model}", local.vendor)).collect();
        served.push((local, names));
    }
    served
}

/// The servers on this machine where somebody answers.
async fn answering(registry: &Registry, environment: &ProviderEnv) -> Vec<Local> {
    let servers = registry.vendors().iter().filter(|vendor| vendor.probe().is_some());
    let doors = servers.map(|vendor| async move { open_door(&vendor, environment).await });
    join_all(doors).await.into_iter().flatten().collect()
}

/// The first model of the first local server that answers, in the order of their names.
async fn local(registry: &Registry, environment: &ProviderEnv) -> Result<Chosen, ModelChoiceError> {
    let mut unloaded = None;
    for local in answering(registry, environment).await {
        let models = timeout(MODELS_TIME_MAX, registry.served_models(&local.vendor)).await;
        // Whatever else listens there is no such server.
        let Ok(Ok(models)) = models else { continue };
        match models.into_iter().next() {
            Some(model) => {
                let name = format!("{}/{model}", local.vendor);
                return Ok(Chosen { name, because: Because::Answers(local) });
            }
            None => unloaded = unloaded.or(Some(local)),
        }
    }
    match unloaded {
        Some(Local { vendor, address }) => Err(ModelChoiceError::Unloaded { vendor, address }),
        None => Err(ModelChoiceError::Nothing),
    }
}

/// Whether anybody answers at the address of the vendor, if that is on this machine.
async fn open_door(vendor: &Vendor, environment: &ProviderEnv) -> Option<Local> {
    let (address, host, port) = place_here(vendor, environment)?;
    let connected = timeout(DOOR_TIME_MAX, TcpStream::connect((host.as_str(), port))).await;
    connected.ok()?.ok()?;
    Some(Local { vendor: vendor.id.clone(), address })
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
