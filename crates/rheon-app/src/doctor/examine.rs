//! Looking at everything, one after the other.

use super::check::Check;
use super::network::Network;
use super::{configuration, folders, model, programs, sandbox, sessions};
use crate::config::{Config, ConfigInputs};
use crate::session::Surroundings;

/// What is looked at.
pub struct Examination {
    /// The machine, the user and the time.
    pub surroundings: Surroundings,
    /// What the configuration is made from.
    pub inputs: ConfigInputs,
    /// Whether the network is tried.
    pub network: Network,
}

/// Looks at everything that a session needs. What the configuration gets wrong keeps only that from being looked at which follows
/// from it.
pub async fn examine(examination: Examination) -> Vec<Check> {
    let Examination { surroundings, inputs, network } = examination;
    let mut checks = folders::folders(&surroundings.folders);
    let (found, config) = configuration::configuration(inputs);
    checks.extend(found);
    if let Some(config) = &config {
        checks.extend(of_config(&surroundings, config, network).await);
    }
    checks.extend(programs::programs(&surroundings).await);
    checks.extend(sessions::sessions(&surroundings.folders));
    checks
}

async fn of_config(surroundings: &Surroundings, config: &Config, network: Network) -> Vec<Check> {
    let mut checks = model::model(surroundings, config, network).await;
    checks.extend(sandbox::sandbox(surroundings, config).await);
    checks
}
