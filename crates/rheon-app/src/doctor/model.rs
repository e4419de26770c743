//! Checks which model a session would use, and whether it can be called.

use rheon_providers::Registry;

use super::check::Check;
use super::network::NetworkChecks;
use super::online::online;
use crate::config::Config;
use crate::models::{ModelChoice, ModelChoiceReason, choose};
use crate::session::{SystemContext, registry, variables};

const TOPIC: &str = "model";

pub(super) async fn model(system: &SystemContext, config: &Config, network: NetworkChecks) -> Vec<Check> {
    let registry = match registry(&config.settings.services, system) {
        Ok(registry) => registry,
        Err(error) => {
            return vec![Check::bad(TOPIC, error.to_string(), "check [vendors] in your settings")];
        }
    };
    let requested = config.settings.model.name.as_deref();
    let (mut checks, chosen) = match choose(requested, &registry, &variables(system)).await {
        Ok(ModelChoice { name, reason }) => {
            let vendor = name.split('/').next().unwrap_or_default().to_owned();
            let why = match &reason {
                ModelChoiceReason::Configured => "as configured".to_owned(),
                ModelChoiceReason::KeyFound => format!("found a key for {vendor}"),
                ModelChoiceReason::LocalServer(local) => {
                    format!("its server answers at {}", local.address)
                }
            };
            (vec![Check::ok(TOPIC, format!("{name}, {why}")), key(&registry, &vendor)], Some(vendor))
        }
        Err(error) => {
            // The first line is the problem, the others are the advice.
            let text = error.to_string();
            let (what, next) =
                text.split_once('\n').unwrap_or((text.as_str(), "run `rheon models` to list known models"));
            (vec![Check::bad(TOPIC, what.trim_end_matches([':', '.']), next.trim())], None)
        }
    };
    if network == NetworkChecks::On {
        checks.extend(online(&registry, &variables(system), chosen.as_deref()).await);
    }
    checks
}

/// Whether there is a key. Never shows the key itself.
fn key(registry: &Registry, vendor: &str) -> Check {
    const TOPIC: &str = "key";
    match registry.has_key(vendor) {
        Ok(true) => Check::ok(TOPIC, format!("{vendor} has a key")),
        Ok(false) => {
            let names = registry.vendors().get(vendor).map(|vendor| vendor.auth.key_env.join(" or "));
            let names = names.unwrap_or_default();
            Check::bad(
                TOPIC,
                format!("no key for {vendor}"),
                format!("set {names}, or [keys] {vendor} in your settings"),
            )
        }
        Err(error) => Check::bad(TOPIC, error.to_string(), "`rheon models --vendors` lists the vendors"),
    }
}
