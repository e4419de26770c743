//! Which model would be asked, and whether it can be.

use rheon_providers::Registry;

use super::check::Check;
use super::network::Network;
use super::online::online;
use crate::config::Config;
use crate::models::{Because, Chosen, choose};
use crate::session::{Surroundings, registry, variables};

const TOPIC: &str = "model";

pub(super) async fn model(surroundings: &Surroundings, config: &Config, network: Network) -> Vec<Check> {
    let registry = match registry(&config.settings.services, surroundings) {
        Ok(registry) => registry,
        Err(error) => {
            return vec![Check::bad(TOPIC, error.to_string(), "look at the vendors that are configured")];
        }
    };
    let said = config.settings.model.name.as_deref();
    let (mut checks, chosen) = match choose(said, &registry, &variables(surroundings)).await {
        Ok(Chosen { name, because }) => {
            let vendor = name.split('/').next().unwrap_or_default().to_owned();
            let why = match &because {
                Because::Said => "as configured".to_owned(),
                Because::Key => format!("as there is a key for {vendor}"),
                Because::Answers(local) => format!("as its server answers at {}", local.address),
            };
            (vec![Check::ok(TOPIC, format!("{name}, {why}")), key(&registry, &vendor)], Some(vendor))
        }
        Err(error) => {
            // The first line says what is the matter, the others what to do.
            let text = error.to_string();
            let (what, next) =
                text.split_once('\n').unwrap_or((text.as_str(), "`rheon models` lists what is known"));
            (vec![Check::bad(TOPIC, what.trim_end_matches([':', '.']), next.trim())], None)
        }
    };
    if network == Network::Tried {
        checks.extend(online(&registry, &variables(surroundings), chosen.as_deref()).await);
    }
    checks
}

/// Whether there is a key. The key itself is nobody's business.
fn key(registry: &Registry, vendor: &str) -> Check {
    const TOPIC: &str = "key";
    match registry.has_key(vendor) {
        Ok(true) => Check::ok(TOPIC, format!("{vendor} can be asked")),
        Ok(false) => {
            let names = registry.vendors().get(vendor).map(|vendor| vendor.auth.key_env.join(" or "));
            let names = names.unwrap_or_default();
            Check::bad(
                TOPIC,
                format!("there is no key for {vendor}"),
                format!("set {names}, or [keys] {vendor} in your settings"),
            )
        }
        Err(error) => Check::bad(TOPIC, error.to_string(), "`rheon models --vendors` lists the vendors"),
    }
}
